"""Starts and ends of tasks, from the kernel's process connector.

The protocol is in include/uapi/linux/cn_proc.h; it needs CAP_NET_ADMIN and the first pid and user
namespace. The guardian, which has no installed packages, listens too, so the socket is a plain one;
unpacking the two kinds that matter takes about 4 us each. A turn handles a bounded number and
leaves the rest in the socket. If that overflows the kernel reports it once (ENOBUFS), and the agent
lists all processes.
"""

from __future__ import annotations

import errno
import os
import socket
import struct
import time
from collections.abc import Iterator
from dataclasses import dataclass

from smartharvest.errors import RightsError

RECEIVE_BYTES = 1 << 20
"""The socket's buffer: some 800 events between two turns."""
MOST_PER_TURN = 400
_LONGEST_EVENT = 256

_ANSWER_TAKES_S = 0.25

_NETLINK_CONNECTOR, _NLMSG_DONE = 11, 3  # include/uapi/linux/netlink.h
_CN_IDX_PROC, _CN_VAL_PROC, _PROC_CN_MCAST_LISTEN = 1, 1, 1  # connector.h, cn_proc.h
_NLMSGHDR = struct.Struct("=IHHII")
_CN_MSG = struct.Struct("=IIIIHH")
_NONE, _FORK, _EXIT = 0x0000_0000, 0x0000_0001, 0x8000_0000
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
        self.read_count = 0
        kind = socket.SOCK_DGRAM | socket.SOCK_CLOEXEC
        try:
            self._socket = socket.socket(socket.AF_NETLINK, kind, _NETLINK_CONNECTOR)
        except OSError as error:
            raise RightsError(f"process events: {error.strerror}") from error
        try:
            self._enlarge()
            self._listen()
        except OSError as error:
            self._socket.close()
            raise RightsError(f"process events: {error.strerror} (needs CAP_NET_ADMIN)") from error

    @classmethod
    def inherit(cls, descriptor: int) -> ProcessEvents:
        """Goes on with the socket that an earlier program in this process has left open."""
        os.set_inheritable(descriptor, False)
        events = cls.__new__(cls)
        events.read_count = 0
        events._socket = socket.socket(fileno=descriptor)
        events._socket.setblocking(False)
        return events

    def _listen(self) -> None:
        """Subscribes, and waits for the kernel's answer."""
        self._socket.bind((0, _CN_IDX_PROC))
        number = os.getpid()
        payload = _CN_MSG.pack(_CN_IDX_PROC, _CN_VAL_PROC, 0, number, 4, 0)
        payload += struct.pack("=I", _PROC_CN_MCAST_LISTEN)
        header = _NLMSGHDR.pack(_NLMSGHDR.size + len(payload), _NLMSG_DONE, 0, 0, 0)
        self._socket.send(header + payload)
        deadline = time.monotonic() + _ANSWER_TAKES_S
        while (left_s := deadline - time.monotonic()) > 0:
            self._socket.settimeout(left_s)
            try:
                data = self._socket.recv(_LONGEST_EVENT)
            except TimeoutError:
                break
            refusal = _answer(data, number)
            if refusal:
                raise OSError(refusal, os.strerror(refusal))
            if refusal == 0:
                self._socket.setblocking(False)
                return
        # From another pid or user namespace it says nothing at all (cn_proc_mcast_ctl()).
        raise OSError(errno.ETIMEDOUT, "the kernel does not answer in this namespace")

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


def _answer(data: bytes, number: int) -> int | None:
    """The errno (0: none) in the kernel's answer to the request ``number``; None if it is none."""
    if len(data) < _EVENT.size:
        return None
    what, _cpu, _time_ns, refusal, *_ = _EVENT.unpack_from(data)
    acknowledged = _CN_MSG.unpack_from(data, _NLMSGHDR.size)[3]
    # cn_proc_ack() in drivers/connector/cn_proc.c adds one. All who listen get to see it.
    return int(refusal) if what == _NONE and acknowledged == number + 1 else None


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
