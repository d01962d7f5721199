"""QEMU's machine protocol (QMP), and that of its guest agent, which speaks alike.

What answers is not trusted: bytes, time and threads are bounded. A monitor serves one client at a
time and leaves the next one waiting, so no connection is kept.
"""

from __future__ import annotations

import contextlib
import json
import secrets
import socket
import struct
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from smartharvest.errors import TargetError
from smartharvest.printable import one_line

TIMEOUT_S = 1.0
LARGEST_ANSWER = 1 << 20
MOST_VCPUS = 4096
_CREDENTIALS = struct.Struct("3i")  # struct ucred of unix(7): pid, uid, gid


@dataclass(frozen=True)
class Peer:
    """The process that has called listen(2) (SO_PEERCRED)."""

    pid: int
    """0 if it is in another pid namespace."""
    uid: int


@dataclass(frozen=True)
class VirtualCpus:
    """The vCPUs of a guest, as its monitor tells them."""

    threads: tuple[int, ...]
    """Thread ids in QEMU's own pid namespace, in the order of the vCPUs. Emulated ones may share
    one."""
    running: bool
    """Not paused, and not still waiting for its migration."""
    peer: Peer | None = None
    """Who listens at the socket."""


def read_vcpus(path: str, timeout_s: float = TIMEOUT_S) -> VirtualCpus:
    """The vCPUs behind the monitor socket at ``path`` (``query-cpus-fast``, QEMU 2.12).

    Raises TargetError if nobody answers as QEMU would within ``timeout_s``.
    """
    with talking_to(path, timeout_s) as monitor:
        vcpus = monitor.execute("query-cpus-fast")
        status = monitor.execute("query-status")
        return VirtualCpus(_threads_of(path, vcpus), bool(_field(status, "running")), monitor.peer)


@contextlib.contextmanager
def talking_to(
    path: str, timeout_s: float = TIMEOUT_S, *, greets: bool = True
) -> Iterator[Monitor]:
    """The monitor behind the socket at ``path``; one that does not greet is a guest agent.

    Raises TargetError, also for what comes inside, if nobody answers as QEMU would within
    ``timeout_s``, or it refuses.
    """
    deadline_s = time.monotonic() + timeout_s
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(timeout_s)
            connection.connect(path)
            monitor = Monitor(connection, deadline_s, _peer_of(connection))
            if greets:
                if "QMP" not in monitor.read():
                    raise ValueError("it does not greet as QEMU does")
                monitor.execute("qmp_capabilities")
            else:
                monitor.synchronize()
            yield monitor
    except TimeoutError:
        raise TargetError(
            f"{path}: no answer within {timeout_s:g} s; a monitor serves one client at a time, "
            "give the guest another with -qmp unix:PATH,server=on,wait=off"
        ) from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise TargetError(f"{path}: is no QMP monitor to talk to: {reason}") from None


def _peer_of(connection: socket.socket) -> Peer:
    raw = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    pid, uid, _ = _CREDENTIALS.unpack(raw)
    return Peer(pid, uid)


def _threads_of(path: str, vcpus: object) -> tuple[int, ...]:
    listed = vcpus if isinstance(vcpus, list) else []
    threads = [_field(vcpu, "thread-id") for vcpu in listed[:MOST_VCPUS]]
    found = tuple(tid for tid in threads if isinstance(tid, int) and 0 < tid < 1 << 31)
    if not found or len(found) != len(listed):
        raise TargetError(f"{path}: query-cpus-fast tells no threads of vCPUs")
    return tuple(dict.fromkeys(found))


def _field(value: object, name: str) -> object:
    return value.get(name) if isinstance(value, dict) else None


class Monitor:
    """One connection: a JSON object a line, events between the answers."""

    def __init__(self, connection: socket.socket, deadline_s: float, peer: Peer) -> None:
        self._connection = connection
        self._deadline_s = deadline_s
        self.peer = peer
        self._received = b""
        self._bytes = 0

    def execute(self, command: str, arguments: Mapping[str, Any] | None = None) -> object:
        """What it returns. Raises ValueError for what it refuses, and TimeoutError."""
        self._send(command, arguments)
        while True:
            answer = self.read()
            if "return" in answer:
                return answer["return"]
            if "error" in answer:
                said = str(_field(answer["error"], "desc"))[:200]
                raise ValueError(f"{command}: {one_line(said)}")

    def synchronize(self) -> None:
        """Passes over the answers to one who asked a guest agent before and did not wait."""
        number = secrets.randbits(31)
        self._send("guest-sync", {"id": number})
        while self.read().get("return") != number:
            pass

    def _send(self, command: str, arguments: Mapping[str, Any] | None) -> None:
        request = {"execute": command} | ({} if arguments is None else {"arguments": arguments})
        self._connection.sendall(json.dumps(request).encode() + b"\n")

    def read(self) -> dict[str, Any]:
        while b"\n" not in self._received:
            left_s = self._deadline_s - time.monotonic()
            if left_s <= 0:
                raise TimeoutError
            self._connection.settimeout(left_s)
            more = self._connection.recv(1 << 16)
            self._bytes += len(more)
            if not more:
                raise ValueError("it hung up")
            if self._bytes > LARGEST_ANSWER:
                raise ValueError(f"it says more than {LARGEST_ANSWER} bytes")
            self._received += more
        line, _, self._received = self._received.partition(b"\n")
        with contextlib.suppress(RecursionError):
            value = json.loads(line)
            if isinstance(value, dict):
                return value
        raise ValueError("it says what is no object")
