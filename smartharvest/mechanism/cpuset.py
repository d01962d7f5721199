"""The ``merge`` mechanism: one write of the elastic group's own mask moves the cores."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from smartharvest.core import _actuators, _sensors
from smartharvest.core._lend_order import MAX_CPUS, LendOrder
from smartharvest.host.cpulist import format_cpulist
from smartharvest.host.foreign.writes import ManagedFile
from smartharvest.host.journal.contents import Minimum
from smartharvest.host.process import tasks
from smartharvest.host.target.base import Target
from smartharvest.mechanism.group import GroupMechanism
from smartharvest.mechanism.levels import (
    Levels,
    Rule,
    added_cpus,
    group_levels,
    group_rules,
    make_room,
    mask_files,
)
from smartharvest.placement.snapshot import HostSnapshot

_log = logging.getLogger(__name__)


class CpusetMechanism(GroupMechanism):
    """The group's mask, and in v1 those of the groups below it."""

    def arrange(self, snapshot: HostSnapshot, primaries: Sequence[Target] = ()) -> None:
        group = self._group
        self.enter_idle_class(primaries)
        if self._settings.park == "freeze":
            if snapshot.capacity.elastic_min == 0:
                self.freezer()
                self._freezes = True
            else:
                _log.info("park: with an elastic minimum above 0 nothing is ever frozen")
        # The nudge frees a thread to run everywhere, and what it was confined to before cannot be
        # seen once the group is narrow: where anybody has an affinity of his own nobody is nudged.
        if self._tree.runs_tasks and not self._was_arranged:
            self.may_nudge = not tasks.pinned_cpus(group.tasks(), group.effective_cpus())
            self._writer.adopt_pins(group.tasks(), group.effective_cpus())
        self._writer.adopt(group.cpus_file)
        self.make_room(snapshot)
        self._was_arranged = True

    def make_room(self, snapshot: HostSnapshot) -> None:
        """Widens the groups below the elastic one, so that the loop can narrow them (v1)."""
        if not snapshot.elastic_groups:
            return
        for group in snapshot.elastic_groups if self._was_arranged else ():
            self._writer.adopt_inherited_mask(group)
        make_room(self._levels(snapshot), self._writer)

    def _levels(self, snapshot: HostSnapshot) -> Levels:
        return group_levels(
            self._group.path,
            list(map(frozenset, snapshot.capacity.elastic_sets())),
            snapshot.elastic_groups,
            lambda path: self._writer.original_cpus(f"{path}/cpuset.cpus"),
        )

    def files(self, snapshot: HostSnapshot) -> list[ManagedFile]:
        group = self._group
        return mask_files(self._levels(snapshot), group.path, group.effective_cpus_file)

    def without_nobodys(self, snapshot: HostSnapshot) -> list[tuple[str, str]]:
        """In v1 leaves are narrowed first, into a parent that is widened for that."""
        capacity = snapshot.capacity
        if not capacity.unallocated:
            return []
        left = capacity.lendable[: max(1, capacity.elastic_min)]
        wide = format_cpulist({*left, *capacity.elastic_cpus(0)})
        paths = [path for path, _, _ in self.files(snapshot)]
        narrow = [(path, format_cpulist(left)) for path in reversed(paths)]
        groups = [path.removesuffix("cpuset.cpus") for path in paths]
        widen = [
            (path, wide)
            for path, group in zip(paths, groups, strict=True)
            if any(other != group and other.startswith(group) for other in groups)
        ]
        return [*widen, *narrow]

    def minimum(self, snapshot: HostSnapshot) -> Minimum:
        """Leaves first."""
        masks = [(path, masks[0]) for path, _, masks in self.files(snapshot)]
        frozen = []
        if self._freezes:
            freeze_file, freeze, _ = self.freezer()
            frozen = [(freeze_file, freeze)]
        return (*reversed(masks), *frozen)

    def _can_choose(self, snapshot: HostSnapshot) -> bool:
        """Whether cores are to be chosen by their use, and can be swapped for each other."""
        capacity = snapshot.capacity
        return (
            self._settings.order == "dynamic"
            and capacity.unit > 0
            and max(capacity.lendable, default=0) < MAX_CPUS
        )

    def _rules(self, snapshot: HostSnapshot) -> dict[str, Rule]:
        """What the group and those below it have of a set of lent CPUs that is chosen."""
        capacity = snapshot.capacity
        return group_rules(
            self._group.path,
            frozenset(capacity.lendable),
            frozenset(capacity.elastic_cpus(0)),
            snapshot.elastic_groups,
            lambda path: self._writer.original_cpus(f"{path}/cpuset.cpus"),
        )

    def chosen(self, snapshot: HostSnapshot) -> dict[str, tuple[str, str]]:
        if not self._can_choose(snapshot):
            return {}
        return {
            f"{path}/cpuset.cpus": (format_cpulist(rule.own), format_cpulist(rule.always))
            for path, rule in self._rules(snapshot).items()
        }

    def make_order(
        self, snapshot: HostSnapshot, sensor: _sensors.Sensor, slots: memoryview
    ) -> LendOrder | None:
        capacity = snapshot.capacity
        if not self._can_choose(snapshot) or not sensor.tells_cpus_apart:
            return None
        return LendOrder(
            capacity.lendable,
            capacity.kinds,
            unit=capacity.unit,
            fixed=max(capacity.unit, capacity.elastic_min),
            elastic_min=capacity.elastic_min,
            levels=capacity.max_shared + 1,
            rules=list(self._rules(snapshot).values()),
            sensor=sensor,
            slots=slots,
        )

    def make_actuator(
        self,
        snapshot: HostSnapshot,
        *,
        nudge_slot: memoryview | None = None,
        primary_files: Sequence[ManagedFile] = (),
        fifo_priority: int = 0,
        order: LendOrder | None = None,
        **_: object,
    ) -> _actuators.Actuator:
        capacity = snapshot.capacity
        parks_frozen = self._settings.park == "freeze" and capacity.elastic_min == 0
        return _actuators.CpusetActuator(
            self.files(snapshot),
            added_cpus(capacity),
            tasks_path=self._group.tasks_file if self.may_nudge else None,
            freezer=self.freezer() if parks_frozen else None,
            kernel_files=self._tree.files.stand_in,
            nudge_slot=nudge_slot,
            primary_files=primary_files,
            fifo_priority=fifo_priority if self._tree.runs_tasks else 0,
            order=order,
        )
