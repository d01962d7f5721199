"""What ``--primary`` and ``--elastic`` name: a control group or a process.

A target is resolved once, at the start. Its methods look at the host anew each time.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from smartharvest.errors import ConfigError, TargetError, TargetVanished
from smartharvest.host import tasks
from smartharvest.host.cgroup import CgroupTree, Group
from smartharvest.host.cpulist import format_cpulist

UNITS = (".service", ".scope", ".slice")
FORMS = "cgroup:PATH, systemd:UNIT or pid:N"
_PID = re.compile(r"[0-9]{1,10}")
_WANTED = {"cgroup": "a path", "systemd": "a unit", "pid": "a process id"}


@dataclass(frozen=True)
class TargetSpec:
    """A target as the user wrote it: ``cgroup:PATH``, ``systemd:UNIT`` or ``pid:N``.

    Paths and units may be patterns (patterns.py).
    """

    kind: Literal["cgroup", "systemd", "pid"]
    value: str

    def __str__(self) -> str:
        return f"{self.kind}:{self.value}"


def parse_target(text: str, key: str) -> TargetSpec:
    """The TargetSpec of ``text``; ConfigError, naming ``key``, if it is neither form."""
    kind, colon, value = text.partition(":")
    if kind == "cgroup" and value:
        return TargetSpec("cgroup", value)
    if kind == "systemd" and value:
        if "/" in value or not value.endswith(UNITS):
            raise ConfigError(
                f"{key}: {text!r} names no unit that has processes; write {', '.join(UNITS)} "
                "at its end, such as systemd:nginx.service"
            )
        return TargetSpec("systemd", value)
    if kind == "pid" and _PID.fullmatch(value) and int(value):
        return TargetSpec("pid", value)
    if kind in _WANTED and colon:
        wanted = _WANTED[kind]
        raise ConfigError(f"{key}: {text!r} lacks {wanted} after {kind}:")
    raise ConfigError(f"{key}: {text!r} is no target; write {FORMS}")


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
    return PidTarget(spec, tree, pid, start_time)


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
    is in, and itself. The elastic target may not be a root group, which nothing can confine.
    """
    if isinstance(elastic, CgroupTarget) and elastic.group.parent is None:
        raise TargetError(f"{elastic.spec}: the root group cannot be confined; name a group in it")
    everyone = [*primaries, elastic] if elastic is not None else list(primaries)
    for position, one in enumerate(everyone):
        for other in everyone[:position]:
            reason = _overlap(other, one)
            if reason:
                raise TargetError(f"{other.spec} and {one.spec}: {reason}; name separate targets")


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
