"""The simulator held against the guest: the same arrivals, load and policies in both. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, median
from typing import Any, NamedTuple

import numpy as np

from bench.manycore.plan import ALONE, CONDITIONS, EXPERIMENTS, QUEUE, SIGMA, Experiment
from bench.manycore.samples import (
    agent_cores,
    as_slice,
    cpu_us,
    delayed_by_guardian,
    unpacked,
)
from bench.manycore.serving import draw
from bench.real.conditions import RIVAL, Condition
from smartharvest.algorithm.policy import chooses_spare, is_shared
from smartharvest.core.window import Window
from smartharvest.lab.simulator import run
from smartharvest.lab.simulator.conditions import made_for
from smartharvest.lab.simulator.machine import LoopSettings, Machine, Model
from smartharvest.lab.simulator.mechanisms import QUEUES as SIMULATED
from smartharvest.lab.simulator.mechanisms import make_mechanism
from smartharvest.lab.simulator.workloads import Primary, Service, Workload

GUEST, SHIPPED, QUEUES = "guest", "shipped", "queues"
"""The guest, and the simulator with one queue for all cores and with one for each."""
CHANGE_WITHIN, HARVEST_WITHIN = 0.25, 0.15
"""Of the P99 and of its change, and of the harvest, in the guest."""
FITTED = ("queue-30-compute", 20.0)
"""The pair, and the dilation, that the next four figures were chosen on, on a coarse
grid, and turn_share of the simulator's mechanism."""
WAKING_SHARE = 0.4
"""Of the CPU time that a request takes alone, what waking, sending and sleeping take. The kernel's
code is as much faster as the machine is, and the requests' work is not: it is calibrated."""
SENDING_SHARE = 0.7
"""Of that, the sender's."""
LATE_US = 50.0
"""How late who is woken begins, CPU time aside; the check of the machine has 61 at the median."""
WATCHED = 1.4
"""Times which wake-ups cost under an agent, which watches each."""
GUARDIAN_MS = 17.0
"""A turn of a guardian in Python at D = 20. Its turns take all of the agent's CPU time here."""
FITTED_DILATION = FITTED[1]
LEAST_SHARED_CPUS = 3
"""From so many CPUs on, the elastic group has one at any time (smartharvest/placement/capacity)."""
SEEDS = 5
"""Simulations of a slice: the median's figures."""
Pair = tuple[str, str, float]
"""An experiment, a kernel and a dilation."""


@dataclass(frozen=True)
class Figures:
    """Of one condition in one round, or the median of several."""

    p50_us: float
    p99_us: float
    cores: float
    """What the batch consumed of cores, or the agent lent, whichever the condition is about."""
    moves_per_s: float | None
    """Times a second that cores changed hands; None where it was not recorded."""


@dataclass(frozen=True)
class Row:
    """A condition in the guest and in both models, with the same rounds' *alone* of each."""

    condition: str
    rounds: int
    lent: bool
    """Whether ``cores`` are those that the agent lent, and not those that the batch consumed."""
    sides: Mapping[str, Figures]
    """GUEST, SHIPPED and QUEUES, as far as they know the condition."""
    p99_ratio: Mapping[str, float]
    """To alone; the median round's."""
    interval: tuple[float, float] = (0.0, 0.0)
    """That of the guest's own ratio, 95 %."""

    def agrees(self, model: str) -> tuple[bool, bool, bool, bool]:
        """Whether the P99, its change and the harvest are near the guest's, and whether the change
        is in the guest's own interval."""
        guest, own = self.sides[GUEST], self.sides[model]
        return (
            abs(own.p99_us - guest.p99_us) <= CHANGE_WITHIN * guest.p99_us,
            abs(self.p99_ratio[model] - self.p99_ratio[GUEST])
            <= CHANGE_WITHIN * abs(self.p99_ratio[GUEST] - 1),
            abs(own.cores - guest.cores) <= HARVEST_WITHIN * guest.cores,
            self.interval[0] <= self.p99_ratio[model] <= self.interval[1],
        )


