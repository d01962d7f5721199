"""Control groups that somebody freezes: ``docker pause``, ``systemctl freeze``.

Version 1 has a hierarchy of its own for it, version 2 a file in every group (cgroup.freeze). The
root group of a hierarchy cannot be frozen.
"""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass
from functools import cache

from smartharvest.host.cgroup.kernel_files import read_proc
from smartharvest.host.cgroup.tree import parse_membership, parse_mounts

SYSTEMD = "/run/systemd/system"
"""Exists where systemd is the first process (sd_booted(3)); it owns the groups of version 2."""


@dataclass(frozen=True)
class FreezableGroup:
    """A process's group in a hierarchy that can freeze it."""

    mount: str
    version: int
    relative: str
    """Below the mount point, without slashes at its ends; never empty."""

    @property
    def path(self) -> str:
        return os.path.join(self.mount, self.relative)

    def is_frozen(self) -> bool:
        """Whether it, or a group above it, is frozen now; False if it is gone."""
        name = "cgroup.events" if self.version == 2 else "freezer.state"
        try:
            with open(f"{self.path}/{name}") as file:
                text = file.read()
        except OSError:
            return False
        return "frozen 1" in text if self.version == 2 else text.strip() != "THAWED"


def freezable_groups(pid: int | str) -> list[FreezableGroup]:
    """The groups by which process ``pid`` can be frozen; empty if it is gone."""
    try:
        membership = read_proc(f"/proc/{pid}/cgroup")
    except OSError:
        return []
    found = []
    for mount, version in _freezers():
        # Version 2 has no controllers in its line, and no name for this one.
        relative = parse_membership(membership, "freezer" if version == 1 else "", version)
        if relative and not relative.startswith(".."):  # outside this namespace
            found.append(FreezableGroup(mount, version, relative))
    return found


def is_frozen(pid: int) -> bool:
    """Whether process ``pid`` stands still because a group of it is frozen."""
    return any(group.is_frozen() for group in freezable_groups(pid))


def leave_groups() -> None:
    """Has this process leave the groups by which it can be frozen, as far as that is allowed.

    It stays on its CPUs. A group of version 2 under systemd is left alone: systemd alone moves
    what it has started.
    """
    for group in freezable_groups("self"):
        if group.version == 2 and os.path.isdir(SYSTEMD):
            continue
        with contextlib.suppress(OSError):
            if group.version == 2:  # whose cpuset goes with the group
                os.sched_setaffinity(0, os.sched_getaffinity(0))
            with open(f"{group.mount}/cgroup.procs", "w") as file:
                file.write(str(os.getpid()))


def freezable_together(pid: int, other: int) -> str | None:
    """The group whose freezing stops both processes; None if there is none."""
    theirs = {(group.mount, group.relative) for group in freezable_groups(other)}
    for group in freezable_groups(pid):
        for mount, relative in theirs:
            common = os.path.commonpath([group.relative, relative]) if mount == group.mount else ""
            if common:
                return os.path.join(mount, common)
    return None


@cache
def _freezers() -> list[tuple[str, int]]:
    """(mount point, version) of each hierarchy that can freeze, once each."""
    mounts = parse_mounts(read_proc("/proc/self/mountinfo"))
    kinds: dict[int | str, tuple[str, int]] = {}
    for mount in mounts:
        if mount.version == 2:
            kinds.setdefault(2, (mount.point, 2))
        elif "freezer" in mount.controllers:
            kinds.setdefault("freezer", (mount.point, 1))
    return list(kinds.values())
