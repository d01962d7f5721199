"""Durations as the agent counts them in C, in fewer buckets."""

from __future__ import annotations

from typing import TypedDict

from smartharvest.algorithm.harm import Durations

BOUNDS_NS = tuple(1 << exponent for exponent in range(10, 34))
"""1 us to 8.6 s. All histograms in C have an edge at each power of two: this loses nothing."""


class Histogram(TypedDict):
    """``counts[i]`` of ``count`` durations were shorter than ``bounds_ns[i]``."""

    bounds_ns: list[int]
    counts: list[int]
    count: int
    sum_ns: int


def histogram(durations: Durations, sum_ns: int) -> Histogram:
    """``durations`` are (any value in the bucket, count), ascending."""
    counts, below, left = [], 0, list(reversed(durations))
    for bound_ns in BOUNDS_NS:
        while left and left[-1][0] < bound_ns:
            below += left.pop()[1]
        counts.append(below)
    total = sum(count for _, count in durations)
    return {"bounds_ns": list(BOUNDS_NS), "counts": counts, "count": total, "sum_ns": sum_ns}


def add(one: Histogram | None, other: Histogram | None) -> Histogram | None:
    """Both together; None if neither is there."""
    if one is None or other is None:
        return other if one is None else one
    return {
        "bounds_ns": one["bounds_ns"],
        "counts": [a + b for a, b in zip(one["counts"], other["counts"], strict=True)],
        "count": one["count"] + other["count"],
        "sum_ns": one["sum_ns"] + other["sum_ns"],
    }
