"""The simulator held against the guest: the same arrivals, load and policies in both. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import Any

import numpy as np

from bench.manycore.plan import ALONE, CONDITIONS, EXPERIMENTS, QUEUE, SIGMA, Experiment
from bench.manycore.samples import unpacked
from bench.manycore.serving import draw
from bench.real.conditions import RIVAL, Condition
from smartharvest.algorithm.policy import is_shared
from smartharvest.lab.simulator import run
from smartharvest.lab.simulator.conditions import made_for
from smartharvest.lab.simulator.machine import LoopSettings
from smartharvest.lab.simulator.mechanisms import Mechanism, Sharing, make_mechanism
from smartharvest.lab.simulator.workloads import Primary, Service, Workload

SHIPPED, QUEUES = "shipped", "queues"
"""The simulator as ``lab simulate`` has it, and with a queue for each core."""
CHANGE_WITHIN, HARVEST_WITHIN = 0.25, 0.15
"""Of the P99 and of its change, and of the harvest, in the guest."""
TURN_SHARE, TICK_NS = 0.15, 4_000_000
"""Fitted, on a coarse grid, to the P50 and P99 of ``cpu.idle`` in queue-30-compute on 7.3.4."""
LOOKS = 1
"""A machine whose CPUs are all busy, be it with a batch, is searched for no idle CPU (SIS_UTIL). Of
1 and 2, what is nearer to the same."""
BALANCE_NS_PER_CPU = 1_000_000
"""A scheduling domain's shortest interval of balancing is a millisecond for each of its CPUs."""
LEAST_SHARED_CPUS = 3
"""From so many CPUs on, the elastic group has one at any time (smartharvest/placement/capacity)."""


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
    """``guest``, SHIPPED and QUEUES."""
    p99_ratio: Mapping[str, float]
    """To alone; the median round's."""

    def agrees(self, model: str) -> tuple[bool, bool, bool]:
        """Whether the P99, its change and the harvest are near the guest's."""
        guest, own = self.sides["guest"], self.sides[model]
        return (
            abs(own.p99_us - guest.p99_us) <= CHANGE_WITHIN * guest.p99_us,
            abs(self.p99_ratio[model] - self.p99_ratio["guest"])
            <= CHANGE_WITHIN * abs(self.p99_ratio["guest"] - 1),
            abs(own.cores - guest.cores) <= HARVEST_WITHIN * guest.cores,
        )


def simulable(condition: Condition) -> bool:
    """Whether the simulator knows the condition: a policy's under its own mechanism, or alone."""
    if condition.name in (ALONE, RIVAL):
        return True
    return (
        condition.policy is not None and condition.batch and "mechanism" not in condition.settings
    )


def arrivals_of(sample: Mapping[str, Any], experiment: Experiment) -> list[int]:
    """When the requests of a sample arrived, in ns, drawn again from its seed.

    Raises ValueError if these are not those that were measured.
    """
    asked = {
        "seed": sample["seed"],
        "seconds": _traffic_s(sample),
        "load": experiment.load,
        "gaps": experiment.gaps,
        "service_us": experiment.service_us,
        "shape": experiment.shape,
    }
    arrival_ns, _ = draw(asked, sample["cpus"])
    measured = unpacked(sample["requests"])[0].size
    if arrival_ns.size != measured:
        raise ValueError(f"{arrival_ns.size} requests are drawn where {measured} were measured")
    found: list[int] = arrival_ns.tolist()
    return found


def _traffic_s(sample: Mapping[str, Any]) -> float:
    """What was asked for, in whole seconds, and the warm-up."""
    return float(round(sample["seconds"]) + sample["warm_up_s"])


