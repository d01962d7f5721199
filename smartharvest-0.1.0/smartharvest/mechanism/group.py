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
from smartharvest.host.journal.writer import HostWriter
from smartharvest.host.target.base import Target
from smartharvest.mechanism.base import Mechanism
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
        if self._freezes or self._evicted:
            adopt_tasks(self._group, "freezer", self._writer)

    def freeze(self) -> None:
        path, freeze, _ = self.freezer()
        if not self._freezes:
            self._writer.set(path, freeze)
        self._evicted = True

    def thaw(self) -> None:
        path, _, thaw = self.freezer()
        if not self._freezes:
            self._writer.set(path, thaw)
        self._evicted = False

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
