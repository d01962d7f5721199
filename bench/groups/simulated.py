"""What sharing by throughput gains in simulated time, and what dividing a made host costs."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bench.statistics import rounded
from smartharvest.algorithm.division import Share, divide, dues
from smartharvest.algorithm.time_sharing import weights
from smartharvest.algorithm.worth import Worth

PAPERS_GAIN = 0.21
"""Work per watt beyond equal shares, "up to" (Hankendi and Coskun; algorithm/guarantee.py)."""
PAIRS = ((0.99, 0.5), (0.99, 0.9), (0.9, 0.9))
"""Of each of two programs the part that runs on all its cores (Amdahl)."""
TOTALS = (8, 16)
SECONDS = 2000
NOISE = 0.01
SEEDS = range(20)
GROUPS, CPUS, TIMES = 64, 256, 30


def amdahl(parallel: float, cores: int) -> float:
    """Throughput of a program of which that part runs on all its cores; 1 on one."""
    return 1 / ((1 - parallel) + parallel / cores) if cores else 0.0


def gain(total: int, parallel: Sequence[float], turns: int, seed: int) -> tuple[float, float]:
    """What sharing by throughput did beyond equal shares in so many seconds with 1 % of noise.

    And what the best division would have done. Parts of the work of equal shares, where each
    group's work counts by what it does with one. All cores are lent all the time, so work for each
    core-second gains the same.
    """
    source, worth, names = random.Random(seed), Worth("ab", total), "ab"
    usual = [amdahl(part, total // 2) for part in parallel]

    def work(counts: list[int]) -> list[float]:
        return [amdahl(p, n) / u for p, n, u in zip(parallel, counts, usual, strict=True)]

    done = 0.0
    for _ in range(turns):
        shares = [Share(name, worth.weights[name]) for name in names]
        division = divide([[cpu] for cpu in range(total)], shares)
        did = work([division.count(name, total) for name in names])
        done += sum(did) / turns
        noisy = [one * source.gauss(1, NOISE) for one in did]
        worth.turn(dict(zip(names, noisy, strict=True)), total)
    best = max(sum(work([here, total - here])) for here in range(1, total))
    return done / 2 - 1, best / 2 - 1


def simulate_pairs() -> dict[str, Any]:
    """Median and 90 % of the seeds, for each pair and number of cores."""
    rows = []
    for total in TOTALS:
        for parallel in PAIRS:
            found = [gain(total, parallel, SECONDS, seed) for seed in SEEDS]
            gained = [one for one, _ in found]
            low, middle, high = np.percentile(gained, [5, 50, 95])
            rows.append(
                {
                    "cores": total,
                    "parallel": list(parallel),
                    "gain": rounded(float(middle)),
                    "gain_90": [rounded(float(low)), rounded(float(high))],
                    "best": rounded(found[0][1]),
                }
            )
    return {"seconds": SECONDS, "noise": NOISE, "seeds": len(SEEDS), "rows": rows,
            "papers_gain_per_watt_at_most": PAPERS_GAIN}  # fmt: skip


def measure_division() -> dict[str, Any]:
    """CPU time of one thought about 64 groups with bounds on a made host of 256 CPUs."""
    source = random.Random(1)
    cores = [[2 * core, 2 * core + 1] for core in range(CPUS // 2)]
    shares = [
        Share(f"g{number}", source.choice([0.5, 1.0, 2.0]), source.choice([0, 1, 2]),
              source.choice([None, 8, 16]))
        for number in range(GROUPS)
    ]  # fmt: skip
    before = divide(cores, shares).owner_of
    return {
        "groups": GROUPS,
        "cpus": CPUS,
        "divide_ms": _median_ms(lambda: divide(cores, shares, before)),
        "dues_ms": _median_ms(lambda: dues(CPUS, shares)),
        "weights_ms": _median_ms(lambda: weights(shares, CPUS)),
    }


def _median_ms(think: Callable[[], object]) -> float:
    took = []
    for _ in range(TIMES):
        began_ns = time.thread_time_ns()
        think()
        took.append(time.thread_time_ns() - began_ns)
    return rounded(float(np.median(took)) / 1e6)
