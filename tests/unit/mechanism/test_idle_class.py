"""Which tasks keep a group out of the idle class."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from smartharvest.host.cgroup.tree import CgroupTree
from smartharvest.host.journal.journal import Journal
from smartharvest.host.journal.writer import HostWriter
from smartharvest.host.process import tasks
from smartharvest.host.target.cgroup import resolve
from smartharvest.host.target.targets import parse_target
from smartharvest.mechanism.idle_class import enter_idle_class
from tests.unit.host.fake_trees import make_group, make_v1_tree, make_v2_tree

TREES = [make_v1_tree, make_v2_tree]
FIRST, ALIVE = 4_000_001, os.getpid()


def make_batch(tree: CgroupTree) -> list[Path]:
    """With a task; the lists of its tasks."""
    make_group(tree, "batch", "0-7", (FIRST,))
    group = tree.group("batch")
    listing = "tasks" if tree.version == 1 else "cgroup.procs"
    directories = {group.directory(controller) for controller in tree.hierarchies}
    for directory in directories:
        assert directory is not None
        Path(f"{directory}/cpu.idle").write_text("0\n")
    return [Path(f"{directory}/{listing}") for directory in directories]


def lower(tree: CgroupTree, state: Path) -> bool:
    """Whether the batch is in the idle class then."""
    group, journal = tree.group("batch"), Journal(str(state))
    try:
        switch = enter_idle_class(group, (), HostWriter(tree.files, journal))
    finally:
        journal.release()
    return switch is not None and tree.files.read(switch).strip() == "1"


@pytest.mark.parametrize("make_tree", TREES)
def test_a_batch_that_forks_while_it_is_looked_at_is_put_below_everything_else(
    make_tree: Callable[[Path], CgroupTree], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = make_tree(tmp_path / "tree")
    lists, read = make_batch(tree), tree.files.read
    names = ("/tasks", "/cgroup.procs", "/cgroup.threads")
    forked = 0

    def read_and_fork(path: str) -> str:
        nonlocal forked
        text = read(path)
        if path.endswith(names) and "/batch" in path:
            forked += 1
            for each in lists:
                tree.files.write(str(each), str(FIRST + forked))
        return text

    monkeypatch.setattr(tree.files, "read", read_and_fork)
    monkeypatch.setattr(tasks, "alive", lambda _tid: True)
    assert lower(tree, tmp_path / "state")
    assert forked >= 2


def test_a_task_of_others_in_the_cpu_group_keeps_it_out(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    tree = make_v1_tree(tmp_path / "tree")
    make_batch(tree)
    tree.files.write(f"{tree.group('batch').cpu_path}/tasks", str(ALIVE))
    assert not lower(tree, tmp_path / "state")
    assert f"also holds task {ALIVE}, which is not elastic" in caplog.text


@pytest.mark.parametrize("make_tree", TREES)
@pytest.mark.parametrize(
    ("primary", "warned"), [("pods/web", "pods"), ("pods", "pods"), ("web", ""), ("podsy/web", "")]
)
def test_a_group_that_holds_batch_and_primary_is_warned_of(
    make_tree: Callable[[Path], CgroupTree],
    primary: str,
    warned: str,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    tree = make_tree(tmp_path / "tree")
    for path in dict.fromkeys(("pods", primary.split("/")[0], primary, "pods/batch")):
        make_group(tree, path, "0-7")
        if tree.version == 2 and "/" not in path:
            tree.files.write(f"{tree.group(path).path}/cgroup.subtree_control", "+cpuset +cpu")
    target = resolve(parse_target(f"cgroup:{primary}", "primary"), tree, lambda _group: None)
    journal = Journal(str(tmp_path / "state"))
    try:
        enter_idle_class(tree.group("pods/batch"), [target], HostWriter(tree.files, journal))
    finally:
        journal.release()
    lines = [record.getMessage() for record in caplog.records if "holds" in record.getMessage()]
    assert [line.split(" holds the batch and a primary")[0] for line in lines] == (
        [str(tree.group(warned).cpu_path)] if warned else []
    )
