"""The demonstration's load: which function is invoked when, and for how long it computes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bench.serve.functions import FUNCTIONS

MEAN_CORE_S = 0.25
POPULARITY = 1.1
"""The k-th function is invoked in proportion to k to the power of minus this (Zipf)."""


@dataclass(frozen=True)
class Invocation:
    at_s: float
    function: str
    core_s: float


def described_mix(rps: float, seconds: float, seed: int) -> list[Invocation]:
    """Poisson arrivals; popularity as Zipf's, durations log-normal around each function's own."""
    random = np.random.default_rng(seed)
    names = list(FUNCTIONS)
    weights = np.arange(1, len(names) + 1) ** -POPULARITY
    own_s = MEAN_CORE_S * np.exp(random.normal(0, 0.5, len(names)))
    count = random.poisson(rps * seconds)
    at_s = np.sort(random.uniform(0, seconds, count))
    which = random.choice(len(names), count, p=weights / weights.sum())
    core_s = own_s[which] * np.exp(random.normal(-0.125, 0.5, count))
    core_s *= MEAN_CORE_S / core_s.mean()
    return [
        Invocation(float(at), names[index], float(work))
        for at, index, work in zip(at_s, which, core_s, strict=True)
    ]


def sampled(prefix: str, rps: float, seconds: float, seed: int) -> list[Invocation]:
    """The arrivals and durations of PREFIX_inv, _run and _mem (.csv or .csv.gz).

    Of the most invoked functions as many as the demonstration has, thinned to ``rps`` and scaled to
    the same mean duration.
    """
    from smartharvest.serverless.simulator.azure import read_azure
    from smartharvest.serverless.simulator.workload import draw

    workload = read_azure(prefix, 0.0)
    drawn = draw(workload, 60.0, None, seed)
    counts = np.bincount(drawn.function, minlength=len(workload.names))
    chosen = [int(index) for index in np.argsort(-counts, kind="stable")[: len(FUNCTIONS)]]
    names = dict(zip(chosen, FUNCTIONS, strict=True))
    kept = np.flatnonzero(np.isin(drawn.function, chosen))
    wanted = min(len(kept), round(rps * seconds))
    kept = np.sort(np.random.default_rng(seed).choice(kept, wanted, replace=False))
    work_s = np.minimum(drawn.work_ns[kept] / 1e9, 20 * MEAN_CORE_S)
    work_s *= MEAN_CORE_S / work_s.mean()
    at_s = drawn.arrival_ns[kept] / 3600e9 * seconds
    return [
        Invocation(float(at), names[int(index)], float(work))
        for at, index, work in zip(at_s, drawn.function[kept], work_s, strict=True)
    ]
