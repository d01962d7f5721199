"""``smartharvest agent`` as a process on fake trees: confines, lends, and leaves no trace."""

from __future__ import annotations

import os
import signal
import socket
from pathlib import Path

import pytest

from smartharvest.telemetry.audit import read_audit
from tests.commands import smartharvest_here
from tests.integration.processes import Processes
from tests.integration.worlds import EITHER, World, make_world

pytestmark = pytest.mark.timing

ONE_SPINS = "2-7"
"""What eight CPUs and a buffer of one leave the batch while one primary thread spins."""
BUFFER = ("--policy", "fixed-buffer:1")
ALONE = "--no-guardian"


def test_the_batch_gets_what_the_plan_says_and_everything_back_at_the_end(
    world: World, processes: Processes
) -> None:
    before = world.files()
    agent = processes.agent(*world.arguments, *world.targets, *BUFFER, "--duration", "1s", "--json")
    agent.wait_until(lambda: world.mask() == ONE_SPINS)
    assert world.idle() == "1"
    outcome = agent.outcome()
    assert outcome.code == 0, outcome.err
    assert '"policy": "fixed-buffer:1"' in outcome.out
    assert world.files() == before
    assert world.journals() == []


@EITHER
def test_a_configuration_file_does_what_flags_do_and_flags_win(
    quiet_world: World, processes: Processes, tmp_path: Path
) -> None:
    config = tmp_path / "agent.toml"
    config.write_text(
        'primary = "cgroup:web"\nelastic = "cgroup:batch"\npolicy = "no-harvest"\n'
        f'elastic-min = 3\ncgroup-root = "{quiet_world.tree.root}"\n'
        f'state_dir = "{quiet_world.state_dir}"\n'
    )
    agent = processes.agent("--config", str(config))
    agent.wait_until(lambda: quiet_world.mask() == "5-7")
    assert agent.send(signal.SIGTERM).code == 0
    agent = processes.agent("--config", str(config), "--elastic-min", "2")
    agent.wait_until(lambda: quiet_world.mask() == "6-7")
    assert agent.send(signal.SIGTERM).code == 0


@EITHER
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_with_everything_put_back(
    world: World, processes: Processes, number: signal.Signals
) -> None:
    before = world.files()
    agent = processes.agent(*world.arguments, *world.targets, *BUFFER)
    agent.wait_until(lambda: world.mask() == ONE_SPINS)
    outcome = agent.send(number)
    assert outcome.code == 0, outcome.err
    assert outcome.out.startswith("ran ")
    assert world.files() == before
    assert world.journals() == []


@EITHER
@pytest.mark.parametrize("as_json", [False, True])
def test_to_stop_it_while_it_steps_aside_is_no_failure(
    quiet_world: World, processes: Processes, as_json: bool
) -> None:
    world, before = quiet_world, quiet_world.files()
    agent = processes.agent(
        *world.arguments, *world.targets, *BUFFER, *(["--json"] if as_json else [])
    )
    agent.wait_until(lambda: world.mask() == "1-7")
    assert world.elastic.idle_file is not None
    world.kernel.write(world.elastic.idle_file, "0")  # which the loop never writes
    agent.wait_until(lambda: world.mask() == "0-7" and world.journals() == [])
    outcome = agent.send(signal.SIGTERM)
    assert outcome.code == 0, outcome.err
    assert outcome.out == (
        "null\n" if as_json else "ended while it stepped aside; there is no report\n"
    )
    assert world.files() == before


def test_after_a_kill_restore_puts_everything_back_once(world: World, processes: Processes) -> None:
    before = world.files()
    agent = processes.agent(*world.arguments, *world.targets, *BUFFER, ALONE)
    agent.wait_until(lambda: world.mask() == ONE_SPINS)
    assert agent.send(signal.SIGKILL).code == -signal.SIGKILL
    assert world.files() != before
    first = smartharvest_here("restore", *world.arguments)
    assert first.code == 0
    assert f"put back: {world.elastic.cpus_file}: 2-7 -> 0-7\n" in first.out
    assert world.files() == before
    assert world.journals() == []
    second = smartharvest_here("restore", *world.arguments)
    assert (second.code, second.out, second.err) == (0, "nothing to restore\n", "")
    assert world.files() == before


