"""What all mechanisms of an elastic group have in common."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from smartharvest.config.settings import Settings
from smartharvest.core import _sensors
from smartharvest.core._rescue import Rescue
from smartharvest.errors import TargetError
from smartharvest.host.cgroup.counterparts import adopt_tasks, make_counterpart
from smartharvest.host.cgroup.tree import CgroupTree, Group
from smartharvest.host.journal.journal import Journal
from smartharvest.host.journal.writer import HostWriter
from smartharvest.host.target.base import Target
from smartharvest.mechanism.base import Mechanism
from smartharvest.mechanism.group_freezer import is_frozen_by_us
from smartharvest.mechanism.idle_class import enter_idle_class

_log = logging.getLogger(__name__)

LOOK_S = 1.0
"""How often newcomers to the group are looked for, where nothing else takes them along."""
LOOK_SHARE = 100
"""... if that takes no more than one part in so many of the time."""


class GroupMechanism(Mechanism):
    """An elastic group under cpu.idle that can be frozen; its subclasses move the cores.

    ``may_nudge`` is what an earlier session has found, which has left all arranged; None: nothing
    is arranged yet.
    """

    def __init__(
        self,
        settings: Settings,
        tree: CgroupTree,
        target: Target,
        group: Group,
        writer: HostWriter,
        *,
        may_nudge: bool | None = None,
    ) -> None:
        super().__init__(settings, target)
        self._tree = tree
        self._group = group
        self._writer = writer
        self._was_arranged = may_nudge is not None
        """Whether what is found now may have copied our masks."""
        self._freezes = False
        """Whether the loop freezes the group as soon as nothing is lent."""
        self._evicted = False
        self._frozen = False
        self.may_nudge = bool(may_nudge)

    @property
    def preempts(self) -> bool:
        return super().preempts and self.idle_file is not None

    def enter_idle_class(self, primaries: Sequence[Target]) -> None:
        """Puts the group under cpu.idle, if the settings say so."""
        if self._settings.cpu_idle:
            self.idle_file = enter_idle_class(self._group, primaries, self._writer)

    def make_rescue(
        self, sensor: _sensors.Sensor, cpus: Sequence[int], fifo_priority: int
    ) -> Rescue | None:
        if not (self._settings.rescue and self.idle_file and sensor.tells_displacements):
            return None
        try:
            return Rescue(sensor, cpus, fifo_priority)
        except OSError as error:
            _log.warning("rescue: %s; an idle batch may hold a CPU for a tick", error.strerror)
            return None

    def adopt_newcomers(self) -> None:
        if self._settings.cpu_idle:
            adopt_tasks(self._group, "cpu", self._writer)
        if self._freezes or self._evicted or self._frozen:
            adopt_tasks(self._group, "freezer", self._writer)

    @property
    def may_freeze(self) -> bool:
        settings = self._settings
        chosen = settings.park != "auto" or settings.elastic_min is not None
        one = not settings.elastic_groups and "freezer" in self._tree.hierarchies
        return one and not chosen and settings.placement != "exclusive"

    @property
    def frozen(self) -> bool:
        return self._frozen

    def keep_frozen(self, frozen: bool) -> None:
        if frozen != self._frozen:
            self._hold(evicted=self._evicted, frozen=frozen)

    def thaw_left(self, journal: Journal) -> None:
        if not self._freezes and is_frozen_by_us(self._group, journal):
            self.thaw()

    def freeze(self) -> None:
        self._hold(evicted=True, frozen=self._frozen)

    def thaw(self) -> None:
        self._hold(evicted=False, frozen=self._frozen)

    def _hold(self, *, evicted: bool, frozen: bool) -> None:
        """Frozen for the operator or for the policy; the loop freezes by itself."""
        path, freeze, thaw = self.freezer()
        if not self._freezes:
            self._writer.set(path, freeze if evicted or frozen else thaw)
        self._evicted, self._frozen = evicted, frozen

    def freezer(self) -> tuple[str, str, str]:
        """(file, value that freezes, value that thaws), journaled."""
        group = self._group
        if not make_counterpart(group, "freezer", self._writer):
            _log.warning("not all tasks of %s are in its freezer group and will be frozen", group)
        if group.freeze_file is None:
            raise TargetError(f"{group}: has no freezer; use --park idle or mount one")
        self._writer.adopt(group.freeze_file)
        if self._tree.version == 1:
            return group.freeze_file, "FROZEN", "THAWED"
        return group.freeze_file, "1", "0"
