from __future__ import annotations

import errno
import fcntl
import os
from pathlib import Path

import pytest

from smartharvest.host.cgroup.fake_kernel import LOCK_TRIES, FakeKernel
from tests.unit.host.fake_trees import kernel_of, make_group, make_v1_tree, make_v2_tree


def refusal(kernel: FakeKernel, path: str, value: str) -> str:
    """The name of the error that a write meets, or ``ok``."""
    try:
        kernel.write(path, value)
    except OSError as error:
        return errno.errorcode[error.errno or 0]
    return "ok"


def test_a_mask_reads_back_in_canonical_form(tmp_path: Path) -> None:
    tree = make_v1_tree(tmp_path)
    make_group(tree, "g", "3,1,0")
    assert Path(tree.group("g").cpus_file).read_text() == "0-1,3\n"


def test_an_empty_write_changes_nothing_and_a_newline_empties(tmp_path: Path) -> None:
    tree = make_v1_tree(tmp_path)
    make_group(tree, "g", "1")
    kernel, path = kernel_of(tree), tree.group("g").cpus_file
    kernel.write(path, "")
    assert kernel.read(path) == "1\n"
    kernel.write(path, "\n")
    assert kernel.read(path) == "\n"


def test_v1_holds_children_within_their_parents(tmp_path: Path) -> None:
    tree = make_v1_tree(tmp_path)
    make_group(tree, "g", "0-3")
    make_group(tree, "g/child", "2-3")
    kernel = kernel_of(tree)
    assert refusal(kernel, tree.group("g/child").cpus_file, "3-4") == "EACCES"
    assert refusal(kernel, tree.group("g").cpus_file, "3") == "EBUSY"
    assert kernel.read(tree.group("g").cpus_file) == "0-3\n"


def test_v2_grants_what_the_parent_has_and_falls_back_to_all_of_it(tmp_path: Path) -> None:
    tree = make_v2_tree(tmp_path)
    make_group(tree, "g", "0-3")
    kernel, parent, child = kernel_of(tree), tree.group("g"), tree.group("g/child")
    kernel.write(f"{parent}/cgroup.subtree_control", "+cpuset")
    make_group(tree, "g/child", "3-5")
    assert Path(child.effective_cpus_file).read_text() == "3\n"
    kernel.write(parent.cpus_file, "6-7")
    assert Path(child.effective_cpus_file).read_text() == "6-7\n"
    assert child.cpus() == {3, 4, 5}


def test_effective_masks_follow_plain_writes_by_others(tmp_path: Path) -> None:
    tree = make_v2_tree(tmp_path)
    make_group(tree, "g", "0-3")
    Path(tree.group("g").cpus_file).write_text("5\n")
    assert tree.group("g").effective_cpus() == {5}


def test_the_rest_of_a_longer_value_after_an_in_place_write_is_ignored(tmp_path: Path) -> None:
    tree = make_v2_tree(tmp_path)
    make_group(tree, "g", "0-3,5,7")
    fd = os.open(tree.group("g").cpus_file, os.O_WRONLY)
    os.write(fd, b"6\n")
    os.close(fd)
    assert tree.group("g").effective_cpus() == {6}


@pytest.mark.parametrize("make_tree", [make_v1_tree, make_v2_tree])
def test_a_populated_cpuset_cannot_be_emptied(make_tree: type, tmp_path: Path) -> None:
    tree = make_tree(tmp_path)
    make_group(tree, "g", "0-3", tids=(101,))
    assert refusal(kernel_of(tree), tree.group("g").cpus_file, "\n") == "ENOSPC"


def test_a_moved_task_leaves_its_group_in_that_hierarchy_only(tmp_path: Path) -> None:
    tree = make_v1_tree(tmp_path)
    make_group(tree, "one", "0", tids=(101, 102))
    make_group(tree, "two", "1")
    kernel = kernel_of(tree)
    kernel.write(f"{tmp_path}/cpu/one/tasks", "101")
    kernel.write(f"{tmp_path}/cpuset/two/tasks", "101\n")
    assert kernel.read(f"{tmp_path}/cpuset/one/tasks") == "102\n"
    assert kernel.read(f"{tmp_path}/cpuset/two/tasks") == "101\n"
    assert kernel.read(f"{tmp_path}/cpu/one/tasks") == "101\n"


