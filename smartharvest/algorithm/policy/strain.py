"""What waiting for a core does to the primary, relative to how long its tasks run.

A wait of 100 us does not matter to a request of 4 ms but dominates one of 40 us, so everything is a
share of the run times that the sensor has seen. Nothing about the application need be known.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from smartharvest.algorithm.harm import Durations
from smartharvest.algorithm.policy.base import Dispatches
from smartharvest.algorithm.policy.spans import TYPICAL

OCTAVE = 8
"""Buckets of the histograms kept here."""
SHORTEST_NS = 1_000
BUCKETS = 24 * OCTAVE
"""Up to 17 s; anything shorter than a microsecond is no wait."""
EDGES_NS = SHORTEST_NS * 2.0 ** (np.arange(BUCKETS) / OCTAVE)
WAKE_EACH_OTHER = 0.4
"""Where tasks of the same primary wake so large a part a request takes several: half of them are
woken so if one takes requests in and wakes another for each, and fewer if it takes in several."""


class Strain:
    """Waits, run times and moves of about the last ``half_life_ns``, older ones counting less."""

    def __init__(self, half_life_ns: int = 1_000_000_000) -> None:
        self._half_life_ns = half_life_ns
        self._waits = np.zeros(BUCKETS)
        self._runs = np.zeros(BUCKETS)
        self._moves = np.zeros(BUCKETS)
        self._woken = self._woken_by_own = 0.0
        self._end_ns: int | None = None

    def observe(self, seen: Dispatches) -> None:
        if self._end_ns is not None:
            fading = 0.5 ** ((seen.end_ns - self._end_ns) / self._half_life_ns)
            self._waits *= fading
            self._runs *= fading
            self._moves *= fading
            self._woken *= fading
            self._woken_by_own *= fading
        self._end_ns = seen.end_ns
        add_to(self._waits, seen.waits)
        add_to(self._runs, seen.runs)
        add_to(self._moves, seen.moves)
        for spans in seen.spans:
            self._woken += sum(count for _, count in (*spans.lent, *spans.not_lent))
            self._woken_by_own += spans.woken_by_own

    def forget_waits(self) -> None:
        """As if there had been no dispatch and no move yet; run times stay."""
        self._waits[:] = 0
        self._moves[:] = 0

    @property
    def dispatches(self) -> float:
        """How many waits count, the faded ones in part."""
        return float(self._waits.sum())

    def run_ns(self, q: float) -> float:
        """Quantile of the run times; 0 if none is known."""
        return _quantile(self._runs, q)

    def move_ns(self, q: float) -> float:
        """Quantile of how long cores took to change hands; 0 if none did."""
        return _quantile(self._moves, q)

    @property
    def returns(self) -> float:
        """How many cores came back: half of the moves, the faded ones in part."""
        return float(self._moves.sum()) / 2

    @property
    def wakes_itself(self) -> bool:
        """Whether tasks of the same primary wake each other."""
        return self._woken_by_own > WAKE_EACH_OTHER * self._woken

    def inflation(
        self, q: float, held_up: float = 0.0, delay_ns: float = 0.0, *, together: bool = False
    ) -> float:
        """By what share the waits raise quantile ``q`` of a dispatch's wait and run together.

        As if every run could meet every wait, and the share ``held_up`` of the waits were longer by
        ``delay_ns``. 0 if nothing is known. ``together``: the median counts for the sum of all but
        the longest runs, and the result is by what share the waits raise that. A request that takes
        several tasks takes their sum, and many of them only hand it over.
        """
        alone_ns = self.run_ns(q)
        total = self._waits.sum()
        if alone_ns <= 0 or total <= 0:
            return 0.0
        met = np.flatnonzero(self._waits)
        share = self._waits[met] / total
        wait_ns = np.where(met == 0, 0.0, EDGES_NS[met])
        if held_up > 0:
            share = np.concatenate(((1 - held_up) * share, held_up * share))
            wait_ns = np.concatenate((wait_ns, wait_ns + delay_ns))
        if together and q == 0.5:
            return float(share @ wait_ns) / self._typical_run_ns()
        done = np.concatenate(([0.0], np.cumsum(self._runs) / self._runs.sum()))
        at_ns = np.concatenate(([0.0], EDGES_NS))
        low, high = alone_ns, alone_ns + float(wait_ns.max())
        while high - low > 0.002 * alone_ns:
            middle = (low + high) / 2
            if float(share @ np.interp(middle - wait_ns, at_ns, done)) < q:
                low = middle
            else:
                high = middle
        return (low + high) / 2 / alone_ns - 1

    def _typical_run_ns(self) -> float:
        """The mean of all but the longest runs."""
        runs = self._runs.copy()
        surplus = np.cumsum(runs) - TYPICAL * runs.sum()
        runs -= np.clip(surplus, 0.0, runs)
        return float(runs @ EDGES_NS / runs.sum())

    def waits_beyond(self, limit_ns: float) -> float:
        """The share of waits longer than a limit; 0 if nothing is known."""
        total = self._waits.sum()
        return float(self._waits[limit_ns < EDGES_NS].sum() / total) if total > 0 else 0.0


def add_to(histogram: NDArray[np.float64], durations: Durations) -> None:
    """Counts durations in the buckets that end at ``EDGES_NS``."""
    for edge_ns, count in durations:
        bucket = int(np.searchsorted(EDGES_NS, edge_ns))
        histogram[min(bucket, BUCKETS - 1)] += count


def _quantile(histogram: NDArray[np.float64], q: float) -> float:
    total = histogram.sum()
    if total <= 0:
        return 0.0
    done = np.concatenate(([0.0], np.cumsum(histogram) / total))
    return float(np.interp(q, done, np.concatenate(([0.0], EDGES_NS))))
