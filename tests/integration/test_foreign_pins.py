"""Somebody else sets the affinity of threads that the agent moves one by one."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from smartharvest.agent import host_watch
from smartharvest.agent.supervisor import Supervisor
from smartharvest.algorithm.algorithm1 import Decision
from smartharvest.core.window import Window
from smartharvest.host.cpulist import format_cpulist
from smartharvest.host.foreign.writes import ForeignWrite
from smartharvest.host.journal.journal import Journal
from smartharvest.host.journal.writer import HostWriter
from smartharvest.host.process import tasks
from smartharvest.host.target.spec import TargetSpec
from tests.cpus import ALLOWED, needs_two_cpus
from tests.integration.hosts import Host
from tests.integration.processes import Processes
from tests.integration.supervisors import Script, run_until, settings_for
from tests.integration.test_process_targets import LAST, THREADED, _one_more_thread
from tests.integration.test_sensor_faults import settings_of
from tests.integration.worlds import make_world

FIRST = {ALLOWED[0]}
BOTH = FIRST | LAST

pytestmark = [
    pytest.mark.timing,
    needs_two_cpus,
]


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_watch, "HOUSEKEEPING_NS", 50_000_000)


@pytest.fixture
def program(processes: Processes) -> subprocess.Popen[str]:
    """Of two threads that may run on two CPUs; it starts another one when asked."""
    process = processes.python(THREADED)
    for tid in (process.pid, _one_more_thread(process)):
        os.sched_setaffinity(tid, BOTH)
    return process


def session_for(tmp_path: Path, elastic: int) -> Supervisor:
    """On a fake tree; one CPU is the elastic side's for good, the other can be lent."""
    world = make_world(tmp_path, 1, cpus=format_cpulist(sorted(BOTH)))
    return Supervisor(settings_for(world, elastic=TargetSpec("pid", str(elastic)), elastic_min=1))


def once(when: Callable[[], bool], act: Callable[[], object]) -> Callable[[Window, Decision], bool]:
    """Acts at the first window at which it is so."""
    done = False

    def look(_window: Window, _decision: Decision) -> bool:
        nonlocal done
        if not done and when():
            done = True
            act()
        return False

    return look


@pytest.mark.parametrize("primary_cores", [(1,), (1, 0)], ids=["at rest", "while cores move"])
def test_whoever_pins_an_elastic_thread_is_made_way_for(
    tmp_path: Path, program: subprocess.Popen[str], primary_cores: tuple[int, ...]
) -> None:
    first, second = tasks.process_threads(program.pid)
    session = session_for(tmp_path, program.pid)
    pinning = once(
        lambda: tasks.affinity(second) == LAST, lambda: os.sched_setaffinity(second, FIRST)
    )
    told = f"affinity of thread {second} .*: '{ALLOWED[0]}' was found, .* was set"
    with pytest.raises(ForeignWrite, match=told), session:
        run_until(session, Script(*primary_cores, total=1), pinning)
    assert tasks.affinity(second) == FIRST  # that is his
    assert tasks.affinity(first) == BOTH


def test_a_thread_that_pins_itself_when_it_is_born_is_confined_with_the_others(
    tmp_path: Path, program: subprocess.Popen[str]
) -> None:
    born: list[int] = []

    def give_birth() -> None:
        born.append(_one_more_thread(program))
        os.sched_setaffinity(born[0], FIRST)

    bearing = once(lambda: tasks.affinity(program.pid) == LAST, give_birth)

    def confined(window: Window, decision: Decision) -> bool:
        bearing(window, decision)
        return bool(born) and tasks.affinity(born[0]) == LAST

    with session_for(tmp_path, program.pid) as session:
        run_until(session, Script(1, total=1), confined)
    assert tasks.affinity(born[0]) == FIRST
    assert tasks.affinity(program.pid) == BOTH


@pytest.mark.root
def test_whoever_pins_a_thread_of_a_group_that_is_moved_by_affinity_is_made_way_for(
    host: Host,
) -> None:
    before = host.files()
    session = Supervisor(settings_of(host, guardian=False, mechanism="affinity", lend_shared=True))
    total = len(host.tree.online_cpus())
    confined: list[frozenset[int]] = []

    def pin() -> None:
        confined.append(tasks.affinity(host.worker))
        os.sched_setaffinity(host.worker, host.tree.online_cpus() - confined[0])

    pinning = once(lambda: tasks.affinity(host.worker) < host.tree.online_cpus(), pin)
    with pytest.raises(ForeignWrite, match=f"affinity of thread {host.worker} "), session:
        run_until(session, Script(total, total=total), pinning)
    assert tasks.affinity(host.worker) == host.tree.online_cpus() - confined[0]
    assert host.files() == before


@pytest.mark.root
def test_a_pin_to_a_cpu_that_somebody_takes_from_the_group_for_a_time_is_not_left_on_a_lent_one(
    processes: Processes, tmp_path: Path
) -> None:
    pin, lent = ALLOWED[0], ALLOWED[-1]
    pinned = processes.asleep()
    host = Host(processes, tmp_path)
    try:
        group = host.make("batch")
        host.place(pinned, group)
        os.sched_setaffinity(pinned, {pin})
        journal = Journal(str(tmp_path))
        journal.expect({}, given=[[lent]])
        writer = HostWriter(host.tree.files, journal)
        writer.adopt_affinity(pinned)
        writer.set_affinity(pinned, [lent])
        mask = host.tree.files.read(group.cpus_file)
        host.tree.files.write(group.cpus_file, str(lent))
        writer.restore()
        host.tree.files.write(group.cpus_file, mask)
        assert pin in os.sched_getaffinity(pinned)
    finally:
        host.remove()
