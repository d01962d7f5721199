"""A socket of an agent that a test plays."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from smartharvest.telemetry.server import ControlSocket


@contextmanager
def served(socket: ControlSocket) -> Iterator[None]:
    """A thread answers until the end, which closes it."""
    ended = threading.Event()

    def serve() -> None:
        while not ended.wait(0.005):
            socket.serve()

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        socket.close()
