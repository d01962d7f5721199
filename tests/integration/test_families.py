"""What an elastic process starts is free when all is over, however and whenever it is started."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from smartharvest.host.cpulist import format_cpulist
from tests.commands import smartharvest_here
from tests.cpus import ALLOWED, needs_two_cpus
from tests.integration.processes import Processes, wait_until
from tests.integration.worlds import World, make_world

BOTH = {ALLOWED[0], ALLOWED[-1]}
LAST = {ALLOWED[-1]}

pytestmark = [
    pytest.mark.root,
    pytest.mark.timing,
    needs_two_cpus,
    pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc"),
]


@pytest.fixture
def world(tmp_path: Path) -> World:
    return make_world(tmp_path, 1, cpus=format_cpulist(BOTH))


class Daemons:
    """A process that starts daemons all the time; both CPUs are theirs."""

    def __init__(self, processes: Processes, program: str, rate: int) -> None:
        self._process = processes.start([program, str(rate)])
        self.pid = self._process.pid
        assert self._process.stdout is not None
        self._out = self._process.stdout.fileno()
        os.set_blocking(self._out, False)
        os.sched_setaffinity(self.pid, BOTH)
        self._told = b""

    def pids(self) -> list[int]:
        """The daemons so far."""
        try:
            while more := os.read(self._out, 1 << 16):
                self._told += more
        except BlockingIOError:
            pass
        whole, _, _ = self._told.rpartition(b"\n")
        return [int(pid) for pid in whole.split()]

    def confined(self) -> list[int]:
        """It and those of its daemons that may not run on both CPUs."""
        return [pid for pid in (self.pid, *self.pids()) if os.sched_getaffinity(pid) != BOTH]


@pytest.fixture
def start(processes: Processes, tmp_path: Path) -> Callable[[int], Daemons]:
    program = str(tmp_path / "daemons")
    source = Path(__file__).with_name("daemons.c")
    subprocess.run(["gcc", "-O1", "-o", program, str(source)], check=True)
    return lambda rate: Daemons(processes, program, rate)


def test_no_daemon_that_is_started_during_a_restart_stays_confined(
    world: World, start: Callable[[int], Daemons], processes: Processes
) -> None:
    daemons = start(100)
    agent = processes.agent(
        *world.arguments,
        *("--primary", "cgroup:web", "--elastic", f"pid:{daemons.pid}"),
        *("--policy", "no-harvest"),
    )
    agent.wait_until(lambda: os.sched_getaffinity(daemons.pid) == LAST)
    assert smartharvest_here("restart", *world.arguments[2:]).code == 0
    assert len(daemons.confined()) > 1
    agent.send(signal.SIGINT)
    assert world.journals() == []
    time.sleep(0.1)  # those on their way
    assert daemons.confined() == []


@pytest.mark.parametrize("how_it_ends", [signal.SIGINT, signal.SIGKILL])
@pytest.mark.parametrize("rate", [40, 300])
def test_no_daemon_that_is_started_meanwhile_stays_confined(
    world: World,
    start: Callable[[int], Daemons],
    processes: Processes,
    how_it_ends: signal.Signals,
    rate: int,
) -> None:
    daemons = start(rate)
    agent = processes.agent(
        *world.arguments,
        *("--primary", "cgroup:web", "--elastic", f"pid:{daemons.pid}"),
        *("--policy", "no-harvest"),
    )
    agent.wait_until(lambda: os.sched_getaffinity(daemons.pid) == LAST)
    started = len(daemons.pids())
    wait_until(lambda: len(daemons.pids()) > started + rate)
    assert len(daemons.confined()) > rate // 2
    agent.send(how_it_ends)
    assert world.journals() == []
    time.sleep(0.1)  # those on their way
    assert daemons.confined() == []
