"""Starts and ends of tasks, from the kernel's process connector.

Subscribed through pyroute2 (include/uapi/linux/cn_proc.h); needs CAP_NET_ADMIN and the first pid
namespace. pyroute2 takes some 45 us for an event, too slow for a fork loop, so the two kinds
that matter are received and unpacked here, in about 4 us. A turn handles a bounded number and
leaves the rest in the socket. If that overflows the kernel reports it once (ENOBUFS), and the agent
lists all processes.
"""

from __future__ import annotations

import errno
import os
import socket
import struct
from collections.abc import Iterator
from dataclasses import dataclass

from smartharvest.errors import RightsError

RECEIVE_BYTES = 1 << 20
"""The socket's buffer: some 800 events between two turns."""
MOST_PER_TURN = 400
_LONGEST_EVENT = 256

_FORK, _EXIT = 0x0000_0001, 0x8000_0000
# nlmsghdr and cn_msg (36 bytes), then struct proc_event: what, cpu, time, and for a fork the
# parent's thread and process and the child's, for an exit the thread and the process.
_EVENT = struct.Struct("=36xIIQ4I")


@dataclass(frozen=True, slots=True)
class Birth:
    """A thread was started; a process if ``tid == pid``."""

    parent_pid: int
    tid: int
    pid: int


@dataclass(frozen=True, slots=True)
class Death:
    """A thread has ended; its process too if ``tid == pid`` and it was the last one."""

    tid: int
    pid: int


class EventsLost(Exception):
    """Events came faster than they were read, and some are lost."""


class ProcessEvents:
    """All starts and ends on this host from now on. Raises RightsError without the rights for them.

    The kernel always reports all processes.
    """

    def __init__(self) -> None:
        # Imported here: most agents do not need it.
        from pyroute2 import ProcEventSocket
        from pyroute2.netlink.exceptions import NetlinkError

        self.read_count = 0
        self._source = ProcEventSocket()
        try:
            self._source.bind()
            self._source.control(listen=True)
            # A descriptor of its own: that of pyroute2 belongs to an event loop.
            self._socket = socket.socket(fileno=os.dup(self._source.fileno()))
            self._socket.setblocking(False)
            self._enlarge()
        except (OSError, NetlinkError) as error:
            self._source.close()
            raise RightsError(f"process events: {error} (needs CAP_NET_ADMIN)") from error

    def _enlarge(self) -> None:
        for option in (33, socket.SO_RCVBUF):  # SO_RCVBUFFORCE, which socket(7) has and Python not
            try:
                self._socket.setsockopt(socket.SOL_SOCKET, option, RECEIVE_BYTES)
            except PermissionError:
                continue
            return

    def fileno(self) -> int:
        return self._socket.fileno()

    def read(self, most: int = MOST_PER_TURN) -> Iterator[Birth | Death]:
        """The events so far, ``most`` of any kind at most; never waits.

        Raises EventsLost after an overflow of the socket; later calls go on reading.
        """
        for _ in range(most):
            try:
                data = self._socket.recv(_LONGEST_EVENT)
            except BlockingIOError:
                return
            except OSError as error:
                if error.errno == errno.ENOBUFS:
                    raise EventsLost from None
                raise
            self.read_count += 1
            if (event := parse_event(data)) is not None:
                yield event

    def close(self) -> None:
        self._socket.close()
        self._source.close()


def parse_event(data: bytes) -> Birth | Death | None:
    """The event in a datagram; None for any other kind or data."""
    if len(data) < _EVENT.size:
        return None
    what, _cpu, _time_ns, first, second, third, fourth = _EVENT.unpack_from(data)
    if what == _FORK:
        return Birth(parent_pid=second, tid=third, pid=fourth)
    if what == _EXIT:
        return Death(tid=first, pid=second)
    return None
