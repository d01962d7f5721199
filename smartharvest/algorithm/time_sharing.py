"""Which elastic groups share cores by time, and with which weights. Pure.

Whole cores give a group what it is due while that is a whole number at the number of cores that is
lent. Three groups on two cores, or on a number that changes with every burst, can never have it so.
Such groups share all the cores they own, and the kernel's weights (cpu.weight, cpu.shares) divide
the time: exactly, within milliseconds, whatever number is lent, and without moving anything.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

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
