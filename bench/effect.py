"""Time to effect: from the call that moves a core until the elastic threads have left or come.

Threads of a group of our own note, at every turn of an endless loop, when they were on the CPU that
is lent and taken back. A shrink has taken effect at the last such moment of any thread, a grow at
the first. The floor is one sched_setaffinity(2) of one such thread by the same SCHED_FIFO caller,
to the CPU and off it. What the kernel itself still does on the CPU is not seen.

Mechanisms: `merge`, the agent's; `unheld`, the same without the threads that hold a core while it
changes hands (core_hold.h); `affinity`, of every thread; `cpugroups`, moving the process
between two groups.

As a program, ``python -m bench.effect PARENT_PID PAGE_FD THREADS CPU``, these are the threads.
"""

from __future__ import annotations

import ctypes
import os
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from bench import child, probe
from bench.compiling import build_library
from bench.cpuset import Times, find_tree, find_two_cpus, made_group, make_actuator
from bench.others import OTHERS_NS, Others, milliseconds, untouched
from bench.statistics import compare_found
from bench.subject import Effort, Figures, Subject, goal, interleave
from smartharvest.agent.loop_builder import CORE_HOLD_PRIORITY
from smartharvest.config.settings import Settings
from smartharvest.core import _actuators
from smartharvest.core._mechanisms import GroupAffinityActuator
from smartharvest.host.cgroup.tree import Group
from smartharvest.host.cpulist import format_cpulist
from smartharvest.host.journal.writer import HostWriter
from smartharvest.host.process import tasks
from smartharvest.host.target.cgroup import CgroupTarget
from smartharvest.host.target.spec import TargetSpec
from smartharvest.lab.demo.standstill import Standstills
from smartharvest.mechanism.cpugroups import CpuGroupsMechanism
from smartharvest.placement.capacity import Capacity
from smartharvest.placement.snapshot import HostSnapshot

THREADS = {"merge": (1, 4, 16, 64), "unheld": (4, 64), "affinity": (4, 64), "cpugroups": (4, 64)}
"""Of the batch, for each mechanism."""
MOVES = 100
"""Each way, of each case in a round."""
SETTLE_S = 0.004
REST_S = 0.003
"""After each move; whatever happens later is not seen, except that a grow is waited for."""
GIVEN_UP_NS = 100_000_000
"""A grow without effect by then counts as so long."""
WAYS = ("shrink", "grow", "grow_alone")
FLOOR = "sched_setaffinity"
SHRINK_RATIO_GOAL = 1.3
GOALS_US = {
    ("shrink", "merge_4"): 60.0,
    ("grow", "merge_4"): 120.0,
    ("shrink", "merge_64"): 300.0,
    ("grow", "merge_64"): 200.0,
}
"""At the 99th percentile, by the number of threads."""
_SLOT = np.dtype((np.int64, 8))  # struct effect_stamps: running, first_ns, last_ns, padding
RUNNING, FIRST_NS, LAST_NS = range(3)


def measure(effort: Effort) -> Figures:
    """One sample is one move; a shrink that found no thread on the CPU is none."""
    tree = find_tree()
    cpus = find_two_cpus(tree)
    count = effort.samples(MOVES)
    with made_group(tree, cpus) as (group, writer), ExitStack() as stack:
        others = stack.enter_context(Others(group.tree, [group]))
        standstills = stack.enter_context(Standstills(cpus))
        merge = make_actuator(group, cpus, fifo_priority=CORE_HOLD_PRIORITY)
        unheld = make_actuator(group, cpus)

        def hogs(threads: int) -> Hogs:
            merge.assign(1)
            unheld.assign(1)
            return Hogs(threads, cpus[0], lambda pid: _enter(pid, group, writer))

        def case(mechanism: str, threads: int) -> Times:
            with ExitStack() as case_stack:
                if mechanism == "cpugroups":
                    case_stack.callback(_remove_splits, group)
                batch = case_stack.enter_context(hogs(threads))
                move: Callable[[int], object]
                if mechanism == "affinity":
                    move = GroupAffinityActuator(
                        [group.tasks_file], [cpus[1:], cpus], [-1, cpus[0]]
                    ).assign
                elif mechanism == "cpugroups":
                    move = _cpugroups(group, writer, cpus).assign
                elif mechanism == "floor":
                    tid = batch.pid
                    move = lambda level: probe.setaffinity_ns(tid, cpus[1 - level])  # noqa: E731
                else:
                    move = {"merge": merge, "unheld": unheld}[mechanism].assign
                return swing(batch, cpus, count, move, partial(others.now_ns, cpus[0]), standstills)

        cases: dict[str, Callable[[], Times]] = {
            f"{mechanism}_{threads}": partial(case, mechanism, threads)
            for mechanism, counts in THREADS.items()
            for threads in counts
        }
        cases[FLOOR] = partial(case, "floor", 1)
        results = interleave(cases, effort)
        nudges = merge.nudges + unheld.nudges
        stood_still_ms = milliseconds(standstills)
    figures: Figures = {
        "cpus": format_cpulist(cpus),
        "moved_cpu": cpus[0],
        "nudges": nudges,
        "standstills_left_out_ms": stood_still_ms,
    }
    figures["others_seen"] = others.seen
    for way in WAYS:
        figures[way] = compare_found(
            {name: [times[way] for times in rounds] for name, rounds in results.items()}, FLOOR
        )
    return {**figures, "goals": _goals(figures)}


