"""Writing to a disk that may not answer, while the waiting thread shows that it lives."""

from __future__ import annotations

import errno
import logging
import threading
import time
from collections.abc import Callable

from smartharvest.host.process.threads import has_started

_log = logging.getLogger(__name__)

PATIENCE_S = 30.0
"""A write that takes longer has failed."""
STEP_S = 0.05
TELL_AFTER_S = 1.0


class PatientWriter:
    """Runs one write at a time in a thread and waits for it, but not for ever."""

    def __init__(self, what: str, patience_s: float = PATIENCE_S) -> None:
        self._what = what
        self._patience_s = patience_s
        self._late: _Attempt | None = None

    def run(self, write: Callable[[], None], while_waiting: Callable[[], None]) -> None:
        """Returns once ``write`` has; calls ``while_waiting`` every ``STEP_S`` until then.

        Raises what ``write`` raises, and TimeoutError when patience is at its end; as long as a
        late write may still happen, every other one fails, too.
        """
        if self._late is not None and self._late.is_alive():
            raise self._timeout()
        attempt = _Attempt(write)
        if not has_started(attempt):  # rather a wait than an end
            write()
            return
        began_s, told = time.monotonic(), False
        attempt.join(STEP_S)
        while attempt.is_alive():
            waited_s = time.monotonic() - began_s
            if waited_s > self._patience_s:
                self._late = attempt
                raise self._timeout()
            if waited_s > TELL_AFTER_S and not told:
                told = True
                _log.warning("%s: its disk does not answer; nothing is lent meanwhile", self._what)
            while_waiting()
            attempt.join(STEP_S)
        if attempt.error is not None:
            raise attempt.error

    def _timeout(self) -> OSError:
        return OSError(errno.ETIMEDOUT, f"no answer from its disk for {self._patience_s:g} s")


class _Attempt(threading.Thread):
    error: BaseException | None = None

    def __init__(self, write: Callable[[], None]) -> None:
        super().__init__(name="sh-journal", daemon=True)
        self._write = write

    def run(self) -> None:
        try:
            self._write()
        except BaseException as error:
            self.error = error
