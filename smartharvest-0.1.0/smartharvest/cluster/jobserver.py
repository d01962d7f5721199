"""The GNU make job server as an engine: a build that grows and shrinks on one machine.

A FIFO holds a token for each job beyond the first. make (4.4 on) and ninja (1.13 on) find it by
``--jobserver-auth=fifo:PATH`` in MAKEFLAGS, an older make by two inherited descriptors ("POSIX
Jobserver" in make's manual). More tokens let the build grow; tokens taken out make it shrink as
its jobs end. No job is ever killed: that would be a failed build.
"""

from __future__ import annotations

import array
import contextlib
import fcntl
import mmap
import os
import select
import tempfile
import termios
import time

_TOKEN = b"+"
_PATIENCE_S = 0.3
"""How long one ``shed`` waits for tokens: a busy build takes each at once."""
_GIVEN, _ADVERTISED, _ENDED = range(3)


class JobServer:
    """Implements engine.Engine. The processes of a fork share its state."""

    def __init__(self) -> None:
        self._owner = os.getpid()
        self._directory = tempfile.mkdtemp(prefix="smartharvest-jobs-")
        self.path = os.path.join(self._directory, "tokens")
        os.mkfifo(self.path, 0o600)
        # Both ends are open here: opening never waits, and no token is lost.
        self._fd = os.open(self.path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        self._shared = memoryview(mmap.mmap(-1, mmap.PAGESIZE)).cast("i")

    def makeflags(self, fds: tuple[int, int] | None = None) -> str:
        """MAKEFLAGS for the build; ``fds`` (reading, writing) are for an old make."""
        auth = f"fifo:{self.path}" if fds is None else f"{fds[0]},{fds[1]}"
        return f" -j --jobserver-auth={auth}"

    def inheritable_fds(self) -> tuple[int, int]:
        """Descriptors of the reading and the writing end that a started make inherits."""
        fds = os.open(self.path, os.O_RDONLY), os.open(self.path, os.O_WRONLY)
        for fd in fds:
            os.set_inheritable(fd, True)
        return fds

    def end(self) -> None:
        """The build has ended; the tokens it did not return no longer count."""
        self._shared[_ENDED] = 1

    def advertise(self, cores: int) -> None:
        self._shared[_ADVERTISED] = cores
        wanted = max(0, cores - 1)
        while self._shared[_GIVEN] < wanted:
            os.write(self._fd, _TOKEN)
            self._shared[_GIVEN] += 1
        while self._shared[_GIVEN] > wanted and self._take():
            pass

    def in_use(self) -> int:
        """A build's first job counts only together with others: it has no token to take."""
        used = self._shared[_GIVEN] - self._free()
        return 1 + used if used > 0 and not self._shared[_ENDED] else 0

    def shed(self, cores: int, grace_s: float) -> None:  # noqa: ARG002
        self._shared[_ADVERTISED] = cores
        until_s = time.monotonic() + _PATIENCE_S
        while (
            self._shared[_GIVEN] > max(0, cores - 1) and (left_s := until_s - time.monotonic()) > 0
        ):
            select.select([self._fd], [], [], left_s)
            self._take()

    def verify(self) -> int | None:
        given, cores = self._shared[_GIVEN], self._shared[_ADVERTISED]
        return cores if given == max(0, cores - 1) else 1 + given

    def close(self) -> None:
        os.close(self._fd)
        if self._shared[_ENDED] or os.getpid() == self._owner:
            with contextlib.suppress(OSError):
                os.unlink(self.path)
                os.rmdir(self._directory)

    def _take(self) -> bool:
        try:
            taken = os.read(self._fd, 1) != b""
        except BlockingIOError:
            return False
        self._shared[_GIVEN] -= taken
        return taken

    def _free(self) -> int:
        waiting = array.array("i", [0])
        fcntl.ioctl(self._fd, termios.FIONREAD, waiting)
        return waiting[0]
