"""Rests from a way of sharing that is held: when they come, and what they tell.

What lending costs shows in waits but for what it leaves in caches and on idle CPUs. So a way that
is held rests now and then: nothing is lent for a moment, and the median task of both is compared.
Counts periods; pure.
"""

from __future__ import annotations

from collections.abc import Sequence

from smartharvest.algorithm.policy.meter import Meter
from smartharvest.algorithm.policy.records import ENOUGH_PAIRS, MOST_PAIRS, Record

REST_PERIODS = 6
"""How long nothing is lent: enough to know how long the tasks take then."""
FIRST_REST_PERIODS, LATER_REST = 40, 1.3
"""A way that is held rests so early, then so much later each time,"""
MANY_FIRST_REST_PERIODS, MANY_LATER_REST = 200, 1.5
"""... where cores are many so: there caches are larger, and what a rest costs is more,"""
MOST_BETWEEN_PERIODS, MOST_RESTS = 1_200, 13
"""... and after two minutes at the end,"""
DOUBT_REST_PERIODS, LATER_DOUBT_REST_PERIODS = 20, 40
"""... or so soon while it may be too dear: the first rests from it, and those that tell only
together."""


class Rests:
    """From ways that are held, by one policy; of few cores or many."""

    def __init__(self, *, few: bool) -> None:
        self._first, self._later = (
            (FIRST_REST_PERIODS, LATER_REST) if few else (MANY_FIRST_REST_PERIODS, MANY_LATER_REST)
        )
        self._at = 0
        """The period of the next one,"""
        self._left = 0
        """... and periods to come of the one that is on."""

    @property
    def is_on(self) -> bool:
        return self._left > 0

    def is_due(self, period: int) -> bool:
        return period >= self._at

    def plan(
        self, period: int, way: int, record: Record, meters: Sequence[Meter], *, is_new: bool
    ) -> None:
        """When that way rests next: soon if it is in doubt, or new and was too dear before."""
        later = min(MOST_BETWEEN_PERIODS, round(self._first * self._later**record.rests))
        if self.doubt(way, record, meters, unless_known=not is_new):
            is_first = is_new or record.rests < ENOUGH_PAIRS
            later = DOUBT_REST_PERIODS if is_first else LATER_DOUBT_REST_PERIODS
        self._at = period + later

    def doubt(
        self, way: int, record: Record, meters: Sequence[Meter], *, unless_known: bool = True
    ) -> bool:
        """Whether that way may cost what no wait shows, unless all rests that count have told."""
        if unless_known and record.rests >= MOST_PAIRS:
            return False
        return any(meter.may_be_longer(way) for meter in meters)

    def begin(self, meters: Sequence[Meter]) -> None:
        """Nothing is lent from now on."""
        self._left = REST_PERIODS
        for meter in meters:
            meter.begin_rest()

    def abandon(self, meters: Sequence[Meter]) -> None:
        """It tells nothing."""
        self._left = 0
        for meter in meters:
            meter.abandon_rest()

    def go_on(self, periods: int) -> None:
        """So many have passed in it."""
        self._left = max(0, self._left - periods)

    def end(self, way: int, record: Record, meters: Sequence[Meter]) -> str:
        """Why that way, which goes on, is too dear for all that its rests have told; empty: it is
        not."""
        record.rests = min(record.rests + 1, MOST_RESTS)
        told = [(meter.end_rest(way), meter.protect) for meter in meters]
        beyond = next((one for one, protect in told if one.is_beyond(protect)), None)
        if beyond is None:
            return ""
        longer = f"{beyond.mean:.0%} longer than with nothing lent"
        return f"the median request is taken to last {longer}"


def told_by_rests(way: int, meters: Sequence[Meter]) -> str:
    """What rests have told of that way, for the primary that it costs most; empty: nothing."""
    told = [one for meter in meters if (one := meter.slowdowns.get(way)) is not None and one.rests]
    if not told:
        return ""
    worst = max(told, key=lambda one: one.mean)
    count = "a rest" if worst.rests == 1 else f"{worst.rests} rests"
    return f"(median request {round(100 * worst.mean):+d}% by {count})"
