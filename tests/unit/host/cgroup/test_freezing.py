"""Groups that freeze a process: found in fake files, and left on this machine."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from smartharvest.host.cgroup import freezing
from smartharvest.host.cgroup.freezing import (
    FreezableGroup,
    freezable_groups,
    freezable_together,
    is_frozen,
)

MEMBERSHIP = "6:freezer:/{v1}\n3:cpuset:/web\n0::/{v2}\n"


@pytest.fixture
def mounts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A host with both versions, as systemd calls hybrid; process 10 is in agents/a."""
    kinds = [(str(tmp_path / "freezer"), 1), (str(tmp_path / "unified"), 2)]
    monkeypatch.setattr(freezing, "_freezers", lambda: kinds)
    where = {
        "/proc/10/cgroup": MEMBERSHIP.format(v1="agents/a", v2="agents/a"),
        "/proc/11/cgroup": MEMBERSHIP.format(v1="", v2="agents/b"),
        "/proc/12/cgroup": MEMBERSHIP.format(v1="", v2="other"),
        "/proc/13/cgroup": MEMBERSHIP.format(v1="", v2="../outside"),
    }

    def read(path: str) -> str:
        if path not in where:
            raise FileNotFoundError(path)
        return where[path]

    monkeypatch.setattr(freezing, "read_proc", read)
    for mount, _ in kinds:
        os.makedirs(f"{mount}/agents/a")
    return tmp_path


def test_the_groups_of_both_versions_are_found(mounts: Path) -> None:
    assert freezable_groups(10) == [
        FreezableGroup(str(mounts / "freezer"), 1, "agents/a"),
        FreezableGroup(str(mounts / "unified"), 2, "agents/a"),
    ]
    assert freezable_groups(13) == []  # of a namespace that is not ours
    assert freezable_groups(99) == []  # gone


@pytest.mark.parametrize(
    ("file", "thawed", "frozen"),
    [
        ("freezer/agents/a/freezer.state", "THAWED\n", "FROZEN\n"),
        ("freezer/agents/a/freezer.state", "THAWED\n", "FREEZING\n"),
        ("unified/agents/a/cgroup.events", "populated 1\nfrozen 0\n", "populated 1\nfrozen 1\n"),
    ],
)
def test_a_frozen_group_is_told_from_a_thawed_one(
    mounts: Path, file: str, thawed: str, frozen: str
) -> None:
    assert not is_frozen(10)
    (mounts / file).write_text(thawed)
    assert not is_frozen(10)
    (mounts / file).write_text(frozen)
    assert is_frozen(10)


def test_what_freezes_two_processes_is_the_group_above_both(mounts: Path) -> None:
    assert freezable_together(10, 11) == str(mounts / "unified" / "agents")
    assert freezable_together(10, 10) == str(mounts / "freezer" / "agents" / "a")
    assert freezable_together(10, 12) is None
    assert freezable_together(11, 99) is None


LEAVE = """
import os, sys
from smartharvest.host.cgroup import freezing
freezing.SYSTEMD = "/nowhere"
with open(sys.argv[1] + "/cgroup.procs", "w") as file:
    file.write(str(os.getpid()))
before = len(freezing.freezable_groups("self")), os.sched_getaffinity(0)
freezing.leave_groups()
after = len(freezing.freezable_groups("self")), os.sched_getaffinity(0)
print(before[0] - after[0], before[1] == after[1])
"""


@pytest.mark.root
@pytest.mark.parametrize("version", [1, 2])
def test_a_process_leaves_the_group_that_could_be_frozen_and_stays_on_its_cpus(
    version: int,
) -> None:
    mount = next((point for point, kind in freezing._freezers() if kind == version), None)
    if mount is None:
        pytest.skip(f"no freezer of version {version} is mounted")
    group = f"{mount}/smartharvest-test-{os.getpid()}-leaves"
    os.mkdir(group)
    try:
        ran = subprocess.run(
            [sys.executable, "-c", LEAVE, group], capture_output=True, text=True, check=True
        )
    finally:
        os.rmdir(group)
    assert ran.stdout == "1 True\n"
