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
from smartharvest.placement.snapshot import Survey

_log = logging.getLogger(__name__)


class CpusetMechanism(GroupMechanism):
    """The group's mask, and in v1 those of the groups below it."""

    def arrange(self, survey: Survey, primaries: Sequence[Target] = ()) -> None:
        group = self._group
        self.enter_idle_class(primaries)
        if self._settings.park == "freeze":
            if survey.capacity.elastic_min == 0:
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
        self.make_room(survey)
        self._was_arranged = True

    def make_room(self, survey: Survey) -> None:
        """Widens the groups below the elastic one, so that the loop can narrow them (v1)."""
        if not survey.elastic_groups:
            return
        for group in survey.elastic_groups if self._was_arranged else ():
            self._writer.adopt_heir(group)
        make_room(self._levels(survey), self._writer)

    def _levels(self, survey: Survey) -> Levels:
        return group_levels(
            self._group.path,
            list(map(frozenset, survey.capacity.elastic_sets())),
            survey.elastic_groups,
            lambda path: self._writer.original_cpus(f"{path}/cpuset.cpus"),
        )

    def files(self, survey: Survey) -> list[ManagedFile]:
        group = self._group
        return mask_files(self._levels(survey), group.path, group.effective_cpus_file)

    def minimum(self, survey: Survey) -> Minimum:
        """Leaves first."""
        masks = [(path, masks[0]) for path, _, masks in self.files(survey)]
        frozen = []
        if self._freezes:
            freeze_file, freeze, _ = self.freezer()
            frozen = [(freeze_file, freeze)]
        return (*reversed(masks), *frozen)

    def _can_choose(self, survey: Survey) -> bool:
        """Whether cores are to be chosen by their use, and can be swapped for each other."""
        capacity = survey.capacity
        return (
            self._settings.order == "dynamic"
            and capacity.unit > 0
            and max(capacity.lendable, default=0) < MAX_CPUS
        )

    def _rules(self, survey: Survey) -> dict[str, Rule]:
        """What the group and those below it have of a set of lent CPUs that is chosen."""
        capacity = survey.capacity
        return group_rules(
            self._group.path,
            frozenset(capacity.lendable),
            frozenset(capacity.elastic_cpus(0)),
            survey.elastic_groups,
            lambda path: self._writer.original_cpus(f"{path}/cpuset.cpus"),
        )

    def chosen(self, survey: Survey) -> dict[str, tuple[str, str]]:
        if not self._can_choose(survey):
            return {}
        return {
            f"{path}/cpuset.cpus": (format_cpulist(rule.own), format_cpulist(rule.always))
            for path, rule in self._rules(survey).items()
        }

    def make_order(
        self, survey: Survey, sensor: _sensors.Sensor, slots: memoryview
    ) -> LendOrder | None:
        capacity = survey.capacity
        if not self._can_choose(survey) or not sensor.tells_cpus_apart:
            return None
        return LendOrder(
            capacity.lendable,
            capacity.kinds,
            unit=capacity.unit,
            fixed=max(capacity.unit, capacity.elastic_min),
            elastic_min=capacity.elastic_min,
            levels=capacity.max_shared + 1,
            rules=list(self._rules(survey).values()),
            sensor=sensor,
            slots=slots,
        )

    def make_actuator(
        self,
        survey: Survey,
        *,
        nudge_slot: memoryview | None = None,
        primary_files: Sequence[ManagedFile] = (),
        fifo_priority: int = 0,
        order: LendOrder | None = None,
        **_: object,
    ) -> _actuators.Actuator:
        capacity = survey.capacity
        parks_frozen = self._settings.park == "freeze" and capacity.elastic_min == 0
        return _actuators.CpusetActuator(
            self.files(survey),
            added_cpus(capacity),
            tasks_path=self._group.tasks_file if self.may_nudge else None,
            freezer=self.freezer() if parks_frozen else None,
            kernel_files=self._tree.files.stand_in,
            nudge_slot=nudge_slot,
            primary_files=primary_files,
            fifo_priority=fifo_priority if self._tree.runs_tasks else 0,
            order=order,
        )
