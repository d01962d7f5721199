"""What grows with CPUs and with tasks, and what does not.

CPUs beyond this machine's are made: the loop reads a sensor that says how many are busy, the
actuator writes lists of CPUs to files in memory. Tasks are real threads that sleep.
"""

from __future__ import annotations

import os
import random
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from numpy.typing import ArrayLike

from bench import probe
from bench.cpuset import find_tree, made_group, make_actuator
from bench.learning import random_window
from bench.poll import POLLS, half_busy_loop
from bench.statistics import compare
from bench.subject import Effort, Figures, NotMeasurableError, Picture, Subject, interleave
from smartharvest.algorithm.learning.costs import COSTS, cost_table
from smartharvest.algorithm.learning.csoaa_native import NativeCsoaa
from smartharvest.algorithm.learning.csoaa_vw import VwCsoaa
from smartharvest.core import _actuators, _sensors
from smartharvest.host.cpulist import format_cpulist
from smartharvest.host.process import tasks
from smartharvest.lab.demo.children import BullyProcess

CPUS = (2, 16, 64, 256)
TASKS = (1, 10, 100, 1000)
BATCHES, LESSONS, WRITES, READS, MOVES = 20, 200, 200, 200, 30

Case = Callable[[], ArrayLike]


def measure(effort: Effort) -> Figures:
    return {"cpus": _cpus(effort), "tasks": _tasks_or_why_not(effort)}


# --- CPUs ----------------------------------------------------------------------------------------


def _cpus(effort: Effort) -> Figures:
    """Each beside the same with two CPUs."""
    cases: dict[str, Case] = {}
    floors: dict[str, str] = {}
    rng = random.Random(effort.seed)
    with tempfile.TemporaryDirectory(dir=_memory()) as made:
        for cpus in CPUS:
            of_these = {
                "poll": _polls(cpus, effort),
                "lesson_native": _lessons(NativeCsoaa, cpus, effort, rng),
                "lesson_vw": _lessons(VwCsoaa, cpus, effort, rng),
                "write_list": _writes(cpus, effort, Path(made, f"cpus-{cpus}")),
            }
            for name, case in of_these.items():
                cases[f"{name}_{cpus}"] = case
                if cpus != CPUS[0]:
                    floors[f"{name}_{cpus}"] = f"{name}_{CPUS[0]}"
        return compare(interleave(cases, effort), floors)


def _memory() -> str | None:
    """Where files cost no disk."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def _polls(cpus: int, effort: Effort) -> Case:
    batches = effort.samples(BATCHES)
    return lambda: [half_busy_loop(cpus).time_steps(POLLS) for _ in range(batches)]


def _lessons(
    learner_class: type[NativeCsoaa] | type[VwCsoaa],
    cpus: int,
    effort: Effort,
    rng: random.Random,
) -> Case:
    """One sample learns once and predicts once."""
    learner = learner_class(cost_table(COSTS["skewed"], cpus))
    windows = [random_window(rng, cpus) for _ in range(effort.samples(LESSONS))]

    def run() -> list[int]:
        times = []
        for features, peak in windows:
            start = time.perf_counter_ns()
            learner.learn(features, peak)
            learner.predict(features)
            times.append(time.perf_counter_ns() - start)
        return times

    return run


def _writes(cpus: int, effort: Effort, file: Path) -> Case:
    """One sample lends or takes back one CPU; the list is as long as it gets: every other CPU."""
    masks = [format_cpulist(range(0, 2 * cpus, 2)), format_cpulist(range(2, 2 * cpus, 2))]
    file.write_text(masks[0])
    actuator = _actuators.CpusetActuator([(str(file), None, masks)], [-1, 0])
    writes = effort.samples(WRITES)

    def run() -> list[int]:
        times = []
        for i in range(writes):
            start = time.perf_counter_ns()
            actuator.assign(1 - i % 2)
            times.append(time.perf_counter_ns() - start)
        return times

    return run


# --- tasks ---------------------------------------------------------------------------------------


def _tasks_or_why_not(effort: Effort) -> Figures:
    try:
        return _tasks(effort)
    except NotMeasurableError as reason:
        return {"skipped": str(reason)}


def _tasks(effort: Effort) -> Figures:
    """Sensors of so many threads, the write that moves them, and finding them anew."""
    tree = find_tree()
    cpus = sorted(tree.online_cpus() & os.sched_getaffinity(0))[:2]
    if len(cpus) < 2:
        raise NotMeasurableError("needs two CPUs: one to keep and one to move")
    cases: dict[str, Case] = {}
    floors: dict[str, str] = {}
    reads = effort.samples(READS)
    with made_group(tree, cpus) as (parent, writer), ExitStack() as stack:
        for count in TASKS:
            group = tree.group(f"{parent.relative}/{count}")
            writer.make_group(group.path)
            writer.set(group.cpus_file, format_cpulist(cpus))
            child = stack.enter_context(BullyProcess(max(1, count - 1)))
            if count > 1:
                child.start()  # its own first thread is one of them
            threads = tasks.process_threads(child.pid)
            writer.move_tasks([(tid, tree.group_of(tid).path, group.path) for tid in threads])
            of_these = {
                "read_proc": _reads(
                    _sensors.ProcSensor([(f"/proc/{child.pid}/task", 0)], [count]), reads
                ),
                "list_tasks": _timed(group.tasks, effort.samples(MOVES)),
                "move": _moves(make_actuator(group, cpus), effort.samples(MOVES)),
            }
            with ExitStack() as opened:
                sensor = _bpf(child.pid, count)
                if sensor is not None:
                    opened.callback(sensor.close)
                    of_these["read_bpf"] = _reads(sensor, reads)
                    stack.push(opened.pop_all())
            for name, case in of_these.items():
                cases[f"{name}_{count}"] = case
                floors[f"{name}_{count}"] = "getppid" if count == TASKS[0] else f"{name}_{TASKS[0]}"
        cases["getppid"] = _timed(os.getppid, reads)
        return compare(interleave(cases, effort), floors)


def _bpf(pid: int, cores: int) -> _sensors.BpfSensor | None:
    try:
        return _sensors.BpfSensor([("pid", pid, 0)], [cores])
    except OSError:
        return None


def _reads(sensor: _sensors.Sensor, reads: int) -> Case:
    return lambda: sensor.time_reads(reads)


def _moves(actuator: _actuators.CpusetActuator, count: int) -> Case:
    def run() -> list[int]:
        times = []
        with probe.scheduled("fifo" if probe.fifo_allowed() else "other"):
            for i in range(2 * count):
                start = time.perf_counter_ns()
                actuator.assign(1 - i % 2)
                times.append(time.perf_counter_ns() - start)
        return times

    return run


def _timed(call: Callable[[], object], count: int) -> Case:
    def run() -> list[int]:
        times = []
        for _ in range(count):
            start = time.perf_counter_ns()
            call()
            times.append(time.perf_counter_ns() - start)
        return times

    return run


SUBJECT = Subject(
    measure,
    seconds=25.0,
    least_s=5.0,
    title="Scaling with CPUs and tasks",
    about="""\
With made CPUs: one poll of the loop, one lesson and one prediction of each learner, and the write
of a list of CPUs to a file in memory, which is what of a move is not the kernel's. With real
threads that sleep: a reading of two sensors, listing a group's tasks, and the write that moves
them. Ratios are to the fewest CPUs or tasks, and those of one task to a system call.""",
    pictures=(
        Picture(("cpus",), "median_us", "lines", "µs, median", x="CPUs"),
        Picture(("tasks",), "median_us", "lines", "µs, median", x="tasks"),
    ),
)
