"""A fake tree with a primary and an elastic group that have tasks, as an agent meets it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import pytest

from smartharvest.host.cgroup.fake_kernel import FakeKernel
from smartharvest.host.cgroup.tree import CgroupTree, Group
from tests.unit.host.fake_trees import kernel_of, make_group, make_v1_tree, make_v2_tree

ORIGINAL_WEIGHT = {1: "512\n", 2: "50\n"}
EITHER = pytest.mark.parametrize("version", [2], ids=["v2"])
"""For what is the same in both versions: one agent less to start."""


@dataclass(frozen=True)
class World:
    """Eight CPUs unless said otherwise; groups ``web`` (primary) and ``batch`` (elastic)."""

    tree: CgroupTree
    state_dir: Path

    @property
    def kernel(self) -> FakeKernel:
        return kernel_of(self.tree)

    @property
    def elastic(self) -> Group:
        return self.tree.group("batch")

    @property
    def arguments(self) -> tuple[str, ...]:
        """Where it is, for every command."""
        return ("--cgroup-root", self.tree.root, "--state-dir", str(self.state_dir))

    @property
    def targets(self) -> tuple[str, ...]:
        return ("--primary", "cgroup:web", "--elastic", "cgroup:batch")

    def add_group(self, path: str, cpus: str = "0-7", tids: tuple[int, ...] = ()) -> Group:
        """Makes a group whose tasks are in it in every hierarchy."""
        make_group(self.tree, path, cpus)
        group = self.tree.group(path)
        listing = "tasks" if self.tree.version == 1 else "cgroup.procs"
        for directory in {group.directory(controller) for controller in self.tree.hierarchies}:
            for tid in tids:
                self.kernel.write(f"{directory}/{listing}", str(tid))
        return group

    def mask(self, path: str = "batch") -> str:
        return self.kernel.read(self.tree.group(path).cpus_file).strip()

    def idle(self) -> str:
        file = self.elastic.idle_file
        return "" if file is None else self.kernel.read(file).strip()

    def files(self) -> dict[str, bytes | None]:
        """Every file's bytes, and every directory (None), by its path in the tree."""
        root = Path(self.tree.root)
        return {
            str(path.relative_to(root)): path.read_bytes() if path.is_file() else None
            for path in sorted(root.rglob("*"))
        }

    def journals(self) -> list[str]:
        """What the agents have left beside the models they have learned."""
        return left_behind(self.state_dir) if self.state_dir.exists() else []


def left_behind(state_dir: Path) -> list[str]:
    """What is in a state directory beside the models, which outlive the agents."""
    return sorted(name for name in os.listdir(state_dir) if name != "models")


def make_world(
    root: Path,
    version: int,
    *,
    cpus: str = "0-7",
    primary: tuple[int, ...] = (),
    elastic: tuple[int, ...] = (),
) -> World:
    """A tree of cgroup ``version`` below ``root`` with the threads given in its two groups."""
    make_tree = {1: make_v1_tree, 2: make_v2_tree}[version]
    world = World(make_tree(root / f"v{version}", cpus), root / "state")
    world.add_group("web", cpus, primary)
    world.add_group("batch", cpus, elastic)
    weight_file = world.elastic.weight_file
    assert weight_file is not None
    world.kernel.write(weight_file, ORIGINAL_WEIGHT[version])
    return world
