"""Births and deaths of tasks as the kernel's process connector tells them.

Subscribed through pyroute2 (include/uapi/linux/cn_proc.h); needs CAP_NET_ADMIN and the first pid
namespace. Received through pyroute2 an event takes some 45 us, which a fork loop overruns by far,
so the two kinds that matter are received and unpacked here, in about 4; a turn handles a bounded
number and leaves the rest in the socket. When that overflows the kernel says so once (ENOBUFS), and
what was lost has to be looked for.
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
"""Of the socket: some 800 events between two turns."""
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
    """All births and deaths of this host from now on. Raises RightsError if they are not to be had.

    The kernel tells everything of all processes, whatever is asked for.
    """

    def __init__(self) -> None:
        # Only here: most agents need none of it.
        from pyroute2 import ProcEventSocket
        from pyroute2.netlink.exceptions import NetlinkError

        self.read_count = 0
        self._source = ProcEventSocket()
        try:
            self._source.bind()
            self._source.control(listen=True)
            # A descriptor of our own: theirs belongs to an event loop.
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
        """What has happened, without waiting, and at most so many events of any kind.

        Raises EventsLost where the socket has overflowed; reading can go on after it.
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
    """The event in a datagram; None if it is of another kind, or none at all."""
    if len(data) < _EVENT.size:
        return None
    what, _cpu, _time_ns, first, second, third, fourth = _EVENT.unpack_from(data)
    if what == _FORK:
        return Birth(parent_pid=second, tid=third, pid=fourth)
    if what == _EXIT:
        return Death(tid=first, pid=second)
    return None
