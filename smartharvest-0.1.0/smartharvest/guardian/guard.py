"""The agent's side of its guardian."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys

from smartharvest.errors import RightsError
from smartharvest.guardian.process import READY, GuardianConfig
from smartharvest.host.process.start import start_python

_START_S = 10.0
"""How long the guardian may take to be ready."""

_KILL_TAKES_S = 1.0


class Guard:
    """A guardian process, started in a session of its own and a child of this process."""

    _process: subprocess.Popen[bytes] | None
    """None of one that an earlier program has started."""

    def __init__(self, config: GuardianConfig) -> None:
        """Starts the process; call ``wait_ready`` before changing anything. Raises RightsError."""
        self._ready, theirs = os.pipe()
        try:
            self._process = start_python(
                "smartharvest.guardian",
                *config.arguments(),
                site=False,
                environment={},
                stdin=subprocess.DEVNULL,
                stdout=theirs,
                start_new_session=True,
            )
        except OSError as error:
            os.close(self._ready)
            raise RightsError(
                f"{sys.executable}: the guardian cannot be started: {error.strerror}; "
                "--no-guardian does without it"
            ) from error
        finally:
            os.close(theirs)
        self.pid = self._process.pid
        self._pidfd = os.pidfd_open(self.pid)

    @classmethod
    def watching(cls, pid: int) -> Guard | None:
        """A child of this process that an earlier program started; None if it is gone."""
        guard = cls.__new__(cls)
        guard.pid, guard._process, guard._ready = pid, None, -1
        try:
            guard._pidfd = os.pidfd_open(pid)
        except ProcessLookupError:
            return None
        return guard

    def wait_ready(self) -> None:
        """Returns once it watches. Raises RightsError after ``_START_S``."""
        if not self.is_ready(_START_S):
            raise RightsError(
                "the guardian did not start; read its message above, or use --no-guardian"
            )

    def is_ready(self, within_s: float = 0.0) -> bool:
        """Whether it watches, or starts to ``within_s`` from now."""
        if self._ready < 0:
            return True
        poller = select.poll()
        poller.register(self._ready, select.POLLIN)
        if not poller.poll(within_s * 1000) or os.read(self._ready, 1) != READY:
            return False
        os.close(self._ready)
        self._ready = -1
        return True

    @property
    def alive(self) -> bool:
        if self._pidfd < 0:
            return False
        poller = select.poll()
        poller.register(self._pidfd, select.POLLIN)
        return not poller.poll(0)

    def end(self) -> None:
        """Kills it: there is nothing left to guard.

        One that takes longer than ``_KILL_TAKES_S`` (in state D, frozen) ends when it can, and
        writes nothing any more.
        """
        if self._pidfd < 0:
            return
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)
        poller = select.poll()
        poller.register(self._pidfd, select.POLLIN)
        poller.poll(_KILL_TAKES_S * 1000)
        if self._process is not None:
            self._process.poll()
        else:
            os.waitpid(self.pid, os.WNOHANG)
        for fd in (self._pidfd, self._ready):
            if fd >= 0:
                os.close(fd)
        self._pidfd = self._ready = -1
