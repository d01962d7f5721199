"""This machine's own hierarchies, with groups that the test makes and removes."""

from __future__ import annotations

import itertools
import os
import time
from contextlib import suppress
from pathlib import Path

import pytest

from smartharvest.host.cgroup.tree import CgroupTree, Group
from smartharvest.host.cpulist import parse_cpulist
from smartharvest.host.foreign.confined import ConfinedTasks, Ours
from tests.commands import LONGEST_S
from tests.integration.processes import Processes

CONTROLLERS = ("cpuset", "cpu", "freezer")
WATCHED = (
    *("cpuset.cpus", "cpu.idle", "cpu.shares", "cpu.weight", "freezer.state", "cgroup.freeze"),
    *("tasks", "cgroup.threads"),
)
_numbers = itertools.count(1)


def confined_cpus() -> set[int]:
    """The CPUs that any task is confined to."""
    confined = ConfinedTasks(Ours)
    for _ in confined.walk():
        pass
    return set(confined.cpus)


def need_a_free_cpu(tree: CgroupTree) -> None:
    """Skips the test where others are confined to every CPU, so that none could be lent."""
    online = tree.online_cpus()
    if len(online) < 2 or confined_cpus() >= online:
        pytest.skip("needs a CPU that nobody else is confined to, and another one")


class Host:
    """A primary that spins and sleeps, an elastic group that spins; ``batch`` weighs 512 or 50."""

    def __init__(self, processes: Processes, state_dir: Path) -> None:
        self.tree = CgroupTree.discover()
        self.state_dir = state_dir
        self._processes = processes
        self._made: list[str] = []
        self.name = f"smartharvest-test-{os.getpid()}-{next(_numbers)}"
        """What the names of its groups begin with."""

    def make(
        self, name: str, controllers: tuple[str, ...] = CONTROLLERS, *, filled: bool = True
    ) -> Group:
        """The group of that name in the hierarchies of ``controllers``, with all its parent has.

        If it is not ``filled`` that is nowhere said (v2).
        """
        group = self.tree.group(f"{self.name}-{name}")
        directories = {group.directory(controller) for controller in controllers}
        for directory in filter(None, directories):
            os.mkdir(directory)
            self._made.append(directory)
        if group.cpuset_path is None:
            pytest.skip("the root group gives its children no cpuset controller")
        if filled:
            self._fill(group)
        return group

    def place(
        self, pid: int, group: Group, controllers: tuple[str, ...] = (*CONTROLLERS, "cpuacct")
    ) -> int:
        for controller in controllers:
            directory = group.directory(controller)
            if directory and os.path.exists(f"{directory}/cgroup.procs"):
                self.tree.files.write(f"{directory}/cgroup.procs", str(pid))
        return pid

    def populate(self, batch_controllers: tuple[str, ...] = CONTROLLERS) -> None:
        self.web, self.batch = self.make("web"), self.make("batch", batch_controllers)
        self.spinner = self.place(self._processes.busy(), self.web)
        self.place(self._processes.asleep(), self.web)
        self.worker = self.place(self._processes.busy(), self.batch)
        weight_file = self.batch.weight_file
        if weight_file is not None:
            self.tree.files.write(weight_file, "512" if self.tree.version == 1 else "50")

    def empty(self, group: Group) -> list[str]:
        """Moves the group's processes to its parents; which they were."""
        members = self.tree.files.read(f"{group.path}/cgroup.procs").split()
        for directory in self._directories(group):
            for pid in self.tree.files.read(f"{directory}/cgroup.procs").split():
                self.tree.files.write(f"{os.path.dirname(directory)}/cgroup.procs", pid)
        return members

    def make_again(self, group: Group) -> None:
        """Removes the group and makes it again with the same processes."""
        members = self.empty(group)
        for directory in self._directories(group):
            os.rmdir(directory)
            os.mkdir(directory)
        self._fill(group)
        for pid in members:
            self.place(int(pid), group)

    def _directories(self, group: Group) -> list[str]:
        found = {group.directory(controller) for controller in CONTROLLERS}
        return sorted(path for path in found if path and os.path.exists(path))

    def _fill(self, group: Group) -> None:
        """Says which CPUs it has: an empty v2 mask could not be put back, for it has tasks."""
        above = os.path.dirname(group.path)
        if self.tree.version == 1:
            for file in ("cpuset.cpus", "cpuset.mems"):
                self.tree.files.write(
                    f"{group.path}/{file}", self.tree.files.read(f"{above}/{file}")
                )
        else:
            effective = self.tree.files.read(f"{above}/cpuset.cpus.effective")
            self.tree.files.write(group.cpus_file, effective)

    def charge(self, group: Group) -> None:
        """Has the kernel account the group's tasks where v1 does it in a hierarchy of its own."""
        directory = group.directory("cpuacct") if self.tree.version == 1 else None
        if directory is None or os.path.exists(directory):
            return
        os.mkdir(directory)
        self._made.append(directory)
        for pid in self.tree.files.read(f"{group.path}/cgroup.procs").split():
            self.tree.files.write(f"{directory}/cgroup.procs", pid)

    @property
    def state(self) -> tuple[str, ...]:
        return ("--state-dir", str(self.state_dir))

    @property
    def targets(self) -> tuple[str, ...]:
        return ("--primary", f"cgroup:{self.web}", "--elastic", f"cgroup:{self.batch}")

    def files(self) -> dict[str, bytes]:
        """The watched files of every group that is there with this host's name, byte for byte."""
        found: dict[str, bytes] = {}
        for mount in {self.tree.hierarchies[c] for c in CONTROLLERS if c in self.tree.hierarchies}:
            for directory in Path(mount).glob(f"{self.name}-*"):
                for file in sorted(directory.rglob("*")):
                    if file.name in WATCHED:
                        found[str(file)] = file.read_bytes()
        return found

    def remove(self) -> None:
        for mount in set(self.tree.hierarchies.values()):
            for freeze_file in Path(mount).glob(f"{self.name}-*/freezer.state"):
                freeze_file.write_text("THAWED")
            for freeze_file in Path(mount).glob(f"{self.name}-*/cgroup.freeze"):
                freeze_file.write_text("0")
        self._processes.end()
        for directory in reversed(self._made):
            remove_group(directory)


def remove_group(directory: str) -> None:
    deadline = time.monotonic() + LONGEST_S
    with suppress(FileNotFoundError):
        for name in [entry.name for entry in os.scandir(directory) if entry.is_dir()]:
            remove_group(f"{directory}/{name}")
        while True:
            try:
                os.rmdir(directory)
                return
            except FileNotFoundError:
                return
            except OSError:  # a killed task takes a moment to leave
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.01)


def is_confined(host: Host) -> bool:
    """The worker runs on the mask of its group and that is not all CPUs any more."""
    mask = parse_cpulist(host.tree.files.read(host.batch.cpus_file))
    return mask < host.tree.online_cpus() and os.sched_getaffinity(host.worker) == mask
