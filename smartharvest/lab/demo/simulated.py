"""The demo on a simulated server, where this machine cannot run the real one."""

from __future__ import annotations

import math
import platform
import time
from collections.abc import Callable
from dataclasses import replace

from smartharvest.algorithm.learning.options import LearningOptions
from smartharvest.lab.demo.figures import Document, PhaseFigures
from smartharvest.lab.demo.phases import PHASES
from smartharvest.lab.demo.traffic import SERVICE_MEDIAN_NS, SERVICE_SIGMA, draw_traffic
from smartharvest.lab.simulator.conditions import Conditions, is_papers, made_for
from smartharvest.lab.simulator.machine import LoopSettings, Model
from smartharvest.lab.simulator.mechanisms import make_mechanism
from smartharvest.lab.simulator.run import Experiment, Outcome, simulate
from smartharvest.lab.simulator.workloads import Primary, Service, Workload

CORES = 10
"""As many as in the paper's evaluation."""
SIMULATED = ("no-harvest", "fixed-buffer:1", "smartharvest", "adaptive")
"""The others compare with the kernel's own ways, which are not simulated."""
MOVED = Conditions(True, "demand", "attributed", "linux")
"""Of those that move cores: as the agent runs them."""


def run_simulated_demo(
    *, seconds: float, seed: int, reason: str, progress: Callable[[str], None]
) -> Document:
    """The demo's traffic and policies in ``seconds`` of virtual time for each phase.

    ``reason`` is why not on this machine; the document carries it under ``simulated``.
    """
    began = time.monotonic()
    workload = _workload(seconds, seed)
    phases = []
    for name in (phase.name for phase in PHASES if phase.name in SIMULATED):
        progress(f"simulating {name}: {seconds:.0f} s")
        conditions = MOVED if is_papers(name) else made_for(name)
        experiment = Experiment(
            workload,
            make_mechanism(conditions.mechanism),
            seconds=seconds,
            seed=seed,
            cores=CORES,
            loop=LoopSettings(event_driven=conditions.events),
            model=Model(),
            long_term=conditions.long_term,
        )
        options = LearningOptions(label=conditions.label)
        phases.append(_figures(name, simulate(experiment, name, options=options)))
    return {
        "phases": phases,
        "seconds": round(time.monotonic() - began, 1),
        "rounds": 1,
        "learning_s": {},
        "seed": seed,
        "cpus": list(range(CORES)),
        "elastic_min": 0,
        "park": "idle",
        "kernel": platform.release(),
        "load_generator_group": "primary",
        "standstills_ms": None,
        "simulated": reason,
    }


def _workload(seconds: float, seed: int) -> Workload:
    traffic = draw_traffic(seconds, CORES, seed)
    mean_ns = SERVICE_MEDIAN_NS * math.exp(SERVICE_SIGMA**2 / 2)
    server = Primary(CORES, Service("lognormal", mean_ns, SERVICE_SIGMA), arrivals="trace")
    return Workload("demo", (replace(server, trace_ns=tuple(traffic.arrival_ns)),))


def _figures(name: str, outcome: Outcome) -> PhaseFigures:
    latency = outcome.latency_us
    return {
        "name": name,
        "requests": outcome.requests,
        "left_out": 0,
        "latency_us": {key: round(latency[key], 1) for key in ("p50", "p99", "p999")},  # type: ignore[typeddict-item]
        "p99_change": round(outcome.p99_change, 4),
        "p99_rounds": [round(latency["p99"], 1)],
        "idle_cores": round(CORES - outcome.busy_cores - outcome.harvested_cores, 3),
        "harvested_cores": round(outcome.harvested_cores, 3),
        "elastic_cpu": round(outcome.harvested_cores, 3),
        "batch_work": None,
        "safeguards": {"short": outcome.safeguards["short"], "long": outcome.safeguards["long"]},
        "agent_cpu": None,
    }
