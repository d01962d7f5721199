"""The elastic groups of one run: once a second what each has done, and what each is due."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from smartharvest.agent.arrangement import Arrangement
from smartharvest.agent.control_loop import ControlLoop
from smartharvest.agent.group_evictions import GroupEvictions
from smartharvest.agent.group_memory import GroupMemories
from smartharvest.agent.group_promise import GroupCores, GroupPromises
from smartharvest.agent.group_record import GroupRecord
from smartharvest.algorithm.demand import TURNS, demand_of, largest
from smartharvest.algorithm.division import Share, divide, dues
from smartharvest.algorithm.eviction import needed_cores
from smartharvest.algorithm.guarantee import Curve, Keeper
from smartharvest.algorithm.worth import Worth
from smartharvest.config.settings import Settings
from smartharvest.host.cgroup.memory import memory_bytes
from smartharvest.host.cgroup.tree import Group
from smartharvest.host.process.cpu_usage import ReadCpuUsage, cpu_usage_of_group
from smartharvest.telemetry.heartbeat import read_beats

TURN_NS = 1_000_000_000


@dataclass
class _Member:
    """One group, and what it has had so far."""

    share: Share
    target: str
    group: Group | None
    read_cpu_ns: ReadCpuUsage | None = None
    cpu_ns: int | None = None
    used_ns: int | None = None
    """CPU time over the run; None: not known."""
    core_ns: float = 0.0
    throughput: float | None = None
    """Heartbeats or CPU seconds a second, over the last turn; None: not known."""
    heartbeats: str | None = None
    beats: int | None = None
    keeper: Keeper | None = None
    evicted: bool = False
    curve: Curve = field(default_factory=Curve)
    demands: deque[int | None] = field(default_factory=lambda: deque(maxlen=TURNS))
    """Of the last turns."""

    @property
    def bounded(self) -> Share:
        """Its share, with what its guarantee asks for."""
        if self.evicted:  # its minimum is the primaries', and nobody else's
            least = self.share.min
            return replace(self.share, max=max(1, least), demand=least)
        floor = 0 if self.keeper is None else self.keeper.floor
        return replace(self.share, min=max(self.share.min, floor))

    def beaten(self, elapsed_ns: int) -> float | None:
        """Heartbeats a second since the last call; None: it counts none."""
        if self.heartbeats is None:
            return None
        before, self.beats = self.beats, read_beats(self.heartbeats)
        if before is None or self.beats is None:
            return None
        return (self.beats - before) % 2**64 * 1e9 / elapsed_ns

    def used(self, elapsed_ns: int) -> float | None:
        """Cores used since the last call; None where that is not known."""
        if self.group is None:
            return None
        if self.read_cpu_ns is None:
            self.read_cpu_ns = cpu_usage_of_group(self.group)
        before, self.cpu_ns = self.cpu_ns, self.read_cpu_ns()
        if self.cpu_ns is None:
            self.read_cpu_ns = None  # it may be another group by that name the next time
        if before is None or self.cpu_ns is None or self.cpu_ns < before:
            return None
        self.used_ns = (self.used_ns or 0) + self.cpu_ns - before
        return (self.cpu_ns - before) / elapsed_ns


class GroupSharing:
    """Watches the groups and has what is lent divided by what they can use.

    The loop takes cores back whatever this thinks.
    """

    def __init__(
        self, arrangement: Arrangement, control: ControlLoop, audit: Callable[..., None]
    ) -> None:
        self._arrangement = arrangement
        self._record = GroupRecord(audit)
        settings = arrangement.settings
        self.promises = GroupPromises(
            settings.promise_hold_ns // TURN_NS, settings.promise_probability
        )
        self._worth: Worth | None = None
        self._control = control
        self._members = list(self._find(arrangement.settings))
        self._next_ns = 0
        self._last_ns = 0
        self.evictions = GroupEvictions(arrangement, audit)
        self.memories = GroupMemories(arrangement, audit)
        self._counted = (0, 0, 0)
        """(time, harvested core-time, the primaries' demand) at the last turn, in ns."""
        self._had_ns = 0

    def _find(self, settings: Settings) -> Iterator[_Member]:
        tree = self._arrangement.tree
        for group in settings.elastic_groups:
            place = tree.group(group.target.value) if group.target.kind == "cgroup" else None
            weight = group.weight if settings.share == "weight" else 1.0
            share = Share(group.name, weight, group.min, group.max)
            member = _Member(share, str(group.target), place)
            member.heartbeats = group.heartbeats
            member.keeper = None if group.guarantee is None else Keeper(group.guarantee)
            yield member
        if not settings.elastic_groups:
            elastic = self._arrangement.elastic
            name = str(settings.elastic)
            yield _Member(Share(name), name, None if elastic is None else elastic.group)

    def take_up(self, settings: Settings) -> None:
        """Goes on with other groups; those that were there before keep what they have had."""
        had = {member.share.name: member for member in self._members}
        self._members = [had.get(new.share.name, new) for new in self._find(settings)]
        for member, new in zip(self._members, self._find(settings), strict=True):
            member.share, member.group = new.share, new.group
            member.heartbeats, member.keeper = new.heartbeats, new.keeper
        self._worth = None
        self.evictions.take_up(settings.elastic_groups)
        self.memories.take_up(settings)
        self._arrangement.regroup(settings)

    def turn(self, now_ns: int) -> bool:
        """Once a second: True if the loop has to take up other masks."""
        inhibited = self._control.controller.inhibited
        hold = inhibited.of("operator") or inhibited.of("guardian")
        self.memories.turn(now_ns, hold, self.evictions.is_evicted)
        if now_ns < self._next_ns:
            return False
        elapsed_ns, self._last_ns = now_ns - self._last_ns, now_ns
        self._next_ns = now_ns + TURN_NS
        counters = self._control.counters()
        before, self._counted = (
            self._counted,
            (counters["polled_ns"], counters["harvested_core_ns"], counters["demand_core_ns"]),
        )
        polled_ns, lent_ns, demand_ns = (
            now - then for now, then in zip(self._counted, before, strict=True)
        )
        if polled_ns > 0:
            self._evict(now_ns, demand_ns / polled_ns, lent_ns / polled_ns)
        had = self._had(lent_ns / polled_ns) if polled_ns > 0 else [0.0] * len(self._members)
        self._had_ns += max(0, polled_ns)
        if polled_ns > 0:
            names = [(member.share.name, member.share.min) for member in self._members]
            self.promises.step(now_ns, [(*one, n) for one, n in zip(names, had, strict=True)])
        for member, cores in zip(self._members, had, strict=True):
            member.core_ns += cores * max(0, polled_ns)
            used, beaten = member.used(elapsed_ns), member.beaten(elapsed_ns)
            member.throughput = used if member.heartbeats is None else beaten
            member.demands.append(demand_of(used, cores))
            member.share = replace(member.share, demand=largest(member.demands))
            if member.throughput is not None:
                member.curve.note(cores, member.throughput)
        self._keep_guarantees(had)
        changed = self._arrangement.settings.divides and self._arrangement.divide(
            [member.bounded for member in self._weighted(had)]
        )
        now = self._cores(self._control.loop.harvested)
        self._record.turn(now_ns, self._members, now, self._arrangement.mechanism.division)
        return changed

    def _evict(self, now_ns: int, demand: float, lent: float) -> None:
        """Takes even minima back that the primaries need, both in cores on average."""
        needed = needed_cores(self._arrangement.capacity.total, demand, lent)
        long_term = self._control.controller.long_term
        rests = long_term is not None and long_term.rest_left_ns(now_ns) > 0
        emergency = "the primaries wait too long for CPUs" if needed and rests else None
        self.evictions.turn(now_ns, needed, emergency)
        for member in self._members:
            member.evicted = self.evictions.is_evicted(member.share.name)

    def _keep_guarantees(self, had: Sequence[float]) -> None:
        equal = sum(had) / max(1, len(had))
        for member, cores in zip(self._members, had, strict=True):
            keeper = member.keeper
            if keeper is None:
                continue
            most = int(min(member.share.most, len(self._arrangement.capacity.pool)))
            keeper.turn(member.throughput, cores, member.curve.at(equal), most)

    def _weighted(self, had: Sequence[float]) -> list[_Member]:
        """The members, with learned weights if they share by throughput."""
        if self._arrangement.settings.share != "throughput":
            return self._members
        names = [member.share.name for member in self._members]
        lent = sum(had)
        if self._worth is None:
            self._worth = Worth(names, lent)
        self._worth.turn({one.share.name: one.throughput for one in self._members}, lent)
        for member in self._members:
            weight = self._worth.weights[member.share.name]
            member.share = replace(member.share, weight=weight)
        return self._members

    def _had(self, harvested: float) -> list[float]:
        """Cores of each group with so many harvested on average."""
        low = math.floor(harvested)
        less, more = self._cores(low), self._cores(low + 1)
        part = harvested - low
        return [a + (b - a) * part for a, b in zip(less, more, strict=True)]

    def _cores(self, harvested: int) -> list[int]:
        """Cores of each group with so many harvested; of one that shares the others' 0."""
        capacity = self._arrangement.capacity
        harvested = min(harvested, capacity.max_shared)
        if capacity.is_parked(harvested):
            return [0] * len(self._members)
        lent = frozenset(capacity.elastic_cpus(harvested))
        if len(self._members) == 1:
            return [len(lent)]
        division = self._arrangement.mechanism.division
        if division is None:  # in a dry run nobody has any
            shares = [member.bounded for member in self._members]
            division = divide(capacity.cores, shares)
        return [division.count(member.share.name, lent) for member in self._members]

    def cores_now(self, most_lent: int) -> list[GroupCores]:
        """What each group has, and the bounds of that; ``most_lent`` beyond the minimum."""
        most = self._arrangement.capacity.elastic_min + most_lent
        return [
            GroupCores(
                member.share.name,
                member.target,
                cores,
                member.share.min,
                int(max(member.share.min, min(most, member.share.most))),
            )
            for member, cores in zip(
                self._members, self._cores(self._control.loop.harvested), strict=True
            )
        ]

    def core_seconds(self) -> dict[str, dict[str, float]]:
        """By name what each group ``had`` and, where that is known, ``used`` over the run.

        Empty where groups have no names.
        """
        found: dict[str, dict[str, float]] = {}
        if not self._arrangement.settings.elastic_groups:
            return found
        for member in self._members:
            found[member.share.name] = {"had": member.core_ns / 1e9}
            if member.used_ns is not None:
                found[member.share.name]["used"] = member.used_ns / 1e9
        return found

    def describe(self) -> list[dict[str, Any]]:
        """A row for each group, as ``status`` has it."""
        now = self._cores(self._control.loop.harvested)
        shares = [member.bounded for member in self._members]
        return [
            {
                "name": member.share.name,
                "target": member.target,
                "cores": cores,
                "mean_cores": member.core_ns / self._had_ns if self._had_ns else float(cores),
                "core_seconds": member.core_ns / 1e9,
                "cpu_seconds": None if member.used_ns is None else member.used_ns / 1e9,
                "due": due,
                "min": member.share.min,
                "max": member.share.max,
                "throughput": member.throughput,
                "throughput_by": None
                if member.throughput is None
                else "CPU time"
                if member.heartbeats is None
                else "heartbeats",
                "guarantee": None if member.keeper is None else str(member.keeper.guarantee),
                "guarantee_met": None if member.keeper is None else member.keeper.met,
                "guarantee_violations": 0 if member.keeper is None else member.keeper.violations,
                "eviction": self.evictions.describe(member.share.name),
                "memory_bytes": None if member.group is None else memory_bytes(member.group),
                "memory": self.memories.describe(member.share.name),
            }
            for member, cores, due in zip(self._members, now, dues(sum(now), shares), strict=True)
        ]
