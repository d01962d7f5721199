"""The elastic side on a host: how it is arranged, and what gives it its cores."""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Sequence

from smartharvest.config.settings import Settings
from smartharvest.core import _actuators, _sensors
from smartharvest.core._lend_order import LendOrder
from smartharvest.errors import ConfigError, RightsError, TargetError
from smartharvest.host.cgroup.counterparts import adopt_tasks, make_counterpart
from smartharvest.host.cgroup.fake_kernel import FakeKernel
from smartharvest.host.cgroup.tree import CgroupTree, Group
from smartharvest.host.cpulist import format_cpulist
from smartharvest.host.foreign.pins import ForeignPin, GivenThreads
from smartharvest.host.journal.contents import Minimum
from smartharvest.host.journal.writer import HostWriter
from smartharvest.host.process import tasks
from smartharvest.host.process.family import Births, Family
from smartharvest.host.target.targets import CgroupTarget, PidTarget
from smartharvest.mechanism.levels import (
    Levels,
    Rule,
    can_choose,
    group_levels,
    group_rules,
    make_room,
    mask_files,
)
from smartharvest.mechanism.mechanisms import Mechanism, make_mechanism
from smartharvest.placement.snapshot import Survey

_log = logging.getLogger(__name__)

SMALLEST_WEIGHT = {1: "2", 2: "1"}
"""Of cpu.shares and cpu.weight, by the version of cgroups."""


def parting_groups(
    elastic: Group, primaries: Sequence[CgroupTarget | PidTarget]
) -> tuple[Group, ...]:
    """The groups at or above ``elastic`` that stand right below what it shares with a primary."""
    found: dict[Group, None] = {}
    mine = elastic.relative.split("/")
    for primary in primaries:
        if isinstance(primary, CgroupTarget):
            other = primary.group
        elif "cpu" in primary.tree.hierarchies:
            other = primary.tree.group_of(primary.pid, "cpu")
        else:
            continue
        common = os.path.commonpath([f"/{elastic.relative}", f"/{other.relative}"])
        depth = len(common.split("/")) if common != "/" else 1
        found[Group(elastic.tree, "/".join(mine[:depth]))] = None
    found.pop(elastic, None)
    return tuple(found)


