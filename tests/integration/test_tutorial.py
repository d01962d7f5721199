"""The tutorial, followed to the letter in an empty directory."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from smartharvest.host.cgroup.tree import CgroupTree
from tests.integration.hosts import need_a_free_cpu

pytestmark = [pytest.mark.timing, pytest.mark.root]

TUTORIAL = Path(__file__).parents[2] / "docs" / "tutorial.md"
GROUPS = ("tutorial-web", "tutorial-batch")


def blocks(version: int) -> list[str]:
    """What is to be typed on a host with this version of cgroups."""
    fenced = re.compile(r"^```sh(?: (v\d))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
    found = fenced.findall(TUTORIAL.read_text())
    return [text for only, text in found if only in ("", f"v{version}")]


def _remove_groups(mounts: set[str]) -> list[str]:
    """What was still there."""
    left = [f"{mount}/{group}" for mount in mounts for group in GROUPS]
    left = [path for path in left if os.path.exists(path)]
    for path in left:
        until_s = time.monotonic() + 5.0
        while os.path.exists(path) and time.monotonic() < until_s:
            with suppress(OSError):  # its tasks are ending
                os.rmdir(path)
            time.sleep(0.01)
    return left


def test_it_works_as_it_is_written_and_leaves_nothing_behind(tmp_path: Path) -> None:
    tree = CgroupTree.discover()
    mounts = set(tree.hierarchies.values())
    if any(os.path.exists(f"{mount}/{group}") for mount in mounts for group in GROUPS):
        pytest.skip("the tutorial's groups are there already")
    need_a_free_cpu(tree)
    command = tmp_path / "bin" / "smartharvest"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m smartharvest "$@"\n')
    command.chmod(0o755)
    work = tmp_path / "work"
    work.mkdir()
    script = "set -e\n" + "\n".join(blocks(tree.version))
    environment = {
        **os.environ,
        "PATH": f"{command.parent}:{os.environ['PATH']}",
        "PYTHONPATH": str(TUTORIAL.parents[1]),
    }
    # Into files: the loads of a step that failed keep a pipe open.
    with (tmp_path / "said").open("w") as out, (tmp_path / "complained").open("w") as err:
        typed = subprocess.Popen(
            ["bash", "-c", script], cwd=work, env=environment, stdout=out, stderr=err,
            start_new_session=True,
        )  # fmt: skip
    try:
        typed.wait(timeout=100)
    finally:  # a step that failed leaves the loads spinning, in their groups
        with suppress(ProcessLookupError):
            os.killpg(typed.pid, signal.SIGKILL)
        removed = _remove_groups(mounts)
    said, complained = ((tmp_path / name).read_text() for name in ("said", "complained"))
    assert typed.returncode == 0, said + complained
    for words in (
        "dry run: ", "agent.toml: good", "harvested ", "paused: ", "resumed", "nothing to restore",
        "The agent started: cgroup:tutorial-web lends to cgroup:tutorial-batch",
        "Nothing was changed. The agent would start", "core-hours: ",
    ):  # fmt: skip
        assert words in said, said
    assert "the configuration in force stays" not in complained
    assert "<svg" in (work / "day.html").read_text()
    assert removed == []
