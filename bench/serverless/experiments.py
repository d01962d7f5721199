"""What is run, and the figures that come of it."""

from __future__ import annotations

import dataclasses
import functools
import os
import tempfile
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smartharvest.serverless.price import Prices, buys
from smartharvest.serverless.simulator.pool import WorkerSize, parse_workers
from smartharvest.serverless.simulator.report import document
from smartharvest.serverless.simulator.run import Experiment, Outcome, simulate
from smartharvest.serverless.simulator.workload import LEVELS, Workload
from smartharvest.serverless.strategies import STRATEGY_NAMES
from smartharvest.serverless.view import Caution

BALANCERS = ("mws", "jsq", "p2c", "vanilla")
SEEDS = (1, 2, 3)
MINUTES = 20.0
POOL = "20x8"
STEPS = (0.05, 0.15, 0.25, 0.35, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1.0,
         1.05, 1.1, 1.2, 1.3)  # fmt: skip
"""Offered work over the pool's cores, cold starts apart."""
SLOWDOWNS = (5.0, 10.0, 20.0)
LATENCY_BOUND = 1.5
"""P99 of the latencies, over the P99 of the same invocations alone and warm."""
DISCOUNTS = (0.48, 0.7, 0.88)
LIFETIME_S = 61.5 * 86400
Row = dict[str, Any]
Log = Callable[[str], None]


def figures(outcome: Outcome) -> Row:
    """Of one run, what the comparisons need."""
    found = document(outcome)
    finished = outcome.finished
    alone_s = outcome.invocations.work_ns / 1e9
    ratio = np.quantile(outcome.latency_s[finished], 0.99) / np.quantile(alone_s, 0.99)
    return {
        "slowdown_p99": found["slowdown"]["p99"],
        "slowdown_mean": found["slowdown"]["mean"],
        "latency_ratio_p99": float(ratio),
        "cold_start_share": found["cold_start_share"],
        "failed_share": found["failed_share"],
        "evicted": found["failures"]["evicted"],
        "unfinished": found["failures"]["unfinished"],
        "evictions": found["evictions"],
        "workers_per_function": found["workers_per_function"],
        "cores_used": found["cores_used"],
        "cost": found["cost"],
        "throughput_rps": found["throughput_rps"],
        "regular_workers": found["workers"]["regular"],
        "regular_functions": found["functions"]["on_regular_workers"],
        "invocations": found["invocations"],
    }


def median(experiment: Experiment, seeds: Sequence[int] = SEEDS) -> Row:
    """Each figure's median over ``seeds``; ``failed_share`` and counts of failures are sums."""
    rows = [figures(simulate(dataclasses.replace(experiment, seed=seed))) for seed in seeds]
    found: Row = {key: float(np.median([row[key] for row in rows])) for key in rows[0]}
    for key in ("evicted", "unfinished", "evictions", "invocations"):
        found[key] = sum(row[key] for row in rows)
    found["failed_share"] = (found["evicted"] + found["unfinished"]) / found["invocations"]
    return found


def rates(workload: Workload, size: WorkerSize) -> list[float]:
    """Invocations a second that keep STEPS of the pool's cores busy."""
    window = workload.within(MINUTES)
    per_s = float(window.per_minute.sum(axis=0).mean()) / 60.0
    core_s = float(window.demand_cores().sum()) / per_s
    return [float(f"{step * size.count * size.cores / core_s:.3g}") for step in STEPS]


def sweep(workload: Workload, pool: str, churn: str, balancer: str, **more: Any) -> list[Row]:
    """A row a rate."""
    size = parse_workers(pool)
    base = Experiment(
        workload=workload, size=size, churn=churn, balancer=balancer, minutes=MINUTES, **more
    )
    return [
        {"rps": rps, "offered": step, **median(dataclasses.replace(base, rps=rps))}
        for step, rps in zip(STEPS, rates(workload, size), strict=True)
    ]


