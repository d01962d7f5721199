"""``pid:N`` targets: by affinity only, and every thread gets back what it had."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from smartharvest.host.cgroup.kernel_files import PosixFiles
from smartharvest.host.cpulist import format_cpulist
from smartharvest.host.journal.confinement import confine
from smartharvest.host.journal.contents import AffinityEntry, read_head
from smartharvest.host.journal.journal import Journal
from smartharvest.host.process import tasks
from smartharvest.telemetry.client import ask
from tests.commands import smartharvest_here
from tests.cpus import ALLOWED, needs_two_cpus
from tests.integration.processes import Processes, wait_for_sockets, wait_until
from tests.integration.worlds import EITHER, World, make_world

LAST = {ALLOWED[-1]}

pytestmark = [
    pytest.mark.timing,
    needs_two_cpus,
]

THREADED = """
import sys, threading
def wait():
    print(threading.get_native_id(), flush=True)
    threading.Event().wait()
for line in sys.stdin:  # a thread for each line
    threading.Thread(target=wait, daemon=True).start()
"""


@pytest.fixture
def host_world(tmp_path: Path, version: int) -> World:
    """A tree with two of the CPUs that this process may use."""
    return make_world(tmp_path, version, cpus=format_cpulist([ALLOWED[0], ALLOWED[-1]]))


@pytest.fixture
def victim(processes: Processes) -> subprocess.Popen[str]:
    """A process of two threads, confined to two CPUs; it starts another one when asked."""
    process = processes.python(THREADED)
    thread = _one_more_thread(process)
    for tid in (process.pid, thread):
        os.sched_setaffinity(tid, {ALLOWED[0], ALLOWED[-1]})
    return process


def _one_more_thread(process: subprocess.Popen[str]) -> int:
    assert process.stdin
    assert process.stdout
    process.stdin.write("\n")
    process.stdin.flush()
    return int(process.stdout.readline())


def _affinities(process: subprocess.Popen[str]) -> list[set[int]]:
    return [os.sched_getaffinity(int(tid)) for tid in os.listdir(f"/proc/{process.pid}/task")]


@EITHER
def test_threads_are_confined_and_freed_those_born_meanwhile_too(
    host_world: World, victim: subprocess.Popen[str], processes: Processes
) -> None:
    before = host_world.files()
    agent = processes.agent(
        *host_world.arguments,
        *("--primary", "cgroup:web", "--elastic", f"pid:{victim.pid}"),
        *("--policy", "no-harvest"),
    )
    agent.wait_until(lambda: _affinities(victim) == [LAST] * 2)
    _one_more_thread(victim)
    assert _affinities(victim) == [LAST] * 3
    outcome = agent.send(signal.SIGTERM)
    assert outcome.code == 0
    assert f"pid:{victim.pid} is no group: running without cpu.idle" in outcome.err
    assert _affinities(victim) == [{ALLOWED[0], ALLOWED[-1]}] * 3
    assert host_world.files() == before
    assert host_world.journals() == []


FORKING = """
import os, sys, time
def lasting():
    while True:
        time.sleep(60)
for line in sys.stdin:  # a child, or one whose parent ends at once, for each line
    out, tell = os.pipe()
    child = os.fork()
    if child == 0:
        orphan = os.fork() if line == "orphan\\n" else 0
        if orphan:
            os._exit(0)
        os.write(tell, b"%d" % os.getpid())
        lasting()
    if line == "orphan\\n":
        os.waitpid(child, 0)
    print(os.read(out, 20).decode(), flush=True)
"""


@pytest.fixture
def parent(processes: Processes) -> Iterator[Parent]:
    made = Parent(processes.python(FORKING))
    yield made
    made.end()


class Parent:
    """An elastic process, confined to two CPUs, that starts others when asked."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.pid = process.pid
        self.children: list[int] = []
        os.sched_setaffinity(self.pid, {ALLOWED[0], ALLOWED[-1]})

    def bear(self, kind: str) -> int:
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(f"{kind}\n")
        self.process.stdin.flush()
        self.children.append(int(self.process.stdout.readline()))
        return self.children[-1]

    def end(self) -> None:
        for child in self.children:
            os.kill(child, signal.SIGKILL)

    def affinities(self) -> list[set[int]]:
        return [os.sched_getaffinity(pid) for pid in (self.pid, *self.children)]


@EITHER
@pytest.mark.root
@pytest.mark.parametrize("how_it_ends", [signal.SIGTERM, signal.SIGKILL])
def test_what_an_elastic_process_starts_is_moved_along_and_given_back(
    host_world: World, parent: Parent, processes: Processes, how_it_ends: signal.Signals
) -> None:
    parent.bear("child")
    os.sched_setaffinity(parent.children[0], LAST)  # of its own accord, before the agent
    agent = processes.agent(
        *host_world.arguments,
        *("--primary", "cgroup:web", "--elastic", f"pid:{parent.pid}"),
        *("--policy", "fixed-buffer:1"),  # an idle primary: everything but one core is lent
    )
    (path,) = wait_for_sockets(agent, host_world)

    def all_are_followed() -> bool:
        births = ask(path, "status", {})["births"]
        assert births["source"] == "connector"
        return bool(births["followed"] == len(parent.children))

    agent.wait_until(all_are_followed)
    for kind in ("child", "orphan", "orphan"):
        parent.bear(kind)
        agent.wait_until(all_are_followed)
    assert parent.affinities() == [LAST] * 5
    agent.send(how_it_ends)
    if how_it_ends == signal.SIGKILL:
        assert smartharvest_here("restore", *host_world.arguments).code == 0
    both = {ALLOWED[0], ALLOWED[-1]}
    assert parent.affinities() == [both, LAST, both, both, both]
    assert host_world.journals() == []