def test_a_process_is_moved_with_all_its_threads_through_cgroup_procs(tmp_path: Path) -> None:
    tree = make_v2_tree(tmp_path)
    make_group(tree, "g", tids=(os.getpid(),))
    kernel = kernel_of(tree)
    threads = sorted(map(int, os.listdir("/proc/self/task")))
    assert sorted(map(int, kernel.read(f"{tmp_path}/g/cgroup.threads").split())) == threads
    assert kernel.read(f"{tmp_path}/g/cgroup.procs") == f"{os.getpid()}\n"


def test_a_group_with_tasks_or_children_cannot_be_removed(tmp_path: Path) -> None:
    tree = make_v1_tree(tmp_path)
    make_group(tree, "g", "0", tids=(101,))
    kernel, path = kernel_of(tree), tree.group("g").path
    with pytest.raises(OSError, match="busy"):
        kernel.rmdir(path)
    kernel.write(f"{tmp_path}/cpuset/tasks", "101")
    kernel.rmdir(path)
    assert not os.path.exists(path)


def test_an_idle_group_takes_no_weight_and_comes_back_with_the_default(tmp_path: Path) -> None:
    for tree, name, low, default in (
        (make_v1_tree(tmp_path / "v1"), "cpu.shares", "3\n", "1024\n"),
        (make_v2_tree(tmp_path / "v2"), "cpu.weight", "1\n", "100\n"),
    ):
        make_group(tree, "g")
        kernel, directory = kernel_of(tree), tree.group("g").cpu_path
        kernel.write(f"{directory}/{name}", "4096")
        kernel.write(f"{directory}/cpu.idle", "1")
        assert kernel.read(f"{directory}/{name}") == low
        assert refusal(kernel, f"{directory}/{name}", "2048") == "EINVAL"
        kernel.write(f"{directory}/cpu.idle", "0")
        assert kernel.read(f"{directory}/{name}") == default


def test_v2_gives_and_takes_controllers_below_a_group(tmp_path: Path) -> None:
    tree = make_v2_tree(tmp_path)
    make_group(tree, "g", "0-3")
    make_group(tree, "g/child")
    kernel, control = kernel_of(tree), f"{tmp_path}/g/cgroup.subtree_control"
    assert not os.path.exists(tree.group("g/child").cpus_file)
    kernel.write(control, "+cpuset")
    assert tree.group("g/child").effective_cpus() == {0, 1, 2, 3}
    assert refusal(kernel, control, "+memory") == "ENOENT"
    assert refusal(kernel, control, "cpuset") == "EINVAL"
    kernel.write(control, "-cpuset")
    assert not os.path.exists(tree.group("g/child").cpus_file)


def test_v2_keeps_tasks_out_of_groups_that_distribute_to_populated_children(
    tmp_path: Path,
) -> None:
    tree = make_v2_tree(tmp_path)
    make_group(tree, "g")
    make_group(tree, "g/child", tids=(101,))
    kernel = kernel_of(tree)
    kernel.write(f"{tmp_path}/g/cgroup.subtree_control", "+cpu")
    assert refusal(kernel, f"{tmp_path}/g/cgroup.procs", "102") == "EBUSY"


def test_a_hand_made_group_with_two_files_is_enough(tmp_path: Path) -> None:
    tree = make_v1_tree(tmp_path)
    bare = tmp_path / "cpuset" / "bare"
    bare.mkdir()
    (bare / "cpuset.cpus").write_text("0-3")
    (bare / "tasks").write_text("101\n102\n")
    kernel_of(tree).write(str(bare / "cpuset.cpus"), "0-1")
    group = tree.group("bare")
    assert group.effective_cpus() == {0, 1}
    assert group.tasks() == [101, 102]
    kernel_of(tree).write(str(tmp_path / "cpuset" / "tasks"), "101")
    assert (bare / "tasks").read_text() == "102\n"