def most(rows: Sequence[Row], key: str, bound: float) -> float:
    """The highest rate that keeps the bound; 0 if none does."""
    return max((row["rps"] for row in rows if row[key] <= bound), default=0.0)


def at_bounds(rows: Sequence[Row]) -> Row:
    found = {f"slowdown {bound:g}": most(rows, "slowdown_p99", bound) for bound in SLOWDOWNS}
    return {**found, "latency": most(rows, "latency_ratio_p99", LATENCY_BOUND)}


def balancers(workload: Workload, log: Log) -> Row:
    """Each balancer at each rate on the normal cluster."""
    found: Row = {}
    for name in BALANCERS:
        log(f"{workload.source}: {name}")
        rows = sweep(workload, POOL, "normal", name)
        found[name] = {"rows": rows, "most_rps": at_bounds(rows)}
    return found


def clusters(workload: Workload, normal: Row, log: Log) -> Row:
    """The paper's three balancers on the three clusters, of as many cores on average."""
    found: Row = {"normal": normal}
    for churn in ("dedicated", "active"):
        found[churn] = {}
        for name in ("mws", "jsq", "vanilla"):
            log(f"{workload.source}: {churn}, {name}")
            rows = sweep(workload, POOL, churn, name)
            found[churn][name] = {"rows": rows, "most_rps": at_bounds(rows)}
    return found


def strategies(workload: Workload, log: Log) -> Row:
    """Failures and cost, active and normal, at half of the cores; failures also as the paper's
    lifetimes would have them: those an eviction causes, times the evictions that are to be
    expected of 20 workers that live 61.5 days."""
    size = parse_workers(POOL)
    rps = rates(workload, size)[STEPS.index(0.5)]
    found: Row = {}
    for name in STRATEGY_NAMES:
        log(f"{workload.source}: {name}")
        found[name] = {}
        for churn in ("normal", "active"):
            base = Experiment(
                workload=workload, size=size, churn=churn, strategy=name, rps=rps, minutes=60.0,
                budget=1e-3,
            )  # fmt: skip
            row = median(base, range(1, 9))
            per_eviction = row["evicted"] / max(1, row["evictions"])
            harvested = size.count - row["regular_workers"]
            row["expected_share"] = per_eviction * harvested / LIFETIME_S / rps
            found[name][churn] = row
    return found


def budgets(workload: Workload, log: Log) -> Row:
    """The rate that one budget serves: six regular workers, or the Harvest VMs they pay for."""
    regular = parse_workers("6x8")
    found: Row = {}
    for discount in DISCOUNTS:
        log(f"{workload.source}: a budget at {discount:.0%} off")
        times = buys(
            Prices(evictable_discount=discount), 1.0, 1 / 61.5, min_cores=regular.min_cores,
            cores=regular.cores,
        ).cores  # fmt: skip
        count = int(regular.count * times)
        harvest = sweep(workload, f"{count}x8", "normal", "mws")
        found[f"{discount:g}"] = {
            "times": times, "workers": count, "most_rps": at_bounds(harvest),
        }  # fmt: skip
    found["regular"] = at_bounds(sweep(workload, "6x8", "dedicated", "mws"))
    return found


# --- where it fails ---------------------------------------------------------------------------


def plain(
    names: Sequence[str], per_minute: Sequence[Sequence[float]], median_s: Sequence[float],
    cold_s: float = 2.0,
) -> Workload:  # fmt: skip
    """Functions of 256 MiB whose durations spread by a factor of three both ways."""
    spread = np.array([1 / 3, 0.4, 0.8, 1.0, 1.3, 2.5, 3.0])
    assert len(spread) == len(LEVELS)
    return Workload(
        names=names,
        per_minute=np.array(per_minute, float),
        duration_s=np.outer(median_s, spread),
        memory_mib=np.full(len(names), 256.0),
        cold_s=np.full(len(names), cold_s),
        idempotent=np.zeros(len(names), bool),
        source="described",
    )


