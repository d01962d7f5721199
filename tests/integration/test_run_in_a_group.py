"""``smartharvest run``: the command starts inside the managed group."""

from __future__ import annotations

import errno
import os
import signal
from pathlib import Path

import pytest

from smartharvest.host.cgroup.fake_kernel import FakeKernel
from smartharvest.host.journal.journal import Journal
from tests.commands import smartharvest, smartharvest_here
from tests.integration.processes import Processes, wait_for_sockets
from tests.integration.worlds import EITHER, World

SAY_PID = ("sh", "-c", "echo $$")


def members(world: World, path: str) -> str:
    return Path(world.tree.group(path).path, "cgroup.procs").read_text()


@EITHER
@pytest.mark.timing
@pytest.mark.parametrize(("side", "path"), [("--elastic", "batch"), ("--primary", "web")])
def test_the_group_of_the_running_agent(
    quiet_world: World, processes: Processes, side: str, path: str
) -> None:
    agent = processes.agent(*quiet_world.arguments, *quiet_world.targets)
    wait_for_sockets(agent, quiet_world)
    outcome = smartharvest("run", side, *quiet_world.arguments, "--", *SAY_PID)
    assert outcome.code == 0, outcome.err
    assert members(quiet_world, path) == outcome.out
    assert agent.send(signal.SIGTERM).code == 0
    assert members(quiet_world, path) == outcome.out  # it was there on its own account


@EITHER
def test_the_group_of_a_configuration_file_needs_no_agent(
    quiet_world: World, tmp_path: Path
) -> None:
    config = tmp_path / "agent.toml"
    config.write_text('primary = "cgroup:web"\nelastic = "cgroup:batch"\n')
    outcome = smartharvest(
        "run", "--elastic", "--config", str(config), *quiet_world.arguments, *SAY_PID
    )
    assert outcome.code == 0, outcome.err
    assert members(quiet_world, "batch") == outcome.out


def test_the_command_joins_the_group_in_every_hierarchy(quiet_world: World) -> None:
    outcome = smartharvest(
        "run", "--elastic", "--group", "cgroup:batch", *quiet_world.arguments, "--", *SAY_PID
    )
    assert outcome.code == 0, outcome.err
    for controller in quiet_world.tree.hierarchies:
        directory = quiet_world.tree.group("batch").directory(controller)
        if directory and os.path.exists(directory):
            assert Path(directory, "cgroup.procs").read_text() == outcome.out


@EITHER
def test_the_commands_own_options_and_exit_code_are_its_own(quiet_world: World) -> None:
    outcome = smartharvest(
        *("run", "--elastic", "--group", "cgroup:batch", *quiet_world.arguments),
        *("--", "sh", "-c", 'echo "$@"; exit 42', "sh", "--json", "-x"),
    )
    assert (outcome.code, outcome.out) == (42, "--json -x\n")


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("true",), 2, "run: no group given; use --elastic or --primary"),
        (("--elastic",), 2, "Missing argument 'COMMAND...'"),
        (("--elastic", "true"), 2, "run --elastic: no running agent"),
        (("--primary", "true"), 2, "run --primary: no running agent"),
        (("--elastic", "--primary", "true"), 2, "give --elastic or --primary, not both"),
        (("--group", "batch", "true"), 2, "--group: 'batch' is no target"),
        (("--group", "cgroup:nobody", "true"), 4, "nobody: does not exist"),
        (("--group", "pid:1", "true"), 4, "a command can be started in a group"),
        (("--group", "cgroup:batch", "no-such-command"), 2, "no-such-command: no such command"),
        (("--elastic", "--frobnicate", "true"), 2, "No such option '--frobnicate'"),
    ],
)
def test_what_cannot_be_started(
    quiet_world: World, arguments: tuple[str, ...], code: int, words: str
) -> None:
    before = quiet_world.files()
    outcome = smartharvest_here("run", *quiet_world.arguments, *arguments)
    assert outcome.code == code
    assert words in outcome.failure
    assert quiet_world.files() == before


def test_several_primaries_need_a_choice(quiet_world: World, tmp_path: Path) -> None:
    config = tmp_path / "agent.toml"
    config.write_text('primary = ["cgroup:web", "cgroup:shop"]\nelastic = "cgroup:batch"\n')
    outcome = smartharvest_here(
        "run", "--primary", "--config", str(config), *quiet_world.arguments, "true"
    )
    assert outcome.code == 2
    assert "several groups are managed (cgroup:web, cgroup:shop)" in outcome.failure


def test_a_demo_is_no_agent(quiet_world: World) -> None:
    state, web = str(quiet_world.state_dir), quiet_world.tree.group("web")
    demo = Journal(state, name="demo", claims=[web.path])
    its_agent = Journal(state, claims=["/nowhere", quiet_world.elastic.path])
    outcome = smartharvest_here("run", "--elastic", *quiet_world.arguments, "true")
    assert (outcome.code, "no running agent" in outcome.failure) == (2, True)
    its_agent.close()
    demo.close()


def test_a_process_as_the_elastic_side_is_named(quiet_world: World) -> None:
    agent = Journal(str(quiet_world.state_dir), claims=[quiet_world.elastic.path, "pid:7"])
    outcome = smartharvest_here("run", "--elastic", *quiet_world.arguments, "true")
    assert outcome.code == 4
    assert "the elastic side is pid:7: a command can be started in a group" in outcome.failure
    agent.close()


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (errno.ENOSPC, 4, "batch: has no CPUs or memory nodes"),
        (errno.EACCES, 3, "cgroup.procs: Permission denied; run as root"),
        (errno.EPERM, 3, "cgroup.procs: Operation not permitted; run as root"),
        (errno.EBUSY, 5, "EBUSY"),
    ],
)
def test_a_group_that_takes_nobody_says_why(
    quiet_world: World, monkeypatch: pytest.MonkeyPatch, error: int, code: int, words: str
) -> None:
    def refuse(_kernel: FakeKernel, path: str, _value: str) -> None:
        raise OSError(error, os.strerror(error), path)

    monkeypatch.setattr(FakeKernel, "write", refuse)
    outcome = smartharvest_here(
        "run", "--group", "cgroup:batch", *quiet_world.arguments, "--", "true"
    )
    assert outcome.code == code
    assert words in outcome.failure
    assert ("run as root" in outcome.failure) == (code == 3)


def test_who_may_not_read_the_state_directory_is_told_who_may(
    quiet_world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(directory: str) -> list[str]:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), directory)

    monkeypatch.setattr("smartharvest.cli.run.journal_paths", refuse)
    outcome = smartharvest_here("run", "--elastic", *quiet_world.arguments, "--", *SAY_PID)
    assert outcome.code == 3
    assert outcome.failure == f"{quiet_world.state_dir}: Permission denied; run as root"
