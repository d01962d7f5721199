"""Intervals for the ratio of two percentiles, from blocks of requests of several rounds. Pure.

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
FEWEST = 20
"""Requests of a block that is to have a percentile."""

Counts = NDArray[np.int64]


def histograms(arrival_ns: NDArray[np.int64], latency_ns: NDArray[np.int64]) -> Counts:
    """A row for each block of arrivals of one round that has answered requests."""
    answered = latency_ns >= 0
    block = arrival_ns[answered] // BLOCK_NS
    scaled = np.log(np.maximum(latency_ns[answered], LEAST_NS) / LEAST_NS) / np.log(STEP)
    column = np.minimum(scaled.astype(np.int64), BINS - 1)
    numbers, row = np.unique(block, return_inverse=True)
    counts = np.zeros((max(1, numbers.size), BINS), dtype=np.int64)
    np.add.at(counts, (row, column), 1)
    return counts


def ratio_interval(
    case: Sequence[Counts], baseline: Sequence[Counts], percentile: float, seed: int
) -> tuple[float, float]:
    """Of case's percentile over baseline's; both have one entry a round, in the same order."""
    rng = np.random.default_rng(seed)
    rounds = rng.integers(0, len(case), (RESAMPLES, len(case)))
    times = [np.bincount(drawn, minlength=len(case)) for drawn in rounds]
    ratios = _draw(case, times, percentile, rng) / _draw(baseline, times, percentile, rng)
    tail = (1.0 - CONFIDENCE) / 2 * 100
    low, high = np.percentile(ratios, [tail, 100 - tail])
    return float(low), float(high)


def typical_ratio(
    case: Sequence[Counts], baseline: Sequence[Counts], percentile: float, seed: int
) -> tuple[float, float, float]:
    """As ``ratio_interval`` with the ratio first, of the percentile of the median block.

    A stall of the whole machine, which a hypervisor makes now and then, spoils a block or two and
    not this. ValueError if no block has enough requests.
    """
    rng = np.random.default_rng(seed)
    sides = [[_of_blocks(counts, percentile) for counts in side] for side in (case, baseline)]
    usable = [number for number in range(len(case)) if all(side[number].size for side in sides)]
    if not usable:
        raise ValueError("no block has enough requests")
    ratios = []
    for drawn in rng.choice(usable, (RESAMPLES, len(usable))):
        own, other = (
            np.median(np.concatenate([rng.choice(side[n], side[n].size) for n in drawn]))
            for side in sides
        )
        ratios.append(own / other)
    tail = (1.0 - CONFIDENCE) / 2 * 100
    low, high = np.percentile(ratios, [tail, 100 - tail])
    own, other = (np.median(np.concatenate([side[n] for n in usable])) for side in sides)
    return float(own / other), float(low), float(high)


def _of_blocks(counts: Counts, percentile: float) -> NDArray[np.float64]:
    """The percentile of each block with at least FEWEST requests, ns."""
    requests = counts.sum(axis=1)
    reached = np.cumsum(counts[requests >= FEWEST], axis=1)
    wanted = reached[:, -1:] * percentile / 100
    column = (reached < wanted).sum(axis=1)
    return np.asarray(LEAST_NS * STEP ** (column + 0.5), dtype=np.float64)


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
    reached = np.cumsum(sums, axis=1)
    wanted = reached[:, -1:] * percentile / 100
    column = (reached < wanted).sum(axis=1)
    return np.asarray(LEAST_NS * STEP ** (column + 0.5), dtype=np.float64)
