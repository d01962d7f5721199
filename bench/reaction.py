"""The whole reaction: from a primary task's wake-up on a lent core until it runs there.

The core is one of two; batch threads compute on both. A thread of the primary sleeps on the lent
core and is woken by a SCHED_FIFO thread on the other one. Then nobody reacts, or the caller itself
takes the core back (the actuator alone), or the agent's polling loop does, driven by events or by
polls: sensor, decision and actuator in C, no Python in between. With cpu.idle the kernel lets the
primary preempt the batch by itself, so the chain shows in full only without; both are measured. The
floor is the same wake-up on a core that is idle.
"""

from __future__ import annotations

import ctypes
import os
import random
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

import numpy as np

from bench import child, probe
from bench.compiling import build_library
from bench.cpuset import Times, find_tree, find_two_cpus
from bench.moving import Stage, made_stage
from bench.others import OTHERS_NS, Others, milliseconds, untouched
from bench.statistics import compare_found
from bench.subject import Effort, Figures, NotMeasurableError, Subject, goal, interleave
from smartharvest.agent.loop_builder import FIFO_PRIORITY
from smartharvest.core import _loop, _sensors
from smartharvest.core.plan import Plan
from smartharvest.lab.demo.children import BullyProcess
from smartharvest.lab.demo.standstill import Standstills

BATCH_THREADS = 4
WAKES = 60
"""Of each case in a round."""
SETTLE_S, JITTER_S = 0.006, 0.004
"""Between two wake-ups; any moment of a tick is as likely as another."""
GIVEN_UP_NS = 100_000_000
GOAL_US = 100.0
BATCHES = {"": False, "_cpu_idle": True}
REACTIONS = ("none", "actuator", "events", "polls")
FLOOR = "idle_core"
WHERE = ("until_it_runs", "alone")


def measure(effort: Effort) -> Figures:
    tree = find_tree()
    cpus = find_two_cpus(tree)
    count = effort.samples(WAKES)
    rng = random.Random(effort.seed)
    with ExitStack() as stack:
        stage = stack.enter_context(made_stage(tree, cpus))
        others = stack.enter_context(Others(tree, [stage.primary, stage.elastic]))
        others_ns = partial(others.now_ns, cpus[0])
        standstills = stack.enter_context(Standstills(cpus))
        sleeper = stack.enter_context(_sleeper(stage))
        bully = stack.enter_context(BullyProcess(BATCH_THREADS))
        stage.place(bully.pid, stage.elastic)
        bully.start()

        def case(reaction: str, idle: bool) -> Times:
            stage.set_idle(idle)
            try:
                with _reacting(stage, reaction) as lend, _as_fifo(stage):
                    bully.run()
                    return _wake(sleeper, count, rng, lend, others_ns, standstills)
            finally:
                bully.pause()
                stage.actuator.assign(1)

        def floor() -> Times:
            with _as_fifo(stage):
                return _wake(sleeper, count, rng, lambda: lambda: None, others_ns, standstills)

        cases: dict[str, Callable[[], Times]] = {
            f"{reaction}{name}": partial(case, reaction, idle)
            for reaction in REACTIONS
            for name, idle in BATCHES.items()
        }
        cases[FLOOR] = floor
        results = interleave(cases, effort)
        stood_still_ms = milliseconds(standstills)
    figures: Figures = {
        "batch_threads": BATCH_THREADS,
        "others_seen": others.seen,
        "standstills_left_out_ms": stood_still_ms,
    }
    for where in WHERE:
        figures[where] = compare_found(
            {name: [times[where] for times in rounds] for name, rounds in results.items()}, FLOOR
        )
    return {**figures, "goals": _goals(figures["until_it_runs"])}


def _goals(wakes: object) -> Figures:
    assert isinstance(wakes, dict)
    names = ("events", "polls", "events_cpu_idle", "polls_cpu_idle")
    return {f"{name}_p99_us": goal(GOAL_US, wakes[name]["p99_us"]) for name in names}


Lend = Callable[[], Callable[[], None]]
"""Sees to it that the core is lent, and returns what to do right after the wake-up."""


@contextmanager
def _reacting(stage: Stage, reaction: str) -> Iterator[Lend]:
    stage.actuator.assign(1)
    if reaction == "none":
        yield lambda: lambda: None
    elif reaction == "actuator":

        def lend() -> Callable[[], None]:
            stage.actuator.assign(1)
            return lambda: stage.actuator.assign(0)

        yield lend
    else:
        with _made_loop(stage, event_driven=reaction == "events") as loop:
            yield partial(_lend_by_plan, loop)


