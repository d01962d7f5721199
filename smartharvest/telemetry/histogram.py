"""Durations as the agent counts them in C, brought to a few buckets that anybody can read."""

from __future__ import annotations

from typing import TypedDict

from smartharvest.algorithm.policy.base import Durations

BOUNDS_NS = tuple(1 << exponent for exponent in range(10, 34))
"""1 us to 8.6 s. The buckets of all our histograms part at powers of two, so nothing is guessed."""


class Histogram(TypedDict):
    """``counts[i]`` durations were shorter than ``bounds_ns[i]``, ``count`` there were in all."""

    bounds_ns: list[int]
    counts: list[int]
    count: int
    sum_ns: int


def histogram(durations: Durations, sum_ns: int) -> Histogram:
    """Of durations by buckets, each named by any of the values in it, ascending."""
    counts, below, left = [], 0, list(reversed(durations))
    for bound_ns in BOUNDS_NS:
        while left and left[-1][0] < bound_ns:
            below += left.pop()[1]
        counts.append(below)
    total = sum(count for _, count in durations)
    return {"bounds_ns": list(BOUNDS_NS), "counts": counts, "count": total, "sum_ns": sum_ns}
