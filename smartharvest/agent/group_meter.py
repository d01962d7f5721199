"""What an elastic group has done so far, by the best measure available.

Retired instructions, where they are worth their cost and the machine counts them: the kernel says
so, not the group. Else heartbeats, where the group has a page of them. Else CPU time. A group that
is guaranteed heartbeats is measured by them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from smartharvest.config.elastic_groups import ElasticGroup
from smartharvest.config.settings import Settings
from smartharvest.host.cgroup.tree import Group
from smartharvest.host.process.cpu_usage import ReadCpuUsage, cpu_usage_of_group
from smartharvest.host.process.instructions import Counter
from smartharvest.telemetry.heartbeat import read_beats

OpenCounter = Callable[[Group], Counter | None]
"""Counts a group's instructions; None: not here."""


@dataclass(frozen=True)
class Totals:
    """What was done up to one moment; None: not known."""

    cpu_ns: int | None = None
    beats: int | None = None
    instructions: float | None = None


def _inode(group: Group) -> int:
    """Of the directory whose tasks are counted; 0: there is none."""
    try:
        return group.tree.files.inode(group.directory("perf_event") or group.path)
    except OSError:
        return 0


_Number = TypeVar("_Number", int, float)


def difference(before: _Number | None, now: _Number | None) -> _Number | None:
    """What was done in between; None if unknown, or if another group has the name now."""
    return None if before is None or now is None or now < before else now - before


def _beats_between(before: int | None, now: int | None) -> int | None:
    """Modulo 2**64; None if that is not known, or a new page has the name now."""
    if before is None or now is None:
        return None
    count = (now - before) % 2**64
    return count if count < 2**63 else None


def counts_instructions(settings: Settings, group: ElasticGroup) -> bool:
    """Whether instructions are to say what this group is to get."""
    if settings.dry_run or (group.guarantee is not None and group.guarantee.rate is not None):
        return False
    return settings.share == "throughput" or group.guarantee is not None


class GroupMeter:
    """Measures one group; without a ``group`` nothing is known."""

    def __init__(
        self,
        group: Group | None,
        heartbeats: str | None = None,
        open_counter: OpenCounter | None = None,
    ) -> None:
        self._group = group
        self._heartbeats = heartbeats
        self._read_cpu_ns: ReadCpuUsage | None = None
        self._open_counter = open_counter
        self._counter: Counter | None = None
        self._counted = 0
        """The inode of the group's directory when counters were opened; 0: there was none."""

    def is_like(self, other: GroupMeter) -> bool:
        """Whether both read the same of the same group."""
        mine, theirs = (
            (one._group, one._heartbeats, one._open_counter is None) for one in (self, other)
        )
        return mine == theirs

    @property
    def measure(self) -> str:
        """What its throughput is counted in."""
        if self._counter is not None:
            return "instructions"
        return "CPU time" if self._heartbeats is None else "heartbeats"

    def read(self) -> Totals:
        """What the group has done so far."""
        if self._group is None:
            return Totals()
        if self._read_cpu_ns is None:
            self._read_cpu_ns = cpu_usage_of_group(self._group)
        cpu_ns = self._read_cpu_ns()
        if cpu_ns is None:  # it may be another group by that name the next time
            self._read_cpu_ns = None
        beats = None if self._heartbeats is None else read_beats(self._heartbeats)
        return Totals(cpu_ns, beats, self._instructions())

    def _instructions(self) -> float | None:
        if self._open_counter is not None and self._group is not None:
            inode = _inode(self._group)
            if inode != self._counted:  # counters stay with a group that was removed
                self.close()
                self._counted = inode
                self._counter = self._open_counter(self._group) if inode else None
        if self._counter is None:
            return None
        try:
            return self._counter.read()
        except OSError:
            self.close()
            return None

    def throughput(self, before: Totals, now: Totals, elapsed_ns: int) -> float | None:
        """Instructions, heartbeats or CPU seconds a second between two readings."""
        if elapsed_ns <= 0:
            return None
        if self._counter is not None:
            done = difference(before.instructions, now.instructions)
        elif self._heartbeats is not None:
            done = _beats_between(before.beats, now.beats)
        else:
            used_ns = difference(before.cpu_ns, now.cpu_ns)
            return None if used_ns is None else used_ns / elapsed_ns
        return None if done is None else done * 1e9 / elapsed_ns

    def close(self) -> None:
        """Closes the counters; heartbeats or CPU time are the measure then."""
        if self._counter is not None:
            self._counter.close()
            self._counter = None
