"""One simulated run: a workload on a pool, with a balancer and a strategy."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from smartharvest.core import _serverless
from smartharvest.errors import ConfigError
from smartharvest.serverless.balancers import BALANCER_NAMES
from smartharvest.serverless.price import SECONDS_AN_HOUR, Prices
from smartharvest.serverless.simulator.churn import CHURN_NAMES, make_pool
from smartharvest.serverless.simulator.churn_file import read_churn
from smartharvest.serverless.simulator.pool import Pool, WorkerSize
from smartharvest.serverless.simulator.workload import Invocations, Workload, draw
from smartharvest.serverless.strategies import make_strategy
from smartharvest.serverless.strategies.profile import NOTICE_S
from smartharvest.serverless.view import Caution, home_hash

GIVE_UP_AFTER_S = 3600.0
"""After the measured time: what has not finished by then counts as failed."""
MOST_PAIRS = 100_000_000
"""Functions times workers."""
WEIGHING = ("mws", "jsq")
"""Balancers that may weigh cold starts."""


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """Everything that decides a run."""

    workload: Workload
    size: WorkerSize
    churn: str = "normal"
    """One of CHURN_NAMES, or the path of a record."""
    balancer: str = "mws"
    strategy: str = "live-and-let-die"
    minutes: float = 10.0
    rps: float | None = None
    """None: as often as the workload says."""
    seed: int = 1
    regular: int | None = None
    """Regular workers among the pool's; None: as the strategy needs."""
    budget: float = 1e-4
    """Share of the invocations that may fail, of bounded-failures."""
    retries: int = 0
    """Of idempotent functions."""
    idempotent_share: float = 0.0
    """Of the functions, besides those that are declared so."""
    report_s: float = 1.0
    """Between two reports of a worker."""
    keep_alive_s: float = 600.0
    notice_s: float = NOTICE_S
    controllers: int = 1
    """Each balances on its own, and knows of the others by the reports."""
    caution: Caution | None = None
    """None: that of ``report_s``."""
    fill: float = 1.0
    grow_at: float = 1.0
    forget_s: float = 300.0
    cold_cost: float = 0.0
    """What the balancers of WEIGHING take a cold start for, in invocations."""
    prices: Prices = field(default_factory=Prices)

    def __post_init__(self) -> None:
        """Raises ConfigError for what is out of range."""
        if self.balancer not in BALANCER_NAMES:
            raise ConfigError(f"balancer: {self.balancer!r}; use {', '.join(BALANCER_NAMES)}")
        _check("minutes", self.minutes, 1e-3, 1e6)
        if self.rps is not None:
            _check("rps", self.rps, 1e-6, 1e9)
        _check("failure budget", self.budget, 0, 1)
        _check("idempotent share", self.idempotent_share, 0, 1)
        _check("retries", self.retries, 0, 100)
        _check("report every", self.report_s, 1e-3, 3600)
        _check("keep alive", self.keep_alive_s, 0, 1e7)
        _check("controllers", self.controllers, 1, 1000)
        _check("cold cost", self.cold_cost, 0, 1e6)
        if self.cold_cost and self.balancer not in WEIGHING:
            raise ConfigError(f"cold cost: {self.balancer} weighs none; use {', '.join(WEIGHING)}")
        if len(self.workload.names) * self.size.count > MOST_PAIRS:
            raise ConfigError("workers: too many for so many functions")