def known_to(model: str, condition: Condition) -> bool:
    """Whether the model has the condition: alone, cpu.idle, or a policy's under its mechanism."""
    if condition.name in (ALONE, RIVAL):
        return True
    if condition.policy is None or not condition.batch or "strict_spare" in condition.settings:
        return False
    if chooses_spare(condition.policy) or condition.settings.get("mechanism") == "strict":
        return model == QUEUES
    return "mechanism" not in condition.settings


class Arrivals(NamedTuple):
    """What was sent in a slice."""

    at_ns: tuple[int, ...]
    seconds: float
    """That it was asked to last, warm-up included."""


def arrivals_of(sample: Mapping[str, Any], experiment: Experiment) -> Arrivals:
    """When the requests of a sample arrived, drawn again from its seed.

    Raises ValueError if these are not those that were measured.
    """
    measured = unpacked(sample["requests"])[0].size
    for traffic_s in _possible_s(sample):
        asked = {
            "seed": sample["seed"],
            "seconds": traffic_s,
            "load": experiment.load,
            "gaps": experiment.gaps,
            "service_us": experiment.service_us,
            "shape": experiment.shape,
        }
        arrival_ns, _ = draw(asked, sample["cpus"])
        if arrival_ns.size == measured:
            return Arrivals(tuple(arrival_ns.tolist()), traffic_s)
    raise ValueError(f"no length of slice draws the {measured} requests that were measured")


def _possible_s(sample: Mapping[str, Any]) -> list[float]:
    """Tenths of a second that may have been asked for, warm-up and all; likely ones first."""
    measured_s = sample["seconds"]
    tenths = range(round(9 * measured_s), round(11 * measured_s) + 2)
    likely = sorted(tenths, key=lambda tenth: abs(tenth / 10 - measured_s))
    return [tenth / 10 + sample["warm_up_s"] for tenth in likely if tenth]


def simulated(
    sample: Mapping[str, Any],
    condition: Condition,
    experiment: Experiment,
    alone_us: float,
    model: str,
) -> Figures:
    """The sample's slice in the simulator; alone, a request takes so much CPU time."""
    ran = [
        _run(sample, condition, _arranged(sample, condition, experiment, alone_us, model, number))
        for number in range(SEEDS)
    ]
    return _middle(ran)


def _run(sample: Mapping[str, Any], condition: Condition, arranged: Arranged) -> Figures:
    """Without the requests that complete in the warm-up."""
    experiment, policy = arranged
    machines: list[Machine] = []
    warm_up_ns = round(1e9 * sample["warm_up_s"])
    began = {"ns": 0, "elastic": 0, "lent": 0}

    def window_ended(_: Window) -> None:
        simulation = machines[0].simulation
        if began["ns"] < warm_up_ns <= simulation.now_ns:
            simulation.forget_latencies()
            began.update(ns=simulation.now_ns, **_held_ns(machines[0]))

    machine, _ = run.run_policy(
        experiment, policy, started=machines.append, window_ended=window_ended
    )
    p50_us, p99_us = machine.simulation.latency_us([0.5, 0.99])
    which = "lent" if _lends(condition) else "elastic"
    return Figures(
        p50_us,
        p99_us,
        (_held_ns(machine)[which] - began[which]) / (experiment.end_ns - began["ns"]),
        machine.simulation.totals()["assignments"] / experiment.seconds,
    )


def _held_ns(machine: Machine) -> dict[str, int]:
    simulation = machine.simulation
    return {
        "elastic": simulation.totals()["elastic_core_ns"],
        "lent": simulation.counters()["harvested_core_ns"],
    }


def _lends(condition: Condition) -> bool:
    return condition.policy is not None and not is_shared(condition.policy)


Arranged = tuple[run.Experiment, str]
"""What is simulated, and under which policy."""


