"""Virtual machines as targets: QEMU's own processes, whose guests have not been started."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
from pathlib import Path

import pytest

from smartharvest.errors import TargetError
from smartharvest.host.cpulist import format_cpulist
from smartharvest.host.process import tasks
from smartharvest.host.target.qmp import read_vcpus
from smartharvest.telemetry.client import ask
from tests.commands import smartharvest_here
from tests.cpus import ALLOWED, needs_two_cpus
from tests.integration.processes import (
    Processes,
    times_without_primaries,
    wait_for_sockets,
    wait_until,
)
from tests.integration.worlds import World, make_world
from tests.monitor import plug

QEMU = shutil.which("qemu-system-x86_64") or ""
LAST = {ALLOWED[-1]}

pytestmark = [
    pytest.mark.timing,
    pytest.mark.skipif(not QEMU, reason="needs qemu-system-x86_64"),
    needs_two_cpus,
]


class Guest:
    """A guest of two vCPUs, with room for a third, that stands still."""

    def __init__(self, processes: Processes, directory: Path, name: str) -> None:
        self.socket = str(directory / f"{name}.qmp")
        Path(self.socket).unlink(missing_ok=True)
        self.process = processes.start(
            [
                *(QEMU, "-name", f"{name},debug-threads=on", "-accel", "tcg,thread=multi"),
                *("-cpu", "qemu64", "-smp", "2,maxcpus=3,sockets=3,cores=1,threads=1"),
                *("-m", "16M", "-display", "none", "-nodefaults", "-S"),
                *("-qmp", f"unix:{self.socket},server=on,wait=off"),
            ]
        )
        wait_until(self._answers)
        self.vcpus = read_vcpus(self.socket, timeout_s=10).threads
        self.pid = self.process.pid

    def _answers(self) -> bool:
        with contextlib.suppress(TargetError):
            return bool(read_vcpus(self.socket).threads)
        return False

    def plug_a_vcpu(self) -> int:
        """Adds the third; its thread."""
        plug(self.socket)
        (new,) = set(read_vcpus(self.socket).threads) - set(self.vcpus)
        return new

    def affinities(self) -> set[frozenset[int]]:
        return {tasks.affinity(tid) for tid in tasks.process_threads(self.pid)}


@pytest.fixture
def host_world(tmp_path: Path) -> World:
    return make_world(tmp_path, 2, cpus=format_cpulist([ALLOWED[0], ALLOWED[-1]]))


def test_an_elastic_guest_is_confined_with_its_vcpus_and_given_its_pins_back(
    host_world: World, processes: Processes, tmp_path: Path
) -> None:
    guest = Guest(processes, tmp_path, "batch")
    os.sched_setaffinity(guest.vcpus[0], {ALLOWED[0]})
    before = {tid: tasks.affinity(tid) for tid in tasks.process_threads(guest.pid)}
    agent = processes.agent(
        *host_world.arguments, "--primary", "cgroup:web", "--elastic", f"qemu:{guest.socket}"
    )
    agent.wait_until(lambda: guest.affinities() == {frozenset(LAST)})
    third = guest.plug_a_vcpu()
    agent.wait_until(lambda: tasks.affinity(third) == LAST)
    outcome = agent.send(signal.SIGTERM)
    assert outcome.code == 0, outcome.err
    assert {tid: tasks.affinity(tid) for tid in before} == before
    assert tasks.affinity(third) == set(ALLOWED)


def test_an_elastic_guest_that_ends_ends_the_agent(
    host_world: World, processes: Processes, tmp_path: Path
) -> None:
    guest = Guest(processes, tmp_path, "batch")
    agent = processes.agent(
        *host_world.arguments, "--primary", "cgroup:web", "--elastic", "qemu:batch"
    )
    agent.wait_until(lambda: guest.affinities() == {frozenset(LAST)})
    guest.process.kill()
    guest.process.wait()
    outcome = agent.outcome()
    assert outcome.code == 6
    assert f"qemu:{guest.pid}: is gone" in outcome.err.splitlines()[-1]
    assert host_world.journals() == []


def test_a_primary_guest_may_end_and_come_back(
    host_world: World, processes: Processes, tmp_path: Path
) -> None:
    guest = Guest(processes, tmp_path, "web")
    both = format_cpulist([ALLOWED[0], ALLOWED[-1]])
    audit_log = tmp_path / "audit.jsonl"
    agent = processes.agent(
        *host_world.arguments,
        "--primary",
        "qemu:web",
        "--elastic",
        "cgroup:batch",
        *("--policy", "fixed-buffer:1", "--cores", both, "--audit-log", str(audit_log)),
    )
    (path,) = wait_for_sockets(agent, host_world)

    def lends() -> bool:
        return bool(ask(path, "status", {})["harvested"]["now"])

    agent.wait_until(lends)
    guest.process.kill()
    guest.process.wait()
    agent.wait_until(lambda: times_without_primaries(audit_log) == 1)
    assert not lends()
    Guest(processes, tmp_path, "web")
    agent.wait_until(lends)
    outcome = agent.send(signal.SIGTERM)
    assert outcome.code == 0, outcome.err
    assert "nothing is lent until one appears" in outcome.err


def test_a_guest_can_be_observed_by_its_name(
    host_world: World, processes: Processes, tmp_path: Path
) -> None:
    Guest(processes, tmp_path, "web")
    arguments = ("observe", "--cgroup-root", host_world.tree.root, "--seconds", "0.1")
    assert smartharvest_here(*arguments, "--primary", "qemu:web").code == 0
    outcome = smartharvest_here(*arguments, "--primary", "qemu:nobody")
    assert outcome.code == 4
    assert outcome.failure == (
        "qemu:nobody: matches nothing that could be a primary; is it running, and called so?"
    )
