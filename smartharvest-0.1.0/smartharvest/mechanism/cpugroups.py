"""The ``cpugroups`` mechanism: a group below the elastic one for each split, and its tasks move.

For comparison: it is how the paper's hypervisor moves cores. At most MAX_SPLITS of them; a larger
pool changes hands in steps of several cores.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Sequence

from smartharvest.core import _actuators
from smartharvest.core._mechanisms import CpuGroupsActuator
from smartharvest.errors import TargetError
from smartharvest.host.cgroup.tree import SPLIT, Group
from smartharvest.host.cpulist import format_cpulist
from smartharvest.host.foreign.writes import ManagedFile
from smartharvest.host.journal.contents import Minimum
from smartharvest.host.process import tasks
from smartharvest.host.target.base import Target
from smartharvest.mechanism.group import LOOK_S, GroupMechanism
from smartharvest.placement.snapshot import HostSnapshot


class CpuGroupsMechanism(GroupMechanism):
    """Moves the tasks of a group between groups below it."""

    moves_threads = True
    _actuator: CpuGroupsActuator | None = None
    _by_thread = False
    _names: tuple[str, ...] = ()
    """Of the splits the actuator has."""
    _next_look_s = 0.0

    def _splits(self, snapshot: HostSnapshot) -> dict[str, str]:
        """Name -> mask, smallest first."""
        sets = snapshot.capacity.elastic_sets()
        return {f"{SPLIT}{len(cpus)}": format_cpulist(cpus) for cpus in sets}

    def arrange(self, snapshot: HostSnapshot, primaries: Sequence[Target] = ()) -> None:
        self.enter_idle_class(primaries)
        self.make_room(snapshot)

    def make_room(self, snapshot: HostSnapshot) -> None:
        group, files = self._group, self._tree.files
        others = [name for name in files.subdirectories(group.path) if not name.startswith(SPLIT)]
        if others:
            raise TargetError(
                f"{group}: has groups below it, such as {others[0]}, and cpugroups would empty "
                "them; use --mechanism merge"
            )
        if self._tree.version == 2:
            self._by_thread = self._type() == "threaded"
            self._writer.enable_controllers(group.path, ["cpuset"])
        else:
            self._by_thread = _holds_parts_of_processes(group)
        self._writer.make_children(group.path, self._splits(snapshot))

    def _type(self) -> str:
        files, path = self._tree.files, f"{self._group.path}/cgroup.type"
        return files.read(path).strip() if files.exists(path) else "domain"

    def files(self, snapshot: HostSnapshot) -> list[ManagedFile]:
        effective = self._group.effective_cpus_file.rpartition("/")[2]
        levels = snapshot.capacity.max_shared + 1
        return [
            (f"{path}/cpuset.cpus", f"{path}/{effective}", [mask] * levels)
            for name, mask in self._splits(snapshot).items()
            for path in [f"{self._group.path}/{name}"]
        ]

    def minimum(self, snapshot: HostSnapshot) -> Minimum:
        """Every split gets the smallest set: nobody has to be moved for that."""
        smallest = format_cpulist(snapshot.capacity.elastic_cpus(0))
        return tuple((path, smallest) for path, _, _ in self.files(snapshot))

    def make_actuator(
        self, snapshot: HostSnapshot, *, beat_slot: memoryview | None = None, **_: object
    ) -> _actuators.Actuator:
        group, files = self._group, self._tree.files
        splits = list(self._splits(snapshot))
        there = files.subdirectories(group.path)
        splits += [name for name in there if name not in splits]  # an earlier loop's, to be emptied
        self._names = tuple(splits)
        self._actuator = CpuGroupsActuator(
            self._lists(group.path),
            [self._lists(f"{group.path}/{name}") for name in splits],
            [splits.index(f"{SPLIT}{len(cpus)}") for cpus in snapshot.capacity.elastic_sets()],
            kernel_files=files.stand_in,
            beat_slot=beat_slot,
        )
        return self._actuator

    def _lists(self, path: str) -> tuple[str, str]:
        """(list of tasks, file that takes one, with its whole process where that is allowed)."""
        listing = "tasks" if self._tree.version == 1 else "cgroup.threads"
        return f"{path}/{listing}", f"{path}/{listing if self._by_thread else 'cgroup.procs'}"

    def follow(self, _smallest: Sequence[int]) -> str | None:
        """Takes along what has joined the group."""
        if self._actuator is None or time.monotonic() < self._next_look_s:
            return None
        self._next_look_s = time.monotonic() + LOOK_S
        files = self._tree.files
        paths = [self._group.path, *(f"{self._group.path}/{name}" for name in self._names)]
        at = self._actuator.current
        for number, path in enumerate(paths, start=-1):
            if at < 0 or number == at:
                continue
            with contextlib.suppress(OSError):  # the loop meets it again
                # It may move all on meanwhile: who is left behind then is found the next time.
                for tid in files.read(self._lists(path)[0]).split():
                    with contextlib.suppress(ProcessLookupError):
                        files.write(self._lists(paths[at + 1])[1], tid)
        return None


def _holds_parts_of_processes(group: Group) -> bool:
    """Whether threads of a process in the v1 ``group`` are elsewhere: they must stay there."""
    members, seen = set(group.tasks()), set[int]()
    for tid in members:
        if tid not in seen:
            threads = tasks.process_threads(tasks.process_of(tid) or tid)
            if not members.issuperset(threads):
                return True
            seen.update(threads)
    return False
