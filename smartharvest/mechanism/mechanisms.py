"""What moves the cores of an elastic group if not its own cpuset: for comparison, and for hosts
where somebody else owns the cpuset.

``ElasticSide`` asks one of these instead of writing the group's mask (the ``merge`` mechanism).
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Sequence
from typing import Protocol

from smartharvest.config.settings import Settings
from smartharvest.core import _actuators
from smartharvest.core._mechanisms import MAX_SPLITS, CpuGroupsActuator, GroupAffinityActuator
from smartharvest.errors import ConfigError, TargetError
from smartharvest.host.cgroup.fake_kernel import FakeKernel
from smartharvest.host.cgroup.tree import Group, tasks_below
from smartharvest.host.cpulist import format_cpulist
from smartharvest.host.foreign.pins import GivenThreads
from smartharvest.host.foreign.writes import ManagedFile
from smartharvest.host.journal.contents import Minimum
from smartharvest.host.journal.writer import HostWriter
from smartharvest.host.process import tasks
from smartharvest.placement.capacity import Capacity

__all__ = ["MAX_SPLITS", "Affinity", "CpuGroups", "Mechanism", "make_mechanism"]

LOOK_S = 1.0
"""How often newcomers to the group are looked for."""
SPLIT = "smartharvest-split-"
"""What the name of a split's group begins with; the number of its CPUs follows."""


class Mechanism(Protocol):
    """Gives an elastic group its cores."""

    def arrange(self, capacity: Capacity) -> None:
        """Journals, and makes, what the loop is going to need; again if the host has changed."""

    def files(self, capacity: Capacity) -> list[ManagedFile]:
        """What nobody else may write meanwhile."""

    def minimum(self, capacity: Capacity) -> Minimum:
        """What the guardian has to write to leave the group its minimum."""

    def minimum_cpus(self, capacity: Capacity) -> tuple[int, ...]:
        """What it has to leave the threads whose affinities are journaled; empty: nothing."""

    def make_actuator(
        self,
        capacity: Capacity,
        added_cpu: Sequence[int],
        nudge_slot: memoryview | None,
        beat_slot: memoryview | None,
    ) -> _actuators.Actuator: ...

    def take_in(self, actuator: _actuators.Actuator) -> None:
        """Takes along what has joined the group; to be called often."""

    @property
    def given(self) -> GivenThreads | None:
        """The threads that have their CPUs from here; None where those are their group's."""


def make_mechanism(settings: Settings, group: Group, writer: HostWriter) -> Mechanism | None:
    """The mechanism of the settings; None for ``merge``. Raises ConfigError if it cannot be."""
    name = settings.mechanism
    if name == "merge":
        return None
    if settings.placement == "exclusive":
        raise ConfigError(f"mechanism: {name} cannot place exclusively; use --mechanism merge")
    if settings.park == "freeze":
        raise ConfigError(f"mechanism: {name} cannot freeze; use --mechanism merge or --park idle")
    if name == "affinity":
        return Affinity(group, writer)
    return CpuGroups(group, writer)


class Affinity:
    """``sched_setaffinity`` on each thread of the group and of those below it.

    The group's cpuset stays as it is. A thread that joins from elsewhere is confined with the next
    move, or within a second; one that is born inherits its confinement. A thread that has an
    affinity of its own stays within it, as far as the set of the moment has any of it.
    """

    def __init__(self, group: Group, writer: HostWriter) -> None:
        if isinstance(group.tree.files, FakeKernel):
            raise ConfigError("mechanism: affinity needs a real host; a made tree has no threads")
        self._group = group
        self._writer = writer
        self._ours: list[frozenset[int]] = []
        self._next_look_s = 0.0
        self.given: GivenThreads | None = None

    def arrange(self, capacity: Capacity) -> None:
        levels = range(capacity.max_shared + 1)
        self._ours += [frozenset(capacity.elastic_cpus(level)) for level in levels]
        self._ours = list(dict.fromkeys(self._ours))
        self._writer.adopt_affinities(self._group.path, self._ours)

    def files(self, _capacity: Capacity) -> list[ManagedFile]:
        return []

    def minimum(self, _capacity: Capacity) -> Minimum:
        return ()

    def minimum_cpus(self, capacity: Capacity) -> tuple[int, ...]:
        return capacity.elastic_cpus(0)

    def make_actuator(
        self,
        capacity: Capacity,
        added_cpu: Sequence[int],
        nudge_slot: memoryview | None,
        _beat_slot: memoryview | None,
    ) -> _actuators.Actuator:
        groups = [self._group, *self._group.descendants()]
        levels = range(capacity.max_shared + 1)
        actuator = GroupAffinityActuator(
            [group.tasks_file for group in groups],
            [capacity.elastic_cpus(level) for level in levels],
            added_cpu,
            self._writer.pins(self._group.effective_cpus()),
            nudge_slot,
        )
        self.given = GivenThreads(actuator, tasks_below(self._group.tree.files, self._group.path))
        return actuator

    def take_in(self, actuator: _actuators.Actuator) -> None:
        if not isinstance(actuator, GroupAffinityActuator) or time.monotonic() < self._next_look_s:
            return
        if self.given is not None and self.given.pinned_at_rest():
            return  # that is to be seen first, and would be overwritten
        self._next_look_s = time.monotonic() + LOOK_S
        self._writer.adopt_affinities(self._group.path, self._ours)
        with contextlib.suppress(OSError):  # the loop meets it again
            actuator.refresh()


