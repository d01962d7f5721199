"""One policy on a simulated server: the host's control plane in virtual time."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from smartharvest.algorithm.algorithm1 import Decision
from smartharvest.algorithm.controller import Controller
from smartharvest.algorithm.harm import Durations, Harm, HarmSide
from smartharvest.algorithm.learning.options import LearningOptions
from smartharvest.algorithm.policy import (
    Policy,
    check_policy,
    chooses_spare,
    is_shared,
    make_policy,
)
from smartharvest.algorithm.policy.base import DISPATCHES_PERIOD_NS, Dispatches, Spans
from smartharvest.algorithm.policy.fallback import with_stand_ins
from smartharvest.algorithm.policy.ways import spares_of, usual_spare
from smartharvest.algorithm.safeguard import LongTermSafeguard, PeriodWaits
from smartharvest.core.window import Window
from smartharvest.errors import ConfigError
from smartharvest.lab.simulator.machine import LoopSettings, Machine, Model
from smartharvest.lab.simulator.mechanisms import Mechanism, make_mechanism
from smartharvest.lab.simulator.workloads import Workload

_log = logging.getLogger(__name__)

CLAIRVOYANT = "clairvoyant"
"""Lends at each window's beginning all that the primaries, left alone, would not use in it."""
INSTANT = "instant"
"""Lends every idle core the moment it is idle, and takes it back in no time: busy + 0."""
BOUNDS = (CLAIRVOYANT, INSTANT)

UNHURRIED_WINDOWS = 32
"""Windows that are answered together while nothing can be lent: half the loop's ring
(csrc/loop/loop.h, SH_RING_WINDOWS)."""
DECISION_NS = 100_000
"""From the end of a window to the plan that answers it, as measured on hosts."""
QUANTILES = {"p50": 0.5, "p99": 0.99, "p999": 0.999}

Latency = dict[str, float]
"""Microseconds at ``p50``, ``p99`` and ``p999``."""


@dataclass(frozen=True)
class Experiment:
    """Everything a run depends on but its policy. The same experiment meets the same traffic under
    every policy."""

    workload: Workload
    mechanism: Mechanism = field(default_factory=lambda: make_mechanism("cpugroups"))
    seconds: float = 60.0
    seed: int = 1
    cores: int = 10
    elastic_min: int = 0
    """Cores that the elastic group has at any time, of ``cores``; for mechanisms that share."""
    loop: LoopSettings = field(default_factory=LoopSettings)
    model: Model = field(default_factory=Model)
    decision_ns: int = DECISION_NS
    long_term: str = "paper"
    """Which waits count: ``paper`` all, ``attributed`` those the harvest may have caused, ``auto``
    these too, but for a policy that judges waits itself only those of tasks that are stuck, ``off``
    none."""

    @property
    def end_ns(self) -> int:
        return round(self.seconds * 1e9)

    @property
    def spares(self) -> tuple[int, ...]:
        """Of how many cores that the kernel keeps idle a policy may choose; empty: none are."""
        sharing = self.mechanism.sharing
        return spares_of(self.cores) if sharing is not None and sharing.let_go_ns else ()

    @property
    def total(self) -> int:
        """Cores that are the primaries' when nothing is harvested."""
        return self.cores - self.elastic_min


@dataclass(frozen=True)
class Baseline:
    """The primaries alone: what everything else is compared with. Cores are means over time."""

    busy_cores: float
    mean_peak: float
    """Of the busy cores seen by the polls, a window each."""
    latency_us: Latency
    primaries: tuple[Latency, ...]
    requests: int
    demand_peaks: tuple[int, ...]
    """Cores wanted at most, a window each, between the polls too."""


@dataclass(frozen=True)
class Outcome:
    """What a policy brought and cost. Cores are means over time."""

    policy: str
    seed: int
    harvested_cores: float
    """Cores the elastic group had, beyond its minimum."""
    latency_us: Latency
    baseline_latency_us: Latency
    p99_change: float
    """A fraction; of several primaries, that of the one it hurt most."""
    busy_cores: float
    mean_peak: float
    reassignments_per_s: float
    safeguards: dict[str, int]
    """``short`` and ``long``, how often each acted."""
    under_predictions: int
    """Windows in which the primaries wanted more cores than they had been left."""
    clairvoyant_cores: float
    """The most that decisions once a window can harvest without taking a core that is wanted."""
    requests: int
    """Completed ones."""
    primaries: tuple[dict[str, float], ...]
    """p99, baseline_p99 and p99_change of each."""
    harm: tuple[Harm, ...] = ()
    """What lending cost each; none of a bound that needs no run."""