@dataclass(frozen=True)
class Outcome:
    """What came of it. Arrays have one entry an invocation (N) or a worker (S)."""

    experiment: Experiment
    invocations: Invocations
    pool: Pool
    regular: frozenset[str]
    """Functions that the strategy kept on regular workers."""
    end_ns: NDArray[np.int64]
    """(N,): when it finished; -1: it failed."""
    worker: NDArray[np.uint32]
    """(N,): who had it last."""
    cold: NDArray[np.uint8]
    """(N,): 1 if it started cold."""
    attempts: NDArray[np.uint8]
    """(N,): how often an eviction ended it."""
    core_s: NDArray[np.float64]
    """(S,): core seconds that the worker had in the measured time."""
    busy_core_s: NDArray[np.float64]
    """(S,): and those that were used."""
    retried: int
    handed_back: int
    evictions: int
    """Workers evicted, in the measured time or while the last invocations finished."""

    @property
    def finished(self) -> NDArray[np.bool_]:
        found: NDArray[np.bool_] = self.end_ns >= 0
        return found

    @property
    def latency_s(self) -> NDArray[np.float64]:
        """(N,): from arrival to end, waits and cold start included; of failed ones NaN."""
        latency = (self.end_ns - self.invocations.arrival_ns) / 1e9
        return np.where(self.finished, latency, np.nan)

    @property
    def slowdown(self) -> NDArray[np.float64]:
        """(N,): latency over the time it takes alone and warm; at least 1."""
        return np.maximum(1.0, self.latency_s / (self.invocations.work_ns / 1e9))

    @property
    def workers_per_function(self) -> float:
        """Mean, over the functions that were invoked, of the different workers that had each."""
        pairs = self.invocations.function.astype(np.int64) * len(self.pool.min_cores) + self.worker
        functions = np.unique(self.invocations.function)
        return float(len(np.unique(pairs)) / len(functions))

    @property
    def workers_ever(self) -> int:
        """Workers that came in the measured time, or until the last invocation finished."""
        until_ns = max(self.experiment.minutes * 60e9, float(self.end_ns.max(initial=0)))
        changes = self.pool.changes
        came = changes[(changes["kind"] == _serverless.ARRIVES) & (changes["at_ns"] < until_ns)]
        return len(np.unique(came["slot"]))

    @property
    def cost(self) -> float:
        """Price of the workers' cores over the measured time, in the prices' currency."""
        prices, until_s = self.experiment.prices, self.experiment.minutes * 60.0
        if self.experiment.churn == "dedicated":
            regular = np.ones(len(self.core_s), bool)
        else:
            regular = self.pool.regular.astype(bool)
        paid = float(self.core_s[regular].sum()) * prices.regular_per_hour
        # A Harvest VM pays for its minimum while it lives, and less for what it has beyond.
        for slot in np.flatnonzero(~regular):
            lived_s = _lived_s(self.pool, int(slot), until_s)
            if lived_s > 0.0:
                mean_cores = self.core_s[slot] / lived_s
                paid += lived_s * prices.harvest_per_hour(
                    float(self.pool.min_cores[slot]), float(mean_cores)
                )
        return paid / SECONDS_AN_HOUR


def _lived_s(pool: Pool, slot: int, until_s: float) -> float:
    mine = pool.changes[pool.changes["slot"] == slot]
    gone = mine[mine["kind"] == _serverless.EVICTED]["at_ns"]
    end_s = min(until_s, float(gone[0]) / 1e9 if len(gone) else math.inf)
    return max(0.0, float(end_s) - float(mine["at_ns"][0]) / 1e9)


