"""The demo: the same traffic under every phase, in interleaved rounds."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from smartharvest.lab.demo.bench import Bench
from smartharvest.lab.demo.children import BullyProcess, ServerProcess
from smartharvest.lab.demo.figures import NO_AGENT, Document, Slice, idle_ticks, summarize_all
from smartharvest.lab.demo.phases import (
    PHASES,
    Phase,
    plan_learning_s,
    plan_order,
    plan_rounds,
    plan_slice_s,
)
from smartharvest.lab.demo.standstill import Interval, Standstills, touched

SETTLE_S = 0.1
"""Between arranging a phase and measuring it: displaced and paused threads come to rest."""
OVERHEAD_GUESS_S = 0.3
"""What a slice takes beyond its traffic, before any was run."""
SEEDS_PER_RUN = 1000
"""Runs of neighbouring seeds share no round's traffic."""


def run_demo(
    bench: Bench,
    standstills: Standstills,
    *,
    seconds: float,
    seed: int,
    progress: Callable[[str], None],
) -> Document:
    """Run all phases on ``bench`` within about ``seconds`` of wall time.

    Requests that fall into one of the ``standstills``, which are watched for meanwhile, are left
    out. Before the first round each policy that learns has traffic of its own, which is not
    measured. ``progress`` gets one short line before every slice. Whatever ends the run, both child
    processes are gone and the entered phase is left when this returns or raises. Raises
    ConfigError if ``seconds`` is too short, SmartHarvestError if a child fails, and what
    ``bench`` raises. To be called from a thread that lives until it returns.
    """
    began = time.monotonic()
    rounds = plan_rounds(seconds)
    slices: dict[str, list[Slice]] = {phase.name: [] for phase in PHASES}
    with (
        standstills,
        ServerProcess(len(bench.cpus)) as server,
        BullyProcess(os.cpu_count() or 1) as bully,
    ):
        bench.place("primary", server.pid)
        bench.place("elastic", bully.pid)
        server.start()
        bully.start()
        learning_s = plan_learning_s(seconds)
        for phase, each_s in learning_s.items():
            progress(f"{phase.name} learns: {each_s:.1f} s")
            server.prepare(each_s, seed=seed * SEEDS_PER_RUN + rounds)
            _run_slice(bench, phase, each_s, server, bully, standstills)
        overhead_s = OVERHEAD_GUESS_S
        for number, phases in enumerate(plan_order(rounds, seed)):
            round_began = time.monotonic()
            slices_left = (rounds - number) * len(PHASES)
            slice_s = plan_slice_s(began + seconds - round_began, slices_left, overhead_s)
            for phase in phases:
                progress(f"round {number + 1}/{rounds}, {phase.name}: {slice_s:.1f} s")
                server.prepare(slice_s, seed=seed * SEEDS_PER_RUN + number)
                slices[phase.name].append(
                    _run_slice(bench, phase, slice_s, server, bully, standstills)
                )
            overhead_s = (time.monotonic() - round_began) / len(PHASES) - slice_s
    return {
        "phases": summarize_all(slices),
        "seconds": round(time.monotonic() - began, 1),
        "rounds": rounds,
        "learning_s": {phase.name: round(each_s, 1) for phase, each_s in learning_s.items()},
        "seed": seed,
        "cpus": list(bench.cpus),
        "elastic_min": bench.elastic_min,
        "park": bench.park,
        "kernel": platform.release(),
        "load_generator_group": "primary",
        "standstills_ms": (
            [(until_ns - from_ns) / 1e6 for from_ns, until_ns in standstills.so_far()]
            if standstills.watched
            else None
        ),
    }


@dataclass(frozen=True, slots=True)
class _Reading:
    """The meters at one moment."""

    time_s: float
    idle_core_s: float
    elastic_cpu_s: float
    batch_units: int

    @classmethod
    def take(cls, bench: Bench, bully: BullyProcess) -> _Reading:
        with open("/proc/stat", encoding="ascii") as proc_stat:
            idle = idle_ticks(proc_stat.read(), bench.cpus)
        return cls(
            time.monotonic(), idle / os.sysconf("SC_CLK_TCK"), bully.cpu_ns() / 1e9, bully.units()
        )


def without_standstills(
    began_ns: int,
    arrivals_ns: Sequence[int],
    latencies_ns: Sequence[int],
    standstills: Sequence[Interval],
) -> list[int]:
    """The latencies of requests that no standstill touched; all, if there is no other.

    Arrivals count from ``began_ns``, a time of CLOCK_MONOTONIC.
    """
    kept = [
        latency_ns
        for arrival_ns, latency_ns in zip(arrivals_ns, latencies_ns, strict=True)
        if not touched(began_ns + arrival_ns, began_ns + arrival_ns + latency_ns, standstills)
    ]
    return kept or list(latencies_ns)


def _run_slice(
    bench: Bench,
    phase: Phase,
    seconds: float,
    server: ServerProcess,
    bully: BullyProcess,
    standstills: Standstills,
) -> Slice:
    """Measure ``phase`` while the server serves the traffic it has prepared."""
    readings: list[_Reading] = []

    def begin() -> None:
        readings.append(_Reading.take(bench, bully))
        server.go()

    def end() -> None:
        readings.append(_Reading.take(bench, bully))

    bench.enter_phase(phase.name)
    try:
        if phase.batch != "minimum" or bench.elastic_min > 0:
            bully.run()
        time.sleep(SETTLE_S)
        if phase.policy is None:
            agent = NO_AGENT
            begin()
            time.sleep(seconds)
            end()
        else:
            agent = bench.run_agent(phase.policy, seconds, begin, end)
        latencies_ns = server.latencies_ns()
    finally:
        bully.pause()
        bench.leave_phase()
    before, after = readings
    kept_ns = without_standstills(
        round(before.time_s * 1e9), server.arrivals_ns(), latencies_ns, standstills.so_far()
    )
    return Slice(
        elapsed_s=after.time_s - before.time_s,
        latencies_ns=kept_ns,
        left_out=len(latencies_ns) - len(kept_ns),
        idle_core_s=after.idle_core_s - before.idle_core_s,
        elastic_cpu_s=after.elastic_cpu_s - before.elastic_cpu_s,
        batch_units=after.batch_units - before.batch_units,
        agent=agent,
    )
