"""From the slices of a condition to its figures, with confidence intervals. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bench.statistics import rounded
from bench.subject import Figures

BLOCK_NS = 250_000_000
"""Requests that are closer than this share their luck: the bootstrap draws whole blocks."""
RESAMPLES = 400
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Slice:
    """One condition in one round."""

    arrival_ns: NDArray[np.int64]
    latency_ns: NDArray[np.int64]
    """-1: no answer came."""
    seconds: float
    batch_units: int
    batch_core_s: float
    harvested_cores: float | None
    """None where no agent lends."""
    short: int = 0
    long: int = 0
    agent_core_s: float = 0.0


def blocks(slices: Sequence[Slice]) -> list[NDArray[np.int64]]:
    """The latencies of all answered requests, by blocks of arrival time."""
    found = []
    for one in slices:
        block = one.arrival_ns // BLOCK_NS
        answered = one.latency_ns >= 0
        found += [
            one.latency_ns[(block == number) & answered] for number in np.unique(block[answered])
        ]
    return found


def bootstrap_change(
    case: Sequence[NDArray[np.int64]],
    baseline: Sequence[NDArray[np.int64]],
    percentile: float,
    seed: int,
) -> tuple[float, float]:
    """The interval of (case's percentile / baseline's) - 1 over resampled blocks."""
    rng = np.random.default_rng(seed)

    def draw(source: Sequence[NDArray[np.int64]]) -> float:
        chosen = rng.integers(0, len(source), len(source))
        return float(np.percentile(np.concatenate([source[i] for i in chosen]), percentile))

    changes = [draw(case) / draw(baseline) - 1.0 for _ in range(RESAMPLES)]
    tail = (1.0 - CONFIDENCE) / 2 * 100
    low, high = np.percentile(changes, [tail, 100 - tail])
    return float(low), float(high)


def summarize(slices: Sequence[Slice], baseline: Sequence[Slice], seed: int) -> Figures:
    """The figures of one condition beside the baseline's; times in microseconds."""
    own, other = blocks(slices), blocks(baseline)
    pooled, reference = np.concatenate(own), np.concatenate(other)
    seconds = sum(one.seconds for one in slices)
    lent = [one.harvested_cores for one in slices if one.harvested_cores is not None]
    figures: Figures = {
        "latency_us": _percentiles(pooled),
        "p99_rounds_us": [
            rounded(float(np.percentile(one.latency_ns[one.latency_ns >= 0], 99)) / 1e3)
            for one in slices
        ],
        "requests": int(sum(one.latency_ns.size for one in slices)),
        "unanswered": int(sum((one.latency_ns < 0).sum() for one in slices)),
        "harvested_cores": rounded(float(np.mean(lent))) if lent else None,
        "batch_cores": rounded(sum(one.batch_core_s for one in slices) / seconds),
        "batch_work": rounded(sum(one.batch_units for one in slices) / seconds),
        "safeguards": {
            "short": sum(one.short for one in slices),
            "long": sum(one.long for one in slices),
        },
        "agent_cores": rounded(sum(one.agent_core_s for one in slices) / seconds),
    }
    if slices is not baseline:
        for name, percentile in (("p50", 50.0), ("p99", 99.0), ("p999", 99.9)):
            change = np.percentile(pooled, percentile) / np.percentile(reference, percentile) - 1.0
            figures[f"{name}_change"] = round(float(change), 3)
        low, high = bootstrap_change(own, other, 99.0, seed)
        figures["p99_change_interval"] = [round(low, 3), round(high, 3)]
    return figures


def _percentiles(latency_ns: NDArray[np.int64]) -> dict[str, float]:
    values = np.percentile(latency_ns, [50, 99, 99.9]) / 1e3
    names = ("p50", "p99", "p999")
    return {name: rounded(float(value)) for name, value in zip(names, values, strict=True)}
