"""CPU time that the kernel has charged a target: right in sum, whoever was looking."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Protocol

from smartharvest.errors import TargetVanished
from smartharvest.host.cgroup.tree import Group
from smartharvest.host.process import tasks

ReadCharge = Callable[[], int | None]


class Charged(Protocol):
    """Who is charged for CPU time: a target."""

    def read_charge(self) -> ReadCharge: ...


def charge_of(targets: Sequence[Charged]) -> ReadCharge:
    """Reads what all of ``targets`` have been charged so far, in ns; None if it cannot be told."""
    readers = [target.read_charge() for target in targets]

    def read() -> int | None:
        charges = [reader() for reader in readers]
        known = [charge for charge in charges if charge is not None]
        return sum(known) if len(known) == len(charges) else None

    return read


def charge_of_group(group: Group) -> ReadCharge:
    """Reads the charge of a group: in v1 of its cpuacct hierarchy, if that has the same tasks."""
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

    Two listings also differ by who is born or ends in between, which may be somebody each time.
    But each does so only once, whereas who is in one of them alone is so at the next look, too.
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


def charge_of_process(pid: int) -> ReadCharge:
    """Reads the charge of a process, which also counts its threads that have ended."""
    tick_ns = 1_000_000_000 // os.sysconf("SC_CLK_TCK")

    def read() -> int | None:
        ticks = tasks.charged_ticks(pid)
        return None if ticks is None else ticks * tick_ns

    return read