def few_functions(log: Log) -> Row:
    """Three functions on a hundred workers."""
    log("few functions on many workers")
    workload = plain(["a", "b", "c"], [[6000.0], [3000.0], [1000.0]], [0.5, 1.0, 2.0])
    base = Experiment(workload=workload, size=parse_workers("100x8"), minutes=10.0)
    return {name: median(dataclasses.replace(base, balancer=name)) for name in BALANCERS}


HOT_FROM_S = 180.0


def hot_function(log: Log) -> Row:
    """One function among twenty goes from 1 to 200 a second after three minutes."""
    log("one hot function")
    quiet = [[60.0] * 8 for _ in range(19)]
    hot = [60.0] * 3 + [12_000.0] * 3 + [60.0] * 2
    workload = plain(["hot", *(f"f{i}" for i in range(19))], [hot, *quiet], [0.4] + [0.2] * 19, 0.5)
    base = Experiment(workload=workload, size=parse_workers(POOL), minutes=8.0)
    found: Row = {}
    for name in BALANCERS:
        outcome = simulate(dataclasses.replace(base, balancer=name))
        hot_ones = outcome.invocations.function == 0
        arrival_s = outcome.invocations.arrival_ns / 1e9
        first = hot_ones & (arrival_s >= HOT_FROM_S) & (arrival_s < HOT_FROM_S + 10.0)
        later = hot_ones & (arrival_s >= HOT_FROM_S + 30.0) & (arrival_s < HOT_FROM_S + 180.0)
        found[name] = {
            "first_10_s_p99": _p99(outcome.latency_s[first]),
            "later_p99": _p99(outcome.latency_s[later]),
            "workers": len(np.unique(outcome.worker[later])),
            "line": timeline(outcome),
        }
    return found


def old_reports(workload: Workload, log: Log) -> list[Row]:
    """Reports of some age, four controllers; taken at their word, or doubted from a second on."""
    size = parse_workers(POOL)
    rps = rates(workload, size)[STEPS.index(0.6)]
    found = []
    for report_s in (0.2, 1.0, 3.0, 10.0, 30.0):
        for blind in (False, True):
            log(f"reports each {report_s:g} s{'' if blind else ', doubted'}")
            caution = Caution(1e9, 2e9) if blind else Caution(1.0, 5.0)
            for name in ("mws", "jsq", "p2c"):
                base = Experiment(
                    workload=workload, size=size, churn="active", balancer=name, rps=rps,
                    minutes=MINUTES, report_s=report_s, controllers=4, caution=caution,
                )  # fmt: skip
                row = median(base)
                found.append({"report_s": report_s, "blind": blind, "balancer": name, **row})
    return found


EVICTED_AT_S = 600.0
WEIGHED = "mws-weighed"
"""Min-Worker-Set as the routers of Ray Serve have it."""


def half_evicted(workload: Workload, log: Log) -> Row:
    """Ten of twenty workers have their notice at the same moment, and come back a minute later."""
    rps = rates(workload, parse_workers(POOL))[STEPS.index(0.45)]
    lines = ["seconds,worker,cores", *(f"0,{i},8" for i in range(20))]
    lines += [f"{EVICTED_AT_S:g},{i},evicted" for i in range(10)]
    lines += [f"{EVICTED_AT_S + 60:g},{i},8" for i in range(10)]
    found: Row = {}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "half.csv")
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(lines))
        base = Experiment(
            workload=workload, size=parse_workers(POOL), churn=path, rps=rps, minutes=MINUTES
        )
        for name in (*BALANCERS, WEIGHED):
            log(f"half of the workers evicted: {name}")
            if name == WEIGHED:
                one = dataclasses.replace(base, balancer="mws", cold_cost=ROUTERS_COLD_COST)
            else:
                one = dataclasses.replace(base, balancer=name)
            outcomes = [simulate(dataclasses.replace(one, seed=seed)) for seed in SEEDS]
            found[name] = {
                **median(one),
                "p99_while_gone": float(np.median([_p99_while_gone(each) for each in outcomes])),
                "line": timeline(outcomes[0]),
            }
    return found