def _arranged(
    sample: Mapping[str, Any],
    condition: Condition,
    experiment: Experiment,
    alone_us: float,
    model: str,
    number: int,
) -> Arranged:
    policy = condition.policy or ("everywhere" if condition.batch else "no-harvest")
    cpus, faster = sample["cpus"], sample["dilation"] / FITTED_DILATION
    watched = condition.policy is not None
    least = 1 if watched and cpus >= LEAST_SHARED_CPUS else 0
    at_ns, seconds = arrivals_of(sample, experiment)
    # The batch's kind: forks are often in the kernel, and one ends or waits after its own work.
    kernel = experiment.batch == "forks"
    waking_ns, simulated_model = 0.0, Model()
    if model == SHIPPED:
        shares = policy == "everywhere" or made_for(policy).mechanism == "cpu-idle"
        name = ("cpu-idle-kernel" if kernel else "cpu-idle") if shares else "linux"
        mechanism = make_mechanism(name)
        cores, least = (cpus, 0) if shares or not watched else (cpus - least, 0)
    else:
        strict = condition.settings.get("mechanism") == "strict" or chooses_spare(policy)
        mechanism = make_mechanism("strict" if strict else "cpu-idle-7.3")
        if kernel and mechanism.sharing is not None:
            unit_ns = round(1e9 / sample["unit"])
            sharing = replace(
                mechanism.sharing, tick_ns=min(mechanism.sharing.tick_ns, unit_ns), turn_ns=0
            )
            mechanism = replace(mechanism, sharing=sharing)
        cores = cpus
        waking_ns = 1e3 * WAKING_SHARE * alone_us / faster
        simulated_model = Model(late_ns=round(1e3 * LATE_US / faster))
        if delayed_by_guardian(sample):
            turn_ns = round(1e6 * GUARDIAN_MS / faster)
            simulated_model = replace(
                simulated_model,
                agent_ns=turn_ns,
                agent_every_ns=round(turn_ns / agent_cores(sample)),
            )
    price_ns = waking_ns * (WATCHED if watched else 1)
    primary = Primary(
        2 * cpus,
        Service("lognormal", 1e3 * alone_us - waking_ns, SIGMA),
        arrivals="trace",
        trace_ns=at_ns,
        send_ns=round(SENDING_SHARE * price_ns),
        wake_ns=round((1 - SENDING_SHARE) * price_ns),
    )
    return run.Experiment(
        Workload(experiment.name, (primary,)),
        mechanism,
        seconds,
        sample["seed"] * SEEDS + number,
        cores,
        least,
        LoopSettings(exact=True, event_driven=True),
        simulated_model,
        long_term="off" if policy in ("no-harvest", "everywhere") else "auto",
    ), policy


def measured(sample: Mapping[str, Any], condition: Condition) -> Figures:
    """The same of the guest."""
    counted = as_slice(sample)
    answered = counted.latency_ns[counted.latency_ns >= 0]
    p50_us, p99_us = np.percentile(answered, [50, 99]) / 1e3
    moves = 0 if condition.policy is None else sample.get("moves")
    return Figures(
        float(p50_us),
        float(p99_us),
        sample["harvested_cores"]
        if _lends(condition)
        else sample["batch_core_s"] / sample["seconds"],
        None if moves is None else moves / (sample["seconds"] + sample["warm_up_s"]),
    )


