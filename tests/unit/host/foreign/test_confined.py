"""Tasks of somebody else that are confined to some CPUs, found task by task."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Iterator

import pytest

from smartharvest.host.foreign.confined import ConfinedTasks, Ours
from smartharvest.host.process import tasks

BOTH = frozenset({0, 1})


class Host:
    """Of two CPUs, with as many tasks as the test says; counts what is asked of it."""

    def __init__(self) -> None:
        self.processes: dict[int, list[int]] = {}
        self.cpus: dict[int, frozenset[int]] = {}
        self.parents: dict[int, int] = {}
        self.young: set[int] = set()
        self.names: dict[int, str] = {}
        self.stats_read = self.affinities_read = self.listed = 0

    def add(self, pid: int, cpus: Iterable[int] = BOTH, threads: int = 1, parent: int = 1) -> None:
        self.processes[pid] = list(range(pid, pid + threads))
        self.parents[pid] = parent
        self.cpus.update(dict.fromkeys(self.processes[pid], frozenset(cpus)))

    def end(self, pid: int) -> None:
        for tid in self.processes.pop(pid):
            del self.cpus[tid]

    def affinity(self, tid: int) -> frozenset[int]:
        self.affinities_read += 1
        return self.cpus.get(tid, frozenset())

    def settled_since(self, tid: int, _settled_s: float) -> int | None:
        self.stats_read += 1
        return None if tid in self.young else self.start_time(tid)

    def start_time(self, tid: int) -> int | None:
        return 7 if tid in self.cpus else None

    def threads_of(self, pids: Iterable[int]) -> Iterator[int]:
        for pid in pids:
            self.listed += 1
            yield from self.processes.get(pid, ())

    def process_of(self, tid: int) -> int | None:
        return next((pid for pid, tids in self.processes.items() if tid in tids), None)

    def process_ids(self) -> Iterator[int]:
        return iter(list(self.processes))


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> Host:
    made = Host()
    monkeypatch.setattr(tasks, "online_cpus", lambda: BOTH)
    monkeypatch.setattr(tasks, "name", lambda tid: made.names.get(tid, "x"))
    monkeypatch.setattr(tasks, "parent_of", made.parents.get)
    for name in ("affinity", "settled_since", "start_time", "threads_of", "process_of"):
        monkeypatch.setattr(tasks, name, getattr(made, name))
    monkeypatch.setattr(tasks, "process_ids", made.process_ids)
    return made


def walk(confined: ConfinedTasks) -> int:
    """A whole one; in how many steps."""
    return sum(1 for _ in confined.walk())


def test_the_cpus_that_a_task_of_others_is_confined_to_are_found(host: Host) -> None:
    host.add(10)
    host.add(20, cpus={1})
    confined = ConfinedTasks(Ours)
    assert confined.cpus == {}
    walk(confined)
    assert confined.cpus == {1: "x (20)"}


def test_ours_are_known_by_process_by_thread_and_by_ancestor(host: Host) -> None:
    host.add(10, cpus={1}, threads=3)
    host.add(20, cpus={1}, threads=3)
    host.add(30, cpus={1}, threads=3)
    host.add(40, cpus={1}, parent=30)
    ours = Ours(processes=[10], family=[30], threads=[20, 21, 22])
    confined = ConfinedTasks(lambda: ours)
    walk(confined)
    assert confined.cpus == {}
    host.add(50, cpus={1}, parent=20)
    walk(confined)
    assert confined.cpus == {1: "x (50)"}


def test_one_that_became_ours_during_the_walk_does_not_count(host: Host) -> None:
    host.add(20, cpus={1})
    ours = [Ours(), *[Ours(threads=[20])] * 9]
    confined = ConfinedTasks(lambda: ours.pop(0))
    walk(confined)
    assert confined.cpus == {}


def test_the_young_and_those_of_a_known_name_are_passed_over_and_hide_nobody(host: Host) -> None:
    for pid in (20, 30, 40):
        host.add(pid, cpus={1})
    host.young.add(20)
    host.names[30] = "sh-loop"
    confined = ConfinedTasks(Ours, names=["sh-loop"], settled_s=10.0)
    walk(confined)
    assert confined.cpus == {1: "x (40)"}


def test_a_cpu_is_free_once_a_whole_walk_has_found_nobody_on_it(host: Host) -> None:
    host.add(20, cpus={1})
    confined = ConfinedTasks(Ours)
    walk(confined)
    steps = confined.walk()
    next(steps)
    host.end(20)
    assert confined.cpus == {1: "x (20)"}
    for _ in steps:
        pass
    walk(confined)
    assert confined.cpus == {}


def test_who_ends_as_it_is_found_does_not_free_a_cpu_that_others_are_confined_to(
    host: Host,
) -> None:
    host.add(20, cpus={1})
    host.add(30, cpus={1})
    confined = ConfinedTasks(Ours)
    walk(confined)
    steps = confined.walk()
    for _ in range(2):
        next(steps)
    host.end(20)  # which stood for both
    for _ in steps:
        pass
    assert 1 in confined.cpus


def test_a_crowd_on_one_cpu_costs_a_look_each_and_is_remembered_as_one(host: Host) -> None:
    host.add(1000, cpus={1}, threads=4000)
    for pid in range(10_000, 20_000):
        host.add(pid, cpus={1})
    confined = ConfinedTasks(Ours)
    walk(confined)
    assert len(confined.cpus) == 1
    assert host.stats_read <= 2
    assert host.affinities_read <= 14_000 + 2
    assert host.listed <= 10_001


def test_each_task_is_a_step_of_its_own(host: Host) -> None:
    host.add(1000, cpus={1}, threads=4000)
    host.young.update(range(1000, 5000))
    steps = ConfinedTasks(Ours, settled_s=10.0).walk()
    for _ in range(100):
        next(steps)
    assert host.stats_read <= 100


def test_this_host_is_walked_to_its_end() -> None:
    allowed = os.sched_getaffinity(0)
    if len(allowed) < 2 or allowed != tasks.online_cpus():
        pytest.skip("needs two CPUs and all that are online")
    cpu = max(allowed)
    with subprocess.Popen(["sleep", "100"]) as sleeper:
        try:
            os.sched_setaffinity(sleeper.pid, {cpu})
            confined, without = ConfinedTasks(Ours), ConfinedTasks(Ours, settled_s=3600.0)
            walk(confined)
            walk(without)
        finally:
            sleeper.kill()
    assert cpu in confined.cpus
    assert f"({sleeper.pid})" not in without.cpus.get(cpu, "")
