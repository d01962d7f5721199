"""Which elastic groups share cores by time, and with which weights. Pure.

Whole cores give a group what it is due while that is a whole number at the number of cores that is
lent. Three groups on two cores, or on a number that changes with every burst, can never have it so.
Such groups share all the cores they own, and the kernel's weights (cpu.weight, cpu.shares) divide
the time, whatever number is lent, and without moving anything.

The kernel divides each CPU's time by a group's weight times the part of its threads that are on
that CPU, and moves threads seldom. So a second is seldom divided as the weights say. What a group
lags behind its due makes its weight larger, until it has caught up.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from smartharvest.algorithm.demand import IDLE_CORES
from smartharvest.algorithm.division import Division, Share, divide, dues

ENTER = 0.02
"""A group that is off its due by more than this part of what is lent shares by time."""
LEAVE = 0.01
"""Below that whole cores do again."""
ENTER_TURNS = 3
LEAVE_TURNS = 10
LADDER = 1.02
"""Ratio of a weight to the next: the values that are ever written are few."""
_RUNGS = 465
"""Down to a ten-thousandth."""
LEAST = 0.01
"""Of the largest weight: what a group has that the others' minima leave nothing, so that it can
show that it has work."""
STEP_RUNGS = 10
"""A weight is corrected by so many at a time (a fifth): each change is a record of the audit."""
MOST_STEPS = 7
"""Corrections are within a quarter and four times."""
STEP_S = STEP_RUNGS * math.log(LADDER)
"""A group that lags a second of its due behind has e times its weight, as if in small steps."""
_STAYS = 0.75
"""Steps that a correction is off before it changes: half a step alone would come and go."""
_PACE = 0.25
"""Weight of the last second in what the groups use of one on average."""


class TimeSharing:
    """A look a second: how far whole cores are from what each group is due."""

    def __init__(self) -> None:
        self.names: frozenset[str] = frozenset()
        """Those that share by time: none or at least two."""
        self._seen: list[tuple[float, dict[str, float]]] = []
        """Of the last seconds, the cores lent on average, and how far each group would be off, as a
        part of them."""
        self._bounds: object = None
        self._here: set[str] = set()
        self._unchanged = 0
        """Seconds with the same bounds."""

    def turn(
        self,
        cores: Sequence[Sequence[int]],
        division: Division,
        shares: Sequence[Share],
        lent: float,
    ) -> frozenset[str]:
        """``lent`` cores on average of the last second, divided by ``shares``.

        ``cores`` are those of ``division``. Other shares are held at once against what was lent in
        the seconds before: a trial of three seconds must not begin with three seconds of waiting.
        With other groups the seconds before do not count.
        """
        here = {share.name for share in shares}
        if not self.names <= here:
            self.names = frozenset()
        bounds = [(share.name, share.weight, share.min, share.max) for share in shares]
        if bounds != self._bounds:
            division = divide(cores, shares, division.owner_of)
            known = self._seen if here == self._here else []
            self._seen = [(then, _errors(division, shares, then)) for then, _ in known]
            self._bounds, self._here, self._unchanged = bounds, here, 0
        if lent <= 0 or len(shares) < 2:
            return self.names
        self._seen = [*self._seen[1 - LEAVE_TURNS :], (lent, _errors(division, shares, lent))]
        self._unchanged += 1
        count = len(self._seen)
        if count < ENTER_TURNS:
            return self.names
        may_leave = min(count, self._unchanged) >= LEAVE_TURNS
        off = {name: sum(row[name] for _, row in self._seen) / count for name in here}
        if max(off.values()) <= LEAVE:
            if may_leave:
                self.names = frozenset()
            return self.names
        entering = {name for name, part in off.items() if part > ENTER}
        staying = {name for name in self.names if not may_leave or off[name] > LEAVE}
        names = entering | staying
        if len(names) == 1:
            names.add(max(sorted(here - names), key=lambda name: off[name]))
        self.names = frozenset(names)
        return self.names


def _errors(division: Division, shares: Sequence[Share], lent: float) -> dict[str, float]:
    """How far each group would be off its due with whole cores, as a part of what is lent.

    At the two whole numbers around the mean, not on average of them: a group that owns none of what
    is lent takes time from the others, so that too much here does not make up for too little there.
    """
    low = math.floor(lent)
    part = lent - low
    found = dict.fromkeys([share.name for share in shares], 0.0)
    for number, weight in ((low, 1 - part), (low + 1, part)):
        if weight > 0:
            owned = Counter(division.owners[:number])
            for share, due in zip(shares, dues(number, shares), strict=True):
                error = abs(owned[share.name] - due)
                found[share.name] += weight * error / lent
    return found


def weights(shares: Sequence[Share], lent: float) -> dict[str, float]:
    """The kernel's weight of each group, at most 1, with so many cores ``lent`` on average.

    What a group can use does not count: who has no work takes no time, and has its part at once
    when work comes.
    """
    if not shares:
        return {}
    willing = [replace(share, demand=None) for share in shares]
    found = dues(max(1.0, lent), willing)
    most = max(found)
    least = [LEAST if share.most > 0 else 0.0 for share in shares]
    return {
        share.name: _on_ladder(max(low, due / most) if most > 0 else 1.0)
        for share, due, low in zip(shares, found, least, strict=True)
    }


class Lags:
    """A look a second: what each group that shares by time lags behind its due, and its weight.

    A lag is of core-time, and at most what is due in MOST_STEPS * STEP_S seconds. A group that lags
    so far behind, with four times its weight, cannot use its due: the others owe it no more, and
    their lags are held against each other's alone. A group without work has no lag.
    """

    def __init__(self) -> None:
        self._lags: dict[str, float] = {}
        self._steps: dict[str, int] = {}
        """In force."""
        self._pace: float | None = None
        """Core-seconds that all have used in a second, on average."""

    def turn(self, used: Mapping[str, float], due: Mapping[str, float]) -> None:
        """Core-seconds that each group ``used`` in the last second, and what it was ``due``.

        Of all groups that share now; others are forgotten. A group's due counts as a part of what
        all used: others on the host leave them more in one second than in the next.
        """
        self._lags = {name: self._lags.get(name, 0.0) for name in due}
        self._steps = {name: self._steps.get(name, 0) for name in due}
        total, all_due = sum(used.values()), sum(due.values())
        if total <= 0 or all_due <= 0:
            return
        self._pace = total if self._pace is None else self._pace + _PACE * (total - self._pace)
        part = {name: mine / all_due for name, mine in due.items()}
        most = {name: MOST_STEPS * STEP_S * self._pace * part[name] for name in due}
        lags = {name: lag + total * part[name] - used[name] for name, lag in self._lags.items()}
        found = {name: most[name] for name in due if lags[name] >= most[name]}
        found |= {name: 0.0 for name in due if used[name] <= IDLE_CORES}
        rest = [name for name in due if name not in found]
        all_parts = sum(part[name] for name in rest)
        mean = sum(lags[name] for name in rest) / all_parts if all_parts > 0 else 0.0
        for name in rest:
            found[name] = max(-most[name], min(most[name], lags[name] - mean * part[name]))
        self._lags = found
        self._steps = {name: self._stepped(name, self._pace * part[name]) for name in due}

    def _stepped(self, name: str, second: float) -> int:
        """For a group that is due so many core-seconds in a second."""
        now = self._steps[name]
        wanted = self._lags[name] / (second * STEP_S) if second > 0 else 0.0
        return now if abs(wanted - now) <= _STAYS else round(wanted)

    def corrected(self, weights: Mapping[str, float]) -> dict[str, float]:
        """``weights`` with the corrections, at most 1: all are divided by the largest of them."""
        return {
            name: weight * LADDER ** (STEP_RUNGS * (self._steps.get(name, 0) - MOST_STEPS))
            for name, weight in weights.items()
        }


def due_of(spent: float, shares: Sequence[Share], lent: float) -> list[float]:
    """What each group was due of the core-time that all have ``spent``, with so many cores lent."""
    found = dues(lent, shares)
    total = sum(found)
    return [spent * due / total if total > 0 else 0.0 for due in found]


def _on_ladder(part: float) -> float:
    if part <= 0:
        return LADDER**-_RUNGS
    return float(LADDER ** -min(_RUNGS, round(-math.log(part) / math.log(LADDER))))


def as_kernel_value(weight: float, version: int) -> str:
    """Of cpu.shares (1) or cpu.weight (2), for a ``weight`` of at most 1."""
    return str(max(2, round(102_400 * weight)) if version == 1 else max(1, round(10_000 * weight)))


def had(
    division: Division, name: str, lent: frozenset[int], parts: Mapping[str, float]
) -> float | int:
    """Cores of a group: a whole number, unless it shares by time, where it is rounded."""
    found = division.portion(name, lent, parts)
    return found if isinstance(found, int) else round(found, 3)
