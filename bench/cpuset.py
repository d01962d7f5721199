"""The in-place cpuset write that moves a core, from the writer's side until it returns.

A group of our own swings between two CPUs and one while batch threads compute in it. The writer
stays on the CPU that the group keeps: the hard case, as the thread on the other one really runs and
lands beside the writer. The floor is a bare sched_setaffinity(2) that moves one such thread there
(shrink) and back (grow), by the same caller.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

import numpy as np
from numpy.typing import NDArray

from bench import probe
from bench.statistics import compare, summarize
from bench.subject import Effort, Figures, NotMeasurableError, Subject, interleave
from smartharvest.config.state_directory import STATE_DIRECTORY
from smartharvest.core import _actuators
from smartharvest.errors import RightsError
from smartharvest.host.cgroup.tree import CgroupTree, Group
from smartharvest.host.cpulist import format_cpulist
from smartharvest.host.journal.journal import Journal
from smartharvest.host.journal.recovery import recover
from smartharvest.host.journal.writer import HostWriter
from smartharvest.host.process import tasks
from smartharvest.lab.demo.children import BullyProcess

THREADS = (1, 4, 16)
WAYS = ("shrink", "grow")  # levels 0 and 1
TOGGLES = 50
SPREAD_S = 0.010
"""How long the batch may spread over both CPUs before one is taken: the load balancer needs it."""
REST_S = 0.003

Times = dict[str, NDArray[np.int64]]


def measure(effort: Effort) -> Figures:
    """One sample is one write. ``empty`` is an actuator that does nothing, so what timing costs."""
    tree = find_tree()
    cpus = sorted(tree.online_cpus() & os.sched_getaffinity(0))[:2]
    if len(cpus) < 2:
        raise NotMeasurableError("needs two CPUs: one to keep and one to move")
    writers = [name for name in probe.SCHEDULINGS if name != "fifo" or probe.fifo_allowed()]
    count = effort.samples(TOGGLES)
    with made_group(tree, cpus) as (group, writer), ExitStack() as children:
        actuator = make_actuator(group, cpus)
        actuator.assign(1)

        def batch(threads: int) -> BullyProcess:
            child = children.enter_context(BullyProcess(threads))
            for tid in tasks.process_threads(child.pid):
                writer.move_task(tid, tree.group_of(tid).path, group.path)
            child.start()
            return child

        def write(child: BullyProcess) -> Callable[[], Times]:
            return lambda: _toggle(actuator, child, cpus, count)

        cases: dict[str, Callable[[], Times]] = {}
        for threads in THREADS:
            child = batch(threads)
            for name in writers:
                cases[f"{name}_{threads}"] = _case(name, cpus[1], child, write(child))
        alone = batch(1)
        for name in writers:
            cases[f"{name}_floor"] = _case(
                name, cpus[1], alone, lambda: _bounce(alone, cpus, count)
            )
        cases["empty"] = lambda: _swing(_timed(_actuators.FakeActuator()), count)
        results = interleave(cases, effort)
    return {
        "cpus": format_cpulist(cpus),
        "cgroup_version": tree.version,
        "empty": summarize([times["shrink"] for times in results["empty"]]),
        "writers": {name: _of_writer(name, results) for name in writers},
        **({} if "fifo" in writers else {"fifo": {"skipped": "SCHED_FIFO is refused"}}),
    }


def _of_writer(name: str, results: dict[str, list[Times]]) -> Figures:
    cases: dict[str, list[NDArray[np.int64]]] = {}
    floors: dict[str, str] = {}
    for way in WAYS:
        floor = f"sched_setaffinity_{way}"
        for threads in THREADS:
            floors[f"{way}_{threads}_threads"] = floor
            cases[f"{way}_{threads}_threads"] = [
                times[way] for times in results[f"{name}_{threads}"]
            ]
        cases[floor] = [times[way] for times in results[f"{name}_floor"]]
    return compare(cases, floors)


def find_tree() -> CgroupTree:
    try:
        tree = CgroupTree.discover()
    except RightsError as error:
        raise NotMeasurableError(str(error)) from error
    mount = tree.hierarchies["cpuset"]
    if os.geteuid() != 0 or not os.access(mount, os.W_OK):
        raise NotMeasurableError(f"needs root and write access to {mount}")
    return tree


def find_two_cpus(tree: CgroupTree) -> list[int]:
    """One to keep and one to move, where the caller may run under SCHED_FIFO."""
    cpus = sorted(tree.online_cpus() & os.sched_getaffinity(0))[:2]
    if len(cpus) < 2:
        raise NotMeasurableError("needs two CPUs: one to keep and one to move")
    if not probe.fifo_allowed():
        raise NotMeasurableError("SCHED_FIFO is refused")
    return cpus


@contextmanager
def made_group(tree: CgroupTree, cpus: list[int]) -> Iterator[tuple[Group, HostWriter]]:
    """A group with both CPUs, gone with all its traces at the end."""
    recover(tree.files, STATE_DIRECTORY)
    group = tree.group(f"smartharvest-bench-{os.getpid()}")
    writer = HostWriter(tree.files, Journal(STATE_DIRECTORY, claims=[group.path]))
    try:
        if tree.version == 2:
            writer.enable_controllers(tree.group("").path, ["cpuset"])
        writer.make_group(group.path)
        writer.set(group.cpus_file, format_cpulist(cpus))
        writer.adopt(group.cpus_file)
        yield group, writer
    finally:
        writer.restore()


def make_actuator(
    group: Group, cpus: list[int], fifo_priority: int = 0
) -> _actuators.CpusetActuator:
    """Level 1 has both CPUs, level 0 only the second; with a priority the first is held."""
    masks = [format_cpulist(cpus[1:]), format_cpulist(cpus)]
    files: list[tuple[str, str | None, list[str]]] = [
        (group.cpus_file, group.effective_cpus_file, masks)
    ]
    return _actuators.CpusetActuator(
        files, [-1, cpus[0]], tasks_path=group.tasks_file, fifo_priority=fifo_priority
    )


def _case(
    writer: str, kept: int, batch: BullyProcess, body: Callable[[], Times]
) -> Callable[[], Times]:
    allowed = os.sched_getaffinity(0)

    def run() -> Times:
        batch.run()
        try:
            os.sched_setaffinity(0, {kept})
            with probe.scheduled(writer):
                return body()
        finally:
            os.sched_setaffinity(0, allowed)
            batch.pause()
            time.sleep(2 * SPREAD_S)  # each thread ends its unit first

    return run


def _toggle(
    actuator: _actuators.Actuator, batch: BullyProcess, cpus: list[int], count: int
) -> Times:
    tid = _batch_thread(batch)

    def settle() -> None:
        # Where there are fewer threads than CPUs, none may be on the CPU that is to be taken.
        time.sleep(SPREAD_S)
        os.sched_setaffinity(tid, cpus[:1])
        os.sched_setaffinity(tid, cpus)

    return _swing(_timed(actuator), count, settle)


def _bounce(batch: BullyProcess, cpus: list[int], count: int) -> Times:
    tid = _batch_thread(batch)
    probe.setaffinity_ns(tid, cpus[0])
    return _swing(lambda level: probe.setaffinity_ns(tid, cpus[1 - level]), count)


def _batch_thread(batch: BullyProcess) -> int:
    return tasks.process_threads(batch.pid)[-1]  # the first is the interpreter


def _timed(actuator: _actuators.Actuator) -> Callable[[int], int]:
    def assign(level: int) -> int:
        start = time.perf_counter_ns()
        actuator.assign(level)
        return time.perf_counter_ns() - start

    return assign


def _swing(
    move: Callable[[int], int], count: int, settle: Callable[[], None] = lambda: None
) -> Times:
    """Nanoseconds of ``count`` moves each way; ``move`` is given the level and says how long."""
    times = {way: np.zeros(count, dtype=np.int64) for way in WAYS}
    for i in range(count):
        settle()
        for level, way in enumerate(WAYS):
            time.sleep(REST_S)
            times[way][i] = move(level)
    return times


SUBJECT = Subject(
    measure,
    seconds=75.0,
    least_s=4.0,
    title="The write that moves a core",
    about="""\
A sample is one write, from the call to its return, while threads compute in the group. The writer
stays on the CPU that the group keeps. The floor is a bare sched_setaffinity(2) of one thread by the
same caller.""",
)
