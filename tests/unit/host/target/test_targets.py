from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from smartharvest.errors import ConfigError, TargetError
from smartharvest.host.cgroup.tree import CgroupTree
from smartharvest.host.target.apart import check_apart
from smartharvest.host.target.cgroup import CgroupTarget, have_caps_of_their_own
from smartharvest.host.target.spec import TargetSpec
from smartharvest.host.target.targets import parse_target
from smartharvest.host.target.targets import resolve_target as resolve
from tests.unit.host.fake_trees import kernel_of, make_group, make_v1_tree, make_v2_tree


def cgroup(tree: CgroupTree, path: str) -> CgroupTarget:
    target = resolve(TargetSpec("cgroup", path), tree)
    assert isinstance(target, CgroupTarget)
    return target


def test_both_forms_are_read() -> None:
    assert parse_target("cgroup:/a/b:c", "primary") == TargetSpec("cgroup", "/a/b:c")
    assert parse_target("pid:12", "elastic") == TargetSpec("pid", "12")


@pytest.mark.parametrize("text", ["web", "cgroup:", "pid:", "pid:0", "pid:-1", "pid:x", "vm:a", ""])
def test_anything_else_is_an_error_that_names_the_key(text: str) -> None:
    with pytest.raises(ConfigError, match=r"^primary: "):
        parse_target(text, "primary")


def test_a_group_that_is_missing_or_no_cpuset_is_named(tmp_path: Path) -> None:
    tree = make_v1_tree(tmp_path / "v1")
    with pytest.raises(TargetError, match="cpuset/none does not exist"):
        cgroup(tree, "none")
    (tmp_path / "v1" / "cpuset" / "bare").mkdir()
    with pytest.raises(TargetError, match=r"bare is no cpuset"):
        cgroup(tree, "bare")


@pytest.mark.parametrize(
    ("file", "wanted"), [("cpuset.cpus", "write 0-7 into it"), ("cpuset.mems", "write 0 into it")]
)
@pytest.mark.parametrize("path", ["g", "g/child"])
def test_a_v1_group_as_mkdir_leaves_it_is_refused(
    path: str, file: str, wanted: str, tmp_path: Path
) -> None:
    tree = make_v1_tree(tmp_path)
    make_group(tree, "g", "0-3")
    make_group(tree, "g/child", "0-3")
    cgroup(tree, path)
    for emptied in ("g/child", "g"):
        tree.files.write(f"{tree.group(emptied).path}/{file}", "\n")
    with pytest.raises(TargetError, match=f"/cpuset/g/{file} is empty; {wanted}"):
        cgroup(tree, path)
    (tmp_path / "cpuset" / "g" / file).unlink()  # as in a tree made by hand
    if path == "g" and file == "cpuset.mems":
        cgroup(tree, path)


def test_a_v2_group_may_leave_its_mask_empty(tmp_path: Path) -> None:
    tree = make_v2_tree(tmp_path)
    make_group(tree, "g")
    assert cgroup(tree, "g").cpus() == set(range(8))


def test_a_v2_group_without_the_controller_says_where_to_enable_it(tmp_path: Path) -> None:
    tree = make_v2_tree(tmp_path)
    make_group(tree, "g")
    make_group(tree, "g/child")
    with pytest.raises(TargetError, match=r"\+cpuset into .*/g/cgroup.subtree_control$"):
        cgroup(tree, "g/child")


def test_below_a_slice_of_systemds_the_unit_may_turn_the_controller_on(tmp_path: Path) -> None:
    tree = make_v2_tree(tmp_path)
    make_group(tree, "system.slice")
    make_group(tree, "system.slice/web.service")
    with pytest.raises(TargetError, match=r"subtree_control, or let the unit do so"):
        cgroup(tree, "system.slice/web.service")


@pytest.mark.parametrize(
    ("primary", "elastic", "why"),
    [("g", "g", "same group"), ("g", "g/child", "lies in"), ("g/child", "g", "lies in")],
)
def test_equal_and_nested_groups_are_refused(
    primary: str, elastic: str, why: str, tmp_path: Path
) -> None:
    tree = make_v1_tree(tmp_path)
    make_group(tree, "g", "0-3")
    make_group(tree, "g/child", "0")
    with pytest.raises(TargetError, match=why):
        check_apart([cgroup(tree, primary)], cgroup(tree, elastic))


