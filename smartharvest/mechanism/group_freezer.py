"""Stops one elastic group, and no other."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator

from smartharvest.errors import TargetError, TargetVanished
from smartharvest.host.cgroup.counterparts import make_counterpart
from smartharvest.host.cgroup.tree import Group
from smartharvest.host.journal.journal import Journal
from smartharvest.host.journal.writer import HostWriter

_PASSES = 20
"""Of killing: who is not frozen yet may start others meanwhile."""


def frozen_values(group: Group) -> tuple[str, str]:
    """(what freezes, what thaws), as the group's file has it."""
    return ("FROZEN", "THAWED") if group.tree.version == 1 else ("1", "0")


def planned_freeze_file(group: Group) -> str:
    """The file that would freeze the group, which need not be there yet."""
    above = group.directory("freezer") or group.path
    return f"{above}/{'freezer.state' if group.tree.version == 1 else 'cgroup.freeze'}"


class GroupFreezer:
    """Freezes, thaws and ends one ``group``. All but the end is journaled.

    Its methods raise TargetError where there is no freezer, WriteRefused, TargetVanished and
    RightsError.
    """

    def __init__(self, group: Group, writer: HostWriter) -> None:
        self._group = group
        self._writer = writer

    def freeze(self) -> None:
        """Those that have come since are frozen with the next call (v1)."""
        group = self._group
        make_counterpart(group, "freezer", self._writer)
        if group.freeze_file is None:
            if group.cpuset_path is None:
                raise TargetVanished(f"{group}: the group is gone")
            raise TargetError(f"{group}: has no freezer; mount one, or leave notice out")
        self._writer.set(group.freeze_file, frozen_values(group)[0])

    def thaw(self) -> None:
        """Harmless where nothing is frozen."""
        path = self._group.freeze_file
        if path is not None:
            self._writer.set(path, frozen_values(self._group)[1])

    def end(self) -> int:
        """Freezes the group, kills who is in it and below, and lets them die; how many were killed.

        A task that the kernel holds (state D) dies when it comes back.
        """
        self.freeze()
        killed = self._kill() if self._group.tree.runs_tasks else 0
        if self._group.tree.version == 1:  # a frozen task of v1 gets no signal
            self.thaw()
        return killed

    def _kill(self) -> int:
        seen: set[int] = set()
        switch = f"{self._group.path}/cgroup.kill"
        files = self._group.tree.files
        if self._group.tree.version == 2 and files.exists(switch):
            seen.update(self._processes())
            files.write(switch, "1")  # a command: there is nothing to put back
            return len(seen)
        for _ in range(_PASSES):
            new = set(self._processes()) - seen - {os.getpid()}
            for pid in new:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            seen |= new
            if not new:
                break
        return len(seen)

    def _processes(self) -> Iterator[int]:
        directories = [self._group.directory("freezer") or self._group.path]
        files = self._group.tree.files
        for path in directories:  # which grows meanwhile
            with contextlib.suppress(OSError):
                yield from map(int, files.read(f"{path}/cgroup.procs").split())
                directories += [f"{path}/{name}" for name in files.subdirectories(path)]


def is_frozen_by_us(group: Group, journal: Journal) -> bool:
    """Whether an earlier session of this journal has left it frozen."""
    path = group.freeze_file
    original = None if path is None else journal.original(path)
    if path is None or original is None or original.strip() != frozen_values(group)[1]:
        return False
    try:
        return group.tree.files.read(path).strip() != frozen_values(group)[1]
    except OSError:
        return False
