"""Every failure of the command line is one line and a documented exit code."""

from __future__ import annotations

import errno
import os
import re
import subprocess
import sys
from collections.abc import Iterable

import click
import pytest

from smartharvest import errors
from smartharvest.cli import cli
from smartharvest.cli.command_group import LazyGroup
from smartharvest.cli.lab import lab
from smartharvest.config.settings import FIELDS
from smartharvest.errors import SmartHarvestError, WriteRefused
from smartharvest.host.journal.contents import JournalError
from tests.commands import as_command, smartharvest, smartharvest_here

WRONG = [
    (["agnt"], "No such command 'agnt'; did you mean smartharvest agent?"),
    (["replay", "x"], "No such command 'replay'; did you mean smartharvest lab replay?"),
    (["lab", "dmo"], "No such command 'dmo'; did you mean smartharvest lab demo?"),
    (["agent"], "primary: no target given"),
    (["agent", "--primary", "cgroup:web"], "elastic: no target given"),
    (["agent", "--primary", "web"], "--primary: 'web' is no target"),
    (["agent", "--primary"], "Option '--primary' requires an argument"),
    (["agent", "--polcy", "prev-peak"], "No such option"),
    (["agent", "--primery", "x"], "No such option '--primery'. Did you mean '--primary'? (see"),
    (["doctor", "--foo"], "No such option '--foo'. (see smartharvest doctor --help)"),
    (["agent", "extra"], "unexpected extra argument"),
    (["agent", "--window", "25"], "--window: '25' has no unit"),
    (["agent", "--window", "9" * 400 + "s"], "is longer than a year"),
    (["agent", "--duration", "soon"], "--duration: 'soon' is not a duration"),
    (["agent", "--cores", "many"], "--cores: 'many' is no list of CPUs"),
    (["agent", "--config", "/nowhere/agent.toml"], "/nowhere/agent.toml: cannot be read"),
    (["agent", "--realtime=yes"], "does not take a value"),
    (["restore", "--primary", "cgroup:web"], "No such option"),
    (["run", "true"], "run: no group given; use --elastic or --primary"),
    (["run", "--elastic", "--primary", "true"], "give --elastic or --primary, not both"),
    (["observe", "--seconds", "5m"], "'5m' is no time; write seconds, or a number and one of ns, "),
    (["observe", "--seconds", "10ms"], "10ms is not within 0.1s and"),
    (["agent", "--duration", "1hour"], "unknown unit 'hour' in '1hour'; use ns, us, ms, s, min, h"),
    (["explain", "x", "--since", "5m"], "units are ns, us, ms, s, min, h or d"),
    (["demo", "--seconds", "3"], "--seconds: 3 is too short for 7 phases in 2 rounds"),
    (["demo", "--seconds", "x"], "Invalid value for '--seconds'"),
    (["demo", "--seconds", "-5"], "Invalid value for '--seconds'"),
    (["simulate", "--workload", "nosuch"], "workload: 'nosuch' is unknown; use one of indexserve"),
    (["simulate", "--policy", "nosuch"], "policy: 'nosuch' is unknown"),
    (["simulate", "--mechanism", "nosuch"], "mechanism: 'nosuch' is unknown; use one of cpugroups"),
    (["simulate", "--seconds", "0"], "Invalid value for '--seconds'"),
    (["simulate", "--primary-cores", "2000"], "Invalid value for '--primary-cores'"),
    (["--frobnicate"], "No such option"),
]


@pytest.mark.parametrize(("arguments", "words"), WRONG, ids=[" ".join(a)[:40] for a, _ in WRONG])
def test_wrong_usage_is_one_line_and_exit_code_2(arguments: list[str], words: str) -> None:
    outcome = smartharvest_here(*arguments)
    assert outcome.code == 2
    assert outcome.out == ""
    assert words in outcome.failure


@pytest.mark.parametrize(
    "arguments", [["agent", "--window", "25"], ["agent", "--polcy"], ["demo", "--seconds", "1"]]
)
def test_a_process_says_the_same_as_main(arguments: list[str]) -> None:
    outcome = smartharvest(*arguments)
    assert outcome == smartharvest_here(*arguments)
    assert "Traceback" not in outcome.err


def test_a_mistyped_option_is_guessed() -> None:
    assert "--policy" in smartharvest_here("agent", "--polcy", "prev-peak").failure


def test_no_command_shows_the_help() -> None:
    outcome = smartharvest_here()
    assert outcome.code == 2
    assert outcome.err.startswith("Usage: smartharvest")
    assert "restore" in outcome.err


EXPECTED = sorted(
    (
        error
        for error in [*vars(errors).values(), JournalError]
        if isinstance(error, type)
        and issubclass(error, SmartHarvestError)
        and "exit_code" in vars(error)  # a special case of another has that one's
    ),
    key=lambda error: error.__name__,
)