def simulated(
    sample: Mapping[str, Any],
    condition: Condition,
    experiment: Experiment,
    beyond_us: float,
    model: str,
) -> Figures:
    """The sample's slice in the simulator; a request takes ``beyond_us`` of CPU beyond its work."""
    mean_us = experiment.mean_us + beyond_us
    service = Service("lognormal", 1e3 * mean_us, SIGMA * experiment.mean_us / mean_us)
    cpus, traffic_s = sample["cpus"], _traffic_s(sample)
    arrival_ns = tuple(arrivals_of(sample, experiment))
    primary = Primary(2 * cpus, service, arrivals="trace", trace_ns=arrival_ns)
    policy, mechanism, cores, elastic_min = arranged(condition, experiment, cpus, model)
    machine, _ = run.run_policy(
        run.Experiment(
            Workload(experiment.name, (primary,)),
            mechanism,
            traffic_s,
            sample["seed"],
            cores,
            elastic_min,
            LoopSettings(exact=True, event_driven=True),
            long_term="off" if policy in ("no-harvest", "everywhere") else "auto",
        ),
        policy,
    )
    totals, counters = machine.simulation.totals(), machine.simulation.counters()
    p50_us, p99_us = machine.simulation.latency_us([0.5, 0.99])
    lent_s, elastic_s = (
        counted / 1e9 for counted in (counters["harvested_core_ns"], totals["elastic_core_ns"])
    )
    return Figures(
        p50_us,
        p99_us,
        (lent_s if _lends(condition) else elastic_s) / traffic_s,
        totals["assignments"] / traffic_s,
    )


def _lends(condition: Condition) -> bool:
    return condition.policy is not None and not is_shared(condition.policy)


def arranged(
    condition: Condition, experiment: Experiment, cpus: int, model: str
) -> tuple[str, Mechanism, int, int]:
    """(policy, mechanism, cores, cores of the elastic group's at any time) of a condition."""
    if not condition.batch:
        return "no-harvest", make_mechanism("linux"), cpus, 0
    # Either batch's figures are those of its kind: forks are often in the kernel.
    shared = make_mechanism("cpu-idle-kernel" if experiment.batch == "forks" else "cpu-idle")
    policy = condition.policy or "everywhere"
    least = 1 if condition.policy is not None and cpus >= LEAST_SHARED_CPUS else 0
    if model == QUEUES:
        assert shared.sharing is not None
        sharing = Sharing(
            shared.sharing.stall_share, TURN_SHARE, TICK_NS, LOOKS, BALANCE_NS_PER_CPU * cpus
        )
        return policy, Mechanism("cpu-idle", (), (), sharing=sharing), cpus, least
    if policy == "everywhere" or made_for(policy).mechanism == "cpu-idle":
        return policy, shared, cpus, 0
    return policy, make_mechanism("linux"), cpus - least, 0


def measured(sample: Mapping[str, Any], condition: Condition) -> Figures:
    """The same of the guest."""
    latency_ns = unpacked(sample["requests"])[1]
    p50_us, p99_us = np.percentile(latency_ns[latency_ns >= 0], [50, 99]) / 1e3
    consumed = sample["batch_core_s"] / sample["seconds"]
    moves = sample.get("moves")
    if condition.policy is None:
        moves = 0
    return Figures(
        float(p50_us),
        float(p99_us),
        sample["harvested_cores"] if _lends(condition) else consumed,
        None if moves is None else moves / _traffic_s(sample),
    )


