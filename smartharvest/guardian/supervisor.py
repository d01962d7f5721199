"""Replaces the guardian of this agent when it dies or hangs.

Nothing is lent until the new one watches.
"""

from __future__ import annotations

import logging
import os

from smartharvest.core import _loop
from smartharvest.errors import RightsError
from smartharvest.guardian.guard import Guard
from smartharvest.guardian.process import GuardianConfig
from smartharvest.guardian.scope import ScopeRequest
from smartharvest.host.cgroup.freezing import freezable_together
from smartharvest.host.journal.shared_page import SharedPage

_log = logging.getLogger(__name__)

HANGS_AFTER_NS = 1_000_000_000
"""A guardian beats every 100 ms; one that is silent for this long is replaced."""
_OWN_GAP_NS = 600_000_000
"""The most that one gap between two checks counts: the agent itself may not have run."""
MOST_FAILED_STARTS = 5


class GuardianSupervisor:
    """Runs the guardian of the agent whose ``page`` it reads. Raises RightsError if none starts.

    ``predecessor`` is the pid of the guardian of an earlier program; it is ended once the new one
    is ready.
    """

    def __init__(
        self, config: GuardianConfig, page: SharedPage, predecessor: int | None = None
    ) -> None:
        self._predecessor = None if predecessor is None else Guard.watching(predecessor)
        self._config = config
        self._page = page
        self._guard = Guard(config)
        self._was_ready = False
        self._failed_starts = 0
        self._beat = 0
        self._silent_ns = 0
        self._checked_ns = _loop.monotonic_ns()
        self._scope: ScopeRequest | None = None
        self.frozen_with: str | None = None
        """The control group whose freezing would stop agent and guardian; None if none would."""
        self.lost = 0
        """Guardians that died or hung."""

    @property
    def pid(self) -> int:
        return self._guard.pid

    def wait_ready(self) -> None:
        """Returns once the guardian watches. Raises RightsError if it does not in time."""
        self._guard.wait_ready()
        self._is_ready()
        self._end_predecessor()

    def _is_ready(self) -> None:
        if not self._was_ready:
            self.frozen_with = freezable_together(os.getpid(), self.pid)
            if self.frozen_with is not None and not self._config.fake_tree:
                self._scope = ScopeRequest(self.pid)
        self._was_ready = True

    def check(self) -> str | None:
        """Why nothing may be lent now; None if a guardian watches. Never waits.

        Raises RightsError after ``MOST_FAILED_STARTS`` guardians that died before they watched.
        """
        hangs = self._hangs()
        if hangs or not self._guard.alive:
            self._replace("hangs" if hangs else "has died")
        if not self._guard.is_ready():
            return "no guardian watches the agent"
        self._is_ready()
        self._failed_starts = 0
        if self._scope is not None and not self._scope.is_open:
            self._scope = None
            self.frozen_with = freezable_together(os.getpid(), self.pid)
            if self.frozen_with is not None:
                _log.info(
                    "Freezing %s freezes agent and guardian: what is lent stays lent then",
                    self.frozen_with,
                )
        return None

    def end(self) -> None:
        """Kills the guardian."""
        self._ask_nobody()
        self._guard.end()
        self._end_predecessor()

    def _end_predecessor(self) -> None:
        if self._predecessor is not None:
            self._predecessor.end()
            self._predecessor = None

    def _ask_nobody(self) -> None:
        if self._scope is not None:
            self._scope.end()
            self._scope = None

    def _hangs(self) -> bool:
        now_ns, beat = _loop.monotonic_ns(), self._page.guardian_beat
        gap_ns, self._checked_ns = min(now_ns - self._checked_ns, _OWN_GAP_NS), now_ns
        heard = beat != self._beat or not self._was_ready
        self._beat = beat
        self._silent_ns = 0 if heard else self._silent_ns + gap_ns
        return self._silent_ns > HANGS_AFTER_NS

    def _replace(self, why: str) -> None:
        if self._was_ready:
            self.lost += 1
            _log.warning("the guardian (pid %d) %s; starting another", self._guard.pid, why)
        self._failed_starts = 0 if self._was_ready else self._failed_starts + 1
        if self._failed_starts >= MOST_FAILED_STARTS:
            raise RightsError(
                f"the guardian ended {self._failed_starts} times before it watched; everything was "
                "given back; read its message above, or use --no-guardian"
            )
        self._ask_nobody()
        self._guard.end()
        self._was_ready = False
        self._silent_ns = 0
        self._guard = Guard(self._config)
