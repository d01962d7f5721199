"""Ending the youngest work where some of it refuses: the rest goes all the same.

Any tenant can have work that may not be ended (Slurm's ``--no-requeue``, a disruption budget of
zero). It is left alone for a while, longer after each refusal, so that it costs next to nothing.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from smartharvest.errors import EngineError
from smartharvest.printable import counted, shortened

_log = logging.getLogger(__name__)

FIRST_PAUSE_S = 2.0
LONGEST_PAUSE_S = 60.0


class Refused(EngineError):
    """The engine will not end this work; it may end other work."""


@dataclass(frozen=True, slots=True)
class Work:
    """A job or pod."""

    name: str
    """As an operator would look it up; names one at a time."""
    cores: int


@dataclass(slots=True)
class _Refusal:
    why: str
    again_s: float
    pause_s: float


class Refusals:
    """Who has refused, and when each is asked again; ``clock`` tells seconds.

    Remembers no more than is running.
    """

    def __init__(
        self, noun: str, to_what: str, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._noun, self._to_what, self._clock = noun, to_what, clock
        self._known: dict[str, _Refusal] = {}

    def end(self, running: Iterable[Work], excess: int, end: Callable[[Work], None]) -> None:
        """Ends ``running``, in this order, until ``excess`` cores less are in use.

        ``end`` raises Refused for what is not to be ended. Raises EngineError after the last one if
        refusals leave too much in use, and at once for any other error of ``end``.
        """
        listed = list(running)
        present = {work.name for work in listed}
        self._known = {name: one for name, one in self._known.items() if name in present}
        for work in listed:
            if excess <= 0:
                return
            if self._is_ended(work, end):
                excess -= work.cores
        if excess > 0 and self._known:
            reasons = [f"{name}: {one.why}" for name, one in sorted(self._known.items())]
            raise EngineError(
                f"{counted(len(reasons), self._noun)} above the capacity cannot be "
                f"{self._to_what}: {shortened(reasons)}"
            )

    def _is_ended(self, work: Work, end: Callable[[Work], None]) -> bool:
        known = self._known.get(work.name)
        if known is not None and self._clock() < known.again_s:
            return False
        try:
            end(work)
        except Refused as error:
            pause_s = min(2 * known.pause_s, LONGEST_PAUSE_S) if known else FIRST_PAUSE_S
            self._known[work.name] = _Refusal(str(error), self._clock() + pause_s, pause_s)
            if known is None:
                _log.info("%s refuses: %s", work.name, error)
            return False
        self._known.pop(work.name, None)
        return True