class CpuGroups:
    """Groups below the elastic one, one for each split, and its tasks are moved between them.

    At most MAX_SPLITS; a larger pool changes hands in steps of several cores.
    """

    given = None

    def __init__(self, group: Group, writer: HostWriter) -> None:
        self._group = group
        self._writer = writer
        self._files = group.tree.files
        self._by_thread = False
        self._names: list[str] = []
        """Of the splits the actuator has."""
        self._next_look_s = 0.0

    def _splits(self, capacity: Capacity) -> dict[str, str]:
        """Name -> mask, smallest first."""
        sets = (capacity.elastic_cpus(level) for level in range(capacity.max_shared + 1))
        return {f"{SPLIT}{len(cpus)}": format_cpulist(cpus) for cpus in sets}

    def arrange(self, capacity: Capacity) -> None:
        group = self._group
        others = [
            name for name in self._files.subdirectories(group.path) if not name.startswith(SPLIT)
        ]
        if others:
            raise TargetError(
                f"{group}: has groups below it, such as {others[0]}, and cpugroups would empty "
                "them; use --mechanism merge"
            )
        if group.tree.version == 2:
            self._by_thread = self._kind() == "threaded"
            self._writer.enable_controllers(group.path, ["cpuset"])
        else:
            self._by_thread = _holds_parts_of_processes(group)
        self._writer.make_children(group.path, self._splits(capacity))

    def _kind(self) -> str:
        path = f"{self._group.path}/cgroup.type"
        return self._files.read(path).strip() if self._files.exists(path) else "domain"

    def files(self, capacity: Capacity) -> list[ManagedFile]:
        effective = self._group.effective_cpus_file.rpartition("/")[2]
        levels = capacity.max_shared + 1
        return [
            (f"{path}/cpuset.cpus", f"{path}/{effective}", [mask] * levels)
            for name, mask in self._splits(capacity).items()
            for path in [f"{self._group.path}/{name}"]
        ]

    def minimum(self, capacity: Capacity) -> Minimum:
        """Every split gets the smallest set: nobody has to be moved for that."""
        smallest = format_cpulist(capacity.elastic_cpus(0))
        return tuple((path, smallest) for path, _, _ in self.files(capacity))

    def minimum_cpus(self, _capacity: Capacity) -> tuple[int, ...]:
        return ()

    def make_actuator(
        self,
        capacity: Capacity,
        _added_cpu: Sequence[int],
        _nudge_slot: memoryview | None,
        beat_slot: memoryview | None,
    ) -> _actuators.Actuator:
        splits = self._names = list(self._splits(capacity))
        there = self._files.subdirectories(self._group.path)
        splits += [name for name in there if name not in splits]  # an earlier loop's, to be emptied
        levels = range(capacity.max_shared + 1)
        names = [f"{SPLIT}{len(capacity.elastic_cpus(level))}" for level in levels]
        return CpuGroupsActuator(
            self._lists(self._group.path),
            [self._lists(f"{self._group.path}/{name}") for name in splits],
            [splits.index(name) for name in names],
            kernel_files=self._files if isinstance(self._files, FakeKernel) else None,
            beat_slot=beat_slot,
        )

    def _lists(self, path: str) -> tuple[str, str]:
        """(list of tasks, file that takes one, with its whole process where that is allowed)."""
        listing = "tasks" if self._group.tree.version == 1 else "cgroup.threads"
        return f"{path}/{listing}", f"{path}/{listing if self._by_thread else 'cgroup.procs'}"

    def take_in(self, actuator: _actuators.Actuator) -> None:
        if not isinstance(actuator, CpuGroupsActuator) or time.monotonic() < self._next_look_s:
            return
        self._next_look_s = time.monotonic() + LOOK_S
        paths = [self._group.path, *(f"{self._group.path}/{name}" for name in self._names)]
        at = actuator.current
        for number, path in enumerate(paths, start=-1):
            if at < 0 or number == at:
                continue
            with contextlib.suppress(OSError):  # the loop meets it again
                # It may move all on meanwhile: who is left behind then is found the next time.
                for tid in self._files.read(self._lists(path)[0]).split():
                    with contextlib.suppress(ProcessLookupError):
                        self._files.write(self._lists(paths[at + 1])[1], tid)


def _holds_parts_of_processes(group: Group) -> bool:
    """Whether threads of a process in the v1 ``group`` are elsewhere: they must stay there."""
    members = set(group.tasks())
    processes = {tasks.process_of(tid) or tid for tid in members}
    return any(not members.issuperset(tasks.process_threads(pid)) for pid in processes)
