"""Several elastic groups below one: the loop moves what all have, and each has its part of that.

The loop writes the group above them, as if it were the only one, so a taking back is as it is with
one group. Every core has one owner (algorithm/division.py). With cgroup v2 a group keeps all the
cores it owns in its own mask, which only the control plane writes, and the kernel leaves it those
that are lent. A v1 group must not have more than the one above it: the loop writes the masks of
both, leaves first when it takes back. A group that owns none of what is lent shares it all.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from smartharvest.algorithm.division import Division, Share, divide
from smartharvest.config.settings import Settings
from smartharvest.errors import TargetError, TargetVanished
from smartharvest.host.cgroup.tree import Group
from smartharvest.host.cpulist import format_cpulist
from smartharvest.host.process import tasks
from smartharvest.host.target.base import Target
from smartharvest.mechanism.cpuset import CpusetMechanism
from smartharvest.mechanism.levels import Levels, make_room
from smartharvest.placement.snapshot import HostSnapshot

_log = logging.getLogger(__name__)


class DividedMechanism(CpusetMechanism):
    """The ``merge`` mechanism for a group whose children share what it has."""

    _shares: tuple[Share, ...] | None = None
    _divided: tuple[tuple[tuple[int, ...], ...], tuple[Share, ...]] | None = None
    """What the division was made of."""
    division = Division()

    def __init__(self, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self._originals: dict[str, frozenset[int]] = {}
        """What the v1 groups had before the agent."""

    @property
    def groups(self) -> dict[str, Group]:
        """Name -> group, whether it exists or not."""
        return {
            group.name: self._tree.group(group.target.value)
            for group in self._settings.elastic_groups
        }

    @property
    def shares(self) -> tuple[Share, ...]:
        """What each group may have now."""
        if self._shares is None:
            weighted = self._settings.share == "weight"
            self._shares = tuple(
                Share(group.name, group.weight if weighted else 1.0, group.min, group.max)
                for group in self._settings.elastic_groups
            )
        return self._shares

    def arrange(self, snapshot: HostSnapshot, primaries: Sequence[Target] = ()) -> None:
        self._check_children()
        if self._tree.version == 2:
            self._writer.enable_controllers(self._group.path, ["cpuset"])
        super().arrange(snapshot, primaries)

    def _check_children(self) -> None:
        """Raises TargetError for tasks in no group: they would be confined, and are nobody's."""
        mine = {os.path.basename(group.path) for group in self.groups.values()}
        files, path = self._tree.files, self._group.path
        others = [name for name in files.subdirectories(path) if name not in mine]
        for name in others:
            if Group(self._tree, f"{self._group.relative}/{name}").tasks():
                raise TargetError(
                    f"{path}/{name}: has tasks and is none of the elastic groups, which have "
                    f"{self._group.relative} to themselves; move it, or make it one of them"
                )
        own = files.read(self._group.tasks_file).split()
        alive = [tid for tid in map(int, own) if tasks.alive(tid)]
        if alive:
            raise TargetError(
                f"{path}: holds task {alive[0]} itself, and only what is in one of its elastic "
                "groups has a part of the cores; move it into one"
            )

    def make_room(self, snapshot: HostSnapshot) -> None:
        for path in snapshot.elastic_groups if self._was_arranged else ():
            self._writer.adopt_inherited_mask(path)
        self._divide(snapshot)
        if self._tree.version == 2:
            self._write_own_masks(snapshot)
            return
        smallest = {path: levels[:1] for path, levels in self._levels(snapshot).items()}
        make_room(smallest, self._writer)

    def divide(self, snapshot: HostSnapshot, shares: Sequence[Share]) -> bool:
        """Divides by other ``shares``; True if the loop has to take up other masks for that.

        Raises WriteRefused or RightsError.
        """
        before, self._shares = self.division, tuple(shares)
        self._divide(snapshot)
        if self._tree.version == 2:
            self._write_own_masks(snapshot)
            return False
        return before != self.division

    def regroup(self, settings: Settings, snapshot: HostSnapshot) -> None:
        before, self._settings, self._shares = self.groups, settings, None
        now = self.groups
        for name, group in before.items():
            if name not in now and self._tree.version == 2 and group.cpuset_path is not None:
                original = self._writer.original_cpus(group.cpus_file)
                everywhere = snapshot.capacity.elastic_cpus(snapshot.capacity.max_shared)
                self._writer.set(group.cpus_file, format_cpulist(original or everywhere))
        if self._tree.version == 2:
            self.make_room(snapshot)
        else:  # the loop moves these masks: there is room once it has stopped for the new ones
            self._divide(snapshot)

    def _divide(self, snapshot: HostSnapshot) -> None:
        cores, there = snapshot.capacity.cores, self._shares_there(snapshot)
        if (cores, there) != self._divided:
            self._divided = cores, there
            self.division = divide(cores, there, self.division.owner_of)

    def _shares_there(self, snapshot: HostSnapshot) -> tuple[Share, ...]:
        """Of the groups that exist; in v1, that the loop has masks for."""
        groups, mine = self.groups, self._originals
        if self._tree.version == 1:
            there = {
                name for name, group in groups.items() if group.path in snapshot.elastic_groups
            }
            for name in there - mine.keys():
                mine[name] = self._writer.original_cpus(groups[name].cpus_file)
        else:
            there = {name for name, group in groups.items() if group.cpuset_path is not None}
        return tuple(
            replace(share, cpus=mine.get(share.name))
            for share in self.shares
            if share.name in there
        )

    def _write_own_masks(self, snapshot: HostSnapshot) -> None:
        """Gives each v2 group what it owns, where it has something else."""
        for name, group in self.groups.items():
            mine = self.division.cpus(name) or frozenset(snapshot.capacity.elastic_cpus(0))
            try:
                if group.cpuset_path is not None:
                    self._writer.set(group.cpus_file, format_cpulist(mine))
            except TargetVanished:
                continue  # somebody else has removed it

    def _levels(self, snapshot: HostSnapshot) -> Levels:
        """In v1 also those of the groups and of what is below them."""
        sets = list(map(frozenset, snapshot.capacity.elastic_sets()))
        names = {group.path: name for name, group in self.groups.items()}
        above = self._group.path
        levels: Levels = {above: sets}
        for path in snapshot.elastic_groups:
            parent = os.path.dirname(path)
            if path in names:
                deep = any(one.startswith(f"{path}/") for one in snapshot.elastic_groups)
                mine = self.division.cpus(names[path])
                levels[path] = _of_owned(mine, sets, rising=deep)
            elif parent == above:  # made since, and nobody's
                levels[path] = [sets[0]] * len(sets)
            else:
                own = self._writer.original_cpus(f"{path}/cpuset.cpus")
                levels[path] = _of_parent(own, levels[parent])
        return levels


def _of_owned(
    mine: frozenset[int], sets: Sequence[frozenset[int]], *, rising: bool
) -> list[frozenset[int]]:
    """A group's CPUs at each level: what it owns of ``sets``, or all of them while that is nothing.

    ``rising``: it loses none as more is lent, so that groups below it can follow: then it always
    has the smallest set as well.
    """
    if rising:
        always = frozenset() if mine & sets[0] else sets[0]
        return [(mine & cpus) | always for cpus in sets]
    return [(mine & cpus) or cpus for cpus in sets]


def _of_parent(own: frozenset[int], parent: Sequence[frozenset[int]]) -> list[frozenset[int]]:
    """What a group that had its ``own`` CPUs has of what its parent has."""
    always = frozenset() if own & parent[0] else parent[0]
    return [(own & cpus) | always for cpus in parent]