def fail_with(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    """Makes every command end in ``error``."""

    def callback(**_options: object) -> None:
        raise error

    for command in cli.load_all().values():
        monkeypatch.setattr(command, "callback", callback)


@pytest.mark.parametrize("kind", EXPECTED)
def test_every_expected_error_has_its_documented_exit_code(
    monkeypatch: pytest.MonkeyPatch, kind: type[SmartHarvestError]
) -> None:
    error = (
        WriteRefused("/cg/cpuset.cpus", "0-3", errno.EBUSY)
        if kind is WriteRefused
        else kind("what\nand where")
    )
    fail_with(monkeypatch, error)
    outcome = smartharvest_here("restore")
    assert outcome.code == kind.exit_code
    assert outcome.failure == " ".join(str(error).split())
    assert f"{kind.exit_code} " in (cli.epilog or "")


def test_exit_codes_are_told_apart() -> None:
    codes = [kind.exit_code for kind in EXPECTED]
    assert len(set(codes)) == len(codes)


def test_a_refused_write_says_what_where_and_why() -> None:
    busy = WriteRefused("/cg/batch/cpuset.cpus", "7", errno.EBUSY)
    assert str(busy) == (
        "/cg/batch/cpuset.cpus: writing '7' was refused: EBUSY (Device or resource busy); "
        "a child group still needs what would be taken away"
    )
    invalid = WriteRefused("/cg/batch/cpu.idle", "1", errno.EINVAL)
    assert str(invalid).endswith("was refused: EINVAL (Invalid argument)")


def test_the_unexpected_is_one_line_and_exit_code_1(monkeypatch: pytest.MonkeyPatch) -> None:
    fail_with(monkeypatch, ZeroDivisionError("by zero"))
    outcome = smartharvest_here("restore")
    assert outcome.code == 1
    assert outcome.failure == "unexpected ZeroDivisionError: by zero (--debug shows where)"


def test_debug_shows_where(monkeypatch: pytest.MonkeyPatch) -> None:
    fail_with(monkeypatch, ZeroDivisionError("by zero"))
    outcome = smartharvest_here("--debug", "restore")
    assert outcome.code == 1
    assert "Traceback (most recent call last)" in outcome.err


def test_ctrl_c_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    fail_with(monkeypatch, KeyboardInterrupt())
    outcome = smartharvest_here("restore")
    # click ends the terminal's line with the ^C first
    assert (outcome.code, outcome.err) == (130, "\nsmartharvest: stopped\n")


def test_a_reader_that_went_away_is_no_failure_to_talk_about() -> None:
    read_end, write_end = os.pipe()
    os.close(read_end)
    command = as_command(["agent", "--help"])
    done = subprocess.run(command, stdout=write_end, stderr=subprocess.PIPE, check=False)
    os.close(write_end)
    assert done.returncode == 1
    assert done.stderr == b""


def shown_flags(*arguments: str) -> set[str]:
    return set(re.findall(r"^  (--[a-z-]+)", smartharvest_here(*arguments).out, re.MULTILINE))


def flags(names: Iterable[str]) -> set[str]:
    return {f"--{name.replace('_', '-')}" for name in names}


@pytest.mark.parametrize("command", [("agent",), ("config", "show")])
def test_help_lists_the_common_settings_and_help_all_every_one(command: tuple[str, ...]) -> None:
    common = flags(name for name, item in FIELDS.items() if item.metadata["common"])
    own = {"--config", "--json", "--help-all"} | ({"--plan"} if command == ("agent",) else set())
    assert shown_flags(*command, "--help") == common | own
    assert shown_flags(*command, "--help-all") == flags(FIELDS) | own


def test_help_shows_the_defaults_with_units() -> None:
    text = " ".join(smartharvest_here("agent", "--help-all").out.split())
    for shown in ("[default: 25ms]", "[default: 50us]", "[default: adaptive]", "[default: on]"):
        assert shown in text


@pytest.mark.parametrize("group", [cli, lab], ids=["smartharvest", "lab"])
def test_every_command_has_help(group: LazyGroup) -> None:
    words = [] if group is cli else ["lab"]
    for name, command in group.load_all().items():
        outcome = smartharvest_here(*words, name, "-h")
        assert (outcome.code, outcome.err) == (0, "")
        assert outcome.out.startswith(f"Usage: smartharvest {' '.join([*words, name])} [OPTIONS]")
        assert isinstance(command, click.Command)


def test_the_list_of_commands_is_in_groups_and_has_each_once() -> None:
    text = smartharvest_here("--help").out
    sections = [f"{title}:\n" for title in ("Run", "Watch", "Steer", "Recover", "Cluster", "Lab")]
    assert [line for line in text.splitlines(keepends=True) if line in sections] == sections
    with click.Context(cli) as context:
        for name in cli.list_commands(context):
            assert len(re.findall(rf"^  {name} ", text, re.MULTILINE)) == 1, name


@pytest.mark.parametrize("name", ["demo", "record", "simulate"])
def test_some_commands_of_the_lab_have_a_short_spelling(name: str) -> None:
    assert cli.load_all()[name] is lab.load_all()[name]


def test_a_command_starts_without_the_modules_of_the_others() -> None:
    code = (
        "import sys; from smartharvest.cli import main\n"
        "try: main(['status', '--help'])\n"
        "finally: print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = done.stdout.splitlines()[-1].split()
    assert "smartharvest.cli.status" in loaded
    for module in ("numpy", "smartharvest.agent.supervisor", "smartharvest.cli.lab.simulate"):
        assert module not in loaded


def test_what_is_typed_in_an_emergency_starts_without_the_modules_of_all_settings() -> None:
    for command in ("status", "pause", "resume", "evict"):
        code = f"import sys; import smartharvest.cli.{command}; print(*sys.modules)"
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        )
        loaded = done.stdout.split()
        assert f"smartharvest.cli.{command}" in loaded
        journal = "smartharvest.host.journal.contents"
        for module in ("numpy", "smartharvest.config.settings", "tomllib", "difflib", journal):
            assert module not in loaded, (command, module)


def test_the_help_of_an_agent_starts_without_the_agent() -> None:
    code = "import sys; import smartharvest.cli.agent; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = done.stdout.split()
    for module in ("numpy", "smartharvest.agent.supervisor", "smartharvest.core._loop"):
        assert module not in loaded


def test_the_version() -> None:
    outcome = smartharvest_here("--version")
    assert (outcome.code, outcome.err) == (0, "")
    assert re.fullmatch(r"smartharvest, version \d+\.\d+\.\d+\n", outcome.out)
