"""Completion in the shells themselves: a command, a flag of one, and a word of ours behind it."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.commands import smartharvest_here
from tests.integration.terminals import Terminal, needs_tmux

needs_tmux()


@pytest.fixture(params=["bash", "zsh", "fish"])
def prompt(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Terminal]:
    """A shell that has read its completion, and finds our command in its path."""
    shell = request.param
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is missing (make test-tools installs it)")
    command = tmp_path / "smartharvest"
    command.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m smartharvest "$@"\n')
    command.chmod(0o755)
    script = tmp_path / "completion"
    script.write_text(smartharvest_here("completion", shell).out)
    terminal = Terminal(
        shlex.join(started(shell, script)), tmp_path, HOME=str(tmp_path),
        PATH=f"{tmp_path}:{os.environ['PATH']}", ZDOTDIR=str(tmp_path),
    )  # fmt: skip
    terminal.wait_for("ready>")
    yield terminal
    terminal.close()


def started(shell: str, script: Path) -> list[str]:
    """The command that starts ``shell`` with ``script`` read and nobody's settings."""
    ready = f"source {shlex.quote(str(script))}; PS1='ready> '"
    match shell:
        case "bash":
            (script.parent / "rc").write_text(ready)
            return ["bash", "--noprofile", "--rcfile", str(script.parent / "rc")]
        case "zsh":
            (script.parent / ".zshrc").write_text(f"autoload -Uz compinit; compinit -u; {ready}")
            return ["zsh"]
        case _:
            ready = f"source {script}; function fish_prompt; echo 'ready> '; end"
            return ["fish", "--no-config", "--init-command", ready]


def test_a_shell_completes_commands_and_flags(prompt: Terminal) -> None:
    prompt.type("smartharvest expl")
    prompt.press("Tab")
    prompt.wait_for("smartharvest explain")
    prompt.type(" --capac")
    prompt.press("Tab")
    prompt.wait_for("--capacity")


def test_a_shell_completes_values(prompt: Terminal, tmp_path: Path) -> None:
    (tmp_path / "tree" / "cpuset" / "made-for-this").mkdir(parents=True)
    prompt.type("smartharvest set-policy adaptive-q")
    prompt.press("Tab")
    prompt.wait_for("set-policy adaptive-quiet")
    prompt.press("C-u")
    prompt.type("smartharvest agent --cgroup-root tree --primary cgroup:made-f")
    prompt.press("Tab")
    prompt.wait_for("cgroup:made-for-this")


def test_a_shell_completes_what_stands_behind_an_equals_sign(
    prompt: Terminal, tmp_path: Path
) -> None:
    (tmp_path / "tree" / "cpuset" / "made-for-this").mkdir(parents=True)
    (tmp_path / "web-agent.toml").touch()
    for typed, completed in (
        ("--policy=adaptive-q", "--policy=adaptive-quiet"),
        ("--config=web-ag", "--config=web-agent.toml"),
        ("--cgroup-root=tree --primary=cgroup:made-f", "--primary=cgroup:made-for-this"),
    ):
        prompt.type(f"smartharvest agent {typed}")
        prompt.press("Tab")
        prompt.wait_for(completed)
        prompt.press("C-u")
