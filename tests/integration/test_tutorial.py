"""The tutorial, followed to the letter in an empty directory."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from smartharvest.host.cgroup import CgroupTree

pytestmark = pytest.mark.root

TUTORIAL = Path(__file__).parents[2] / "docs" / "tutorial.md"
GROUPS = ("tutorial-web", "tutorial-batch")


def blocks(version: int) -> list[str]:
    """What is to be typed on a host with this version of cgroups."""
    fenced = re.compile(r"^```sh(?: (v\d))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
    found = fenced.findall(TUTORIAL.read_text())
    return [text for only, text in found if only in ("", f"v{version}")]


def test_it_works_as_it_is_written_and_leaves_nothing_behind(tmp_path: Path) -> None:
    tree = CgroupTree.discover()
    mounts = set(tree.hierarchies.values())
    if any(os.path.exists(f"{mount}/{group}") for mount in mounts for group in GROUPS):
        pytest.skip("the tutorial's groups are there already")
    command = tmp_path / "bin" / "smartharvest"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m smartharvest "$@"\n')
    command.chmod(0o755)
    work = tmp_path / "work"
    work.mkdir()
    script = "set -e\n" + "\n".join(blocks(tree.version))
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=work,
        env={
            **os.environ,
            "PATH": f"{command.parent}:{os.environ['PATH']}",
            "PYTHONPATH": str(TUTORIAL.parents[1]),
        },
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    for words in (
        "dry run: ", "agent.toml: good", "harvested ", "paused: ", "resumed", "nothing to restore",
        "started: policy smartharvest",
    ):  # fmt: skip
        assert words in done.stdout, done.stdout
    assert "the configuration in force stays" not in done.stderr
    for mount in mounts:
        for group in GROUPS:
            assert not os.path.exists(f"{mount}/{group}")