@contextmanager
def _made_loop(stage: Stage, *, event_driven: bool) -> Iterator[_loop.Loop]:
    sensor = _sensors.BpfSensor(stage.targets, [len(stage.cpus)])
    loop = _loop.Loop(
        sensor=sensor,
        actuator=stage.actuator,
        total=len(stage.cpus),
        max_harvest=1,
        fifo_priority=FIFO_PRIORITY,
        realtime_cpus=stage.cpus[1:],
        cpus=stage.cpus,
        exact=True,
        event_driven=event_driven,
    )
    try:
        loop.start()
        yield loop
    finally:
        loop.stop()
        sensor.close()


def _lend_by_plan(loop: _loop.Loop) -> Callable[[], None]:
    """Answers windows with a plan to lend the core until it is lent."""
    while loop.harvested == 0:
        loop.wait(50)
        while (window := loop.take()) is not None:
            loop.post(Plan(window.seq, primary_cores=1, safe_cores=loop.total))
        if loop.halt:
            raise NotMeasurableError(f"the loop halted: {loop.halt}")
        time.sleep(0.001)
    while (window := loop.take()) is not None:
        loop.post(Plan(window.seq, primary_cores=1, safe_cores=loop.total))
    return lambda: None


def _wake(
    sleeper: _Sleeper,
    count: int,
    rng: random.Random,
    lend: Lend,
    others_ns: Callable[[], int],
    standstills: Standstills,
) -> Times:
    """Nanoseconds of ``count`` wake-ups, without those that a standstill of the machine touched."""
    times: dict[str, list[tuple[int, int]]] = {where: [] for where in WHERE}
    for _ in range(count):
        react = lend()
        time.sleep(SETTLE_S + JITTER_S * rng.random())
        sleeper.stamps[_FIRST_NS] = 0
        before_ns = others_ns()
        start_ns = time.monotonic_ns()
        os.eventfd_write(sleeper.event_fd, 1)
        react()
        while not sleeper.stamps[_FIRST_NS] and time.monotonic_ns() < start_ns + GIVEN_UP_NS:
            time.sleep(0.001)
        ran_ns = int(sleeper.stamps[_FIRST_NS])
        took_ns = ran_ns - start_ns if ran_ns else GIVEN_UP_NS
        times["until_it_runs"].append((start_ns, took_ns))
        if others_ns() - before_ns < OTHERS_NS:
            times["alone"].append((start_ns, took_ns))
    stood_still = standstills.so_far()
    return {where: untouched(samples, stood_still) for where, samples in times.items()}


@contextmanager
def _as_fifo(stage: Stage) -> Iterator[None]:
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, stage.cpus[1:])
    try:
        with probe.scheduled("fifo"):
            yield
    finally:
        os.sched_setaffinity(0, allowed)


_RUNNING, _FIRST_NS = range(2)  # struct effect_stamps of effect.c
_SIZE = 64


class _Sleeper(child.Child):
    """The primary's thread, in a process of its own."""

    def __init__(self, cpu: int, event_fd: int) -> None:
        super().__init__("bench.reaction", _SIZE, event_fd, cpu, pass_fds=(event_fd,))
        self.event_fd = event_fd
        self.stamps = np.frombuffer(self.page, dtype=np.int64)


@contextmanager
def _sleeper(stage: Stage) -> Iterator[_Sleeper]:
    event_fd = os.eventfd(0)
    try:
        with _Sleeper(stage.cpus[0], event_fd) as sleeper:
            stage.place(sleeper.pid, stage.primary)
            yield sleeper
    finally:
        os.close(event_fd)


SUBJECT = Subject(
    measure,
    seconds=55.0,
    least_s=23.0,
    title="The whole reaction",
    about="""\
A sample is one wake-up of a primary thread that sleeps on the lent core, until it runs there.
*None*: nobody reacts; *actuator*: the waker takes the core back itself; *events* and *polls*: the
agent's loop does, with the in-kernel sensor. *cpu idle*: the batch is under cpu.idle=1, as the
agent puts it. The floor is the same wake-up where the core is idle. *Alone* leaves out those while
which something else ran on the core for 0.2 ms.""",
)


def main(parent_pid: int, page_fd: int, event_fd: int, cpu: int) -> None:
    """Sleeps and is woken until the process is killed."""
    page = child.join(parent_pid, page_fd)
    library = ctypes.CDLL(str(build_library(Path(__file__).with_name("effect.c"))))
    library.effect_sleeper(cpu, event_fd, ctypes.c_void_p(child.address(page)))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