def run_baseline(experiment: Experiment) -> Baseline:
    """The primaries with all cores, watched by the loop; remembered from call to call."""
    sharing = experiment.mechanism.sharing
    # How threads queue alone, too, is a matter of the mechanism only where each core has a queue.
    queues = sharing is not None and sharing.queues
    return _baseline(
        experiment.workload,
        experiment.mechanism if queues else make_mechanism("instant"),
        experiment.model if queues else Model(),
        experiment.seconds,
        experiment.seed,
        experiment.cores,
        experiment.loop.window_ns,
        experiment.loop.poll_ns,
    )


@lru_cache(maxsize=64)
def _baseline(
    workload: Workload,
    mechanism: Mechanism,
    model: Model,
    seconds: float,
    seed: int,
    cores: int,
    window_ns: int,
    poll_ns: int,
) -> Baseline:
    loop = LoopSettings(window_ns, poll_ns)
    machine = Machine(workload, mechanism, cores=cores, seed=seed, loop=loop, model=model)
    peaks: list[int] = []
    demand_peaks: list[int] = []
    end_ns = round(seconds * 1e9)
    while (window := machine.advance(end_ns)) is not None:
        peaks.append(window.busy_max)
        demand_peaks.append(min(cores, machine.simulation.peaks()[1]))
    return Baseline(
        busy_cores=machine.simulation.totals()["busy_core_ns"] / end_ns,
        mean_peak=sum(peaks) / max(1, len(peaks)),
        latency_us=_latency(machine),
        primaries=tuple(_latency(machine, i) for i in range(len(workload.primaries))),
        requests=_requests(machine),
        demand_peaks=tuple(demand_peaks),
    )


def simulate(experiment: Experiment, policy: str = "smartharvest", **options: Any) -> Outcome:
    """Runs a policy, or one of ``BOUNDS``, and compares it with the primaries alone.

    ``options`` are those of ``run_policy``. Raises ConfigError for a policy that is unknown and for
    a load that the cores can never serve.
    """
    baseline = run_baseline(experiment)
    if policy == INSTANT:
        return _instant(experiment, baseline)
    if policy == CLAIRVOYANT:
        given = [experiment.cores - peak for peak in baseline.demand_peaks]
        machine = _machine(experiment, given=given)
        machine.advance(experiment.end_ns)
        return _outcome(experiment, baseline, machine, policy, None)
    machine, long_term = run_policy(experiment, policy, **options)
    return _outcome(experiment, baseline, machine, policy, long_term)


def run_policy(
    experiment: Experiment,
    policy: str = "smartharvest",
    *,
    cost: str = "skewed",
    safeguard: str = "conservative",
    learner: str = "vw",
    options: LearningOptions | None = None,
    protect: float = 0.1,
    make: Callable[[int], Policy] | None = None,
    make_long_term: Callable[[], LongTermSafeguard] = LongTermSafeguard,
    observe: Callable[[Window, Decision], None] | None = None,
    window_ended: Callable[[Window], None] | None = None,
    every_poll: bool = False,
    started: Callable[[Machine], None] | None = None,
) -> tuple[Machine, LongTermSafeguard | None]:
    """The machine at the end of the run, and the long-term safeguard if there was one.

    ``make``, given the cores, makes a policy that has no spelling; ``window_ended`` gets each
    window when it ends, ``observe`` when it is answered, ``started`` the machine before it runs;
    ``every_poll`` makes even the polls that cannot change anything one by one.
    """
    if make is None:
        check_policy(policy)
    if is_shared(policy) and experiment.mechanism.sharing is None:
        raise ConfigError(
            f"policy: {policy} needs a mechanism under which the primary preempts the elastic "
            "group; use --mechanism cpu-idle, cpu-idle-kernel, cpu-idle-7.3 or strict"
        )
    if chooses_spare(policy) and not experiment.spares:
        raise ConfigError(
            f"policy: {policy} has the kernel keep cores idle; use --mechanism strict, or another "
            "policy"
        )
    long_term = None if experiment.long_term == "off" else make_long_term()
    machine = _machine(
        experiment,
        long_wait_ns=(long_term or make_long_term()).wait_threshold_ns,
        every_poll=every_poll,
    )

    def make_spelled(spec: str) -> Policy:
        return make_policy(
            spec,
            total=experiment.total,
            cost=cost,
            safeguard=safeguard,
            learner=learner,
            options=options,
            preempts=experiment.mechanism.sharing is not None,
            protect=protect,
            spares=experiment.spares,
        )

    controller = Controller(
        make(experiment.total)
        if make is not None
        else with_stand_ins(policy, make_spelled, experiment.total, _log.warning),
        total=experiment.total,
        keep_idle=experiment.loop.keep_idle,
        label_kind=(options or LearningOptions()).label,
        long_term=long_term,
        judged_waits="paper" if experiment.long_term == "off" else experiment.long_term,
        window_ns=experiment.loop.window_ns,
    )
    if started is not None:
        started(machine)
    _control(experiment, machine, controller, observe, window_ended)
    return machine, long_term


