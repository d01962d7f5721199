"""What the loop's reading of the in-kernel sensor costs, by the number of CPUs.

With levels it is one word, whatever the machine; without them (the running state alone) every CPU's
entry is looked at. The sensor is a real one on this machine and is told that there are more CPUs:
its memory has room for 4,096. ``dirty``: another CPU has just written every entry.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import closing

import numpy as np
from numpy.typing import NDArray

from bench import seams
from bench.statistics import compare, median_us
from bench.subject import Effort, Figures, NotMeasurableError, Picture, Subject, goal, interleave
from smartharvest.core import _sensors

CPUS = (2, 16, 64, 256)
READS = 20_000
DIRTY_READS = 4000
GOAL_US = 0.6
"""Of 64 CPUs."""


def measure(effort: Effort) -> Figures:
    allowed = sorted(os.sched_getaffinity(0))
    if len(allowed) < 2:
        raise NotMeasurableError("needs two CPUs: one to read on and one to write from")
    writer_cpu, reader_cpu = allowed[:2]
    target = [("pid", os.getpid(), 0)]
    try:
        whole = _sensors.BpfSensor(target, [1])
    except OSError as error:
        raise NotMeasurableError(f"BPF: {error.strerror}") from error
    os.sched_setaffinity(0, {reader_cpu})
    try:
        with closing(whole), closing(_sensors.BpfSensor(target, [1], parts=())) as state:

            def reads(sensor: _sensors.BpfSensor, cpus: int, count: int, writer: int) -> Reads:
                def run() -> NDArray[np.int64]:
                    with seams.pretending(sensor, cpus):
                        return seams.reads_ns(sensor, effort.samples(count), writer)

                return run

            cases: dict[str, Reads] = {"clock": lambda: seams.nothing_ns(effort.samples(READS))}
            for cpus in CPUS:
                cases[f"level_{cpus}"] = reads(whole, cpus, READS, -1)
                cases[f"state_{cpus}"] = reads(state, cpus, READS, -1)
                cases[f"dirty_{cpus}"] = reads(state, cpus, DIRTY_READS, writer_cpu)
            rounds = interleave(cases, effort)
    finally:
        os.sched_setaffinity(0, allowed)
    figures = compare(rounds, {name: "clock" for name in cases if name != "clock"})
    goals = {
        f"{case}_64_us": goal(GOAL_US, median_us(figures[f"{case}_64"]))
        for case in ("level", "state", "dirty")
    }
    return {**figures, "goals": goals}


Reads = Callable[[], NDArray[np.int64]]

SUBJECT = Subject(
    measure,
    seconds=6.0,
    title="A sweep of many CPUs",
    about="""\
A sample is one reading of the in-kernel sensor as the loop makes it; the floor is reading the
clock twice. `level`: the count of busy cores, one word. `state`: without the levels, one entry
for each CPU. `dirty`: the same just after another CPU has written every entry. More CPUs than
this machine has are pretended.""",
    pictures=(Picture((), "median_us", "lines", x="CPUs", log=True),),
)
