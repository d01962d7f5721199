from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from smartharvest.errors import ConfigError, RightsError, TargetError, TargetVanished
from smartharvest.host.cgroup import tree as tree_module
from smartharvest.host.cgroup.kernel_files import PosixFiles
from smartharvest.host.cgroup.tree import DEEPEST, CgroupTree, Group
from tests.unit.host.fake_trees import kernel_of, make_group, make_v1_tree, make_v2_tree


def test_the_layout_of_a_fake_tree_is_seen_from_the_directory(tmp_path: Path) -> None:
    assert make_v1_tree(tmp_path / "v1").version == 1
    assert make_v2_tree(tmp_path / "v2").version == 2
    with pytest.raises(ConfigError, match="neither"):
        CgroupTree.discover(str(tmp_path))
    with pytest.raises(ConfigError, match="no such directory"):
        CgroupTree.discover(str(tmp_path / "none"))


def test_a_v1_hierarchy_of_two_controllers_serves_both_and_links_are_not_followed(
    tmp_path: Path,
) -> None:
    make_v1_tree(tmp_path)
    (tmp_path / "cpu").rename(tmp_path / "cpu,cpuacct")
    (tmp_path / "cpu").symlink_to("cpu,cpuacct")
    tree = CgroupTree.discover(str(tmp_path))
    assert tree.hierarchies["cpu"] == tree.hierarchies["cpuacct"] == str(tmp_path / "cpu,cpuacct")
    assert tree.group(str(tmp_path / "cpu" / "g")).relative == "g"


def test_a_v2_tree_without_cpusets_names_the_file_that_says_so(tmp_path: Path) -> None:
    make_v2_tree(tmp_path)
    (tmp_path / "cgroup.controllers").write_text("cpu memory\n")
    with pytest.raises(RightsError, match=r"cgroup\.controllers: the cpuset controller"):
        CgroupTree.discover(str(tmp_path))


def test_this_host_has_a_tree_with_its_online_cpus() -> None:
    if "cpuset" not in Path("/proc/self/cgroup").read_text():
        pytest.skip("needs cgroup v1 cpusets")
    tree = CgroupTree.discover()
    assert isinstance(tree.files, PosixFiles)
    assert tree.online_cpus() >= os.sched_getaffinity(0)
    assert os.getpid() in tree.group_of(os.getpid()).tasks()


@pytest.mark.parametrize("spelling", ["web/a", "cpuset/web/a", "{root}/cpu/web/a", "web/b/../a"])
def test_a_group_has_many_spellings_and_one_place(spelling: str, tmp_path: Path) -> None:
    tree = make_v1_tree(tmp_path)
    group = tree.group(spelling.format(root=tmp_path))
    assert group.relative == "web/a"
    assert group.directory("freezer") == f"{tmp_path}/freezer/web/a"
    assert group.directory("memory") is None


@pytest.mark.parametrize("path", ["/proc", "../outside", "a/../../../b"])
def test_a_path_out_of_the_tree_is_refused(path: str, tmp_path: Path) -> None:
    with pytest.raises(TargetError, match="not in the cgroup tree"):
        make_v1_tree(tmp_path / "tree").group(path)


def test_the_quota_is_the_tightest_on_the_way_up(tmp_path: Path) -> None:
    v1, v2 = make_v1_tree(tmp_path / "v1"), make_v2_tree(tmp_path / "v2")
    for tree, name, loose, tight in (
        (v1, "cpu.cfs_quota_us", "350000", "250000"),
        (v2, "cpu.max", "350000 100000", "250000 100000"),
    ):
        make_group(tree, "g")
        kernel = kernel_of(tree)
        if tree.version == 2:
            kernel.write(f"{tmp_path}/v2/g/cgroup.subtree_control", "+cpu")
        make_group(tree, "g/child")
        child = tree.group("g/child")
        assert child.quota_cores() is None
        kernel.write(f"{child.cpu_path}/{name}", loose)
        assert child.quota_cores() == 3.5
        kernel.write(f"{tree.group('g').cpu_path}/{name}", tight)
        assert child.quota_cores() == 2.5


def test_tasks_of_children_count(tmp_path: Path) -> None:
    tree = make_v1_tree(tmp_path)
    make_group(tree, "g", "0-3", tids=(101,))
    make_group(tree, "g/a", "0", tids=(99,))
    make_group(tree, "g/a/b", "0", tids=(102, 7))
    assert tree.group("g").tasks() == [7, 99, 101, 102]
    assert [group.relative for group in tree.group("g").descendants()] == ["g/a", "g/a/b"]
    assert tree.group_of(102).relative == "g/a/b"


@pytest.mark.parametrize(("name", "count"), [("d", 1100), ("n" * 200, 40)])
def test_groups_that_somebody_nests_without_end_are_left_out(
    tmp_path: Path, name: str, count: int
) -> None:
    tree = make_v2_tree(tmp_path)
    at = os.open(tmp_path, os.O_RDONLY)
    for _ in range(count):
        os.mkdir(name, dir_fd=at)
        at, above = os.open(name, os.O_RDONLY, dir_fd=at), at
        os.close(above)
    os.close(at)
    found = Group(tree, "").descendants()
    subprocess.run(["rm", "-r", tmp_path / name], check=True)  # Python's own has a limit
    assert 0 < len(found) < count
    assert [len(group.relative.split("/")) for group in found] == list(range(1, len(found) + 1))
    assert len(found) <= DEEPEST
    assert all(len(os.fsencode(group.tasks_file)) < 4096 for group in found)


def test_so_are_groups_that_somebody_makes_without_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tree_module, "MOST_GROUPS", 30)
    tree = make_v2_tree(tmp_path)
    for path in ("a/deep", *(f"b{number:02}/deep" for number in range(40))):
        (tmp_path / path).mkdir(parents=True)
    found = [group.relative for group in Group(tree, "").descendants()]
    assert len(found) == 30
    assert all("/" not in path for path in found)  # the nearest first


def test_a_group_outside_this_containers_namespace_is_not_taken_for_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = make_v2_tree(tmp_path)
    monkeypatch.setattr(tree.files, "membership", lambda _tid: "0::/../web\n")
    with pytest.raises(TargetError, match="as this container names it"):
        tree.group_of(101)


def test_a_directory_that_is_missing_in_one_hierarchy_is_none(tmp_path: Path) -> None:
    tree = make_v1_tree(tmp_path)
    make_group(tree, "g", "0")
    kernel_of(tree).vanish(f"{tmp_path}/freezer/g")
    group = tree.group("g")
    assert (group.cpu_path, group.freezer_path) == (f"{tmp_path}/cpu/g", None)
    assert group.freeze_file is None
    assert group.weight_file == f"{tmp_path}/cpu/g/cpu.shares"


def test_reading_a_vanished_group_says_which_file(tmp_path: Path) -> None:
    tree = make_v1_tree(tmp_path)
    with pytest.raises(TargetVanished, match=r"none/cpuset\.effective_cpus"):
        tree.group("none").effective_cpus()
