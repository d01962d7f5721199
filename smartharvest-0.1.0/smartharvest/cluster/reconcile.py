"""How an engine follows a node's capacity: level-triggered, with hysteresis. Pure.

Whatever happened before (the engine lost the number, the adapter was restarted), the next step
follows from what is offered, advertised and in use now.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Hysteresis:
    """How fast the engine follows the capacity, in seconds."""

    grow_after_s: float = 2.0
    """More must have been offered for this long; the least offered in that time is advertised."""
    shrink_after_s: float = 0.0
    """Less must have been offered for this long; the most offered in that time is advertised."""
    grace_s: float = 5.0
    """Time for jobs above the capacity to end by themselves."""


@dataclass(frozen=True, slots=True)
class Step:
    """What to do now."""

    advertise: int | None
    """Set this number of cores; None: the engine has it already."""
    shed: int | None
    """Bring the use down to this many cores; None: nothing is above the capacity."""
    grace_s: float
    """What is left of the grace for the work above; 0: end it."""


class Reconciler:
    """Turns offers into steps; never below ``guaranteed`` cores."""

    def __init__(self, hysteresis: Hysteresis, guaranteed: int) -> None:
        self.hysteresis = hysteresis
        self.guaranteed = guaranteed
        self.goal = guaranteed
        """The cores the engine should have."""
        self._above_since_s: float | None = None
        self._above = 0
        self._below_since_s: float | None = None
        self._below = 0
        self._over_since_s: float | None = None

    def step(
        self, now_s: float, offered: int, in_use: int, advertised: int | None, present: int = 0
    ) -> Step:
        """``advertised`` is read back from the engine; None if unknown.

        ``present`` cores are there at the moment: work beyond a cautious offer goes on as long as
        it has cores.
        """
        self._follow(now_s, max(offered, self.guaranteed))
        # While more is in use than there should be, no more than that is advertised, and no less:
        # engines refuse or miscount a capacity below what they have given out.
        cores = max(self.goal, min(in_use, advertised if advertised is not None else in_use))
        advertise = cores if cores != advertised else None
        if in_use <= max(self.goal, present):
            self._over_since_s = None
            return Step(advertise, None, self.hysteresis.grace_s)
        if self._over_since_s is None:
            self._over_since_s = now_s
        left_s = self._over_since_s + self.hysteresis.grace_s - now_s
        return Step(advertise, self.goal, max(0.0, left_s))

    def _follow(self, now_s: float, offered: int) -> None:
        if offered <= self.goal:
            self._above_since_s = None
        elif self._above_since_s is None:
            self._above_since_s, self._above = now_s, offered
        if offered >= self.goal:
            self._below_since_s = None
        elif self._below_since_s is None:
            self._below_since_s, self._below = now_s, offered
        if self._above_since_s is not None:
            self._above = min(self._above, offered)
            if now_s - self._above_since_s >= self.hysteresis.grow_after_s:
                self.goal, self._above_since_s = self._above, None
        elif self._below_since_s is not None:
            self._below = max(self._below, offered)
            if now_s - self._below_since_s >= self.hysteresis.shrink_after_s:
                self.goal, self._below_since_s = self._below, None