def _goals(figures: Figures) -> Figures:
    goals: Figures = {}
    for (way, name), at_most_us in GOALS_US.items():
        of_way = figures[way]
        assert isinstance(of_way, dict)
        if name in of_way:
            goals[f"{way}_{name}_p99_us"] = goal(at_most_us, of_way[name]["p99_us"])
        if (way, name) == ("shrink", "merge_4") and name in of_way:
            ratio = of_way[name]["median_ratio"]
            goals["shrink_merge_4_to_floor"] = goal(SHRINK_RATIO_GOAL, ratio)
    return goals


def _cpugroups(group: Group, writer: HostWriter, cpus: list[int]) -> _actuators.Actuator:
    capacity = Capacity(tuple(cpus), 1, (cpus[1], cpus[0]), (2,), 1, 1, keep_idle=1)
    settings = Settings(mechanism="cpugroups", cpu_idle=False)
    target = CgroupTarget(TargetSpec("cgroup", group.path), group)
    mechanism = CpuGroupsMechanism(settings, group.tree, target, group, writer)
    snapshot = HostSnapshot(capacity, (), (), ())
    mechanism.arrange(snapshot)
    return mechanism.make_actuator(snapshot)


def _remove_splits(group: Group) -> None:
    """A group of the other mechanisms cannot be narrowed below what its children have (v1)."""
    files = group.tree.files
    for name in files.subdirectories(group.path):
        for _ in range(1000):  # a killed thread takes a moment to leave
            try:
                files.rmdir(f"{group.path}/{name}")
                break
            except OSError:
                time.sleep(0.002)


class Hogs(child.Child):
    """The threads in a child process, in the group from ``enter`` on, until the exit."""

    def __init__(self, threads: int, cpu: int, enter: Callable[[int], None]) -> None:
        super().__init__("bench.effect", threads * _SLOT.itemsize, threads, cpu)
        self._join_group = enter
        self.stamps: NDArray[np.int64] = np.frombuffer(self.page, dtype=np.int64).reshape(-1, 8)

    def has_started(self) -> bool:
        return bool(self.stamps[:, RUNNING].all())

    def __enter__(self) -> Self:
        super().__enter__()
        try:
            self._join_group(self.pid)
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self


def _enter(pid: int, group: Group, writer: HostWriter) -> None:
    tree = group.tree
    writer.move_tasks(
        [(tid, tree.group_of(tid).path, group.path) for tid in tasks.process_threads(pid)]
    )


def swing(
    batch: Hogs,
    cpus: list[int],
    count: int,
    move: Callable[[int], object],
    others_ns: Callable[[], int],
    standstills: Standstills,
) -> Times:
    """Nanoseconds to the effect of up to ``count`` moves each way, by a SCHED_FIFO caller on the
    CPU that is kept; level 0 takes the other one, level 1 gives it. Without those that a standstill
    of the machine touched."""
    allowed = os.sched_getaffinity(0)
    times: dict[str, list[tuple[int, int]]] = {way: [] for way in WAYS}
    os.sched_setaffinity(0, cpus[1:])
    try:
        with probe.scheduled("fifo"):
            move(1)
            for _ in range(count):
                time.sleep(SETTLE_S)
                start_ns = time.monotonic_ns()
                move(0)
                time.sleep(REST_S)
                last_ns = int(batch.stamps[:, LAST_NS].max())
                if last_ns > start_ns:
                    times["shrink"].append((start_ns, last_ns - start_ns))
                batch.stamps[:, FIRST_NS] = 0
                before_ns = others_ns()
                start_ns = time.monotonic_ns()
                move(1)
                took_ns = _first_ns(batch, start_ns) - start_ns
                times["grow"].append((start_ns, took_ns))
                if others_ns() - before_ns < OTHERS_NS:
                    times["grow_alone"].append((start_ns, took_ns))
    finally:
        os.sched_setaffinity(0, allowed)
    stood_still = standstills.so_far()
    return {way: untouched(samples, stood_still) for way, samples in times.items()}


def _first_ns(batch: Hogs, start_ns: int) -> int:
    while time.monotonic_ns() < start_ns + GIVEN_UP_NS:
        time.sleep(REST_S)
        came_ns = batch.stamps[:, FIRST_NS]
        if came_ns.any():
            return int(came_ns[came_ns > 0].min())
    return start_ns + GIVEN_UP_NS


SUBJECT = Subject(
    measure,
    seconds=100.0,
    least_s=27.0,
    title="Time to effect",
    about="""\
A sample is one move of a core: a shrink has taken effect when the last thread is off the CPU, a
grow when the first is on it. The floor is one sched_setaffinity(2) of one such thread. *Merge* is
the agent's mechanism, *unheld* the same without a real-time thread that holds the core while it
changes hands, *affinity* sched_setaffinity(2) of every thread; the number is that of the batch's
threads. *Grow alone* leaves out the moves while which something else ran on the CPU for 0.2 ms.""",
)


def main(parent_pid: int, page_fd: int, threads: int, cpu: int) -> None:
    """Runs the threads until the process is killed."""
    page = child.join(parent_pid, page_fd)
    library = ctypes.CDLL(str(build_library(Path(__file__).with_name("effect.c"))))
    library.effect_hogs(threads, cpu, ctypes.c_void_p(child.address(page)))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
