"""A child process that acts if its parent dies before dismissing it."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Callable

_DISMISSED = b"x"


class Keeper:
    """Forks at once: create it before any thread, and before what ``last_will`` must not share.

    ``last_will`` runs in the child, which opens its own connections.
    """

    def __init__(self, last_will: Callable[[], None]) -> None:
        reading, self._writing = os.pipe2(os.O_CLOEXEC)
        ready, telling = os.pipe2(os.O_CLOEXEC)
        sys.stdout.flush()
        sys.stderr.flush()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(self._writing)
            _wait_and_act(reading, telling, last_will)
        os.close(reading)
        os.close(telling)
        os.read(ready, 1)  # until it has a session of its own
        os.close(ready)

    def dismiss(self) -> None:
        """The child ends without doing anything."""
        with contextlib.suppress(BrokenPipeError):
            os.write(self._writing, _DISMISSED)

    def close(self) -> None:
        """Lets the child end, and waits for it."""
        os.close(self._writing)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self.pid, 0)


def _wait_and_act(reading: int, telling: int, last_will: Callable[[], None]) -> None:
    """Never returns."""
    code = 1
    try:
        os.setsid()  # a signal to the parent's process group is not for us
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        os.close(telling)
        if os.read(reading, 1) != _DISMISSED:
            last_will()
        code = 0
    finally:
        os._exit(code)