def test_an_injected_fault_is_met_once(tmp_path: Path) -> None:
    tree = make_v1_tree(tmp_path)
    make_group(tree, "g", "0-3")
    kernel, path = kernel_of(tree), tree.group("g").cpus_file
    kernel.fail_next("g/cpuset.cpus", errno.EINVAL)
    assert refusal(kernel, path, "1") == "EINVAL"
    assert refusal(kernel, path, "1") == "ok"


def test_a_vanished_group_is_not_there(tmp_path: Path) -> None:
    tree = make_v1_tree(tmp_path)
    make_group(tree, "g", "0-3")
    kernel_of(tree).vanish(tree.group("g").path)
    assert refusal(kernel_of(tree), tree.group("g").cpus_file, "1") == "ENOENT"


def test_the_inode_stays_so_that_open_descriptors_do(tmp_path: Path) -> None:
    tree = make_v1_tree(tmp_path)
    make_group(tree, "g", "0-3")
    path = tree.group("g").cpus_file
    before = os.stat(path).st_ino
    kernel_of(tree).write(path, "1")
    assert os.stat(path).st_ino == before


def test_a_threads_groups_are_told_as_proc_tells_them(tmp_path: Path) -> None:
    tree = make_v1_tree(tmp_path / "v1")
    make_group(tree, "g", "0", (101,))
    assert tree.files.membership(101).splitlines() == ["0:cpu:/", "0:cpuset:/g", "0:freezer:/"]
    unified = make_v2_tree(tmp_path / "v2")
    make_group(unified, "g", "0", (101,))
    assert (unified.files.membership(101), unified.files.membership(102)) == ("0::/g\n", "0::/\n")
    assert not tree.runs_tasks


def test_who_is_stopped_amid_a_change_is_waited_for_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree = make_v1_tree(tmp_path)
    make_group(tree, "g", "0-3")
    kernel, path = FakeKernel(tree.root), tree.group("g").cpus_file
    pauses: list[float] = []
    monkeypatch.setattr("smartharvest.host.cgroup.fake_kernel.time.sleep", pauses.append)
    stopped = os.open(tree.root, os.O_RDONLY)
    fcntl.flock(stopped, fcntl.LOCK_EX)
    kernel.write(path, "1")
    assert len(pauses) == LOCK_TRIES
    kernel.write(path, "2")
    assert len(pauses) == LOCK_TRIES + 1
    os.close(stopped)
    kernel.write(path, "3")
    assert (kernel.read(path), len(pauses)) == ("3\n", LOCK_TRIES + 1)


def test_a_limit_of_memory_is_whole_pages_and_reclaim_takes_what_it_can(tmp_path: Path) -> None:
    tree = make_v2_tree(tmp_path)
    files = kernel_of(tree)
    files.write(f"{tree.root}/cgroup.subtree_control", "+memory")
    make_group(tree, "batch")
    path = tree.group("batch").path
    files.write(f"{path}/memory.high", "10000")
    assert files.read(f"{path}/memory.high") == "8192\n"
    files.write(f"{path}/memory.high", "max")
    assert files.read(f"{path}/memory.high") == "max\n"
    with pytest.raises(OSError, match="Invalid argument"):
        files.write(f"{path}/memory.high", "much")
    (Path(path) / "memory.current").write_text("5000")
    (Path(path) / "memory.stat").write_text("anon 1\nunevictable 2000\n")
    files.write(f"{path}/memory.reclaim", "1000")
    assert files.read(f"{path}/memory.current") == "4000\n"
    with pytest.raises(BlockingIOError):
        files.write(f"{path}/memory.reclaim", "3000")
    assert files.read(f"{path}/memory.current") == "2000\n"