def compared(samples: Sequence[Mapping[str, Any]], beyond_us: float) -> list[Row]:
    """Rows of one experiment on one kernel; rounds whose arrivals are not known are left out."""
    experiment = next(one for one in EXPERIMENTS if one.name == samples[0]["experiment"])
    if experiment.primary != QUEUE or experiment.second:  # nobody knows what its requests take
        return []
    alone = next(one for one in CONDITIONS if one.name == ALONE)
    by_round: dict[int, dict[str, Mapping[str, Any]]] = {}
    for sample in samples:
        try:
            arrivals_of(sample, experiment)
        except ValueError:
            continue
        by_round.setdefault(sample["round"], {})[sample["condition"]] = sample
    rounds = [found for found in by_round.values() if ALONE in found]

    def sides(sample: Mapping[str, Any], condition: Condition) -> dict[str, Figures]:
        models = {
            model: simulated(sample, condition, experiment, beyond_us, model)
            for model in (SHIPPED, QUEUES)
        }
        return {"guest": measured(sample, condition), **models}

    baselines = [sides(found[ALONE], alone) for found in rounds]
    rows = []
    for condition in filter(simulable, CONDITIONS):
        pairs = [
            (sides(found[condition.name], condition), baseline)
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

The arrivals are those of the guest's slices, drawn again from their seeds. A request's CPU time is
the guest's distribution, its mean raised by what a request took beyond its work alone. *Shipped* is
`lab simulate` as it is: `linux` for policies that move cores, `cpu-idle` or `cpu-idle-kernel` for
those that share them, and for `cpu.idle` (`everywhere`). *Queues* shares always, gives each core a
queue of its own, and takes the elastic group's minimum from the primary's cores, as on a host. A
thread that wakes on a machine without an idle core looks at {LOOKS} core there, a core that runs
the batch takes a thread from another's queue every N ms on a machine of N cores, and the batch gets
{TURN_SHARE:.0%} of the turns. The first and the last of these figures were chosen on `cpu.idle` in
queue-30-compute on 7.3.4, with queue-30-forks in sight: no pair is held out. Figures are the median
round's; ratios are to *alone* in the same world. Cores are those lent where a policy lends and
those the batch consumed elsewhere.
"""
MISSING = """
What differs, and the physics that are missing:

- **A queue for each CPU.** In the shipped model a free core serves the request that has waited
  longest. On Linux a free CPU runs the batch of its own queue. It is not idle then, and pulls no
  task from other queues. The kernel does not search a busy machine for an idle CPU. So the shipped
  model overrates `cpu.idle`. *Queues* models this.
- **The primary alone.** In the guest, one thread sends all requests and waits for a CPU as any
  other, workers wait for a lock, a thread that wakes is late, and the host disturbs. No model has
  that. So each model is faster alone than the guest is, and its ratio to alone is too large even
  where its microseconds next to a batch agree.
- **The batch's minimum, and the agent.** An agent that lends nothing lets the batch compute on one
  CPU, which the primary's threads are woken on, too, and its own threads take a part of another.
  The shipped model has neither; *queues* has the first, but wakes no thread there while another CPU
  is idle.
- **Wake-ups that are saved.** A worker that always finds a request does not sleep. So a request
  takes less CPU next to a batch than alone, and the batch gets more. The models fix that price.
"""


def section(found: Mapping[str, Sequence[Row]]) -> Iterator[str]:
    """Lines of the page; ``found`` by heading."""
    if not any(found.values()):
        return
    yield ABOUT
    every = [row for rows in found.values() for row in rows if row.condition != ALONE]
    for model in (SHIPPED, QUEUES):
        near = [row.agrees(model) for row in every]
        p99, change, harvest = map(sum, zip(*near, strict=True)) if near else (0, 0, 0)
        yield (
            f"- *{model.capitalize()}*, of {len(near)} rows: the P99 is within {CHANGE_WITHIN:.0%} "
            f"of the guest's in {p99}, its change from alone in {change}, the harvest within "
            f"{HARVEST_WITHIN:.0%} in {harvest}."
        )
    for heading, rows in found.items():
        if not rows:
            continue
        yield f"\n### {heading}\n"
        yield "Each cell: guest / shipped / queues.\n"
        yield "| | P50 µs | P99 µs | P99 to alone | cores | moves a second | rounds |"
        yield "|---|---|---|---|---|---|---|"
        yield from map(_line, rows)
    yield MISSING


def _line(row: Row) -> str:
    sides = list(row.sides.values())
    moves = [
        "not recorded" if one.moves_per_s is None else f"{one.moves_per_s:.1f}" for one in sides
    ]
    cells = [
        " / ".join(f"{one.p50_us:.0f}" for one in sides),
        " / ".join(f"{one.p99_us:.0f}" for one in sides),
        " / ".join(f"{ratio:.2f}" for ratio in row.p99_ratio.values()),
        " / ".join(f"{one.cores:.2f}" for one in sides) + (" lent" if row.lent else ""),
        " / ".join(moves),
        str(row.rounds),
    ]
    return f"| {row.condition} | " + " | ".join(cells) + " |"