def _machine(experiment: Experiment, **more: Any) -> Machine:
    return Machine(
        experiment.workload,
        experiment.mechanism,
        cores=experiment.cores,
        seed=experiment.seed,
        loop=experiment.loop,
        model=experiment.model,
        elastic_min=experiment.elastic_min,
        **more,
    )


def _control(
    experiment: Experiment,
    machine: Machine,
    controller: Controller,
    observe: Callable[[Window, Decision], None] | None,
    window_ended: Callable[[Window], None] | None,
) -> None:
    """Hands windows and periods to the controller, as the control loop does on a host."""
    simulation, end_ns = machine.simulation, experiment.end_ns
    waiting: list[Window] = []
    period_ns = end_ns if controller.long_term is None else controller.long_term.period_ns
    period_end_ns, earlier = period_ns, (0, 0, 0, 0)
    dispatches_ns = DISPATCHES_PERIOD_NS if controller.wants_dispatches else end_ns
    lent_ns = period_lent_ns = 0
    spans = _SpanReader(machine)
    usual = usual_spare(experiment.cores)
    if experiment.spares:
        simulation.keep_spare(usual)
    while simulation.now_ns < end_ns:
        window = machine.advance(min(end_ns, period_end_ns, dispatches_ns))
        if window is not None:
            waiting.append(window)
            if window_ended is not None:
                window_ended(window)
            if not controller.hurries(simulation.now_ns) and len(waiting) < UNHURRIED_WINDOWS:
                continue
            for taken in waiting:
                answer = controller.on_window(taken)
                if answer is None or answer.plan is None:
                    continue
                simulation.post(simulation.now_ns + experiment.decision_ns, answer.plan)
                if experiment.spares:
                    spare = answer.plan.spare
                    simulation.keep_spare(usual if spare is None else spare)
                if observe is not None:
                    observe(taken, answer.decision)
            waiting.clear()
            continue
        if simulation.now_ns >= dispatches_ns:
            before_ns, lent_ns = lent_ns, simulation.counters()["harvested_core_ns"]
            recent = simulation.recent_dispatches()
            controller.on_dispatches(
                Dispatches(
                    simulation.now_ns,
                    waits=recent["waits"],
                    runs=recent["runs"],
                    lent=lent_ns > before_ns,
                    moves=recent["moves"],
                    spans=spans.read(),
                )
            )
            dispatches_ns += DISPATCHES_PERIOD_NS
        if simulation.now_ns >= period_end_ns:
            counts = simulation.waits()
            before_ns, period_lent_ns = (
                period_lent_ns, simulation.counters()["harvested_core_ns"]
            )  # fmt: skip
            waits = _waits(experiment, earlier, counts, lent=period_lent_ns > before_ns)
            plan = controller.on_period(simulation.now_ns, waits)
            if plan is not None:
                simulation.post(simulation.now_ns + experiment.decision_ns, plan)
            period_end_ns, earlier = period_end_ns + period_ns, counts


_Told = tuple[dict[str, dict[int, int]], int]
"""Of a primary since the start: ``Simulation.spans`` and ``Simulation.woken_by_own``."""


class _SpanReader:
    """Reads what has been added to the primaries' spans since the last time."""

    def __init__(self, machine: Machine) -> None:
        self._simulation = machine.simulation
        self._primaries = range(len(machine.workload.primaries))
        self._earlier = [self._now(number) for number in self._primaries]

    def _now(self, number: int) -> _Told:
        return self._simulation.spans(number), self._simulation.woken_by_own(number)

    def read(self) -> tuple[Spans, ...]:
        earlier, self._earlier = self._earlier, [self._now(number) for number in self._primaries]
        return tuple(_spans(*pair) for pair in zip(self._earlier, earlier, strict=True))


