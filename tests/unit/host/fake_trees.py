"""Made cgroup trees of eight CPUs for tests, with the groups they ask for."""

from __future__ import annotations

from pathlib import Path

from smartharvest.host.cgroup.fake_kernel import FakeKernel
from smartharvest.host.cgroup.tree import CgroupTree


def make_v1_tree(root: Path, cpus: str = "0-7") -> CgroupTree:
    """A v1 tree with the hierarchies cpuset, cpu and freezer and no groups."""
    for hierarchy in ("cpuset", "cpu", "freezer"):
        directory = root / hierarchy
        directory.mkdir(parents=True)
        (directory / "tasks").write_text("")
        (directory / "cgroup.procs").write_text("")
    for name, value in (("cpuset.cpus", cpus), ("cpuset.mems", "0")):
        (root / "cpuset" / name).write_text(f"{value}\n")
    (root / "cpuset" / "cpuset.effective_cpus").write_text(f"{cpus}\n")
    return CgroupTree.discover(str(root))


def make_v2_tree(root: Path, cpus: str = "0-7") -> CgroupTree:
    """A v2 tree that gives its groups the cpuset and cpu controllers."""
    root.mkdir(parents=True, exist_ok=True)
    for name, value in (
        ("cgroup.controllers", "cpuset cpu memory"),
        ("cgroup.subtree_control", "cpuset cpu"),
        ("cpuset.cpus.effective", cpus),
        ("cpuset.mems.effective", "0"),
    ):
        (root / name).write_text(f"{value}\n")
    for name in ("cgroup.procs", "cgroup.threads"):
        (root / name).write_text("")
    return CgroupTree.discover(str(root))


def kernel_of(tree: CgroupTree) -> FakeKernel:
    assert isinstance(tree.files, FakeKernel)
    return tree.files


def make_group(tree: CgroupTree, path: str, cpus: str = "", tids: tuple[int, ...] = ()) -> None:
    """Makes group ``path`` in every hierarchy, with CPUs, node 0 and tasks."""
    files = tree.files
    for directory in {tree.group(path).directory(controller) for controller in tree.hierarchies}:
        assert directory is not None
        files.mkdir(directory)
    group = tree.group(path)
    if cpus:
        files.write(group.cpus_file, cpus)
        files.write(group.mems_file, "0")
    listing = "tasks" if tree.version == 1 else "cgroup.procs"
    for tid in tids:
        files.write(f"{group.path}/{listing}", str(tid))
