from __future__ import annotations

from pathlib import Path

import pytest

from smartharvest.host.cgroup.tree import CgroupTree
from smartharvest.host.foreign.writes import ManagedFile, find_surprise, likely_writers
from smartharvest.host.process import tasks
from tests.unit.host.fake_trees import make_group, make_v1_tree


@pytest.fixture
def tree(tmp_path: Path) -> CgroupTree:
    tree = make_v1_tree(tmp_path)
    make_group(tree, "g", "6-7")
    return tree


def managed(tree: CgroupTree) -> list[ManagedFile]:
    group = tree.group("g")
    return [(group.cpus_file, group.effective_cpus_file, ["7", "6-7"])]


def test_what_was_written_is_no_surprise(tree: CgroupTree) -> None:
    assert find_surprise(tree.files, managed(tree), 1, None) is None


def test_another_mask_is_named_with_what_was_written(tree: CgroupTree) -> None:
    surprise = find_surprise(tree.files, managed(tree), 0, None)
    assert surprise is not None
    assert (surprise.path, surprise.found, surprise.expected) == (
        tree.group("g").cpus_file,
        "6-7",
        "7",
    )
    assert "another process writes this group" in surprise.describe(None)
    assert surprise.describe("sh (pid 7)").endswith(
        "another process writes this group (last: sh (pid 7))"
    )


def test_an_idle_switch_that_somebody_turned_off_is_a_surprise(tree: CgroupTree) -> None:
    idle = tree.group("g").idle_file
    surprise = find_surprise(tree.files, managed(tree), 1, idle)
    assert surprise is not None
    assert (surprise.path, surprise.found) == (idle, "0")


def test_a_group_that_is_gone_is_no_surprise(tree: CgroupTree) -> None:
    files = managed(tree)
    tree.files.rmdir(tree.group("g").path)
    assert find_surprise(tree.files, files, 0, None) is None


def test_the_usual_writers_that_run_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "name", lambda pid: "kubelet" if pid == 1 else "sh")
    assert likely_writers() == "likely: kubelet (pid 1)"
    monkeypatch.setattr(tasks, "name", lambda _pid: "sh")
    assert likely_writers() == "none of the usual ones runs here"
