"""Heartbeats: a program counts what it has done in a page of shared memory, and the agent reads it.

The page is a file of 4096 bytes with 512 counters of 64 bits in the machine's byte order; what
counts is their sum. The first is for C (csrc/heartbeat.h), which adds atomically. A Python process
claims one of the others for itself, by a lock on its bytes, and the last is for one that finds none
and for the shell: it is added to under a lock on the whole page. No program can make the agent wait
or fail: the agent reads the file and never maps it.
"""

from __future__ import annotations

import errno
import fcntl
import mmap
import os
import stat
import struct
import threading
from types import TracebackType
from typing import Self

PAGE_BYTES = 4096
_SIZES = (0, 8, PAGE_BYTES)
"""Of a page, of one that is still to be made, and of one counter alone, which grows to a page."""
_COUNTER = struct.Struct("=Q")
_COUNTERS = PAGE_BYTES // _COUNTER.size
_FLOCK = struct.Struct("@hhqqi4x")
"""struct flock of 64-bit machines (fcntl(2)): type, whence, start, length, 0."""
_SHARED = _COUNTERS - 1
"""The counter that is added to under a lock."""


class Heartbeat:
    """A program's side: ``Heartbeat("/run/me/beats").beat()`` for each unit of work done.

    Makes the file if it is not there. May be used by many threads; a process that was forked opens
    its own. Raises OSError, also for a file of another size, which is somebody's and stays as it
    is.
    """

    def __init__(self, path: str) -> None:
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        self._lock = threading.Lock()
        if os.fstat(self._file).st_size not in _SIZES:
            os.close(self._file)
            raise OSError(errno.EEXIST, "another file has that name", path)
        os.ftruncate(self._file, PAGE_BYTES)
        self._page = mmap.mmap(self._file, PAGE_BYTES)
        self._mine = self._claim()

    def _claim(self) -> int:
        """A counter that no other process adds to, or the shared one."""
        first = 1 + os.getpid() % (_SHARED - 1)
        for number in (*range(first, _SHARED), *range(1, first)):
            try:
                _lock(self._file, number, fcntl.F_WRLCK, wait=False)
            except OSError:
                continue
            return int(number)
        return _SHARED

    def beat(self, count: int = 1) -> None:
        """Counts ``count``, 0 or more, units of work."""
        with self._lock:
            if self._mine == _SHARED:
                _lock(self._file, _SHARED, fcntl.F_WRLCK, wait=True)
            try:
                (before,) = _COUNTER.unpack_from(self._page, 8 * self._mine)
                _COUNTER.pack_into(self._page, 8 * self._mine, (before + count) % 2**64)
            finally:
                if self._mine == _SHARED:
                    _lock(self._file, _SHARED, fcntl.F_UNLCK, wait=True)

    def close(self) -> None:
        self._page.close()
        os.close(self._file)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


def _lock(file: int, number: int, kind: int, *, wait: bool) -> None:
    """Locks, or unlocks, one counter for this open file. Raises BlockingIOError if it is taken."""
    wanted = _FLOCK.pack(kind, os.SEEK_SET, 8 * number, 8, 0)
    fcntl.fcntl(file, fcntl.F_OFD_SETLKW if wait else fcntl.F_OFD_SETLK, wanted)


def read_beats(path: str) -> int | None:
    """The beats so far, modulo 2**64; None if there is no such file or it is no plain one."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return None
    try:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            return None
        page = os.pread(file, PAGE_BYTES, 0)
    except OSError:
        return None
    finally:
        os.close(file)
    whole = len(page) // _COUNTER.size * _COUNTER.size
    return int(sum(count for (count,) in _COUNTER.iter_unpack(page[:whole])) % 2**64)
