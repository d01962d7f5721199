"""What a group can use of the cores it has, from what it has used of them. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterable

BUSY_SHARE = 0.9
"""A group that uses more of its cores than this could use others, too."""
TURNS = 5
"""Seconds that a group has used less before cores go to others: with v1 each such change has the
loop give everything back for a moment."""
IDLE_CORES = 0.001
"""What a group without work uses at most."""
TO_SHOW_WORK = 0.1
"""Cores for each group on average: where fewer are lent, one that uses none may have work."""


def demand_of(used: float | None, had: float) -> int | None:
    """Cores that a group can use; None: all it gets, or nobody knows.

    ``used`` and ``had`` are means of the last second, in cores; ``used`` is None where CPU time is
    not counted. One core more than it uses, so that it can show that it could use others.
    """
    if used is None or used > BUSY_SHARE * max(had, IDLE_CORES / BUSY_SHARE):
        return None
    return 0 if used <= IDLE_CORES else math.ceil(used) + 1


def largest(demands: Iterable[int | None]) -> int | None:
    """The largest of ``demands``, of which None is all there is."""
    known: list[int] = []
    for demand in demands:
        if demand is None:
            return None
        known.append(demand)
    return max(known, default=None)