def compared(
    samples: Sequence[Mapping[str, Any]], intervals: Mapping[str, tuple[float, float]]
) -> list[Row]:
    """Rows of one pair; rounds whose arrivals are not known are left out. ``intervals`` are those
    of the guest's ratios, by condition."""
    experiment = next(one for one in EXPERIMENTS if one.name == samples[0]["experiment"])
    if experiment.primary != QUEUE or experiment.second:  # nobody knows what its requests take
        return []
    by_round: dict[int, dict[str, Mapping[str, Any]]] = {}
    for sample in samples:
        try:
            arrivals_of(sample, experiment)
        except ValueError:
            continue
        by_round.setdefault(sample["round"], {})[sample["condition"]] = sample
    rounds = [found for found in by_round.values() if ALONE in found]

    def sides(found: Mapping[str, Mapping[str, Any]], condition: Condition) -> dict[str, Figures]:
        sample, alone_us = found[condition.name], cpu_us(found[ALONE])
        models = {
            model: simulated(sample, condition, experiment, alone_us, model)
            for model in (SHIPPED, QUEUES)
            if known_to(model, condition)
        }
        return {GUEST: measured(sample, condition), **models}

    alone = next(one for one in CONDITIONS if one.name == ALONE)
    baselines = [sides(found, alone) for found in rounds]
    rows = []
    for condition in CONDITIONS:
        if not known_to(QUEUES, condition):
            continue
        pairs = [
            (sides(found, condition), baseline)
            for found, baseline in zip(rounds, baselines, strict=True)
            if condition.name in found
        ]
        if pairs:
            names = pairs[0][0]
            rows.append(
                Row(
                    condition.name,
                    len(pairs),
                    _lends(condition),
                    {side: _middle([own[side] for own, _ in pairs]) for side in names},
                    {
                        side: median(own[side].p99_us / base[side].p99_us for own, base in pairs)
                        for side in names
                    },
                    intervals.get(condition.name, (0.0, 0.0)),
                )
            )
    return rows


def _middle(several: Sequence[Figures]) -> Figures:
    moves = [one.moves_per_s for one in several if one.moves_per_s is not None]
    return Figures(
        median(one.p50_us for one in several),
        median(one.p99_us for one in several),
        fmean(one.cores for one in several),
        fmean(moves) if moves else None,
    )


ABOUT = f"""
## The simulator held against it

It is held against requests in steps, on which it was fitted. The arrivals are those of the guest's
slices, drawn again from their seeds. *Queues* is the simulator's mechanisms
[`cpu-idle-7.3` and `strict`](simulator.md#a-queue-for-each-core): a queue for each core, a thread
that sends, workers that sleep and wake, the elastic group's minimum among the primary's cores.
*Shipped* has one queue for all: `linux` for policies that move cores, `cpu-idle` or
`cpu-idle-kernel` for those that share them, and for `cpu.idle` (`everywhere`).

- **Measured in the guest**: the CPU time of a request alone in the same round, that of the agent,
  and how long a batch that forks computes until it forks or ends.
- **The kernel's own**: ticks of 4 ms and slices of 2.8 ms; a batch that computes, where another CPU
  wakes somebody, goes on until the tick (lazy preemption); who searches how many CPUs for an idle
  one, and which CPUs look for work elsewhere, and when.
- **Fitted to {FITTED[0]} at D = {FITTED[1]:g}**, and to nothing else: {WAKING_SHARE:.0%} of a
  request's CPU time are waking up and going to sleep, {SENDING_SHARE:.0%} of that in the thread
  that sends; who wakes is {LATE_US:.0f} µs late in the mean; an agent makes waking {WATCHED:g}
  times as dear; where a task leaves others waiting on a CPU, the batch has a turn first in
  {SIMULATED.turn_share:.0%} of the cases. At another D these times shrink as the CPUs get faster.

All tables but that pair's are **held out**. Figures are the median round's, each simulated {SEEDS}
times, without the warm-up. Ratios are to *alone* in the same world. Cores are those lent where a
policy lends, and those the batch consumed elsewhere. The goals: the P99's change within
{CHANGE_WITHIN:.0%} of the guest's, the harvest within {HARVEST_WITHIN:.0%}.

"""
MISSING = """
What differs, and the physics that are missing:

- **Long slices.** A batch that asks for slices of 100 ms keeps a CPU for as long now and then,
  while tasks wait. If the thread that sends is among them, every request waits. By its P50 most of
  its turns are as short as another batch's. Which rule decides is not known, so the model has none.
- **Forks.** In the guest they keep the kernel busy (page faults, locks, tasks to be placed), leave
  CPUs idle while parents wait, and displaced tasks come back elsewhere. The model's batch only
  computes, in short turns.
- **The agent.** Where its guardian was Python (†), the model knows its CPU time as turns of the
  guardian on a CPU drawn, and one factor for waking, whichever the policy. Some requests of the
  guest are as late as such a turn is long. In the model an idle CPU takes the displaced thread
  over. Elsewhere it knows the factor alone, and no turns of the control plane.
- **`strict`.** The CPUs that are kept idle are modelled. What it costs to switch the batch, and an
  agent that does not lend everything since its windows are late, are not.
- **Who else computes.** Interrupts and kernel threads take some percent of the guest's CPUs, so its
  batch has less than the model's.
- **A machine that drifts.** From slice to slice the guest's speed changes by a tenth and more. The
  model takes a request's CPU time from the slice *alone* of the round, so a round's ratio differs
  even where the median of several agrees.
- *Shipped*, with one queue, finds next to no harm in `cpu.idle` on this kernel.
"""