def _p99_while_gone(outcome: Outcome) -> float:
    arrival_s = outcome.invocations.arrival_ns / 1e9
    around = (arrival_s >= EVICTED_AT_S - 30) & (arrival_s < EVICTED_AT_S + 60)
    return _p99(outcome.slowdown[around]) or np.nan


def memory(workload: Workload, log: Log) -> list[Row]:
    """Vanilla's slots are its only measure of load: fewer of them do it good, up to a point."""
    size = parse_workers(POOL)
    rps = rates(workload, size)[STEPS.index(0.45)]
    found = []
    largest_gib = float(workload.memory_mib.max()) / 1024
    for gib in (one for one in (2, 4, 8, 16, 32, 64) if one >= largest_gib):
        for name in ("mws", "vanilla"):
            log(f"{gib} GiB a worker: {name}")
            base = Experiment(
                workload=workload, size=parse_workers(f"{POOL}x{gib}"), balancer=name, rps=rps,
                minutes=MINUTES,
            )  # fmt: skip
            found.append({"gib": gib, "balancer": name, **median(base)})
    return found


COLD_COSTS = (0.0, 1.0, 4.0, 16.0)
ROUTERS_COLD_COST = 4.0


def cold_costs(workload: Workload, log: Log) -> Row:
    """Cold starts weighed: at 45 % of the cores, with memory for most instances and for few, and
    the highest rates that keep the bounds."""
    rps = rates(workload, parse_workers(POOL))[STEPS.index(0.45)]
    largest_gib = float(workload.memory_mib.max()) / 1024
    rows, most_rps = [], {}
    for name in ("mws", "jsq"):
        for gib in (one for one in (2, 32) if one >= largest_gib):
            log(f"{workload.source}: {name}, cold starts weighed, {gib} GiB a worker")
            for cold_cost in COLD_COSTS:
                base = Experiment(
                    workload=workload, size=parse_workers(f"{POOL}x{gib}"), balancer=name,
                    rps=rps, minutes=MINUTES, cold_cost=cold_cost,
                )  # fmt: skip
                rows.append({"balancer": name, "gib": gib, "cold_cost": cold_cost, **median(base)})
        log(f"{workload.source}: {name}, cold starts weighed")
        most_rps[name] = at_bounds(
            sweep(workload, POOL, "normal", name, cold_cost=ROUTERS_COLD_COST)
        )
    return {"rows": rows, "most_rps": most_rps}


def timeline(outcome: Outcome, bin_s: float = 10.0) -> list[float | None]:
    """P99 of the slowdown of what arrived in each ``bin_s``; None for bins without any."""
    at = (outcome.invocations.arrival_ns / 1e9 / bin_s).astype(int)
    count = int(np.ceil(outcome.experiment.minutes * 60.0 / bin_s))
    return [_p99(outcome.slowdown[at == i]) for i in range(count)]


def _p99(values: NDArray[np.float64]) -> float | None:
    known = values[~np.isnan(values)]
    return float(np.quantile(known, 0.99)) if len(known) else None


@functools.cache
def resources() -> list[Row]:
    """What one budget buys, by discount, Harvest share and evictions."""
    return [
        {
            "discount": discount,
            "alpha": alpha,
            "share": share,
            "times": [buys(prices, share, rate).cores for rate in (0.0, 1 / 61.5, 1.0, 24.0)],
        }
        for discount in DISCOUNTS
        for alpha in (0.5, 1.0)
        for prices in [Prices(evictable_discount=discount, harvested_price=alpha)]
        for share in (0.5, 0.9, 1.0)
    ]