def test_neighbours_with_a_common_name_are_apart(tmp_path: Path) -> None:
    tree = make_v1_tree(tmp_path)
    make_group(tree, "g", "0-3")
    make_group(tree, "g2", "0-3")
    check_apart([cgroup(tree, "g")], cgroup(tree, "g2"))


def test_the_root_group_cannot_be_elastic(tmp_path: Path) -> None:
    tree = make_v1_tree(tmp_path)
    with pytest.raises(TargetError, match="root group"):
        check_apart([], cgroup(tree, str(tmp_path / "cpuset")))


def test_a_process_in_the_primary_group_cannot_be_elastic(tmp_path: Path) -> None:
    tree = make_v1_tree(tmp_path)
    make_group(tree, "g", "0-3", tids=(os.getpid(),))
    process = resolve(TargetSpec("pid", str(os.getpid())), tree)
    with pytest.raises(TargetError, match=f"both have thread {os.getpid()}"):
        check_apart([cgroup(tree, "g")], process)


def test_whoever_has_started_the_agent_or_a_primary_cannot_be_elastic(tmp_path: Path) -> None:
    tree = make_v1_tree(tmp_path)
    parent = resolve(TargetSpec("pid", str(os.getppid())), tree)
    with pytest.raises(TargetError, match=f"pid:{os.getppid()}: has started this agent"):
        check_apart([], parent)
    shell = ["sh", "-c", "sleep 100 & echo $!; wait"]
    with subprocess.Popen(shell, stdout=subprocess.PIPE, text=True) as started:
        assert started.stdout
        child = int(started.stdout.readline())
        make_group(tree, "g", "0-3", tids=(child,))
        target = resolve(TargetSpec("pid", str(started.pid)), tree)
        # It is still called sh until it has become sleep.
        with pytest.raises(TargetError, match=rf"has started \w+ \({child}\) of cgroup:g"):
            check_apart([cgroup(tree, "g")], target)
        os.kill(child, signal.SIGKILL)


@pytest.mark.parametrize("make_tree", [make_v1_tree, make_v2_tree])
def test_a_cap_is_the_primarys_own_unless_it_limits_the_batch_too(
    make_tree: Callable[[Path], CgroupTree], tmp_path: Path
) -> None:
    tree = make_tree(tmp_path)
    kernel = kernel_of(tree)
    make_group(tree, "slice", "0-3")
    if tree.version == 2:
        kernel.write(f"{tmp_path}/slice/cgroup.subtree_control", "+cpu +cpuset")
    for name in ("slice/web", "slice/batch", "other"):
        make_group(tree, name, "0-3")
    web, batch, other = (cgroup(tree, name) for name in ("slice/web", "slice/batch", "other"))

    def cap(name: str) -> None:
        v1, v2 = ("cpu.cfs_quota_us", "150000"), ("cpu.max", "150000 100000")
        file, value = v1 if tree.version == 1 else v2
        kernel.write(f"{tree.group(name).cpu_path}/{file}", value)

    assert have_caps_of_their_own([web], batch)
    cap("slice/web")
    assert have_caps_of_their_own([web], batch)
    cap("slice")
    assert not have_caps_of_their_own([web], batch)
    assert not have_caps_of_their_own([other, web], batch)
    assert have_caps_of_their_own([web], other)
    process = resolve(TargetSpec("pid", str(os.getpid())), tree)
    assert not have_caps_of_their_own([web], process)
    assert not have_caps_of_their_own([process], other)
    assert not have_caps_of_their_own([web], None)


def test_a_process_is_alive_until_it_ends_and_has_its_group_s_quota(tmp_path: Path) -> None:
    tree = make_v1_tree(tmp_path)
    make_group(tree, "g", "0-3")
    with subprocess.Popen(["sleep", "100"]) as child:
        kernel_of(tree).write(f"{tmp_path}/cpu/g/tasks", str(child.pid))
        kernel_of(tree).write(f"{tmp_path}/cpu/g/cpu.cfs_quota_us", "150000")
        target = resolve(TargetSpec("pid", str(child.pid)), tree)
        assert target.alive()
        assert target.threads() == [child.pid]
        assert target.cpus() == os.sched_getaffinity(child.pid)
        assert target.quota_cores() == 1.5
        child.kill()
    assert not target.alive()
    assert target.threads() == []
    with pytest.raises(TargetError, match="no such process"):
        resolve(target.spec, tree)
