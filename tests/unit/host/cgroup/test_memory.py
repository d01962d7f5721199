"""Memory of groups and of the host, as the files of both versions have it."""

from __future__ import annotations

from pathlib import Path

import pytest

from smartharvest.host.cgroup.memory import (
    UNLIMITED,
    allocated_bytes,
    held_bytes,
    host_bytes,
    host_stalled_us,
    limit_file,
    memory_bytes,
    reclaim_file,
    some_total_us,
    stalled_us,
    swap_room,
)
from smartharvest.host.cgroup.tree import CgroupTree, Group
from tests.unit.host.fake_trees import make_group, make_v1_tree, make_v2_tree

MIB = 1 << 20


@pytest.fixture
def tree(tmp_path: Path) -> CgroupTree:
    tree = make_v2_tree(tmp_path)
    tree.files.write(f"{tmp_path}/cgroup.subtree_control", "+memory")
    make_group(tree, "batch")
    tree.files.write(f"{tmp_path}/batch/cgroup.subtree_control", "+memory")
    make_group(tree, "batch/etl")
    return tree


@pytest.fixture
def group(tree: CgroupTree) -> Group:
    return tree.group("batch/etl")


def put(group: Group, name: str, text: str) -> None:
    Path(group.directory("memory") or "", name).write_text(text)


def test_what_is_in_files_is_not_held(group: Group) -> None:
    put(group, "memory.current", f"{100 * MIB}\n")
    put(group, "memory.stat", f"anon 1\ninactive_file {10 * MIB}\nactive_file {20 * MIB}\n")
    assert (memory_bytes(group), held_bytes(group)) == (100 * MIB, 70 * MIB)
    put(group, "memory.stat", "inactive_file many\n")
    assert held_bytes(group) is None


def test_the_tightest_limit_above_counts(group: Group) -> None:
    assert allocated_bytes(group) is None
    assert group.parent is not None
    put(group.parent, "memory.max", str(64 * MIB))
    put(group, "memory.max", str(80 * MIB))
    assert allocated_bytes(group) == 64 * MIB


def test_room_in_swap_is_what_every_limit_leaves(group: Group) -> None:
    assert swap_room(group) == UNLIMITED
    assert group.parent is not None
    put(group, "memory.swap.max", str(64 * MIB))
    put(group, "memory.swap.current", str(60 * MIB))
    put(group.parent, "memory.swap.max", str(30 * MIB))
    assert swap_room(group) == 4 * MIB
    put(group, "memory.swap.current", str(90 * MIB))
    assert swap_room(group) == 0


def test_version_1_has_its_own_files(tmp_path: Path) -> None:
    make_v1_tree(tmp_path)
    (tmp_path / "memory").mkdir()
    for name in ("tasks", "cgroup.procs"):
        (tmp_path / "memory" / name).write_text("")
    tree = CgroupTree.discover(str(tmp_path))
    make_group(tree, "batch", "0-7")
    group = tree.group("batch")
    assert limit_file(group) == f"{tmp_path}/memory/batch/memory.soft_limit_in_bytes"
    assert reclaim_file(group) is None
    assert stalled_us(group) is None
    assert allocated_bytes(group) is None
    put(group, "memory.usage_in_bytes", f"{50 * MIB}\n")
    put(group, "memory.stat", f"inactive_file 0\ntotal_inactive_file {20 * MIB}\n")
    assert held_bytes(group) == 30 * MIB
    assert swap_room(group) == UNLIMITED
    put(group, "memory.swappiness", "0\n")
    assert swap_room(group) == 0


def test_a_group_without_the_controller_has_no_limit(tmp_path: Path) -> None:
    tree = make_v2_tree(tmp_path)
    make_group(tree, "batch")
    group = tree.group("batch")
    assert limit_file(group) is None
    assert memory_bytes(group) is None
    assert held_bytes(group) is None


def test_a_made_machine_has_memory_of_its_own(tree: CgroupTree) -> None:
    root = Path(tree.root)
    (root / ".meminfo").write_text("MemTotal: 100 kB\nMemAvailable: 50 kB\nHugePages_Total: 0\n")
    assert host_bytes(tree) == {"total": 102_400, "available": 51_200, "swap_free": 0}
    (root / ".meminfo").write_text("MemTotal: 100 kB\n")
    with pytest.raises(ValueError, match="MemAvailable"):
        host_bytes(tree)
    (root / ".pressure").write_text("some avg10=0.00 total=12\nfull avg10=0.00 total=3\n")
    assert host_stalled_us(tree) == 12


@pytest.mark.parametrize("text", [None, "", "full total=3\n", "some avg10=1\n", "some total=x\n"])
def test_pressure_that_nobody_tells_is_not_known(text: str | None) -> None:
    assert some_total_us(text) is None
