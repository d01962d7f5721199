"""The writer on this machine's own hierarchies, in groups that the test makes and removes."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from smartharvest.errors import AlreadyManaged
from smartharvest.host.cgroup.kernel_files import PosixFiles
from smartharvest.host.cgroup.tree import CgroupTree, Group
from smartharvest.host.journal.journal import Journal
from smartharvest.host.journal.recovery import recover
from smartharvest.host.journal.writer import HostWriter

pytestmark = pytest.mark.root

CONTROLLERS = ("cpuset", "cpu", "freezer")
FILES = ("cpuset.cpus", "cpuset.mems", "cpu.shares", "cpu.idle", "freezer.state", "tasks")


@pytest.fixture
def group() -> Iterator[Group]:
    """A v1 group on all online CPUs with a weight of 4096 and a sleeping process in it."""
    tree = CgroupTree.discover()
    if os.geteuid():
        pytest.skip("needs root")
    if tree.version != 1 or not set(CONTROLLERS) <= set(tree.hierarchies):
        pytest.skip("this machine has no v1 cpuset, cpu and freezer hierarchies")
    group = tree.group(f"smartharvest-test-writer-{os.getpid()}")
    places = [os.path.join(tree.hierarchies[name], group.relative) for name in CONTROLLERS]
    for place in places:
        os.mkdir(place)
    files = PosixFiles()
    files.write(group.cpus_file, "all")
    files.write(group.mems_file, "0")
    files.write(f"{group.cpu_path}/cpu.shares", "4096")
    with subprocess.Popen(["sleep", "100"]) as sleeper:
        for place in places:
            files.write(f"{place}/tasks", str(sleeper.pid))
        yield group
        for place in places:
            files.write(f"{os.path.dirname(place)}/tasks", str(sleeper.pid))
            os.rmdir(place)
        sleeper.kill()


def snapshot(group: Group) -> dict[str, str]:
    found = {}
    for controller in CONTROLLERS:
        directory = Path(str(group.directory(controller)))
        found.update({str(path): "" for path in directory.iterdir() if path.is_dir()})
        for name in FILES:
            if (directory / name).exists():
                found[str(directory / name)] = (directory / name).read_text()
    (sleeper,) = group.tasks()
    found["affinity"] = str(os.sched_getaffinity(sleeper))
    return found


def change_everything(group: Group, writer: HostWriter) -> None:
    (sleeper,) = group.tasks()
    assert group.freeze_file is not None
    assert group.idle_file is not None
    below = f"{group.path}/below"
    writer.set(group.idle_file, "1")
    writer.set(group.freeze_file, "FROZEN")
    writer.set_affinity(sleeper, {max(group.effective_cpus())})
    writer.make_group(below)
    writer.move_task(sleeper, group.path, below)
    writer.set(f"{below}/cpuset.cpus", "0")
    writer.set(group.cpus_file, "0")


def test_everything_is_as_before_after_a_restore(group: Group, tmp_path: Path) -> None:
    before = snapshot(group)
    writer = HostWriter(group.tree.files, Journal(str(tmp_path)))
    change_everything(group, writer)
    assert snapshot(group) != before
    writer.restore()
    assert snapshot(group) == before


def test_a_recovery_does_the_same_from_the_journal_alone(
    group: Group, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = snapshot(group)
    journal = Journal(str(tmp_path))
    change_everything(group, HostWriter(group.tree.files, journal))
    journal.release()
    monkeypatch.setattr("smartharvest.host.journal.recovery.tasks.alive", lambda _: False)
    report = recover(group.tree.files, str(tmp_path))
    assert report.failed == []
    assert snapshot(group) == before


def test_a_group_can_be_held_whatever_the_state_directory(group: Group, tmp_path: Path) -> None:
    holder = Journal(str(tmp_path / "one"), claims=[group.path])
    with pytest.raises(AlreadyManaged, match=group.path):
        Journal(str(tmp_path / "two"), claims=[group.path])
    holder.close()
    Journal(str(tmp_path / "two"), claims=[group.path]).close()
