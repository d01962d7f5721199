"""What promises and hysteresis are worth to a cluster: an hour, seen second by second.

A simulated server whose load changes every half minute or so lends its cores under the
recommended policy. The engine behind the adapter has jobs of one core waiting all the time; they
take exponential times. Time is virtual: the figures are counts and depend on the seed alone.
Given a recorded trace instead of a seed, that is played to the paper's policy.
"""

from __future__ import annotations

import json
import random
import sys
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from bench.statistics import rounded
from bench.subject import Figures
from smartharvest.agent.promise import HarvestMonitor
from smartharvest.cluster.reconcile import Hysteresis, Reconciler
from smartharvest.config.settings import Settings
from smartharvest.lab.simulator.machine import Machine
from smartharvest.lab.simulator.mechanisms import make_mechanism
from smartharvest.lab.simulator.run import Experiment, run_policy
from smartharvest.lab.simulator.workloads import WORKLOADS, Workload
from smartharvest.lab.trace.reader import TraceReader
from smartharvest.lab.trace.replay import replay_policy

SECONDS = 3600.0
CORES = 10
JOB_S = 20.0
"""Mean of a job."""
RATES = (100.0, 1500.0)
"""Of requests a second, between which the load changes."""
_S = 1_000_000_000

PROMISES = {
    f"hold_{hold_s}_s_at_{round(100 * probability)}": (hold_s, probability)
    for hold_s in (5, 30)
    for probability in (0.8, 0.95)
}
WAYS = {
    "now_at_once": ("now", Hysteresis(0.0, 0.0, 5.0)),
    "now_grow_after_2_s": ("now", Hysteresis(2.0, 0.0, 5.0)),
    "now_grow_after_10_s": ("now", Hysteresis(10.0, 0.0, 5.0)),
    "now_shrink_after_5_s": ("now", Hysteresis(2.0, 5.0, 5.0)),
    "promised_grow_after_2_s": ("promised", Hysteresis(2.0, 0.0, 5.0)),
    "promised_grow_after_10_s": ("promised", Hysteresis(10.0, 0.0, 5.0)),
}
"""What is followed, and how."""


def measure(levels: Sequence[float], seed: int) -> Figures:
    promises: Figures = {}
    for name, (hold_s, probability) in PROMISES.items():
        calibration, mean = _promise(levels, hold_s, probability)
        promises[name] = {"asked_for": probability, "promised_mean": mean, **calibration}
    follows: Figures = {
        name: _follow(levels, what, hysteresis, seed) for name, (what, hysteresis) in WAYS.items()
    }
    return {
        "seconds": len(levels),
        "lent_cores_mean": rounded(sum(levels) / len(levels)),
        "promises": promises,
        "adapters": follows,
    }


def hour(seconds: float, seed: int) -> list[float]:
    """Mean lent cores of each second."""
    source = random.Random(seed)
    schedule = tuple(
        (round(source.uniform(10, 60) * _S), source.uniform(*RATES))
        for _ in range(max(1, round(seconds / 35)))
    )
    primary = replace(WORKLOADS["indexserve"].primaries[0], schedule=schedule)
    experiment = Experiment(
        Workload("changing", (primary,)),
        mechanism=make_mechanism("linux"),
        seconds=seconds,
        seed=seed,
        long_term="off",
    )
    totals = [0]

    machines: list[Machine] = []

    def observe(*_: object) -> None:
        simulation = machines[0].simulation
        if simulation.now_ns >= len(totals) * _S:
            totals.append(simulation.totals()["elastic_core_ns"])

    run_policy(experiment, "adaptive-quiet", started=machines.append, window_ended=observe)
    return [(after - before) / _S for before, after in pairwise(totals)]


def recorded(path: str) -> list[float]:
    """Mean lent cores of each whole second of a trace; what the loop takes back within a window is
    taken back at its end."""
    with TraceReader(path) as trace:
        cores = trace.header.cores
        windows = replay_policy(trace, "smartharvest", Settings(), cores).windows
    totals: dict[int, list[int]] = defaultdict(list)
    for window in windows:
        totals[(window.end_ns - windows[0].end_ns) // _S].append(cores - window.primary_cores)
    return [sum(lent) / len(lent) for _, lent in sorted(totals.items())]


def _promise(levels: Sequence[float], hold_s: int, probability: float) -> tuple[Figures, float]:
    monitor = HarvestMonitor(0, hold_s, probability)
    promised = 0
    for level in levels:
        monitor.take_step(level)
        promised += monitor.promised
    calibration = monitor.describe(0, 0, 0)["calibration"]
    return calibration, rounded(promised / len(levels))


def _follow(levels: Sequence[float], what: str, hysteresis: Hysteresis, seed: int) -> Figures:
    """Core-seconds beside those that were lent; one step a second."""
    source = random.Random(seed)
    monitor = HarvestMonitor(0, 10, 0.95)
    reconciler = Reconciler(hysteresis, 0)
    told, requeued, changes = 0, 0, 0
    jobs: list[float] = []
    used = wasted = above = 0.0
    for now_s, level in enumerate(levels):
        jobs = [end_s for end_s in jobs if end_s > now_s]
        monitor.take_step(level)
        offered = monitor.promised if what == "promised" else int(level + 1e-9)
        step = reconciler.step(now_s, offered, len(jobs), told, present=int(level + 1e-9))
        if step.shed is not None and step.grace_s == 0:
            requeued += len(jobs) - step.shed
            del jobs[step.shed :]
        if step.advertise is not None:
            told, changes = max(step.advertise, len(jobs)), changes + 1
        jobs += [now_s + source.expovariate(1 / JOB_S) for _ in range(told - len(jobs))]
        used += min(level, len(jobs))
        wasted += max(0.0, level - len(jobs))
        above += max(0.0, len(jobs) - level)
    lent = sum(levels)
    return {
        "used_share": rounded(used / lent),
        "wasted_core_s": rounded(wasted),
        "overcommitted_core_s": rounded(above),
        "requeued_jobs": requeued,
        "changes": changes,
    }


if __name__ == "__main__":  # too long beside the others: python -m bench.capacity [SEED | TRACE]
    given = sys.argv[1] if sys.argv[1:] else "1"
    chance = int(given) if given.isdigit() else 1
    lent = hour(SECONDS, chance) if given.isdigit() else recorded(given)
    print(json.dumps(measure(lent, chance), indent=1))