def _spans(now: _Told, earlier: _Told) -> Spans:
    (counted, woken_by_own), (counted_before, woken_before) = now, earlier
    spans = {name: _added(counts, counted_before[name]) for name, counts in counted.items()}
    waits_not_lent = spans["waits_not_lent"]
    return Spans(
        lent=spans["lent"],
        not_lent=spans["not_lent"],
        unharmed=spans["unharmed"],
        waits=spans["waits"] + waits_not_lent,
        harmed_waits=spans["harmed_waits"] + waits_not_lent,
        unharmed_waits=spans["unharmed_waits"] + waits_not_lent,
        woken_by_own=woken_by_own - woken_before,
    )


def _added(now: dict[int, int], earlier: dict[int, int]) -> Durations:
    added = ((edge, count - earlier.get(edge, 0)) for edge, count in now.items())
    return tuple((edge, count) for edge, count in added if count)


def _waits(
    experiment: Experiment, earlier: tuple[int, ...], counts: tuple[int, ...], *, lent: bool
) -> PeriodWaits:
    """Of the time between two readings of ``Simulation.waits``."""
    dispatches, long_waits, blamed = (counts[i] - earlier[i] for i in range(3))
    # The paper's safeguard knows of no task that is stuck.
    stuck_ns = 0 if experiment.long_term == "paper" else counts[3]
    return PeriodWaits(
        "simulator",
        dispatches,
        long_waits,
        blamed,
        lent=lent,
        circumstantial=experiment.mechanism.sharing is None,
        longest_pending_us=stuck_ns / 1e3,
    )


def _latency(machine: Machine, number: int | None = None) -> Latency:
    values = machine.simulation.latency_us(list(QUANTILES.values()), number)
    return dict(zip(QUANTILES, values, strict=True))


def _requests(machine: Machine) -> int:
    simulation = machine.simulation
    return sum(simulation.primary(i)["completed"] for i in range(len(machine.workload.primaries)))


def _change(value: float, baseline: float) -> float:
    return value / baseline - 1 if baseline else 0.0


def _outcome(
    experiment: Experiment,
    baseline: Baseline,
    machine: Machine,
    policy: str,
    long_term: LongTermSafeguard | None,
) -> Outcome:
    totals, counters = machine.simulation.totals(), machine.simulation.counters()
    primaries = tuple(
        {
            "p99": (p99 := _latency(machine, i)["p99"]),
            "baseline_p99": alone["p99"],
            "p99_change": _change(p99, alone["p99"]),
        }
        for i, alone in enumerate(baseline.primaries)
    )
    return Outcome(
        policy=policy,
        seed=experiment.seed,
        harvested_cores=totals["elastic_core_ns"] / experiment.end_ns,
        latency_us=_latency(machine),
        baseline_latency_us=baseline.latency_us,
        p99_change=max(primary["p99_change"] for primary in primaries),
        busy_cores=baseline.busy_cores,
        mean_peak=baseline.mean_peak,
        reassignments_per_s=totals["assignments"] / experiment.seconds,
        safeguards={
            "short": counters["short_safeguards"],
            "long": long_term.trips if long_term else 0,
        },
        under_predictions=totals["under_predictions"],
        clairvoyant_cores=_clairvoyant_cores(experiment, baseline),
        requests=_requests(machine),
        primaries=primaries,
        harm=tuple(_harm(machine, i) for i in range(len(primaries))),
    )


def _harm(machine: Machine, number: int) -> Harm:
    sides = machine.simulation.harm(number)
    return Harm(HarmSide(**sides["lent"]), HarmSide(**sides["not_lent"]))


def _clairvoyant_cores(experiment: Experiment, baseline: Baseline) -> float:
    peaks = baseline.demand_peaks
    return experiment.cores - sum(peaks) / max(1, len(peaks))


def _instant(experiment: Experiment, baseline: Baseline) -> Outcome:
    """No run is needed: the primaries fare as they would alone, and every idle core works."""
    return Outcome(
        policy=INSTANT,
        seed=experiment.seed,
        harvested_cores=experiment.cores - baseline.busy_cores,
        latency_us=baseline.latency_us,
        baseline_latency_us=baseline.latency_us,
        p99_change=0.0,
        busy_cores=baseline.busy_cores,
        mean_peak=baseline.mean_peak,
        reassignments_per_s=0.0,
        safeguards={"short": 0, "long": 0},
        under_predictions=0,
        clairvoyant_cores=_clairvoyant_cores(experiment, baseline),
        requests=baseline.requests,
        primaries=tuple(
            {"p99": alone["p99"], "baseline_p99": alone["p99"], "p99_change": 0.0}
            for alone in baseline.primaries
        ),
    )
