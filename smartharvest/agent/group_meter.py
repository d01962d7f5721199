"""What an elastic group has done so far, by the best measure there is for it.

Heartbeats, where the group has a page of them: what counts is for its owner to say. Else retired
instructions, where they are worth their cost and the machine counts them. Else CPU time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

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


def difference(before: int | None, now: int | None) -> int | None:
    """What came between; None if that is not known, or another group has the name now."""
    return None if before is None or now is None or now < before else now - before


def counts_instructions(settings: Settings, group: ElasticGroup) -> bool:
    """Whether instructions would say more than CPU time of what this group is to get."""
    if group.heartbeats is not None or settings.dry_run:
        return False
    return settings.share == "throughput" or group.guarantee is not None


class GroupMeter:
    """Of one group; without a ``group`` nothing is known of it."""

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

    @property
    def measure(self) -> str:
        """What its throughput is counted in."""
        if self._heartbeats is not None:
            return "heartbeats"
        return "CPU time" if self._counter is None else "instructions"

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
            self._counter = self._open_counter(self._group)
            self._open_counter = None
        if self._counter is None:
            return None
        try:
            return self._counter.read()
        except OSError:
            self.close()
            return None

    def throughput(self, before: Totals, now: Totals, elapsed_ns: int) -> float | None:
        """Heartbeats, instructions or CPU seconds a second between two readings."""
        if elapsed_ns <= 0:
            return None
        if self._heartbeats is not None:
            if before.beats is None or now.beats is None:
                return None
            return (now.beats - before.beats) % 2**64 * 1e9 / elapsed_ns
        if self._counter is not None:
            if before.instructions is None or now.instructions is None:
                return None
            return max(0.0, now.instructions - before.instructions) * 1e9 / elapsed_ns
        used_ns = difference(before.cpu_ns, now.cpu_ns)
        return None if used_ns is None else used_ns / elapsed_ns

    def close(self) -> None:
        """Closes the counters; CPU time is the measure then."""
        if self._counter is not None:
            self._counter.close()
            self._counter = None
