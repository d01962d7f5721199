"""An agent whose control plane is silent while its loop beats, and one that is frozen."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from smartharvest.host.cgroup.freezing import FreezableGroup, freezable_groups
from smartharvest.host.journal.places import page_path
from smartharvest.host.journal.shared_page import SharedPage
from smartharvest.host.process import tasks
from smartharvest.telemetry.client import ask, socket_path
from tests.integration.hosts import Host
from tests.integration.processes import Processes, RunningAgent, wait_until
from tests.integration.worlds import EITHER, World

pytestmark = pytest.mark.timing

BUFFER = ("--policy", "fixed-buffer:1")
ONE_SPINS, MINIMUM = "2-7", "7"
STALLS = """
import os, sys, time
from smartharvest.agent.supervisor import Supervisor
look, order = Supervisor._look, sys.argv[1]

def the_place_where_it_hangs():
    until = time.monotonic() + float(open(order).read())
    os.unlink(order)
    while time.monotonic() < until:
        {how}

def stall(self, control):
    if os.path.exists(order):
        the_place_where_it_hangs()
    look(self, control)

Supervisor._look = stall
from smartharvest.cli import main
main(sys.argv[2:])
"""
SLEEPS, SPINS = "time.sleep(0.5)", "pass"


def start(world: World, processes: Processes, order: Path, how: str, *more: str) -> RunningAgent:
    """An agent that hangs for as many seconds as somebody writes to ``order``."""
    arguments = ["agent", *world.arguments, *world.targets, *BUFFER, *more]
    program = STALLS.format(how=how)
    agent = RunningAgent(processes.start([sys.executable, "-c", program, str(order), *arguments]))
    agent.wait_until(lambda: world.mask() == ONE_SPINS)
    return agent


def hang(order: Path, for_s: float) -> None:
    order.with_suffix(".new").write_text(str(for_s))
    order.with_suffix(".new").rename(order)


@EITHER
def test_a_control_plane_that_is_silent_for_seconds_loses_its_cores_and_goes_on(
    world: World, processes: Processes, tmp_path: Path
) -> None:
    order = tmp_path / "order"
    agent = start(world, processes, order, SLEEPS)
    hang(order, 2.0)  # twice what a silent loop would get
    agent.wait_until(lambda: world.mask() == MINIMUM)
    agent.wait_until(lambda: world.mask() == ONE_SPINS)
    time.sleep(0.5)  # for the guardian's next look
    outcome = agent.send(signal.SIGTERM)
    assert outcome.code == 0, outcome.err
    assert "has hung" not in outcome.err
    assert f"the agent (pid {agent.pid}) beats again after" in outcome.err
    assert "the_place_where_it_hangs" in outcome.err


@EITHER
@pytest.mark.parametrize("how", [SLEEPS, SPINS], ids=["asleep", "spinning"])
def test_one_that_stays_silent_says_where_it_stands_and_is_killed_after_the_hang_timeout(
    world: World, processes: Processes, tmp_path: Path, how: str
) -> None:
    before = world.files()
    order = tmp_path / "order"
    agent = start(world, processes, order, how, "--hang-timeout", "2s")
    hang(order, 3600)
    outcome = agent.outcome()
    assert outcome.code == -signal.SIGKILL
    assert "its threads stand here:" in outcome.err
    assert "the_place_where_it_hangs" in outcome.err
    assert f"the agent (pid {agent.pid}) has hung for" in outcome.err
    assert world.files() == before
    assert world.journals() == []


@EITHER
def test_an_agent_says_where_its_threads_stand_when_asked_and_goes_on(
    world: World, processes: Processes
) -> None:
    agent = processes.agent(*world.arguments, *world.targets, *BUFFER)
    agent.wait_until(lambda: world.mask() == ONE_SPINS)
    os.kill(agent.pid, signal.SIGQUIT)
    time.sleep(0.05)
    outcome = agent.send(signal.SIGTERM)
    assert outcome.code == 0, outcome.err
    assert "most recent call first" in outcome.err


# --- frozen control groups ------------------------------------------------------------------------


@pytest.fixture(params=[1, 2], ids=["freezer of v1", "cgroup.freeze of v2"])
def group(request: pytest.FixtureRequest) -> Iterator[FreezableGroup]:
    """One of this machine's own, for the agent; removed and thawed afterwards."""
    mounts = [line.split() for line in Path("/proc/self/mounts").read_text().splitlines()]
    point = next(
        (
            fields[1]
            for fields in mounts
            if (fields[2] == "cgroup2" and request.param == 2)
            or (fields[2] == "cgroup" and request.param == 1 and "freezer" in fields[3].split(","))
        ),
        None,
    )
    if point is None:
        pytest.skip(f"no freezer of version {request.param} is mounted")
    one = FreezableGroup(point, request.param, f"smartharvest-test-{os.getpid()}-agent")
    os.mkdir(one.path)
    yield one
    switch(one, frozen=False)
    for pid in Path(one.path, "cgroup.procs").read_text().split():
        Path(one.mount, "cgroup.procs").write_text(pid)
    os.rmdir(one.path)


