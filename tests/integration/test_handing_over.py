"""A planned restart: another program takes over, and the host is never given back in between."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import replace
from pathlib import Path

import pytest

from smartharvest.agent.supervisor import Supervisor
from smartharvest.algorithm.algorithm1 import Decision
from smartharvest.core.window import Window
from smartharvest.errors import CpusLost
from smartharvest.host.journal.contents import read_journal
from smartharvest.host.process import tasks
from tests.commands import smartharvest_here
from tests.integration.processes import Processes, wait_until
from tests.integration.supervisors import Script, after, handed_over, run_until, settings_for, watch
from tests.integration.worlds import World, make_world

pytestmark = pytest.mark.timing

BUFFER = ("--policy", "fixed-buffer:1")
LENT = "1-7"
MINIMUM = "7"
SOME_WINDOWS_S = 0.3


def children_of(pid: int) -> set[int]:
    return set(map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split()))


def entries_of(world: World) -> object:
    (name,) = (name for name in os.listdir(world.state_dir) if name.endswith(".journal"))
    return read_journal(str(world.state_dir / name)).entries


@pytest.fixture
def made(tmp_path: Path, processes: Processes) -> World:
    return make_world(tmp_path, 2, elastic=(processes.asleep(),))


def test_a_new_program_takes_over_and_the_host_stays_arranged(
    made: World, processes: Processes
) -> None:
    before = made.files()
    agent = processes.agent(*made.arguments, *made.targets, *BUFFER)
    agent.wait_until(lambda: made.mask() == LENT)
    assert smartharvest_here("pause", *made.arguments[2:]).code == 0
    time.sleep(SOME_WINDOWS_S)  # the loop may be about to move a core as the answer comes
    assert made.mask() == MINIMUM
    arranged, guardians = entries_of(made), children_of(agent.pid)
    descriptors = len(os.listdir(f"/proc/{agent.pid}/fd"))
    started = tasks.start_time(agent.pid)
    asked = processes.start_command("restart", *made.arguments[2:])
    seen = set()

    def restarted() -> bool:
        seen.add((made.mask(), made.idle()))
        return asked.poll() is not None

    agent.wait_until(restarted)
    out, err = asked.communicate()
    assert asked.returncode == 0, err
    assert f"pid {agent.pid}" in out
    # No moment without the elastic group confined and below everything else.
    assert seen == {(MINIMUM, "1")}
    assert smartharvest_here("resume", *made.arguments[2:]).code == 0
    agent.wait_until(lambda: made.mask() == LENT)
    assert tasks.start_time(agent.pid) == started
    assert entries_of(made) == arranged
    assert len(children_of(agent.pid)) == 1
    assert children_of(agent.pid).isdisjoint(guardians)
    # The connections of those who asked end a moment later.
    agent.wait_until(lambda: len(os.listdir(f"/proc/{agent.pid}/fd")) <= descriptors + 1)
    outcome = agent.send(signal.SIGTERM)
    assert outcome.code == 0, outcome.err
    assert "An earlier agent did not end well" not in outcome.err
    assert made.files() == before
    assert made.journals() == []


@pytest.mark.parametrize("after_s", [0.6, 1.0])
def test_an_agent_killed_while_it_hands_over_leaves_the_host_as_it_was(
    made: World, processes: Processes, after_s: float
) -> None:
    before = made.files()
    agent = processes.agent(*made.arguments, *made.targets, *BUFFER)
    agent.wait_until(lambda: made.mask() == LENT)
    os.kill(agent.pid, signal.SIGUSR2)
    time.sleep(after_s)
    outcome = agent.send(signal.SIGKILL)
    assert outcome.code == -signal.SIGKILL
    wait_until(lambda: made.journals() == [])
    assert made.files() == before


def test_one_that_does_not_start_changes_nothing_and_another_arrangement_begins_anew(
    made: World, processes: Processes, tmp_path: Path
) -> None:
    before = made.files()
    config = tmp_path / "agent.toml"
    config.write_text('policy = "fixed-buffer:1"\n')
    agent = processes.agent(*made.arguments, *made.targets, "--config", str(config))
    agent.wait_until(lambda: made.mask() == LENT)
    config.write_text('policy = "no such policy"\n')
    refused = smartharvest_here("restart", *made.arguments[2:])
    assert refused.code == 2
    assert "the new program ended with 2" in refused.failure
    assert "no such policy" in refused.failure
    assert made.mask() == LENT
    config.write_text('policy = "fixed-buffer:1"\ncpu_idle = false\n')
    os.kill(agent.pid, signal.SIGUSR2)
    agent.wait_until(lambda: made.mask() == LENT and made.idle() == "0")
    outcome = agent.send(signal.SIGTERM)
    assert "Targets or arrangement changed: starting from the originals" in outcome.err
    assert made.files() == before


@pytest.mark.parametrize("placement", ["shared", "exclusive"])
def test_within_one_program_nothing_is_written_but_what_moves_cores(
    quiet_world: World, monkeypatch: pytest.MonkeyPatch, placement: str
) -> None:
    before = quiet_world.files()
    kernel = watch(quiet_world, monkeypatch)
    settings = settings_for(quiet_world, placement=placement, guardian=True)

    def lends(window: Window, _decision: Decision) -> bool:
        return window.primary_cores == 3

    first = handed_over(settings, lends)
    assert quiet_world.mask() == MINIMUM
    written = len(kernel.changes)
    with Supervisor(settings, first.left) as second:
        assert second.capacity == first.capacity
        assert kernel.changes[written:] == []
        run_until(second, Script(3), lends)
    assert quiet_world.files() == before
    assert quiet_world.journals() == []


def test_a_successor_that_cannot_start_gives_everything_back(quiet_world: World) -> None:
    before = quiet_world.files()
    settings = settings_for(quiet_world, guardian=True)
    first = handed_over(settings, after(1))
    impossible = replace(settings, max_harvest=-1)
    with pytest.raises(CpusLost, match="negative"), Supervisor(impossible, first.left):
        pass
    assert quiet_world.files() == before
    assert quiet_world.journals() == []
