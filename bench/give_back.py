"""From the buffer's end to the return of the write that gives the core back.

The primary's thread wakes up while every core but those it may use is lent; the loop, woken by the
in-kernel sensor or polling every 50 us, takes the core from four busy threads of the elastic group
through the cpuset. A sample is the time from the thread's own first note to the return of the
actuator's write; what the primary's thread does then is another question.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import closing

import numpy as np
from numpy.typing import NDArray

from bench import probe, seams
from bench.cpuset import find_tree, made_group, make_actuator
from bench.logged_wave import LoggedWave
from bench.statistics import summarize
from bench.subject import Effort, Figures, NotMeasurableError, Subject, interleave
from smartharvest.agent.loop_builder import FIFO_PRIORITY
from smartharvest.core import _actuators, _loop, _sensors
from smartharvest.core.plan import Plan
from smartharvest.host.process import tasks
from smartharvest.lab.demo.children import BullyProcess

SECONDS = 2.0
THREADS = 4
TOTAL = 2
ON_NS, OFF_NS = 300_000, 9_713_000
"""Out of step with the polls."""
WINDOW_NS = 5_000_000
LATEST_NS = 5_000_000
"""A write later than this after a wake-up belongs to no wake-up."""


def measure(effort: Effort) -> Figures:
    tree = find_tree()
    cpus = sorted(tree.online_cpus() & os.sched_getaffinity(0))[:2]
    if len(cpus) < 2:
        raise NotMeasurableError("needs two CPUs: one to keep and one to lend")
    if not probe.fifo_allowed():
        raise NotMeasurableError("SCHED_FIFO is refused")
    seconds = effort.seconds(SECONDS)
    with (
        made_group(tree, cpus) as (group, writer),
        BullyProcess(THREADS) as batch,
        LoggedWave(cpus[0], ON_NS, OFF_NS, policy=os.SCHED_FIFO) as wave,
        # Before the batch runs: beside it, loading the sensor takes seconds.
        closing(_open(wave.pid)) as sensor,
    ):
        threads = tasks.process_threads(batch.pid)
        writer.move_tasks([(tid, tree.group_of(tid).path, group.path) for tid in threads])
        batch.start()
        batch.run()

        def case(event_driven: bool) -> Callable[[], NDArray[np.int64]]:
            def run() -> NDArray[np.int64]:
                actuator = make_actuator(group, cpus)
                moves = seams.Moves(actuator)
                _lend(sensor, actuator, cpus[1], event_driven, seconds)
                returned_ns = moves.table()
                backs = returned_ns[returned_ns[:, 1] == 0, 0]
                return reactions(wave.spans()[:, 0], backs)

            return run

        rounds = interleave({"event_driven": case(True), "polling": case(False)}, effort)
    return {name: summarize(times) for name, times in rounds.items() if all(map(len, times))}


def _open(pid: int) -> _sensors.BpfSensor:
    try:
        return _sensors.BpfSensor([("pid", pid, 0)], [TOTAL])
    except OSError as error:
        raise NotMeasurableError(f"BPF: {error.strerror}") from error


def _lend(
    sensor: _sensors.BpfSensor,
    actuator: _actuators.Actuator,
    loop_cpu: int,
    event_driven: bool,
    seconds: float,
) -> None:
    """Runs a loop that has one core lent whenever the primary does not want it."""
    loop = _loop.Loop(
        sensor=sensor,
        actuator=actuator,
        total=TOTAL,
        max_harvest=1,
        window_ns=WINDOW_NS,
        exact=True,
        event_driven=event_driven,
        cpus=[loop_cpu],
        fifo_priority=FIFO_PRIORITY,
    )
    loop.start()
    end_s = time.monotonic() + seconds
    while time.monotonic() < end_s:
        loop.wait(20)
        while (window := loop.take()) is not None:
            loop.post(Plan(window.seq, 1, TOTAL))
    loop.stop()
    if loop.halt is not None:
        raise NotMeasurableError(f"the loop halted: {loop.halt}")


def reactions(woke_ns: NDArray[np.int64], returned_ns: NDArray[np.int64]) -> NDArray[np.int64]:
    """From each wake-up to the first write that returned after it, if one did in time."""
    index = np.searchsorted(returned_ns, woke_ns)
    followed = index < len(returned_ns)
    times = returned_ns[index[followed]] - woke_ns[followed]
    kept: NDArray[np.int64] = times[times < LATEST_NS]
    return kept


SUBJECT = Subject(
    measure,
    seconds=32.0,
    least_s=12.0,
    title="Giving a core back",
    about="""\
A thread of the primary wakes up and uses the last core of its buffer; a sample is from its own
first note to the return of the cpuset's write that takes a core back from four busy elastic
threads, by a loop that the in-kernel sensor wakes, and by one that polls every 50 us.""",
)