@EITHER
def test_threads_are_freed_after_a_kill(
    host_world: World, victim: subprocess.Popen[str], processes: Processes
) -> None:
    agent = processes.agent(
        *host_world.arguments,
        *("--primary", "cgroup:web", "--elastic", f"pid:{victim.pid}"),
        *("--policy", "no-harvest", "--no-guardian"),
    )
    agent.wait_until(lambda: _affinities(victim) == [LAST] * 2)
    _one_more_thread(victim)
    agent.send(signal.SIGKILL)
    assert _affinities(victim) == [LAST] * 3
    outcome = smartharvest_here("restore", *host_world.arguments)
    assert outcome.code == 0
    assert outcome.out.count("put back: affinity of thread") == 3
    assert _affinities(victim) == [{ALLOWED[0], ALLOWED[-1]}] * 3
    assert smartharvest_here("restore", *host_world.arguments).out == "nothing to restore\n"


def test_a_process_is_never_moved_between_groups(
    tmp_path: Path, victim: subprocess.Popen[str], processes: Processes
) -> None:
    world = make_world(tmp_path, 1, cpus=format_cpulist([ALLOWED[0], ALLOWED[-1]]))
    for mount in world.tree.hierarchies.values():
        world.kernel.write(f"{mount}/tasks", str(victim.pid))
    before = world.files()
    agent = processes.agent(
        *world.arguments, "--primary", "cgroup:web", "--elastic", f"pid:{victim.pid}"
    )
    agent.wait_until(lambda: len(world.journals()) > 0 and LAST in _affinities(victim))
    assert world.files() == before
    assert agent.send(signal.SIGTERM).code == 0


@EITHER
def test_an_elastic_process_that_ends_ends_the_agent(
    host_world: World, victim: subprocess.Popen[str], processes: Processes
) -> None:
    agent = processes.agent(
        *host_world.arguments,
        *("--primary", "cgroup:web", "--elastic", f"pid:{victim.pid}"),
    )
    wait_until(lambda: LAST in _affinities(victim))
    victim.kill()
    victim.wait()
    outcome = agent.outcome()
    assert outcome.code == 6
    assert f"pid:{victim.pid}: is gone" in outcome.err.splitlines()[-1]
    assert host_world.journals() == []


@EITHER
def test_a_primary_process_is_sensed(host_world: World, processes: Processes) -> None:
    spinning = processes.spinning()
    before = host_world.files()
    agent = processes.agent(
        *host_world.arguments,
        *("--primary", f"pid:{spinning}", "--elastic", "cgroup:batch"),
        *("--cores", format_cpulist([ALLOWED[0], ALLOWED[-1]]), "--json"),
    )
    agent.wait_until(lambda: host_world.mask() == format_cpulist(LAST))
    outcome = agent.send(signal.SIGTERM)
    assert outcome.code == 0, outcome.err
    assert os.sched_getaffinity(spinning) == set(ALLOWED)
    assert host_world.files() == before


@EITHER
def test_a_process_whose_agent_hangs_is_left_its_smallest_set_then_freed(
    host_world: World, victim: subprocess.Popen[str], processes: Processes
) -> None:
    agent = processes.agent(
        *host_world.arguments,
        *("--primary", "cgroup:web", "--elastic", f"pid:{victim.pid}"),
        *("--policy", "no-harvest"),
    )
    agent.wait_until(lambda: _affinities(victim) == [LAST] * 2)
    os.kill(agent.pid, signal.SIGSTOP)
    _one_more_thread(victim)
    outcome = agent.outcome()
    assert "the elastic side is at its minimum" in outcome.err
    assert _affinities(victim) == [{ALLOWED[0], ALLOWED[-1]}] * 3


def test_all_threads_of_a_process_are_confined_from_the_journals_first_line_alone(
    victim: subprocess.Popen[str], tmp_path: Path
) -> None:
    journal = Journal(str(tmp_path))
    before = [
        AffinityEntry(tid, start, tuple(ALLOWED), start if tid == victim.pid else None)
        for tid in tasks.process_threads(victim.pid)
        if (start := tasks.start_time(tid)) is not None
    ]
    journal.expect({}, (), minimum_cpus=sorted(LAST))
    journal.record(AffinityEntry(victim.pid, before[0].start_time + 1, (0,), 1))
    assert confine(read_head(journal.path), PosixFiles()) == 0  # it is another process
    journal.record(*before)
    _one_more_thread(victim)
    assert confine(read_head(journal.path), PosixFiles()) == 3
    journal.close()
    assert _affinities(victim) == [LAST] * 3
