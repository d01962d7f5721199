"""How much wall time a simulated second takes, as the goal has it for two of the workloads.

The floor is the machine without a decision: no harvest, nothing learned. The learners beside it
differ in nothing but what decides; ``every_poll`` makes even those polls one by one that cannot
change anything.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from bench.statistics import across_rounds, ratio
from bench.subject import Effort, Figures, Picture, Subject, goal, interleave
from smartharvest.lab.simulator.run import Experiment, run_policy
from smartharvest.lab.simulator.workloads import WORKLOADS

SECONDS = {"indexserve": 60.0, "memcached": 6.0}
"""Of virtual time a run."""
GOALS_MS = {"indexserve": 1000 / 400, "memcached": 1000 / 50}
"""At most so much for a simulated second, with the learner in C or none."""
WAYS: dict[str, dict[str, object]] = {
    "no-harvest": {"policy": "no-harvest"},
    "native": {"policy": "smartharvest", "learner": "native"},
    "vw": {"policy": "smartharvest", "learner": "vw"},
    "every_poll": {"policy": "smartharvest", "learner": "native", "every_poll": True},
}


def measure(effort: Effort) -> Figures:
    """Each round one run a case, ten cores, cpugroups."""
    figures: Figures = {}
    goals: Figures = {}
    for name, full_seconds in SECONDS.items():
        seconds = max(1.0, effort.seconds(full_seconds))
        runs = interleave({way: _run(name, seconds, way) for way in WAYS}, effort)
        summaries = {way: across_rounds(values) for way, values in runs.items()}
        floor = _median(summaries["no-harvest"])
        for summary in summaries.values():
            summary["ratio"] = ratio(_median(summary), floor)
            summary["simulated_s_per_s"] = round(1000 / _median(summary))
        figures[name] = {"seconds": seconds, "ms_per_simulated_s": summaries}
        goals[f"simulate_{name}_ms"] = goal(GOALS_MS[name], _median(summaries["native"]))
    return figures | {"goals": goals}


def _median(summary: Figures) -> float:
    value = summary["median"]
    assert isinstance(value, float)
    return value


def _run(name: str, seconds: float, way: str) -> Callable[[], float]:
    def run() -> float:
        began = time.perf_counter()
        run_policy(Experiment(WORKLOADS[name], seconds=seconds), **WAYS[way])  # type: ignore[arg-type]
        return (time.perf_counter() - began) * 1000 / seconds

    return run


SUBJECT = Subject(
    measure,
    seconds=6.0,
    title="The simulator's speed",
    about="""Milliseconds a simulated second takes, beside the same machine without a decision.""",
    pictures=(
        Picture(("indexserve", "ms_per_simulated_s"), "median", caption="ms a simulated second"),
    ),
)