@EITHER
def test_the_next_agent_puts_back_what_a_killed_one_left(
    world: World, processes: Processes
) -> None:
    before = world.files()
    killed = processes.agent(*world.arguments, *world.targets, *BUFFER, ALONE)
    killed.wait_until(lambda: world.mask() == ONE_SPINS)
    killed.send(signal.SIGKILL)
    outcome = smartharvest_here("agent", *world.arguments, *world.targets, "--duration", "100ms")
    assert outcome.code == 0
    assert "An earlier agent did not end well; restored:" in outcome.err
    assert world.files() == before


@EITHER
def test_restore_leaves_a_running_agent_alone(world: World, processes: Processes) -> None:
    agent = processes.agent(*world.arguments, *world.targets, *BUFFER)
    agent.wait_until(lambda: world.mask() == ONE_SPINS)
    outcome = smartharvest_here("restore", *world.arguments)
    assert outcome.code == 0
    assert outcome.out == (
        f"left alone: the agent with pid {agent.pid} is running; end it with kill {agent.pid}\n"
    )
    assert world.idle() == "1"
    assert agent.send(signal.SIGTERM).code == 0


@EITHER
def test_a_second_agent_on_the_same_groups_is_refused(
    world: World, processes: Processes, tmp_path: Path
) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        metrics = f"127.0.0.1:{probe.getsockname()[1]}"
    log = tmp_path / "audit.jsonl"
    same = (*world.arguments, *world.targets, "--metrics", metrics, "--audit-log", str(log))
    pytest.importorskip("prometheus_client")
    first = processes.agent(*same, *BUFFER)
    first.wait_until(lambda: world.mask() == ONE_SPINS)
    second = smartharvest_here("agent", *same, "--duration", "100ms")
    assert second.code == 8
    assert [record["kind"] for record in read_audit(str(log))].count("ended") == 0
    assert f"the agent with pid {first.pid} already manages" in second.failure
    assert world.idle() == "1"
    assert first.send(signal.SIGTERM).code == 0


@EITHER
def test_agents_on_other_groups_work_side_by_side(world: World, processes: Processes) -> None:
    world.add_group("shop", "0-7")
    world.add_group("queue", "0-7")
    before = world.files()
    first = processes.agent(*world.arguments, *world.targets, *BUFFER)
    first.wait_until(lambda: world.mask() == ONE_SPINS)
    others = ("--primary", "cgroup:shop", "--elastic", "cgroup:queue")
    assert smartharvest_here("agent", *world.arguments, *others, "--duration", "100ms").code == 0
    assert first.send(signal.SIGTERM).code == 0
    assert world.files() == before


@pytest.mark.parametrize(
    "policy", ["no-harvest", "fixed-buffer:2", "prev-peak", "prev-peak:10", "smartharvest"]
)
def test_every_policy_runs_and_restores(tmp_path: Path, policy: str) -> None:
    world = make_world(tmp_path, 1)
    before = world.files()
    outcome = smartharvest_here(
        "agent", *world.arguments, *world.targets, "--duration", "200ms", "--policy", policy
    )
    assert outcome.code == 0, outcome.err
    assert f"with policy {policy}," in outcome.out
    assert world.files() == before


@EITHER
def test_no_harvest_lends_nothing(quiet_world: World, processes: Processes) -> None:
    agent = processes.agent(
        *quiet_world.arguments, *quiet_world.targets, "--policy", "no-harvest", "--json"
    )
    agent.wait_until(lambda: quiet_world.mask() == "7")
    outcome = agent.send(signal.SIGTERM)
    assert '"harvested_cores": 0.0' in outcome.out
    assert '"assignments": 0' in outcome.out


def test_several_primaries_are_one(tmp_path: Path, processes: Processes) -> None:
    spinners = processes.spinning(), processes.spinning()
    # Each on a CPU of its own: two that wait behind one another are busy on one core.
    for pid, cpu in zip(spinners, sorted(os.sched_getaffinity(0))[-2:], strict=True):
        os.sched_setaffinity(pid, {cpu})
    world = make_world(tmp_path, 1, primary=spinners[:1])
    world.add_group("shop", "0-7", spinners[1:])
    before = world.files()
    agent = processes.agent(
        *world.arguments, *world.targets, "--primary", "cgroup:shop", "--policy", "fixed-buffer:1"
    )
    # One spinner alone would leave the batch 2-7.
    agent.wait_until(lambda: world.mask() == "3-7")
    assert agent.send(signal.SIGTERM).code == 0
    assert world.files() == before


