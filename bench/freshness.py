"""How soon a sensor shows a thread that starts to run.

A thread wakes on one CPU and notes the time as the first thing it does; on another CPU the sensor
is read without a pause. A sample is the time from the note to the end of the first reading that
shows it; below zero, it was seen before it had come out of the kernel.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import closing

import numpy as np
from numpy.typing import NDArray

from bench import seams
from bench.logged_wave import LoggedWave
from bench.statistics import summarize
from bench.subject import Effort, Figures, NotMeasurableError, Subject, interleave
from bench.truth import OFF_NS, ON_NS, Make, sensors
from smartharvest.errors import SensorError

SECONDS = 0.6
LEFT_OUT = ("stat",)
"""Its units are a hundredth of a second."""
EARLY_NS = 100_000
"""A sight so long before a note is that of another turn."""


def measure(effort: Effort) -> Figures:
    allowed = sorted(os.sched_getaffinity(0))
    if len(allowed) < 2:
        raise NotMeasurableError("needs two CPUs: one to run on and one to look from")
    reader_cpu, cpu = allowed[:2]
    seconds = effort.seconds(SECONDS)
    os.sched_setaffinity(0, {reader_cpu})
    try:
        with LoggedWave(cpu, ON_NS, OFF_NS, policy=os.SCHED_FIFO) as wave:

            def case(make: Make) -> Callable[[], NDArray[np.int64]]:
                def run() -> NDArray[np.int64]:
                    with closing(make()) as sensor:
                        seen_ns = seams.watch(sensor, seconds)
                    return delays(wave.spans()[:, 0], seen_ns)

                return run

            makes = {n: make for n, make in sensors([wave.pid]).items() if n not in LEFT_OUT}
            rounds = interleave({name: case(make) for name, make in makes.items()}, effort)
    finally:
        os.sched_setaffinity(0, allowed)
    return {
        "on_us": ON_NS / 1000,
        "off_us": OFF_NS / 1000,
        **{name: summarize(times) for name, times in rounds.items() if all(map(len, times))},
    }


def delays(started_ns: NDArray[np.int64], seen_ns: NDArray[np.int64]) -> NDArray[np.int64]:
    """From each sight to the start it belongs to; sights of no start are left out."""
    if not len(started_ns):
        raise SensorError("nothing has run")
    # The last start up to then, or just after.
    index = np.searchsorted(started_ns, seen_ns + EARLY_NS) - 1
    known = index >= 0
    found = seen_ns[known] - started_ns[index[known]]
    kept: NDArray[np.int64] = found[found < ON_NS]
    return kept


SUBJECT = Subject(
    measure,
    seconds=26.0,
    least_s=10.0,
    title="Freshness",
    about="""\
A thread wakes up, and notes the time; a sample is from there to the end of the first reading that
shows a busy core, read without a pause on another CPU. Below zero: seen before the thread was out
of the kernel.""",
)