def switch(group: FreezableGroup, *, frozen: bool) -> None:
    if group.version == 2:
        Path(group.path, "cgroup.freeze").write_text(str(int(frozen)))
    else:
        Path(group.path, "freezer.state").write_text("FROZEN" if frozen else "THAWED")


def in_group(group: FreezableGroup, *command: str) -> list[str]:
    return ["sh", "-c", f'echo $$ >{group.path}/cgroup.procs; exec "$@"', "sh", *command]


def guardian_of(agent: RunningAgent) -> int:
    children = Path(f"/proc/{agent.pid}/task/{agent.pid}/children").read_text().split()
    return max(map(int, children), default=0)


@pytest.mark.root
@EITHER
def test_what_was_lent_when_agent_and_guardian_were_frozen_is_back_once_they_are_thawed(
    world: World, processes: Processes, group: FreezableGroup
) -> None:
    # On a fake tree the guardian stays where it is.
    command = [sys.executable, "-m", "smartharvest", "agent", *world.arguments, *world.targets]
    agent = RunningAgent(processes.start(in_group(group, *command, *BUFFER)))
    agent.wait_until(lambda: world.mask() == ONE_SPINS)
    switch(group, frozen=True)
    wait_until(group.is_frozen)
    time.sleep(1.5)  # longer than a loop may be silent
    assert world.mask() == ONE_SPINS  # what cannot be helped: neither of them runs
    switch(group, frozen=False)
    path = socket_path(str(world.state_dir), agent.pid)
    agent.wait_until(lambda: ask(path, "status", {})["safeguards"]["give_backs"]["standstill"] > 0)
    agent.wait_until(lambda: world.mask() == ONE_SPINS)
    outcome = agent.send(signal.SIGTERM)
    assert outcome.code == 0, outcome.err
    assert "the guardian itself stood still for" in outcome.err


@pytest.mark.root
def test_a_guardian_takes_back_what_a_frozen_agent_has_lent_and_leaves_it_to_be_thawed(
    host: Host, processes: Processes, group: FreezableGroup
) -> None:
    if group.version == 2 and os.path.isdir("/run/systemd/system"):
        pytest.skip("systemd moves what it has started")
    os.kill(host.spinner, signal.SIGSTOP)
    arguments = (*host.state, *host.targets, "--lend-shared", *BUFFER, "--long-term", "off")
    command = [sys.executable, "-m", "smartharvest", "agent", *arguments]
    agent = RunningAgent(processes.start(in_group(group, *command)))
    path = socket_path(str(host.state_dir), agent.pid)
    agent.wait_until(lambda: os.path.exists(path) and ask(path, "status", {})["harvested"]["now"])
    guardian = guardian_of(agent)
    assert group not in freezable_groups(guardian)
    assert group in freezable_groups(agent.pid)
    page = SharedPage(page_path(f"{host.state_dir}/agent-{agent.pid}.journal"))
    switch(group, frozen=True)
    wait_until(lambda: page.shrinks > 0)
    time.sleep(1.5)  # longer than a loop may be silent
    assert tasks.alive(agent.pid)
    switch(group, frozen=False)
    agent.wait_until(lambda: ask(path, "status", {})["harvested"]["now"] > 0)
    give_backs = ask(path, "status", {})["safeguards"]["give_backs"]
    outcome = agent.send(signal.SIGTERM)
    assert outcome.code == 0, outcome.err
    assert give_backs["frozen"] == 1
    assert "is frozen with its control group for" in outcome.err
