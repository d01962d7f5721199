"""Ratios of two percentiles and their intervals, from blocks of requests of several rounds. Pure.

Requests that are close share their luck, and so do those of one round: rounds are drawn with
replacement, the same for both sides, which ran interleaved in them; then whole blocks within each.
Latencies are counted in steps of 1 %, so that a draw is a sum of histograms.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

BLOCK_NS = 100_000_000
RESAMPLES = 500
CONFIDENCE = 0.95
STEP = 1.01
LEAST_NS, BINS = 1_000, 1900
"""Up to 160 s."""
FEWEST = 100
"""Requests of a round that is to have a percentile."""

Counts = NDArray[np.int64]


def bins(latency_ns: NDArray[np.int64]) -> NDArray[np.int64]:
    """The column of each latency, in steps of STEP from LEAST_NS on."""
    scaled = np.log(np.maximum(latency_ns, LEAST_NS) / LEAST_NS) / np.log(STEP)
    return np.asarray(np.minimum(scaled, BINS - 1), dtype=np.int64)


def middle_ns(column: NDArray[np.int64]) -> NDArray[np.float64]:
    """The latency in the middle of each column."""
    return np.asarray(LEAST_NS * STEP ** (column + 0.5), dtype=np.float64)


def histograms(arrival_ns: NDArray[np.int64], latency_ns: NDArray[np.int64]) -> Counts:
    """A row for each block of arrivals of one round that has answered requests."""
    answered = latency_ns >= 0
    block = arrival_ns[answered] // BLOCK_NS
    column = bins(latency_ns[answered])
    numbers, row = np.unique(block, return_inverse=True)
    counts = np.zeros((max(1, numbers.size), BINS), dtype=np.int64)
    np.add.at(counts, (row, column), 1)
    return counts


def paired_ratio(
    case: Sequence[Counts], baseline: Sequence[Counts], percentile: float, seed: int
) -> tuple[float, float, float]:
    """(median round's ratio of case's percentile over baseline's, low, high).

    Both have one entry a round, in the same order. What a whole round suffers cancels, and a stall
    of the machine, which spoils a round or two, does not count. ValueError if no round has FEWEST
    requests on both sides.
    """
    rng = np.random.default_rng(seed)
    pairs = [
        sides for sides in zip(case, baseline, strict=True) if min(map(np.sum, sides)) >= FEWEST
    ]
    if not pairs:
        raise ValueError("no round has enough requests")
    ratios = np.array(
        [
            _resampled(own, percentile, rng) / _resampled(other, percentile, rng)
            for own, other in pairs
        ]
    )
    drawn = rng.integers(0, len(pairs), (RESAMPLES, len(pairs)))
    medians = np.median(ratios[drawn, np.arange(RESAMPLES)[:, None]], axis=1)
    found = [_percentile(own, percentile) / _percentile(other, percentile) for own, other in pairs]
    return float(np.median(found)), *_interval(medians)


def pooled_ratio(
    case: Sequence[Counts], baseline: Sequence[Counts], percentile: float, seed: int
) -> tuple[float, float, float]:
    """The same of the requests of all rounds together."""
    rng = np.random.default_rng(seed)
    rounds = rng.integers(0, len(case), (RESAMPLES, len(case)))
    times = [np.bincount(drawn, minlength=len(case)) for drawn in rounds]
    ratios = _draw(case, times, percentile, rng) / _draw(baseline, times, percentile, rng)
    ratio = _percentile(np.concatenate(case), percentile) / _percentile(
        np.concatenate(baseline), percentile
    )
    return float(ratio), *_interval(ratios)


def _interval(ratios: NDArray[np.float64]) -> tuple[float, float]:
    tail = (1.0 - CONFIDENCE) / 2 * 100
    low, high = np.percentile(ratios, [tail, 100 - tail])
    return float(low), float(high)


def _resampled(counts: Counts, percentile: float, rng: np.random.Generator) -> NDArray[np.float64]:
    """The percentile of RESAMPLES draws of one round's blocks."""
    return _draw([counts], [np.ones(1, dtype=np.int64)] * RESAMPLES, percentile, rng)


def _percentile(counts: Counts, percentile: float) -> float:
    return float(_reached(counts.sum(axis=0, keepdims=True).astype(float), percentile)[0])


def _draw(
    source: Sequence[Counts],
    times: Sequence[NDArray[np.int64]],
    percentile: float,
    rng: np.random.Generator,
) -> NDArray[np.float64]:
    """The percentile of each resample."""
    sums = np.zeros((len(times), BINS))
    for number, counts in enumerate(source):
        blocks = counts.shape[0]
        drawn = [rng.multinomial(blocks * time[number], [1 / blocks] * blocks) for time in times]
        sums += np.asarray(drawn, dtype=np.float64) @ counts
    return _reached(sums, percentile)


def _reached(sums: NDArray[np.float64], percentile: float) -> NDArray[np.float64]:
    """The percentile of each row's histogram, ns."""
    reached = np.cumsum(sums, axis=1)
    wanted = reached[:, -1:] * percentile / 100
    column = (reached < wanted).sum(axis=1)
    return middle_ns(column)
