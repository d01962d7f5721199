"""An agent that dies or hangs: its guardian gives everything back."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from smartharvest.host.process import tasks
from tests.commands import LONGEST_S, as_command, smartharvest_here
from tests.integration.processes import Processes, RunningAgent, wait_until
from tests.integration.worlds import EITHER, World

pytestmark = pytest.mark.timing

BUFFER = ("--policy", "fixed-buffer:1")
ONE_SPINS = "2-7"
MINIMUM = "7"


@pytest.fixture
def agent(world: World, processes: Processes) -> RunningAgent:
    started = processes.agent(*world.arguments, *world.targets, *BUFFER)
    started.wait_until(lambda: world.mask() == ONE_SPINS)
    return started


def guardian_of(agent: RunningAgent) -> int:
    """Its process id: the agent's only child."""
    children = Path(f"/proc/{agent.pid}/task/{agent.pid}/children").read_text().split()
    return max(map(int, children), default=0)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV])
def test_whatever_kills_the_agent_everything_comes_back(
    world: World, processes: Processes, number: signal.Signals
) -> None:
    before = world.files()
    agent = processes.agent(*world.arguments, *world.targets, *BUFFER)
    agent.wait_until(lambda: world.mask() == ONE_SPINS)
    outcome = agent.send(number)  # its messages end when the guardian has ended, too
    assert outcome.code == -number
    assert f"guardian: the agent (pid {agent.pid}) has died: put back" in outcome.err
    assert world.files() == before
    assert world.journals() == []


def test_a_stopped_agent_loses_its_cores_is_killed_and_everything_comes_back(
    world: World, processes: Processes
) -> None:
    before = world.files()
    agent = processes.agent(*world.arguments, *world.targets, *BUFFER)
    agent.wait_until(lambda: world.mask() == ONE_SPINS)
    os.kill(agent.pid, signal.SIGSTOP)
    wait_until(lambda: world.mask() == MINIMUM)
    outcome = agent.outcome()
    assert outcome.code == -signal.SIGKILL
    assert "the elastic side is at its minimum" in outcome.err
    assert f"the agent (pid {agent.pid}) has hung for 1" in outcome.err
    assert world.files() == before
    assert world.journals() == []


@EITHER
def test_an_agent_that_comes_to_in_time_goes_on(world: World, agent: RunningAgent) -> None:
    os.kill(agent.pid, signal.SIGSTOP)
    wait_until(lambda: world.mask() == MINIMUM)
    os.kill(agent.pid, signal.SIGCONT)
    agent.wait_until(lambda: world.mask() == ONE_SPINS)
    outcome = agent.send(signal.SIGTERM)
    assert outcome.code == 0, outcome.err


@EITHER
def test_the_elastic_side_can_be_left_its_minimum(world: World, processes: Processes) -> None:
    before = world.files()
    agent = processes.agent(*world.arguments, *world.targets, *BUFFER, "--on-death", "minimum")
    agent.wait_until(lambda: world.mask() == ONE_SPINS)
    outcome = agent.send(signal.SIGKILL)
    assert "keeps its minimum until smartharvest restore" in outcome.err
    assert (world.mask(), world.idle()) == (MINIMUM, "1")
    assert smartharvest_here("restore", *world.arguments).code == 0
    assert world.files() == before


@EITHER
def test_a_service_leaves_the_minimum_where_another_agent_follows_and_else_nothing(
    world: World, processes: Processes, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = world.files()
    monkeypatch.setenv("SMARTHARVEST_ON_DEATH", "minimum")
    agent = processes.agent(*world.arguments, *world.targets, *BUFFER, "--no-guardian")
    agent.wait_until(lambda: world.mask() == ONE_SPINS)
    agent.send(signal.SIGKILL)
    assert world.mask() == ONE_SPINS
    end = ("restore", "--for-service", *world.arguments)
    for _ in range(2):
        monkeypatch.setenv("SERVICE_RESULT", "signal")
        assert smartharvest_here(*end).code == 0
        assert (world.mask(), world.idle()) == (MINIMUM, "1")
    monkeypatch.setenv("SERVICE_RESULT", "success")
    assert smartharvest_here(*end).code == 0
    assert world.files() == before
    assert world.journals() == []


@EITHER
def test_the_guardian_of_a_service_leaves_the_minimum_to_the_next_agent(
    world: World, processes: Processes, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = world.files()
    monkeypatch.setenv("SMARTHARVEST_ON_DEATH", "minimum")
    agent = processes.agent(*world.arguments, *world.targets, *BUFFER)
    agent.wait_until(lambda: world.mask() == ONE_SPINS)
    assert "keeps its minimum until smartharvest restore" in agent.send(signal.SIGKILL).err
    assert (world.mask(), world.idle()) == (MINIMUM, "1")
    left = next(world.state_dir.glob("*.journal"))
    follower = processes.agent(*world.arguments, *world.targets, *BUFFER)
    follower.wait_until(lambda: world.mask() == ONE_SPINS)
    assert not left.exists()
    outcome = follower.send(signal.SIGTERM)
    assert outcome.code == 0
    assert "the batch stays at its minimum" in outcome.err
    assert world.files() == before


@EITHER
def test_the_guardian_outlives_the_agents_process_group(world: World, processes: Processes) -> None:
    before = world.files()
    leader = processes.start(
        ["setsid", *as_command(["agent", *world.arguments, *world.targets, *BUFFER])]
    )
    wait_until(lambda: world.mask() == ONE_SPINS)
    os.killpg(leader.pid, signal.SIGKILL)
    leader.communicate(timeout=LONGEST_S)
    assert world.files() == before
    assert world.journals() == []


@EITHER
def test_the_guardian_does_not_end_before_its_agent(world: World, agent: RunningAgent) -> None:
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        os.kill(guardian_of(agent), number)
    time.sleep(0.05)
    agent.send(signal.SIGKILL)
    assert world.journals() == []


@EITHER
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_without_its_guardian_the_agent_lends_nothing_until_there_is_another(
    world: World, agent: RunningAgent, number: signal.Signals
) -> None:
    guardian = guardian_of(agent)
    os.kill(guardian, number)
    agent.wait_until(lambda: not tasks.alive(guardian))
    agent.wait_until(lambda: world.mask() == ONE_SPINS and guardian_of(agent) != guardian)
    outcome = agent.send(signal.SIGTERM)
    assert outcome.code == 0, outcome.err
    assert f"the guardian (pid {guardian})" in outcome.err
    assert "no guardian watches the agent; nothing is lent until that changes" in outcome.err


@EITHER
def test_a_stopped_guardian_does_not_keep_restore_from_its_work(
    world: World, processes: Processes
) -> None:
    before = world.files()
    agent = processes.agent(*world.arguments, *world.targets, *BUFFER)
    agent.wait_until(lambda: world.mask() == ONE_SPINS)
    guardian = guardian_of(agent)
    os.kill(guardian, signal.SIGSTOP)
    os.kill(agent.pid, signal.SIGKILL)
    wait_until(lambda: not tasks.alive(agent.pid))
    assert smartharvest_here("restore", *world.arguments).code == 0
    assert world.files() == before
    os.kill(guardian, signal.SIGCONT)
    agent.outcome()
    assert world.files() == before
    assert world.journals() == []


@EITHER
def test_the_guardian_goes_with_an_agent_that_ends_well(world: World, agent: RunningAgent) -> None:
    guardian = guardian_of(agent)
    assert agent.send(signal.SIGTERM).code == 0
    assert not tasks.alive(guardian)
    assert world.journals() == []