class ElasticSide:
    """The elastic target of one session. Everything it changes goes through ``writer``."""

    def __init__(
        self,
        settings: Settings,
        tree: CgroupTree,
        target: CgroupTarget | PidTarget,
        writer: HostWriter,
        *,
        may_nudge: bool | None = None,
    ) -> None:
        """``may_nudge`` is what an earlier session has found, which has left all arranged."""
        self._was_arranged = may_nudge is not None
        """Whether what is found now may have copied our masks."""
        self._settings = settings
        self._tree = tree
        self._writer = writer
        self.target = target
        self._family: Family | None = None
        self._followed: list[int] = []
        """The processes the actuator knows, by slot."""
        self._freezes = False
        self._evicted = False
        self.may_nudge = bool(may_nudge)
        """Whether nobody in the group has an affinity of his own."""
        self.idle_file: str | None = None
        """The cpu.idle switch, if it is on."""
        self._mechanism: Mechanism | None = None
        """What moves the cores, if not the group's mask."""
        self._given: GivenThreads | None = None
        """Of an elastic process."""

    def arrange(self, survey: Survey, primaries: Sequence[CgroupTarget | PidTarget] = ()) -> None:
        """Journals what the loop is going to write, and puts the group under cpu.idle.

        Raises ConfigError, TargetError or WriteRefused if that cannot be.
        """
        if isinstance(self.target, PidTarget):
            if self._settings.order == "dynamic":
                raise ConfigError("order: dynamic needs an elastic group, not a process")
            if self._settings.park == "freeze":
                raise ConfigError("park: freeze needs an elastic group, not a process")
            if self._settings.mechanism == "cpugroups":
                raise ConfigError("mechanism: cpugroups needs an elastic group, not a process")
            self._family = Family(self.target.pid)
            self._check_rights(self.target, self._family)
            if self._was_arranged:  # whoever is not known has inherited the confinement
                self._writer.adopt_newborns(self.target.pid, self._family.members.items())
            for pid in () if self._was_arranged else (self.target.pid, *self._family.members):
                self._writer.adopt_affinity(pid)
            if self._settings.cpu_idle:
                _log.info("%s is no group: running without cpu.idle", self.target.spec)
            return
        group = self.target.group
        self._mechanism = make_mechanism(self._settings, group, self._writer)
        if self._settings.cpu_idle:
            self._set_idle(group, primaries)
        if self._mechanism is not None:
            self.make_room(survey)
            return
        if self._settings.park == "freeze":
            if survey.capacity.elastic_min == 0:
                self._freezer(group)
                self._freezes = True
            else:
                _log.info("park: with an elastic minimum above 0 nothing is ever frozen")
        # The nudge frees a thread to run everywhere, and what it was confined to before cannot be
        # seen once the group is narrow: where anybody has an affinity of his own nobody is nudged.
        if not (self._was_arranged or isinstance(self._tree.files, FakeKernel)):
            self.may_nudge = not tasks.pinned_cpus(group.tasks(), group.effective_cpus())
            self._writer.adopt_pins(group.tasks(), group.effective_cpus())
        self._writer.adopt(group.cpus_file)
        self.make_room(survey)
        self._was_arranged = True

    def _check_rights(self, target: PidTarget, family: Family) -> None:
        for pid in (target.pid, *family.members):
            if not tasks.may_confine(pid):
                what = (
                    "it" if pid == target.pid else f"{tasks.name(pid)} ({pid}), which it started,"
                )
                raise RightsError(
                    f"{target.spec}: {what} is not ours to confine; run as its user or as root"
                )

    def adopt_newcomers(self) -> None:
        """Takes tasks that joined the group's cpuset only along, under cpu.idle and the freezer."""
        if isinstance(self.target, CgroupTarget) and self._settings.cpu_idle:
            adopt_tasks(self.target.group, "cpu", self._writer)
        if isinstance(self.target, CgroupTarget) and (self._freezes or self._evicted):
            adopt_tasks(self.target.group, "freezer", self._writer)

    def freeze(self) -> None:
        """Stops the group altogether. Raises TargetError if there is no way, or WriteRefused."""
        if isinstance(self.target, PidTarget):
            raise TargetError(f"{self.target.spec}: a process cannot be evicted; pause instead")
        path, freeze, _ = self._freezer(self.target.group)
        if not self._freezes:  # otherwise the loop does, as soon as nothing is lent
            self._writer.set(path, freeze)
        self._evicted = True

    def thaw(self) -> None:
        """Undoes ``freeze``."""
        assert isinstance(self.target, CgroupTarget)
        path, _, thaw = self._freezer(self.target.group)
        if not self._freezes:
            self._writer.set(path, thaw)
        self._evicted = False

    # --- what an elastic process starts ----------------------------------------------------------

    def members(self) -> list[int]:
        """The processes that the elastic process has started, as far as they are known."""
        return [] if self._family is None else list(self._family.members)

    @property
    def moves_threads(self) -> bool:
        """Whether threads are moved one by one, so that new ones have to be taken along."""
        return self._family is not None or self._mechanism is not None

    @property
    def births(self) -> Births | None:
        """How births are noticed; None where that is not needed."""
        return None if self._family is None else self._family.births

    def follow(self, actuator: _actuators.Actuator, smallest: Sequence[int]) -> str | None:
        """Confines what the elastic process has started since, and journals it.

        Why nothing may be lent if there are more processes than can be followed: those get the
        CPUs of ``smallest``.
        """
        if self._mechanism is not None:
            self._mechanism.take_in(actuator)
        if self._family is None or not isinstance(actuator, _actuators.AffinityActuator):
            return None
        new = self._adopt_newborns(self._family)
        known = set(self._followed)
        left_out = [
            pid
            for pid in (new if len(known) < _actuators.MAX_ELASTIC_PROCESSES else self.members())
            if pid not in known and not self._take_up(actuator, pid)
        ]
        for tid in [tid for pid in left_out for tid in tasks.process_threads(pid)]:
            self._writer.set_affinity(tid, smallest)
        if not left_out:
            return None
        return (
            f"{self.target.spec}: more than {_actuators.MAX_ELASTIC_PROCESSES} processes cannot be "
            "followed; put them into a group"
        )

    def _take_up(self, actuator: _actuators.AffinityActuator, pid: int) -> bool:
        """Whether ``pid`` is the actuator's now; so is one that has ended meanwhile."""
        members = set(self.members())
        ended = (i for i, old in enumerate(self._followed) if i and old not in members)
        slot = next(ended, len(self._followed))
        if slot >= _actuators.MAX_ELASTIC_PROCESSES:
            return False
        try:
            actuator.follow(slot, pid)
        except FileNotFoundError:  # it has ended before it took the slot,
            return True
        except ProcessLookupError:  # or just afterwards
            pass
        self._followed[slot : slot + 1] = [pid]
        return True

    def _adopt_newborns(self, family: Family) -> list[int]:
        new = family.turn()
        if new:
            parents = family.members
            self._writer.adopt_newborns(family.root, [(pid, parents[pid]) for pid in new])
        return new

    def _threads(self) -> list[int]:
        return [tid for pid in self._followed for tid in tasks.process_threads(pid)]

    def foreign_pins(self) -> list[ForeignPin]:
        """What somebody else has given threads that are moved one by one; none amid a move."""
        given = self._given if self._mechanism is None else self._mechanism.given
        return [] if given is None else [*given.met_by_moves(), *given.pinned_at_rest()]

    def confine_strangers(self, smallest: Sequence[int]) -> None:
        """Confines what an elastic process has started and what has pinned itself since."""
        for tid in [] if self._given is None else self._given.strangers(self._threads()):
            self._writer.set_affinity(tid, smallest)

    def close(self) -> None:
        """Journals those born last, so that they are given back with the others."""
        if self._family is None:
            return
        # Unjournaled, most are still found by their parents.
        with contextlib.suppress(RightsError):
            self._adopt_newborns(self._family)
        self._family.close()
        self._family = None

    def _set_idle(self, group: Group, primaries: Sequence[CgroupTarget | PidTarget]) -> None:
        """Puts the group below everything else, where its subtree and the primaries' part.

        When a task wakes the kernel compares the group entities right below the last common group
        (find_matching_se(), kernel/sched/fair.c): what stands further down does not count.
        """
        try:
            everything_inside = make_counterpart(group, "cpu", self._writer)
        except RightsError as error:
            _log.warning("%s; running without cpu.idle", error)
            return
        if group.idle_file is None and group.weight_file is None:
            _log.warning("%s has no cpu controller: running without cpu.idle", group)
        elif not everything_inside:
            _log.warning(
                "not all tasks of %s are in its cpu group: running without cpu.idle", group
            )
        else:
            for lowered in (group, *parting_groups(group, primaries)):
                self._lower(lowered)

    def _lower(self, group: Group) -> None:
        """Sets cpu.idle, or before Linux 5.15 the smallest weight, unless that hits others."""
        if strangers := self._strangers(group):
            _log.warning(
                "%s also holds task %d, which is not elastic: running without cpu.idle there",
                group.cpu_path,
                min(strangers),
            )
        elif group.idle_file is not None:
            self._writer.set(group.idle_file, "1")
            self.idle_file = self.idle_file or group.idle_file  # the elastic group comes first
        elif group.weight_file is not None:
            self._writer.set(group.weight_file, SMALLEST_WEIGHT[self._tree.version])
            _log.info("%s has no cpu.idle (Linux 5.15): the smallest weight instead", group)

    def _strangers(self, group: Group) -> set[int]:
        """Tasks of the group's cpu directory that the elastic cpuset does not hold."""
        assert isinstance(self.target, CgroupTarget)
        elastic = set(self.target.group.tasks())
        if self._tree.version == 2:
            return {tid for tid in set(group.tasks()) - elastic if tasks.alive(tid)}
        inside: set[int] = set()
        directories = [group.cpu_path or ""]
        for directory in directories:
            inside.update(map(int, self._tree.files.read(f"{directory}/tasks").split()))
            directories += [f"{directory}/{d}" for d in self._tree.files.subdirectories(directory)]
        return {tid for tid in inside - elastic if tasks.alive(tid)}

    def _freezer(self, group: Group) -> tuple[str, str, str]:
        """(file, value that freezes, value that thaws), journaled."""
        if not make_counterpart(group, "freezer", self._writer):
            _log.warning("not all tasks of %s are in its freezer group and will be frozen", group)
        if group.freeze_file is None:
            raise TargetError(f"{group}: has no freezer; use --park idle or mount one")
        self._writer.adopt(group.freeze_file)
        if self._tree.version == 1:
            return group.freeze_file, "FROZEN", "THAWED"
        return group.freeze_file, "1", "0"

    def make_room(self, survey: Survey) -> None:
        """Widens the groups below the elastic one, so that the loop can narrow them (v1)."""
        if self._mechanism is not None:
            self._mechanism.arrange(survey.capacity)
        elif survey.elastic_groups:
            for group in survey.elastic_groups if self._was_arranged else ():
                self._writer.adopt_heir(group)
            make_room(self._levels(survey), self._writer)

    def _levels(self, survey: Survey) -> Levels:
        assert isinstance(self.target, CgroupTarget)
        capacity = survey.capacity
        return group_levels(
            self.target.group.path,
            [frozenset(capacity.elastic_cpus(n)) for n in range(capacity.max_shared + 1)],
            survey.elastic_groups,
            lambda path: self._writer.original_cpus(f"{path}/cpuset.cpus"),
        )

    def minimum(self, survey: Survey) -> Minimum:
        """What the guardian has to write to leave the group with its minimum: leaves first."""
        if isinstance(self.target, PidTarget):
            return ()
        if self._mechanism is not None:
            return self._mechanism.minimum(survey.capacity)
        masks = [(path, masks[0]) for path, _, masks in self.files(survey)]
        frozen = []
        if self._freezes:
            freeze_file, freeze, _ = self._freezer(self.target.group)
            frozen = [(freeze_file, freeze)]
        return (*reversed(masks), *frozen)

    def minimum_cpus(self, survey: Survey) -> tuple[int, ...]:
        """What the guardian has to leave threads that are moved by affinity; else empty."""
        if self._mechanism is not None:
            return self._mechanism.minimum_cpus(survey.capacity)
        return survey.capacity.elastic_cpus(0) if isinstance(self.target, PidTarget) else ()

    def given_cpus(self, survey: Survey) -> list[tuple[int, ...]]:
        """What threads that are moved by affinity may get; empty where none are."""
        if not self.minimum_cpus(survey):
            return []
        capacity = survey.capacity
        return [capacity.elastic_cpus(level) for level in range(capacity.max_shared + 1)]

    def files(self, survey: Survey) -> list[tuple[str, str | None, list[str]]]:
        """``CpusetActuator``'s files, or those nobody else may write; none for a process."""
        if isinstance(self.target, PidTarget):
            return []
        if self._mechanism is not None:
            return self._mechanism.files(survey.capacity)
        group = self.target.group
        return mask_files(self._levels(survey), group.path, group.effective_cpus_file)

    def _rules(self, survey: Survey) -> dict[str, Rule]:
        """What the group and those below it have of a set of lent CPUs that is chosen."""
        assert isinstance(self.target, CgroupTarget)
        capacity = survey.capacity
        return group_rules(
            self.target.group.path,
            frozenset(capacity.lendable),
            frozenset(capacity.elastic_cpus(0)),
            survey.elastic_groups,
            lambda path: self._writer.original_cpus(f"{path}/cpuset.cpus"),
        )

    def chosen(self, survey: Survey) -> dict[str, tuple[str, str]]:
        """For the journal: what files may get beside their listed masks; empty: nothing."""
        if not can_choose(self._settings, survey.capacity):
            return {}
        return {
            f"{path}/cpuset.cpus": (format_cpulist(rule.own), format_cpulist(rule.always))
            for path, rule in self._rules(survey).items()
        }

    def make_order(
        self, survey: Survey, sensor: _sensors.Sensor, slots: memoryview
    ) -> LendOrder | None:
        """Who chooses the cores by their use, as ``sensor`` tells it; None: they are not chosen."""
        capacity = survey.capacity
        if not can_choose(self._settings, capacity) or not sensor.tells_cpus_apart:
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
        nudge_slot: memoryview,
        primary_files: Sequence[tuple[str, str | None, list[str]]] = (),
        fifo_priority: int = 0,
        beat_slot: memoryview | None = None,
        order: LendOrder | None = None,
    ) -> _actuators.Actuator:
        """What moves the cores, for the host as surveyed; ``primary_files`` of the primaries.

        An ``order`` chooses which. With a ``fifo_priority`` threads of that priority hold each core
        while it changes hands.
        """
        capacity = survey.capacity
        levels = range(capacity.max_shared + 1)
        if isinstance(self.target, PidTarget):
            members = [pid for pid in self.members() if tasks.alive(pid)]
            self._followed = [self.target.pid, *members][: _actuators.MAX_ELASTIC_PROCESSES]
            actuator = _actuators.AffinityActuator(
                self._followed,
                [list(capacity.elastic_cpus(level)) for level in levels],
                self._writer.pins(self.target.grantable_cpus()),
            )
            self._given = GivenThreads(actuator, self._threads())
            return actuator
        group = self.target.group
        first = capacity.elastic_min
        # A parked group is on the first core already.
        added = [capacity.lendable[first + n - 1] if first + n > 1 else -1 for n in levels]
        added[0] = -1
        if self._mechanism is not None:
            return self._mechanism.make_actuator(capacity, added, nudge_slot, beat_slot)
        files = self.files(survey)
        frozen = self._settings.park == "freeze" and capacity.elastic_min == 0
        made_tree = isinstance(self._tree.files, FakeKernel)
        return _actuators.CpusetActuator(
            files,
            added,
            tasks_path=group.tasks_file if self.may_nudge else None,
            freezer=self._freezer(group) if frozen else None,
            kernel_files=self._tree.files if made_tree else None,
            nudge_slot=nudge_slot,
            primary_files=primary_files,
            fifo_priority=0 if made_tree else fifo_priority,
            order=order,
        )
