"""From the slices of a condition to its figures, with confidence intervals. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.real.bootstrap import BLOCK_NS, Counts, histograms, paired_ratio, pooled_ratio
from bench.statistics import QUANTILES, rounded
from bench.subject import Figures, NotMeasurableError

PERCENTILES = {"p50": 50.0, "p99": 99.0, "p999": 99.9}
ALLOWED = 1.10
"""Of the P99 alone: the paper's limit (section 5.1)."""
PROTECTED, NOT_PROTECTED, UNCLEAR = "protected", "not protected", "cannot tell"


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
    steal_core_s: float = 0.0
    """What the hypervisor withheld meanwhile, of all CPUs."""
    disturbed: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    """Numbers of the blocks of arrivals in which others had the machine."""
    stood_still: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    """Numbers of those that a standstill of the whole machine touched."""
    standstills_ms: Sequence[float] = ()
    load_ns: float = 0.0
    """What a load that missed the second level of caches took before it."""


def kept_share(kept: Sequence[Slice], measured: Sequence[Slice]) -> float:
    """Of the requests of ``measured``."""
    left, whole = (sum(one.arrival_ns.size for one in side) for side in (kept, measured))
    return left / max(1, whole)


def without_disturbed(one: Slice) -> Slice:
    """Without the requests of the disturbed blocks; cores and work are those of all the time."""
    return _without(one, one.disturbed)


def without_standstills(one: Slice) -> Slice:
    """Without the requests of the blocks in which the machine stood still."""
    return _without(one, one.stood_still)


def _without(one: Slice, blocks: NDArray[np.int64]) -> Slice:
    kept = ~np.isin(one.arrival_ns // BLOCK_NS, blocks)
    return replace(one, arrival_ns=one.arrival_ns[kept], latency_ns=one.latency_ns[kept])


def summarize(slices: Sequence[Slice], *, shape: Sequence[float], batch_unit: float) -> Figures:
    """The figures of one condition by itself; times in microseconds.

    ``batch_unit`` is the batch's work a second with a core of its own; 0 if unknown.
    """
    pooled = np.concatenate([one.latency_ns for one in slices])
    answered = pooled[pooled >= 0]
    if not answered.size:
        raise NotMeasurableError("no request was answered")
    seconds = sum(one.seconds for one in slices)
    lent = [one.harvested_cores for one in slices if one.harvested_cores is not None]
    work = sum(one.batch_units for one in slices) / seconds
    return {
        "latency_us": _percentiles(answered),
        "quantiles_us": [rounded(float(v) / 1e3) for v in np.quantile(answered, QUANTILES)],
        "p99_rounds_us": [_percentiles(_answered(one))["p99"] for one in slices],
        "p99_steps_us": _steps(slices, len(shape)),
        "requests": int(pooled.size),
        "unanswered": int((pooled < 0).sum()),
        "harvested_cores": rounded(float(np.mean(lent))) if lent else None,
        "batch_cores": rounded(sum(one.batch_core_s for one in slices) / seconds),
        "batch_work": rounded(work),
        "batch_work_cores": rounded(work / batch_unit) if batch_unit else None,
        "safeguards": {
            "short": sum(one.short for one in slices),
            "long": sum(one.long for one in slices),
        },
        "standstills_ms": [length for one in slices for length in one.standstills_ms],
        "load_ns": rounded(float(np.median([one.load_ns for one in slices]))),
        "steal_cores": rounded(sum(one.steal_core_s for one in slices) / seconds),
        "agent_cores": rounded(sum(one.agent_core_s for one in slices) / seconds),
    }


def against(slices: Sequence[Slice], baseline: Sequence[Slice], seed: int) -> Figures:
    """Each percentile as a ratio to the baseline's, with its interval.

    Either side may have several slices a round, one after another. ``p99`` and its like are the
    median round's ratio, which is what a verdict goes by; ``pooled_p99`` is of all requests.
    """
    rounds = min(len(slices), len(baseline))
    own, other = (_by_round(side, rounds) for side in (slices, baseline))
    figures: Figures = {}
    for name, percentile in PERCENTILES.items():
        try:
            figures[name] = _ratio(*paired_ratio(own, other, percentile, seed))
        except ValueError:  # too few requests
            figures[name] = _ratio(*pooled_ratio(own, other, percentile, seed))
    figures["pooled_p99"] = _ratio(*pooled_ratio(own, other, PERCENTILES["p99"], seed))
    return figures


def _ratio(ratio: float, low: float, high: float) -> Figures:
    return {"ratio": rounded(ratio), "interval": [rounded(low), rounded(high)]}


def _by_round(side: Sequence[Slice], rounds: int) -> list[Counts]:
    each = len(side) // rounds
    counts = [histograms(one.arrival_ns, one.latency_ns) for one in side]
    return [np.concatenate(counts[n * each : (n + 1) * each]) for n in range(rounds)]


def verdict(p99: Mapping[str, Any]) -> str:
    """Whether the interval of a P99's ratio to that alone is on one side of what is allowed."""

    low, high = p99["interval"]
    if high <= ALLOWED:
        return PROTECTED
    return NOT_PROTECTED if low > ALLOWED else UNCLEAR


def _steps(slices: Sequence[Slice], steps: int) -> list[float]:
    """The P99 of each step of the load."""
    if steps < 2:
        return []
    found = []
    for step in range(steps):
        of_step = []
        for one in slices:
            length_ns = one.seconds * 1e9 / steps
            inside = (one.arrival_ns // length_ns) == step
            of_step.append(one.latency_ns[inside & (one.latency_ns >= 0)])
        found.append(_percentiles(np.concatenate(of_step))["p99"])
    return found


def _answered(one: Slice) -> NDArray[np.int64]:
    return one.latency_ns[one.latency_ns >= 0]


def _percentiles(latency_ns: NDArray[np.int64]) -> dict[str, float]:
    if not latency_ns.size:
        return dict.fromkeys(PERCENTILES, float("inf"))
    values = np.percentile(latency_ns, list(PERCENTILES.values())) / 1e3
    return {name: rounded(float(value)) for name, value in zip(PERCENTILES, values, strict=True)}
