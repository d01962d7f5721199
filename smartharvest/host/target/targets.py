"""What ``--primary`` and ``--elastic`` name: a control group, a process or a virtual machine.

A target is resolved once, at the start. Its methods look at the host anew each time.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from smartharvest.errors import TargetError, TargetVanished
from smartharvest.host import kernels
from smartharvest.host.cgroup.tree import CgroupTree, Group
from smartharvest.host.cpulist import format_cpulist
from smartharvest.host.process import tasks
from smartharvest.host.target import guests
from smartharvest.host.target.spec import TargetSpec


class Target(Protocol):
    """One primary, or the elastic side."""

    @property
    def spec(self) -> TargetSpec: ...

    def cpus(self) -> frozenset[int]:
        """The CPUs it may run on now."""

    def grantable_cpus(self) -> frozenset[int]:
        """The CPUs it could be confined to: what its parent group has, or its own group."""

    def quota_cores(self) -> float | None:
        """CPU bandwidth in cores; None if unlimited."""

    def threads(self) -> list[int]:
        """Its thread ids, ascending."""

    def alive(self) -> bool:
        """Whether it is still there. A group without tasks is."""


@dataclass(frozen=True)
class CgroupTarget:
    """A control group with all that is below it."""

    spec: TargetSpec
    group: Group

    def cpus(self) -> frozenset[int]:
        return self.group.effective_cpus()

    def grantable_cpus(self) -> frozenset[int]:
        return self.group.grantable_cpus()

    def quota_cores(self) -> float | None:
        return self.group.quota_cores()

    def threads(self) -> list[int]:
        return self.group.tasks()

    def alive(self) -> bool:
        return self.group.cpuset_path is not None


@dataclass(frozen=True)
class PidTarget:
    """One process with all its threads, managed by affinity and never moved between groups."""

    spec: TargetSpec
    tree: CgroupTree
    pid: int
    start_time: int
    """Of the process's first thread, in clock ticks since boot: the id may be used again."""

    def cpus(self) -> frozenset[int]:
        return frozenset().union(*(tasks.affinity(tid) for tid in self.threads()))

    def grantable_cpus(self) -> frozenset[int]:
        return self.tree.group_of(self.pid, "cpuset").effective_cpus()

    def quota_cores(self) -> float | None:
        if "cpu" not in self.tree.hierarchies:
            return None
        return self.tree.group_of(self.pid, "cpu").quota_cores()

    def threads(self) -> list[int]:
        return tasks.process_threads(self.pid) if self.alive() else []

    def alive(self) -> bool:
        return tasks.start_time(self.pid) == self.start_time and tasks.alive(self.pid)

    def processes(self) -> list[int]:
        """Itself, and what works for it outside of it."""
        return [self.pid]


@dataclass(frozen=True)
class GuestTarget(PidTarget):
    """A process that runs a virtual machine: its vCPUs, its emulator and its I/O threads.

    What the kernel does for its devices in threads of its own counts as well.
    """

    def processes(self) -> list[int]:
        if kernels.has(kernels.VHOST_TASKS):
            return [self.pid]
        return [self.pid, *guests.helper_threads(self.pid)]

    def threads(self) -> list[int]:
        if not self.alive():
            return []
        return [tid for pid in self.processes() for tid in tasks.process_threads(pid)]


def resolve_target(spec: TargetSpec, tree: CgroupTree) -> CgroupTarget | PidTarget:
    """The target that ``spec`` names on this host.

    Raises TargetError, naming the path or process, if it is missing, the group is no cpuset, or it
    is one without CPUs or memory nodes (v1).
    """
    if spec.kind == "cgroup":
        group = tree.group(spec.value)
        if group.cpuset_path is None:
            raise TargetError(f"{spec}: {_why_no_cpuset(group)}")
        if group.tree.version == 1:
            _check_filled(spec, group)
        return CgroupTarget(spec, group)
    pid = int(spec.value)
    start_time = tasks.start_time(pid)
    if start_time is None or not tasks.alive(pid):
        raise TargetError(f"{spec}: no such process")
    kind = GuestTarget if spec.kind in guests.MONITORS else PidTarget
    return kind(spec, tree, pid, start_time)


def _why_no_cpuset(group: Group) -> str:
    files, parent = group.tree.files, group.parent
    if not files.exists(group.path):
        return f"{group.path} does not exist; make the group first"
    if group.tree.version == 2 and parent is not None:
        return (
            f"{group.path} has no cpuset.cpus; "
            f"write +cpuset into {parent.path}/cgroup.subtree_control"
        )
    return f"{group.path} is no cpuset: it has no cpuset.cpus"


def _check_filled(spec: TargetSpec, group: Group) -> None:
    """Refuses a v1 cpuset as mkdir leaves it.

    It takes no tasks, and once it was filled and has some the kernel refuses to empty it again.
    """
    if group.parent is None:
        return
    _check_filled(spec, group.parent)
    for path, own, above in (
        (group.cpus_file, group.cpus, group.parent.cpus),
        (group.mems_file, group.mems, group.parent.mems),
    ):
        with contextlib.suppress(TargetVanished):  # made trees may lack the file
            if not own():
                wanted = format_cpulist(above())
                raise TargetError(f"{spec}: {path} is empty; write {wanted} into it")


def check_apart(primaries: Sequence[Target], elastic: Target | None) -> None:
    """Raises TargetError if the elastic target overlaps a primary, or two primaries overlap.

    Groups overlap if they are equal or one contains the other; a process overlaps the group it
    is in, and itself; an elastic one also what it has started, which is confined with it. The
    elastic target may not be a root group, which nothing can confine, nor have started us.
    """
    if isinstance(elastic, CgroupTarget) and elastic.group.parent is None:
        raise TargetError(f"{elastic.spec}: the root group cannot be confined; name a group in it")
    if isinstance(elastic, PidTarget):
        _check_family_apart(primaries, elastic)
    everyone = [*primaries, elastic] if elastic is not None else list(primaries)
    for position, one in enumerate(everyone):
        for other in everyone[:position]:
            reason = _overlap(other, one)
            if reason:
                raise TargetError(f"{other.spec} and {one.spec}: {reason}; name separate targets")


def _check_family_apart(primaries: Sequence[Target], elastic: PidTarget) -> None:
    family = {*tasks.descendants(elastic.pid)}
    advice = "which would be confined with it; name a process that works for the batch alone"
    if os.getpid() in family:
        raise TargetError(f"{elastic.spec}: has started this agent, {advice}")
    theirs = {tid for pid in family for tid in tasks.process_threads(pid)}
    for primary in primaries:
        try:
            shared = theirs.intersection(primary.threads())
        except TargetVanished:
            continue  # reported where the target is used
        if shared:
            raise TargetError(
                f"{elastic.spec}: has started {tasks.name(min(shared))} ({min(shared)}) of "
                f"{primary.spec}, {advice}"
            )


def _overlap(one: Target, other: Target) -> str | None:
    if isinstance(one, CgroupTarget) and isinstance(other, CgroupTarget):
        if one.group == other.group:
            return "they are the same group"
        if one.group.contains(other.group):
            return f"{other.group} lies in {one.group}"
        if other.group.contains(one.group):
            return f"{one.group} lies in {other.group}"
        return None
    try:
        shared = set(one.threads()) & set(other.threads())
    except TargetVanished:
        return None  # reported where the target is used
    return f"both have thread {min(shared)}" if shared else None
