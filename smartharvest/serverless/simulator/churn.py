"""How the cores of Harvest VMs come and go: the distributions of the paper.

Faster and Cheaper Serverless Computing on Harvested Resources (SOSP'21), section 3: cores change
every 17.8 h on average, 70 % of the intervals are longer than 10 minutes, 35 % than an hour; 35.1 %
of the VMs never change; changes are as often up as down, 12 cores on average and 30 at most.
Lifetimes are 61.5 days on average, 90 % longer than a day, 60 % than a month.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from smartharvest.serverless.simulator.pool import Pool, PoolBuilder, WorkerSize

Floats = NDArray[np.float64]

MINUTE_S, HOUR_S, DAY_S = 60.0, 3600.0, 86400.0
CHURN_NAMES = ("dedicated", "normal", "active")
INTERVALS = ((0.0, 10.0), (0.3, 10 * MINUTE_S), (0.65, HOUR_S), (1.0, 11.91 * DAY_S))
"""(share, seconds): quantiles of the time between two changes; the last gives the mean."""
LIFETIMES = ((0.0, HOUR_S), (0.1, DAY_S), (0.4, 30 * DAY_S), (1.0, 230 * DAY_S))
NEVER_CHANGE = 0.351
"""Share of the VMs."""
MEAN_CHANGE, LARGEST_CHANGE = 12.0, 30.0
"""In cores, of VMs whose cores vary by about the latter."""
ACTIVE_INTERVALS = 0.65
"""In an active cluster all intervals are among this share, the shortest: below an hour."""
ACTIVE_LIFETIMES = 0.1
"""And all lifetimes among this share: below a day."""
REPLACED_AFTER_S = 60.0
"""After an eviction another VM is there."""


def quantile(curve: tuple[tuple[float, float], ...], share: Floats) -> Floats:
    """Seconds at ``share`` (0..1) of a curve of points; straight lines in the logarithm."""
    shares, seconds = np.array(curve).T
    found: Floats = np.exp(np.interp(share, shares, np.log(seconds)))
    return found


def make_pool(
    churn: str, size: WorkerSize, regular: int, until_s: float, notice_s: float, seed: int
) -> Pool:
    """``size.count`` workers, the first ``regular`` of them regular VMs.

    ``churn`` is one of CHURN_NAMES. With dedicated all are regular in that nothing happens to
    them. Cores are the same on average in all three: a Harvest VM has between ``min_cores`` and
    ``max_cores``, and two begin as far above as below the average.
    """
    random = np.random.default_rng([seed, 2])
    builder = PoolBuilder(size.memory_gib)
    dedicated = churn == "dedicated"
    for _ in range(size.count if dedicated else regular):
        builder.worker(0.0, size.cores, size.cores, regular=not dedicated)
    if not dedicated:
        harvest = size.count - regular
        for i in range(harvest):
            if i % 2 == 0:
                cores = float(random.integers(size.min_cores, size.max_cores + 1))
            else:
                cores = size.min_cores + size.max_cores - cores
            alone = i == harvest - 1 and i % 2 == 0
            _live(builder, random, churn, size, size.cores if alone else cores, until_s, notice_s)
    return builder.build()


def _live(
    builder: PoolBuilder, random: np.random.Generator, churn: str, size: WorkerSize,
    cores: float, until_s: float, notice_s: float,
) -> None:  # fmt: skip
    """A Harvest VM, and those that replace it."""
    active = churn == "active"
    since_s, residual = 0.0, True
    while since_s < until_s:
        slot = builder.worker(since_s, cores, size.min_cores)
        lifetimes = ACTIVE_LIFETIMES if active else 1.0
        end_s = since_s + _time(random, LIFETIMES, lifetimes, residual=residual)
        still = not active and random.random() < NEVER_CHANGE
        at_s, first = since_s, residual
        while not still:
            share = ACTIVE_INTERVALS if active else 1.0
            at_s += _time(random, INTERVALS, share, residual=first)
            first = False
            if at_s >= min(end_s, until_s):
                break
            cores = _changed(random, cores, size)
            builder.resize(at_s, slot, cores)
        if end_s >= until_s:
            break
        builder.evict(end_s, slot, notice_s, since_s)
        since_s, residual = end_s + REPLACED_AFTER_S, False
        cores = float(random.integers(size.min_cores, size.max_cores + 1))


def _time(
    random: np.random.Generator, curve: tuple[tuple[float, float], ...], share: float, *,
    residual: bool,
) -> float:  # fmt: skip
    """Seconds of the lower ``share`` of a curve; or what is left of one, met at any moment.

    Long ones are met in proportion to their length.
    """
    if not residual:
        return float(quantile(curve, np.array(share * random.random())))
    lengths = quantile(curve, share * (np.arange(4096) + 0.5) / 4096)
    met = np.searchsorted(np.cumsum(lengths), random.random() * lengths.sum())
    return float(lengths[min(int(met), len(lengths) - 1)] * random.random())


def _changed(random: np.random.Generator, cores: float, size: WorkerSize) -> float:
    """Up or down with equal chance; the other way if there is no room that way.

    The paper's sizes, scaled to how far these workers' cores can vary.
    """
    span = size.max_cores - size.min_cores
    if span == 0:
        return cores
    # u ** power has the mean 1 / (power + 1), and at most 1.
    power = LARGEST_CHANGE / MEAN_CHANGE - 1.0
    step = max(1, round(span * random.random() ** power))
    up = bool(random.random() < 0.5)
    for signed in (step, -step) if up else (-step, step):
        if size.min_cores <= cores + signed <= size.max_cores:
            return float(cores + signed)
    # Neither way fits: to the nearer end that is another number.
    ends = sorted((size.min_cores, size.max_cores), key=lambda end: abs(end - cores))
    return float(next(end for end in ends if end != cores))
