"""CPU time of a target as the kernel counts it: exact in total."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Protocol

from smartharvest.errors import TargetVanished
from smartharvest.host.cgroup.tree import Group
from smartharvest.host.process import tasks

ReadCpuUsage = Callable[[], int | None]


class HasCpuUsage(Protocol):
    """Anything that has CPU time, such as a target."""

    def read_cpu_usage(self) -> ReadCpuUsage: ...


def cpu_usage_of(targets: Sequence[HasCpuUsage]) -> ReadCpuUsage:
    """Reads the CPU time of all ``targets`` so far, in ns; None if one is unknown."""
    readers = [target.read_cpu_usage() for target in targets]

    def read() -> int | None:
        usages = [reader() for reader in readers]
        known = [usage for usage in usages if usage is not None]
        return sum(known) if len(known) == len(usages) else None

    return read


def cpu_usage_of_group(group: Group) -> ReadCpuUsage:
    """Reads that of a group: in v1 from its cpuacct hierarchy, if that has the same tasks."""
    if group.tree.version == 2:
        return lambda: _usage_of_stat(group)
    directory = group.directory("cpuacct")
    if directory is None or not _holds_the_same(group, directory):
        return lambda: None
    path = f"{directory}/cpuacct.usage"

    def read() -> int | None:
        try:
            return int(group.tree.files.read(path))
        except (OSError, ValueError):
            return None

    return read


def _usage_of_stat(group: Group) -> int | None:
    try:
        for line in group.tree.files.read(f"{group.path}/cpu.stat").splitlines():
            name, _, value = line.partition(" ")
            if name == "usage_usec":
                return int(value) * 1000
    except (OSError, ValueError):
        pass
    return None


def _holds_the_same(group: Group, directory: str) -> bool:
    """Whether the tasks of the group's own directory are those of its other one.

    Two listings also differ by tasks that start or end in between. But each task does so only once,
    whereas a task that is in one directory alone is so in the next listing, too.
    """
    try:
        first, second = (_in_one_alone(group, directory) for _ in range(2))
    except (OSError, TargetVanished):
        return False
    return all(before.isdisjoint(now) for before, now in zip(first, second, strict=True))


def _in_one_alone(group: Group, directory: str) -> tuple[set[str], set[str]]:
    own = set(group.tree.files.read(f"{group.path}/tasks").split())
    other = set(group.tree.files.read(f"{directory}/tasks").split())
    return own - other, other - own


def cpu_usage_of_process(pid: int) -> ReadCpuUsage:
    """Reads that of a process, with its threads that have ended."""
    tick_ns = 1_000_000_000 // os.sysconf("SC_CLK_TCK")

    def read() -> int | None:
        ticks = tasks.cpu_ticks(pid)
        return None if ticks is None else ticks * tick_ns

    return read
