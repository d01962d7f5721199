"""A new program that is to take over: it is tried next to the running one first."""

from __future__ import annotations

import logging
from collections.abc import Callable

from smartharvest.agent.reexec import Trial, TrialFailed
from smartharvest.errors import ConfigError

_log = logging.getLogger(__name__)


class Replacement:
    """Of one run; ``audit`` gets a kind and details."""

    def __init__(self, audit: Callable[..., None]) -> None:
        self._audit = audit
        self._trial: Trial | None = None
        self.refused: str | None = None
        """Why the program that was tried last does not take over."""

    @property
    def is_tried(self) -> bool:
        return self._trial is not None

    def begin(self) -> None:
        """Tries whether a new program starts with its configuration. Raises ConfigError."""
        try:
            self._trial = self._trial or Trial()
        except TrialFailed as error:
            self._refuse(error)
            raise ConfigError(str(error)) from error
        self.refused = None

    def passed(self) -> bool:
        """Whether the program that is tried has just shown that it starts. Never waits."""
        if self._trial is None:
            return False
        try:
            if not self._trial.passed():
                return False
        except TrialFailed as error:
            self._trial = None
            self._refuse(error)
            return False
        self._trial = None
        _log.info("Restart: handing over to a new program")
        self._audit("restarting")
        return True

    def _refuse(self, error: TrialFailed) -> None:
        _log.warning("%s; the running program goes on", error)
        self._audit("restart refused", why=str(error))
        self.refused = str(error)

    def end(self) -> None:
        """Ends what is tried, if anything is."""
        if self._trial is not None:
            self._trial.end()