def simulate(
    experiment: Experiment, progress: Callable[[float, float], None] = lambda _done, _total: None
) -> Outcome:
    """Runs it; ``progress`` gets how many of all minutes are over.

    Raises ConfigError or TraceError for what does not fit together.
    """
    workload, size = experiment.workload, experiment.size
    _check_memory(workload, size)
    invocations = draw(workload, experiment.minutes, experiment.rps, experiment.seed)
    regular_functions = _regular_functions(experiment)
    regular = _regular_workers(experiment, regular_functions)
    measured_s = experiment.minutes * 60.0
    until_s = measured_s + GIVE_UP_AFTER_S
    if experiment.churn in CHURN_NAMES:
        pool = make_pool(
            experiment.churn, size, regular, until_s, experiment.notice_s, experiment.seed
        )
    else:
        pool = read_churn(experiment.churn, size, regular, until_s, experiment.notice_s)
    dedicated = experiment.churn == "dedicated"
    caution = experiment.caution or Caution.of_period(experiment.report_s)
    result = _serverless.run(
        kind=experiment.balancer,
        options={
            "fresh_s": caution.fresh_s,
            "lost_s": caution.lost_s,
            "fill": experiment.fill,
            "grow_at": experiment.grow_at,
            "forget_s": experiment.forget_s,
            "cold_cost": experiment.cold_cost,
        },
        controllers=experiment.controllers,
        seed=experiment.seed,
        retries=experiment.retries,
        report_ns=round(experiment.report_s * 1e9),
        keep_alive_ns=round(experiment.keep_alive_s * 1e9),
        measure_until_ns=round(measured_s * 1e9),
        give_up_ns=round(until_s * 1e9),
        changes=pool.changes,
        worker_memory_mib=pool.memory_mib,
        worker_min_cores=pool.min_cores,
        worker_regular=pool.regular,
        function_hash=np.array([home_hash(name) for name in workload.names], np.uint32),
        function_memory_mib=workload.memory_mib,
        function_cold_ns=np.round(workload.cold_s * 1e9).astype(np.int64),
        # On a dedicated pool no worker is evicted, so that it does not matter who runs what.
        function_regular=np.array(
            [not dedicated and name in regular_functions for name in workload.names], np.uint8
        ),
        function_idempotent=_idempotent(experiment),
        arrival_ns=invocations.arrival_ns,
        function=invocations.function,
        work_ns=invocations.work_ns,
        progress=lambda now_ns: progress(
            min(now_ns / 60e9, experiment.minutes), experiment.minutes
        ),
    )
    return Outcome(
        experiment=experiment,
        invocations=invocations,
        pool=pool,
        regular=regular_functions,
        end_ns=result["end_ns"],
        worker=result["worker"],
        cold=result["cold"],
        attempts=result["attempts"],
        core_s=result["core_ns"] / 1e9,
        busy_core_s=result["busy_core_ns"] / 1e9,
        retried=result["retried"],
        handed_back=result["handed_back"],
        evictions=result["evictions"],
    )


def _check(name: str, value: float, least: float, most: float) -> None:
    if not least <= value <= most:
        raise ConfigError(f"{name}: {value:g} must be {least:g} to {most:g}")


def _check_memory(workload: Workload, size: WorkerSize) -> None:
    largest = int(np.argmax(workload.memory_mib))
    if workload.memory_mib[largest] > size.memory_gib * 1024.0:
        raise ConfigError(
            f"workers: {size.memory_gib:g} GiB hold no instance of {workload.names[largest][:16]}, "
            f"which needs {workload.memory_mib[largest]:g} MiB; write COUNTxCORESxGIB"
        )


def _regular_functions(experiment: Experiment) -> frozenset[str]:
    notice_s = experiment.notice_s
    strategy = make_strategy(experiment.strategy, experiment.budget, notice_s)
    if experiment.strategy == "live-and-let-die":
        return frozenset()
    return strategy.regular(experiment.workload.within(experiment.minutes).profiles(notice_s))


def _regular_workers(experiment: Experiment, functions: frozenset[str]) -> int:
    """How many of the pool's workers are regular VMs."""
    count, names = experiment.size.count, experiment.workload.names
    if experiment.churn == "dedicated":
        return 0
    if experiment.regular is not None:
        _check_regular(functions, names, experiment.regular, count)
        return experiment.regular
    if not functions:
        return 0
    if len(functions) == len(names):
        return count
    demand = experiment.workload.within(experiment.minutes).demand_cores()
    theirs = sum(float(demand[i]) for i, name in enumerate(names) if name in functions)
    # At least one of each kind: somebody has to run what is left.
    needed = math.ceil(count * theirs / max(float(demand.sum()), 1e-12))
    if count < 2:
        raise ConfigError(
            "workers: regular and Harvest VMs are both needed by this strategy; use two or more"
        )
    return min(max(1, needed), count - 1)


def _check_regular(
    functions: frozenset[str], names: Sequence[str], regular: int, count: int
) -> None:
    if not 0 <= regular <= count:
        raise ConfigError(f"regular workers: {regular} of {count}; use 0 to {count}")
    if functions and regular == 0:
        raise ConfigError(f"regular workers: {len(functions)} functions need one or more")
    if len(functions) < len(names) and regular == count:
        raise ConfigError("regular workers: no Harvest VM is left for the other functions")


def _idempotent(experiment: Experiment) -> NDArray[np.uint8]:
    random = np.random.default_rng([experiment.seed, 3])
    chosen = random.random(len(experiment.workload.names)) < experiment.idempotent_share
    return (experiment.workload.idempotent | chosen).astype(np.uint8)
