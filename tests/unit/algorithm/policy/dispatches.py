"""Periods of dispatches made by hand."""

from __future__ import annotations

from smartharvest.algorithm.policy.base import DISPATCHES_PERIOD_NS, Dispatches


def period(
    number: int,
    waits: dict[int, int] | None = None,
    runs: dict[int, int] | None = None,
    *,
    lent: bool = True,
    moves: dict[int, int] | None = None,
) -> Dispatches:
    """Period ``number``, from 1: counts by microseconds; by default 1,000 runs of 1 ms unwaited."""

    def durations(counts: dict[int, int]) -> tuple[tuple[int, int], ...]:
        return tuple((us * 1000, count) for us, count in sorted(counts.items()))

    return Dispatches(
        end_ns=number * DISPATCHES_PERIOD_NS,
        waits=durations(waits if waits is not None else {0: 1000}),
        runs=durations(runs if runs is not None else {1000: 1000}),
        lent=lent,
        moves=durations(moves or {}),
    )