def test_without_a_minimum_the_batch_is_frozen_while_nothing_is_lent(
    quiet_world: World, processes: Processes
) -> None:
    before = quiet_world.files()
    freezer = ("--elastic-min", "0", "--park", "freeze", "--policy", "no-harvest")
    frozen = {1: "FROZEN\n", 2: "1\n"}[quiet_world.tree.version]
    freeze_file = quiet_world.elastic.freeze_file
    assert freeze_file is not None
    agent = processes.agent(*quiet_world.arguments, *quiet_world.targets, *freezer)
    agent.wait_until(lambda: quiet_world.kernel.read(freeze_file) == frozen)
    assert quiet_world.mask() == "7"
    assert agent.send(signal.SIGTERM).code == 0
    assert quiet_world.files() == before


@EITHER
def test_a_frozen_batch_is_thawed_after_a_kill(quiet_world: World, processes: Processes) -> None:
    before = quiet_world.files()
    freezer = ("--elastic-min", "0", "--park", "freeze", "--policy", "no-harvest")
    agent = processes.agent(*quiet_world.arguments, *quiet_world.targets, *freezer, ALONE)
    freeze_file = quiet_world.elastic.freeze_file
    assert freeze_file is not None
    agent.wait_until(lambda: quiet_world.kernel.read(freeze_file) in ("FROZEN\n", "1\n"))
    agent.send(signal.SIGKILL)
    assert smartharvest_here("restore", *quiet_world.arguments).code == 0
    assert quiet_world.files() == before


@EITHER
@pytest.mark.parametrize("target", ["web", "batch"])
def test_a_group_that_vanishes_ends_it_and_the_rest_is_put_back(
    world: World, processes: Processes, target: str
) -> None:
    before = world.files()
    agent = processes.agent(*world.arguments, *world.targets, *BUFFER)
    agent.wait_until(lambda: world.mask() == ONE_SPINS)
    gone = world.tree.group(target).path
    world.kernel.vanish(gone)
    outcome = agent.outcome()
    assert outcome.code == 6
    assert target in outcome.err.splitlines()[-1]
    prefix = gone.removeprefix(world.tree.root).strip("/")
    assert world.files() == {
        path: contents
        for path, contents in before.items()
        if path != prefix and not path.startswith(f"{prefix}/")
    }
    assert world.journals() == []


def test_missing_counterparts_are_made_and_removed(tmp_path: Path, processes: Processes) -> None:
    elastic = processes.asleep()
    world = make_world(tmp_path, 1, elastic=(elastic,))
    for controller in ("cpu", "freezer"):
        mount = world.tree.hierarchies[controller]
        world.kernel.write(f"{mount}/tasks", str(elastic))
        world.kernel.rmdir(f"{mount}/batch")
    before = world.files()
    agent = processes.agent(
        *world.arguments, *world.targets, "--elastic-min", "0", "--park", "freeze"
    )
    agent.wait_until(lambda: world.mask() != "0-7" and world.idle() == "1")
    for controller in ("cpu", "freezer"):
        tasks_file = f"{world.tree.hierarchies[controller]}/batch/tasks"
        assert world.kernel.read(tasks_file) == f"{elastic}\n"
    outcome = agent.send(signal.SIGTERM)
    assert outcome.code == 0
    assert "(removed on exit)" in outcome.err
    assert world.files() == before


def test_an_elastic_group_known_by_another_hierarchy_gets_a_cpuset(
    tmp_path: Path, processes: Processes
) -> None:
    elastic = processes.asleep()
    world = make_world(tmp_path, 1, elastic=(elastic,))
    mount = world.tree.hierarchies["cpuset"]
    world.kernel.write(f"{mount}/tasks", str(elastic))
    world.kernel.rmdir(f"{mount}/batch")
    before = world.files()
    target = f"cgroup:{world.tree.hierarchies['cpu']}/batch"
    agent = processes.agent(*world.arguments, "--primary", "cgroup:web", "--elastic", target)
    agent.wait_until(
        lambda: (
            world.tree.files.exists(f"{mount}/batch/tasks")
            and world.kernel.read(f"{mount}/batch/tasks") == f"{elastic}\n"
            and world.mask() != "0-7"
        )
    )
    assert agent.send(signal.SIGTERM).code == 0
    assert world.files() == before
