"""Several elastic groups below one: the loop moves what all have, and each has its part of that.

The loop writes the group above them, as if it were the only one, so a taking back is as it is with
one group. Every core has one owner (algorithm/division.py). With cgroup v2 a group keeps all the
cores it owns in its own mask, which only the control plane writes, and the kernel leaves it those
that are lent. A v1 group must not have more than the one above it: the loop writes the masks of
both, leaves first when it takes back. A group that owns none of what is lent shares the others'.

Where whole cores are not what is due, groups share what they own (algorithm/time_sharing.py): then
the kernel divides the time by their weights.
"""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from smartharvest.algorithm.division import Division, Share, divide
from smartharvest.algorithm.time_sharing import as_kernel_value
from smartharvest.config.settings import Settings
from smartharvest.errors import SmartHarvestError, TargetError, TargetVanished, WriteRefused
from smartharvest.host.cgroup.counterparts import make_counterpart
from smartharvest.host.cgroup.tree import Group
from smartharvest.host.cpulist import format_cpulist
from smartharvest.host.process import tasks
from smartharvest.host.target.base import Target
from smartharvest.mechanism.cpuset import CpusetMechanism
from smartharvest.mechanism.levels import Levels, make_room
from smartharvest.placement.snapshot import HostSnapshot

_log = logging.getLogger(__name__)

MANY_IN_V1 = 16
"""Groups; with more on v1 the log names v2."""
SMALLEST = 0.01
"""A change of a weight by less than this part is not worth a write."""


