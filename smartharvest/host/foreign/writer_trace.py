"""Who wrote a group's file, as far as the kernel tells.

File events (fanotify(7)) tell the writer's process id, and what it is called is looked up soon
afterwards, if it still lives.
"""

from __future__ import annotations

import contextlib
import ctypes
import logging
import os
import struct
import time
from collections.abc import Collection

from smartharvest.host.process import tasks

_log = logging.getLogger(__name__)

_EVENT = struct.Struct("=IBBHQii")  # struct fanotify_event_metadata
_FAN_CLOEXEC, _FAN_NONBLOCK, _FAN_MODIFY, _FAN_MARK_ADD = 1, 2, 2, 1
_AT_FDCWD = -100
_EVENTS = 64
"""Read at once."""
_LOOK_S = 0.1
"""How soon a writer is looked up; it may have ended by then."""


class FileEventTrace:
    """Notes who writes files, and those of that name in the groups above, until ``close``.

    Raises OSError where the rights do not allow it (CAP_SYS_ADMIN).
    """

    def __init__(self) -> None:
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._next_look_s = 0.0
        self._writers: dict[str, str] = {}
        """By file; who wrote last comes last."""
        self._fd = self._call("fanotify_init", _FAN_CLOEXEC | _FAN_NONBLOCK, os.O_RDONLY)

    def watch(self, files: Collection[str]) -> None:
        """Notes who writes these from now on. Raises OSError."""
        files = {one for file in files for one in _with_those_above(file)}
        for file in files:  # those that are watched as well: they may be others by the old names
            where = ctypes.c_uint64(_FAN_MODIFY), _AT_FDCWD, os.fsencode(file)
            self._call("fanotify_mark", self._fd, _FAN_MARK_ADD, *where)

    def look(self) -> bool:
        """Called often: takes in what has happened; whether somebody else has written.

        Own writes are reported too, but several of a file in a row as one.
        """
        now_s = time.monotonic()
        if now_s < self._next_look_s:
            return False
        self._next_look_s = now_s + _LOOK_S
        try:
            events = os.read(self._fd, _EVENTS * _EVENT.size)
        except OSError:  # most often there is nothing
            return False
        others = False
        for _, _, _, _, _, fd, pid in _EVENT.iter_unpack(events):
            if fd < 0:
                continue
            if pid != os.getpid():
                file = os.readlink(f"/proc/self/fd/{fd}")
                self._writers.pop(file, None)
                self._writers[file] = _describe(pid)
                others = True
            os.close(fd)
        return others

    def writer(self, file: str) -> str | None:
        """Who else wrote ``file``, or that of a group above, last; None if nobody is known."""
        self._next_look_s = 0.0
        self.look()
        files = set(_with_those_above(file))
        return next((self._writers[one] for one in reversed(self._writers) if one in files), None)

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def _call(self, name: str, *arguments: object) -> int:
        result = int(getattr(self._libc, name)(*arguments))
        if result < 0:
            error = ctypes.get_errno()
            raise OSError(error, f"{name}: {os.strerror(error)}")
        return result


class OtherWriters:
    """The trace from the first ``watch`` on; nobody is known where there is none."""

    def __init__(self) -> None:
        self._trace: FileEventTrace | None = None
        self._tried = False

    def watch(self, files: Collection[str]) -> None:
        if not self._tried:
            self._tried = True
            try:
                self._trace = FileEventTrace()
            except OSError as error:
                _log.debug("who else writes: %s", error.strerror or error)
        if self._trace is not None:
            with contextlib.suppress(OSError):  # a group that is gone is met elsewhere
                self._trace.watch(files)

    def look(self) -> bool:
        """Whether somebody else has written since the last call."""
        return self._trace is not None and self._trace.look()

    def last(self, file: str) -> str | None:
        """Who else wrote ``file`` last, if that is known."""
        with contextlib.suppress(OSError):
            return self._trace.writer(file) if self._trace is not None else None
        return None

    def close(self) -> None:
        if self._trace is not None:
            self._trace.close()
            self._trace = None


def _with_those_above(file: str) -> list[str]:
    """``file`` and those of that name in the groups above, as far as there are any."""
    directory, name = os.path.split(file)
    found = []
    while os.path.exists(one := os.path.join(directory, name)):
        found.append(one)
        directory = os.path.dirname(directory)
    return found


def _describe(pid: int) -> str:
    name = tasks.name(pid)
    if name == "?":
        return f"a process that has ended since (pid {pid})"
    return f"{name} (pid {pid})"
