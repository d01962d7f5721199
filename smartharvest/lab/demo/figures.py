"""From the slices of all rounds to the demo's document. Pure."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NotRequired, TypedDict

from smartharvest.lab.demo.bench import AgentFigures
from smartharvest.lab.demo.phases import PHASES, Phase

NO_AGENT = AgentFigures(harvested_cores=0.0, short=0, long=0, agent_cpu_seconds=0.0)


@dataclass(frozen=True)
class Slice:
    """What was measured of one phase in one round."""

    elapsed_s: float
    latencies_ns: Sequence[int]
    """From the intended arrival to the completion, one per request, at least one."""
    left_out: int
    """Requests that a standstill of the whole machine touched; not among the latencies."""
    idle_core_s: float
    """Time the pool's CPUs ran nothing, summed over them."""
    elastic_cpu_s: float
    batch_units: int
    agent: AgentFigures


class LatencyUs(TypedDict):
    p50: float
    p99: float
    p999: float


class Safeguards(TypedDict):
    short: int
    long: int


class PhaseFigures(TypedDict):
    """One phase over all rounds. Cores are averages over the phase's time."""

    name: str
    requests: int
    left_out: int
    """Further ones, which a standstill of the whole machine touched."""
    latency_us: LatencyUs
    p99_change: float
    """Relative to no-harvest: 0.1 is 10 % slower."""
    p99_rounds: list[float]
    """P99 of each round alone, microseconds."""
    idle_cores: float
    harvested_cores: float | None
    """None where the batch work is not confined."""
    elastic_cpu: float
    batch_work: float | None
    """Units a second; a unit is a million integer sums. None on a simulated server, ..."""
    safeguards: Safeguards
    agent_cpu: float | None
    """... as is this: neither is modelled."""


class Document(TypedDict):
    """What ``--json`` prints."""

    phases: list[PhaseFigures]
    seconds: float
    """Wall time of the whole run."""
    rounds: int
    learning_s: dict[str, float]
    """For how long each policy that learns had traffic before the rounds."""
    seed: int
    cpus: list[int]
    elastic_min: int
    park: str
    kernel: str
    load_generator_group: str
    standstills_ms: list[float] | None
    """How long each standstill of the machine lasted; None if they were not watched."""
    simulated: NotRequired[str]
    """Why the demo ran on a simulated server."""


def percentile(ascending: Sequence[int], share: float) -> int:
    """The smallest value that at least ``share`` of all values do not exceed (nearest rank).

    ``ascending`` is sorted and not empty (else ValueError); ``share`` is in 0..1.
    """
    if not ascending:
        raise ValueError("no values to take a percentile of")
    # 0.07 * 100 is 7.000000000000001: without the rounding the rank would be one too high.
    return ascending[max(0, math.ceil(round(share * len(ascending), 9)) - 1)]


def idle_ticks(proc_stat: str, cpus: Collection[int]) -> int:
    """Clock ticks that ``cpus`` ran nothing since boot: idle and iowait of /proc/stat's text."""
    names = {f"cpu{cpu}" for cpu in cpus}
    rows = (line.split() for line in proc_stat.splitlines())
    return sum(int(row[4]) + int(row[5]) for row in rows if row and row[0] in names)


def summarize(phase: Phase, slices: Sequence[Slice], baseline_p99_us: float | None) -> PhaseFigures:
    """The figures of ``phase`` from its slices; without a baseline it is its own."""
    pooled = sorted(latency for one in slices for latency in one.latencies_ns)
    latency: LatencyUs = {
        "p50": _us(percentile(pooled, 0.5)),
        "p99": _us(percentile(pooled, 0.99)),
        "p999": _us(percentile(pooled, 0.999)),
    }
    elapsed_s = sum(one.elapsed_s for one in slices)
    lent_core_s = sum(one.agent.harvested_cores * one.elapsed_s for one in slices)
    return {
        "name": phase.name,
        "requests": len(pooled),
        "left_out": sum(one.left_out for one in slices),
        "latency_us": latency,
        "p99_change": round(latency["p99"] / (baseline_p99_us or latency["p99"]) - 1, 4),
        "p99_rounds": [_us(percentile(sorted(one.latencies_ns), 0.99)) for one in slices],
        "idle_cores": round(sum(one.idle_core_s for one in slices) / elapsed_s, 3),
        "harvested_cores": (
            None if phase.batch == "everywhere" else round(lent_core_s / elapsed_s, 3)
        ),
        "elastic_cpu": round(sum(one.elastic_cpu_s for one in slices) / elapsed_s, 3),
        "batch_work": round(sum(one.batch_units for one in slices) / elapsed_s, 1),
        "safeguards": {
            "short": sum(one.agent.short for one in slices),
            "long": sum(one.agent.long for one in slices),
        },
        "agent_cpu": round(sum(one.agent.agent_cpu_seconds for one in slices) / elapsed_s, 3),
    }


def summarize_all(slices: Mapping[str, Sequence[Slice]]) -> list[PhaseFigures]:
    """The figures of every phase, by name, in the order of ``PHASES``."""
    figures: list[PhaseFigures] = []
    for phase in PHASES:
        baseline = figures[0]["latency_us"]["p99"] if figures else None
        figures.append(summarize(phase, slices[phase.name], baseline))
    return figures


def _us(latency_ns: int) -> float:
    return round(latency_ns / 1000, 1)
