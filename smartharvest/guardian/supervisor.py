"""Keeps a guardian over this agent: one that dies or hangs is replaced.

Until another watches nothing is lent.
"""

from __future__ import annotations

import logging

from smartharvest.core import _loop
from smartharvest.errors import RightsError
from smartharvest.guardian.guard import Guard
from smartharvest.guardian.process import Charge
from smartharvest.host.journal.shared_page import SharedPage

_log = logging.getLogger(__name__)

HANGS_AFTER_NS = 1_000_000_000
"""A guardian beats every 100 ms; one silent for so long is replaced."""
_OWN_GAP_NS = 300_000_000
"""Of a longer time between two checks no more counts: we may have been away ourselves."""
MOST_STARTS_IN_VAIN = 5


class Keeper:
    """The guardian of the agent whose ``page`` it reads. Raises RightsError if none can start.

    ``predecessor``, the pid of the one that watches for an earlier program, goes once it is ready.
    """

    def __init__(self, charge: Charge, page: SharedPage, predecessor: int | None = None) -> None:
        self._predecessor = None if predecessor is None else Guard.watching(predecessor)
        self._charge = charge
        self._page = page
        self._guard = Guard(charge)
        self._was_ready = False
        self._in_vain = 0
        self._beat = 0
        self._silent_ns = 0
        self._checked_ns = _loop.monotonic_ns()
        self.lost = 0
        """Guardians that died or hung."""

    @property
    def pid(self) -> int:
        return self._guard.pid

    def wait_ready(self) -> None:
        """Returns once the guardian watches. Raises RightsError if it does not in time."""
        self._guard.wait_ready()
        self._was_ready = True
        self._end_predecessor()

    def check(self) -> str | None:
        """Why nothing may be lent now, None if all is well. Never waits.

        Raises RightsError if guardian after guardian dies before it watches.
        """
        hangs = self._hangs()
        if hangs or not self._guard.alive:
            self._replace("hangs" if hangs else "has died")
        if not self._guard.is_ready():
            return "no guardian watches over the agent"
        self._was_ready, self._in_vain = True, 0
        return None

    def end(self) -> None:
        """Ends the guardian, whatever state it is in."""
        self._guard.end()
        self._end_predecessor()

    def _end_predecessor(self) -> None:
        if self._predecessor is not None:
            self._predecessor.end()
            self._predecessor = None

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
        self._in_vain = 0 if self._was_ready else self._in_vain + 1
        if self._in_vain >= MOST_STARTS_IN_VAIN:
            raise RightsError(
                f"the guardian ended {self._in_vain} times before it watched; everything was "
                "given back; look for its message, or go without: --no-guardian"
            )
        self._guard.end()
        self._was_ready = False
        self._silent_ns = 0
        self._guard = Guard(self._charge)
