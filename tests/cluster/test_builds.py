"""Real builds under a job server that follows the harvest."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from smartharvest.cluster.build import run_build
from smartharvest.cluster.source import Source
from smartharvest.errors import ConfigError

JOBS = 12
NINJA = os.path.join(os.path.dirname(sys.executable), "ninja")


def job(directory: Path, name: str) -> str:
    """A job that notes its beginning and its end."""
    return f"echo + >> {directory}/log; sleep 0.1; echo - >> {directory}/log; touch {name}"


def makefile(directory: Path) -> tuple[str, ...]:
    names = [f"o{number}" for number in range(JOBS)]
    rules = "".join(f"{name}:\n\t@{job(directory, name)}\n" for name in names)
    (directory / "Makefile").write_text(f"all: {' '.join(names)}\n{rules}")
    return "make", "-C", str(directory)


def ninja_file(directory: Path) -> tuple[str, ...]:
    rule = f"rule job\n  command = {job(directory, '$out')}\n"
    outputs = "".join(f"build o{number}: job\n" for number in range(JOBS))
    (directory / "build.ninja").write_text(rule + outputs)
    return NINJA, "-C", str(directory)


def most_at_once(directory: Path) -> int:
    running = most = 0
    for sign in (directory / "log").read_text().split():
        running += 1 if sign == "+" else -1
        most = max(most, running)
    return most


def constant(cores: int) -> Source:
    return lambda: {"cores": {"now": cores, "promised": cores, "guaranteed": 0}}


@pytest.mark.parametrize("cores", [1, 3])
@pytest.mark.parametrize("describe", [makefile, ninja_file])
def test_a_build_runs_as_many_jobs_as_there_are_cores(
    describe: type, cores: int, tmp_path: Path
) -> None:
    command = describe(tmp_path)
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed")
    assert run_build(command, constant(cores), lambda: None) == 0
    assert len(list(tmp_path.glob("o*"))) == JOBS
    assert most_at_once(tmp_path) == cores


def test_the_exit_code_is_the_builds_own(tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text("all:\n\t@exit 3\n")
    assert run_build(("make", "-C", str(tmp_path)), constant(2), lambda: None) == 2
    assert run_build(("sh", "-c", "kill -9 $$"), constant(2), lambda: None) == 128 + signal.SIGKILL


def test_a_command_that_is_not_there_is_told_of() -> None:
    with pytest.raises(ConfigError, match="no-such-build: cannot be started"):
        run_build(("no-such-build",), constant(2), lambda: None)


def test_nothing_is_left_behind(tmp_path: Path) -> None:
    code = (
        "from smartharvest.cluster.build import run_build\n"
        "run_build(('sh', '-c', 'echo $MAKEFLAGS'),"
        " lambda: {'cores': {'now': 2, 'promised': 2, 'guaranteed': 0}}, lambda: None)"
    )
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    said = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert re.search(rf"--jobserver-auth=fifo:{tmp_path}/\S+", said.stdout)
    assert list(tmp_path.iterdir()) == []
