"""Recognises handwritten digits, in the spirit of TailBench's img-dnn.

``python -m bench.real.digits_server PORT WORKERS``: processes that share a port, a small neural
network each, trained at the start on scikit-learn's bundled digits. The number of an image in, a
line each; the digit out.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import sys
import warnings
from typing import Any

from smartharvest.host.process.parent import die_with

HIDDEN_UNITS = (256, 256)


def main(port: int, workers: int) -> None:
    """Train once, fork the workers, wait for the end."""
    die_with(os.getppid())
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[variable] = "1"
    from sklearn.datasets import load_digits
    from sklearn.neural_network import MLPClassifier

    images, labels = load_digits(return_X_y=True)
    warnings.simplefilter("ignore")  # how well it is trained does not matter here
    network = MLPClassifier(HIDDEN_UNITS, max_iter=40, random_state=1).fit(images, labels)
    children = []
    for _ in range(workers):
        parent = os.getpid()
        child = os.fork()
        if child == 0:
            die_with(parent)
            _serve(port, network, images)
        children.append(child)
    signal.sigwait({signal.SIGTERM})
    for child in children:
        os.kill(child, signal.SIGKILL)


def _serve(port: int, network: Any, images: Any) -> None:
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", port))
    listener.listen(128)
    poll = select.epoll()
    poll.register(listener, select.EPOLLIN)
    connections: dict[int, socket.socket] = {}
    pending: dict[int, bytes] = {}
    while True:
        for number, _ in poll.poll():
            if number == listener.fileno():
                connection, _ = listener.accept()
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                connections[connection.fileno()] = connection
                pending[connection.fileno()] = b""
                poll.register(connection, select.EPOLLIN)
                continue
            got = connections[number].recv(4096)
            if not got:
                poll.unregister(number)
                connections.pop(number).close()
                continue
            *lines, pending[number] = (pending[number] + got).split(b"\n")
            for line in lines:
                image = images[int(line) % len(images)]
                digit = network.predict(image.reshape(1, -1))[0]
                connections[number].sendall(b"%d\n" % digit)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