class DividedMechanism(CpusetMechanism):
    """The ``merge`` mechanism for a group whose children share what it has."""

    _shares: tuple[Share, ...] | None = None
    _divided: tuple[tuple[tuple[int, ...], ...], tuple[Share, ...], frozenset[str]] | None = None
    """What the division was made of."""
    division = Division()
    _together: frozenset[str] = frozenset()
    _weightless = ""
    """Why no weights can be written, as was logged."""

    def __init__(self, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self._weights: dict[str, tuple[int, float]] = {}
        """Those in force, each with the inode of its group's directory."""
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
    def _without(self) -> frozenset[str]:
        """The groups that are to have no core at all."""
        return frozenset(share.name for share in self.shares if share.max == 0)

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
            with contextlib.suppress(WriteRefused):  # there are no weights then
                self._writer.enable_controllers(self._group.path, ["cpu"])
        else:  # before the group above takes their tasks
            self._make_cpu_groups()
            if (number := len(self.groups)) > MANY_IN_V1:
                _log.warning(
                    "%d elastic groups on cgroup v1: to take a core back may take as many writes; "
                    "with v2 it is one",
                    number,
                )
        super().arrange(snapshot, primaries)

    def _make_cpu_groups(self) -> None:
        for group in self.groups.values():
            if group.cpuset_path is not None and group.directory("cpu") is not None:
                make_counterpart(group, "cpu", self._writer)

    def adopt_newcomers(self) -> None:
        if self._tree.version == 1:
            self._make_cpu_groups()
        super().adopt_newcomers()

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

    def divide(
        self, snapshot: HostSnapshot, shares: Sequence[Share], together: Collection[str] = ()
    ) -> bool:
        """Divides by other ``shares``; True if the loop has to take up other masks for that.

        Raises WriteRefused or RightsError.
        """
        before, self._shares = self.division, tuple(shares)
        self._together = frozenset(together)
        self._divide(snapshot)
        if self._tree.version == 2:
            self._write_own_masks(snapshot)
            return False
        return before != self.division

    def weigh(self, weights: Mapping[str, float]) -> bool:
        """Writes those that differ from what is in force by more than a rung of their ladder."""
        groups = self.groups
        try:
            for name, weight in weights.items():
                group = groups[name]
                if group.cpuset_path is None:
                    continue
                path = group.weight_file
                if path is None:
                    return self._has_no_weights(f"{group} has no cpu controller, so no weight")
                inode = self._tree.files.inode(os.path.dirname(path))
                known, before = self._weights.get(name, (0, weight))
                if known == inode and abs(weight / before - 1) < SMALLEST:
                    continue
                self._writer.set(path, as_kernel_value(weight, self._tree.version))
                self._weights[name] = inode, weight
        except (TargetVanished, FileNotFoundError):
            return True  # it comes again, or is no longer one of them
        except SmartHarvestError as error:
            return self._has_no_weights(str(error))
        return True

    def _has_no_weights(self, why: str) -> bool:
        if self._weightless != why:
            self._weightless = why
            _log.warning("%s; cores are divided by whole ones only", why)
        return False

    def regroup(self, settings: Settings, snapshot: HostSnapshot, shares: Sequence[Share]) -> None:
        before, self._settings, self._shares = self.groups, settings, tuple(shares)
        now = self.groups
        stay = {name for name in now if name in before and before[name].path == now[name].path}
        self._weights = {name: one for name, one in self._weights.items() if name in stay}
        self._originals = {name: one for name, one in self._originals.items() if name in stay}
        paths = {group.path for group in now.values()}
        for group in before.values():
            if group.path in paths:
                continue
            if group.weight_file is not None:
                self._give_weight_back(group.weight_file)
            if self._tree.version == 2 and group.cpuset_path is not None:
                original = self._writer.original_cpus(group.cpus_file)
                everywhere = snapshot.capacity.elastic_cpus(snapshot.capacity.max_shared)
                self._writer.set(group.cpus_file, format_cpulist(original or everywhere))
        if self._tree.version == 2:
            self.make_room(snapshot)
        else:  # the loop moves these masks: there is room once it has stopped for the new ones
            self._divide(snapshot)

    def _give_weight_back(self, path: str) -> None:
        original = self._writer.original(path)
        if original is not None:
            with contextlib.suppress(SmartHarvestError):  # restoring does it once more
                self._writer.set(path, original.strip())

    def _divide(self, snapshot: HostSnapshot) -> None:
        made_of = snapshot.capacity.cores, self._shares_there(snapshot), self._together
        if made_of != self._divided:
            self._divided = made_of
            cores, there, together = made_of
            self.division = divide(cores, there, self.division.owner_of, together)

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
                none = names[path] in self._without
                levels[path] = [sets[0]] * len(sets) if none else _of_owned(mine, sets, rising=deep)
            elif parent == above:  # made since, and nobody's
                levels[path] = [sets[0]] * len(sets)
            else:
                own = self._writer.original_cpus(f"{path}/cpuset.cpus")
                levels[path] = _of_parent(own, levels[parent])
        return levels


def _of_owned(
    mine: frozenset[int], sets: Sequence[frozenset[int]], *, rising: bool
) -> list[frozenset[int]]:
    """A group's CPUs at each level: what it owns of ``sets``, or others' while that is nothing.

    Others' are those of the last power of two of lent cores, half of them or more: of many groups
    that own none, each would be one more write for each core that is taken back.

    ``rising``: it loses none as more is lent, so that groups below it can follow: then it always
    has the smallest set as well.
    """
    if rising:
        always = frozenset() if mine & sets[0] else sets[0]
        return [(mine & cpus) | always for cpus in sets]
    return [(mine & cpus) or sets[_power_of_two(lent)] for lent, cpus in enumerate(sets)]


def _power_of_two(number: int) -> int:
    """The largest that is at most ``number``; 0 of 0."""
    return 1 << number.bit_length() - 1 if number else 0


def _of_parent(own: frozenset[int], parent: Sequence[frozenset[int]]) -> list[frozenset[int]]:
    """What a group that had its ``own`` CPUs has of what its parent has."""
    always = frozenset() if own & parent[0] else parent[0]
    return [(own & cpus) | always for cpus in parent]