def section(found: Mapping[Pair, Sequence[Row]]) -> Iterator[str]:
    """Lines of the page."""
    if not any(found.values()):
        return
    yield ABOUT
    for model in (QUEUES, SHIPPED):
        for title, fitted in (("held out", False), ("fitted", True)):
            near = [
                row.agrees(model)
                for (name, _, dilation), rows in found.items()
                for row in rows
                if ((name, dilation) == FITTED) == fitted
                and row.condition != ALONE
                and model in row.sides
            ]
            if near:
                p99, change, harvest, inside = map(sum, zip(*near, strict=True))
                both = sum(one[1] and one[2] for one in near)
                yield (
                    f"- *{model.capitalize()}*, of {len(near)} rows {title}: both goals are met in "
                    f"{both}, the P99's change's in {change}, the harvest's in {harvest}. The P99 "
                    f"itself is within {CHANGE_WITHIN:.0%} in {p99}, its change inside the guest's "
                    f"own interval in {inside}."
                )
    for (name, kernel, dilation), rows in found.items():
        if not rows:
            continue
        fitted_on = " (fitted)" if (name, dilation) == FITTED else ""
        yield f"\n### {name}, Linux {kernel}, D = {dilation:g}{fitted_on}\n"
        yield "Each cell: guest / queues / shipped. Bold: *queues* agrees.\n"
        heads = ["P50 µs", "P99 µs", "P99 to alone", "guest's interval", "cores", "moves a second"]
        yield f"| | {' | '.join(heads)} | rounds |\n|---|---|---|---|---|---|---|---|"
        yield from map(_line, rows)
    yield MISSING


def _line(row: Row) -> str:
    sides = [row.sides[name] for name in (GUEST, QUEUES, SHIPPED) if name in row.sides]
    ratios = [row.p99_ratio[name] for name in (GUEST, QUEUES, SHIPPED) if name in row.sides]
    moves = ["?" if one.moves_per_s is None else f"{one.moves_per_s:.1f}" for one in sides]
    _, change, harvest, _ = row.agrees(QUEUES)
    near = row.condition != ALONE
    low, high = row.interval
    cells = [
        " / ".join(f"{one.p50_us:.0f}" for one in sides),
        " / ".join(f"{one.p99_us:.0f}" for one in sides),
        _bold(" / ".join(f"{ratio:.2f}" for ratio in ratios), near and change),
        f"{low:.2f}–{high:.2f}" if high else "",
        _bold(" / ".join(f"{one.cores:.2f}" for one in sides), near and harvest)
        + (" lent" if row.lent else ""),
        " / ".join(moves),
        str(row.rounds),
    ]
    return f"| {row.condition} | " + " | ".join(cells) + " |"


def _bold(text: str, bold: bool) -> str:
    return f"**{text}**" if bold else text
