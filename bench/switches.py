"""What a sensor adds to each context switch, side by side with none.

Two threads of the watched process pass a byte to and fro on one CPU. Each sensor's turn stands
between two turns without one, a tenth of a second apart, and what it adds is its own time minus the
mean of those: slow drifts of the machine cancel. ``none`` is measured in the same way and shows
what of that is noise; ``empty`` is a BPF program that does nothing, the floor of all BPF
sensors, and ``empty_twice`` one at wake-ups as well, of which a switch has one here: the floor of
those that count who waits. ``empty_thrice`` is also where who wakes begins to: the floor of harm.
The watched group is the bench's own, so that every switch counts.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from functools import partial

import numpy as np

from bench import probe
from bench.empty_program import EmptyProgram
from bench.statistics import across_rounds, rounded, summarize
from bench.subject import Effort, Figures, NotMeasurableError, Subject, goal, interleave
from smartharvest.core import _sensors
from smartharvest.core._rescue import Rescue
from smartharvest.errors import SmartHarvestError
from smartharvest.host.cgroup.tree import CgroupTree

TURNS = 12
"""Of each sensor in a round."""
BATCHES = 5
ROUND_TRIPS = 1000

PARTS: dict[str, tuple[str, ...]] = {
    "bpf_state": (),
    "bpf_state_waits": ("waits",),
    "bpf_state_waits_runs": ("waits", "runs"),
    "bpf_all_but_harm": tuple(part for part in _sensors.BPF_PARTS if part != "harm"),
    "bpf_all": _sensors.BPF_PARTS,
}
"""The sensor as it is used has all."""
FLOORS = {
    **dict.fromkeys(PARTS, "empty"),
    "bpf_all_but_harm": "empty_twice",
    "bpf_all": "empty_thrice",
}
"""What a program that does nothing at the same places adds."""
GOALS_NS = {"bpf_state": 45.0, "bpf_state_waits": 70.0}

Make = Callable[[], AbstractContextManager[object]]
"""Of something that is at every switch while it is entered."""
Turn = tuple[float, float]
"""Nanoseconds of a switch with the sensor, and without."""


def measure(effort: Effort) -> Figures:
    turns = effort.samples(TURNS)

    def case(make: Make) -> Callable[[], list[Turn]]:
        return lambda: [_turn(make) for _ in range(turns)]

    results = interleave({name: case(make) for name, make in _those_to_compare().items()}, effort)
    figures: Figures = {"switches_per_batch": 2 * ROUND_TRIPS}
    goals: Figures = {}
    added = {
        name: [[own - without for own, without in turns] for turns in rounds]
        for name, rounds in results.items()
    }
    median_ns = {name: float(np.median(np.concatenate(turns))) for name, turns in added.items()}
    for name, rounds in results.items():
        floor = FLOORS.get(name)
        above = {} if floor is None else {"above_floor_ns": median_ns[name] - median_ns[floor]}
        figures[name] = {
            **summarize([[own for own, _ in turns] for turns in rounds]),
            "added_ns": rounded(median_ns[name]),
            "added_ns_by_round": across_rounds([float(np.median(turns)) for turns in added[name]]),
            **{key: rounded(value) for key, value in above.items()},
        }
        if name in GOALS_NS:
            goals[f"{name}_added_ns"] = goal(GOALS_NS[name], rounded(median_ns[name]))
    return {**figures, "goals": goals}


def _those_to_compare() -> dict[str, Make]:
    makes: dict[str, Make] = {
        "empty": partial(EmptyProgram, "sched_switch"),
        "empty_twice": partial(EmptyProgram, "sched_switch", "sched_wakeup"),
        "empty_thrice": partial(EmptyProgram, "sched_switch", "sched_waking", "sched_wakeup"),
    }
    for name, parts in PARTS.items():
        makes[name] = partial(
            _opened, partial(_sensors.BpfSensor, [_own_group()], [1], parts=parts)
        )
    hierarchy, number, _ = _own_group()
    # The switches are those of the batch; nobody waits for its CPU.
    elastic = partial(_sensors.BpfSensor, [(hierarchy, number, -1)], [1])
    makes["bpf_elastic"] = partial(_opened, elastic)
    makes["bpf_elastic_rescue"] = partial(_rescued, elastic)
    makes["perf"] = partial(_opened, partial(_sensors.PerfSensor, [("/proc/self/task", 0)], [1]))
    usable: dict[str, Make] = {"none": nullcontext}
    for name, make in makes.items():
        with suppress(OSError), make():
            usable[name] = make
    if len(usable) == 1:
        raise NotMeasurableError("neither BPF nor perf events are allowed here")
    return usable


def _own_group() -> tuple[str, int, int]:
    """As a target of the BPF sensor; without cgroups, the process."""
    try:
        tree = CgroupTree.discover()
        path = tree.group_of(os.getpid(), "cpuset").path
        return ("cpuset" if tree.version == 1 else "v2"), os.stat(path).st_ino, 0
    except (SmartHarvestError, OSError, KeyError):
        return "pid", os.getpid(), 0


@contextmanager
def _opened(make: Callable[[], _sensors.Sensor]) -> Iterator[None]:
    sensor = make()
    try:
        yield
    finally:
        sensor.close()
        del sensor


@contextmanager
def _rescued(make: Callable[[], _sensors.Sensor]) -> Iterator[None]:
    rescue = Rescue(make(), sorted(os.sched_getaffinity(0)), 0)
    try:
        yield
    finally:
        rescue.close()
        del rescue


def _turn(make: Make) -> Turn:
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(allowed)})
    try:
        before = _batches()
        with make():
            own = _batches()
        after = _batches()
        return own, (before + after) / 2
    finally:
        os.sched_setaffinity(0, allowed)


def _batches() -> float:
    probe.ping_pong_ns(ROUND_TRIPS // 4)
    return float(np.median([probe.ping_pong_ns(ROUND_TRIPS) for _ in range(BATCHES)]))


SUBJECT = Subject(
    measure,
    seconds=115.0,
    least_s=6.0,
    title="What a sensor adds to a context switch",
    about="""\
Two threads pass a byte to and fro on one CPU; a sample is one switch with the sensor, *added ns*
what it is above the turns without one around it. *bpf elastic*: the threads are the batch's, also
while the sensor looks out for those the kernel lets pass before others (*rescue*). *none* is the
noise of that, *empty* a BPF program that does nothing.""",
)
