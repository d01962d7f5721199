"""The elastic groups of one run: once a second what each has done, and what each is due.

Guarantees are looked at more often (algorithm/guarantee.py).
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from smartharvest.agent.arrangement import Arrangement
from smartharvest.agent.control_loop import ControlLoop
from smartharvest.agent.group_evictions import GroupEvictions
from smartharvest.agent.group_holds import GroupHolds
from smartharvest.agent.group_memory import GroupMemories
from smartharvest.agent.group_meter import (
    GroupMeter,
    OpenCounter,
    Totals,
    counts_instructions,
    difference,
)
from smartharvest.agent.group_promise import GroupCores, GroupPromises
from smartharvest.agent.group_record import GroupRecord
from smartharvest.algorithm.demand import IDLE_CORES, TO_SHOW_WORK, TURNS, demand_of, largest
from smartharvest.algorithm.division import Share, divide, dues
from smartharvest.algorithm.eviction import needed_cores
from smartharvest.algorithm.guarantee import LOOK_S, Curve, Guarantee, Keeper
from smartharvest.algorithm.time_sharing import Lags, TimeSharing, due_of, had, weights
from smartharvest.algorithm.worth import Worth
from smartharvest.config.settings import Settings
from smartharvest.host.cgroup.memory import memory_bytes
from smartharvest.host.cgroup.tree import CgroupTree, Group
from smartharvest.host.process.instructions import open_counter

TURN_NS = 1_000_000_000
_A_LITTLE_LESS = 0.9
"""A look that comes a little early counts."""


@dataclass
class _Member:
    """One group, and what it has had so far."""

    share: Share
    target: str
    group: Group | None
    meter: GroupMeter
    seen: Totals = Totals()
    """At the last turn."""
    used_ns: int | None = None
    """CPU time over the run; None: not known."""
    core_ns: float = 0.0
    due_ns: float = 0.0
    """What it was due, second after second, of the CPU time that all groups used then."""
    throughput: float | None = None
    """By the meter's measure a second, over the last look; None: not known."""
    keeper: Keeper | None = None
    kept: Totals = Totals()
    """When the keeper was asked last, at ``kept_ns``, with so much core-time lent so far."""
    kept_ns: int = 0
    kept_core_ns: float = 0.0
    guarded_ns: float = 0.0
    """Core-time that the group has had, counted at each look."""
    evicted: bool = False
    pressed: bool = False
    """Whether the guarantee of another group takes cores."""
    here: bool = True
    """Whether the group exists."""
    curve: Curve = field(default_factory=Curve)
    demands: deque[int | None] = field(default_factory=lambda: deque(maxlen=TURNS))
    """Of the last turns."""

    @property
    def bounded(self) -> Share:
        """Its share, with what its guarantee asks for."""
        if self.evicted:  # its minimum is the primaries', and nobody else's
            least = int(self.share.min)
            return replace(self.share, max=max(1, least), demand=least)
        floor = 0.0 if self.keeper is None else self.keeper.least(pressed=self.pressed)
        return replace(self.share, min=max(self.share.min, floor))

    def goes_on_as(self, new: _Member) -> _Member:
        """With the bounds of ``new``, which a reload has given the group of this name."""
        same = self.target == new.target
        self.share = replace(new.share, demand=self.share.demand if same else None)
        self.target, self.group = new.target, new.group
        if not same or _guarantee(self.keeper) != _guarantee(new.keeper):
            self.keeper = new.keeper
        if not same:
            self.demands.clear()
            self.curve = Curve()
        if not self.meter.is_like(new.meter):
            self.meter.close()
            self.meter, self.seen, self.kept = new.meter, Totals(), Totals()
            self.curve = Curve()
        return self


def _nothing_of(share: Share) -> Share:
    return replace(share, min=0, max=0, demand=0)


def _guarantee(keeper: Keeper | None) -> Guarantee | None:
    return None if keeper is None else keeper.guarantee


def weight_writes(settings: Settings, tree: CgroupTree) -> Iterator[tuple[str, str]]:
    """(file, what it gets) of the weights that divide time among several groups."""
    for one in settings.elastic_groups if settings.divides else ():
        if (above := tree.group(one.target.value).directory("cpu")) is not None:
            name = "cpu.shares" if tree.version == 1 else "cpu.weight"
            yield f"{above}/{name}", "what it is due"


class GroupSharing:
    """Watches the groups and has what is lent divided by what they can use.

    The loop takes cores back regardless of it.
    """

    def __init__(
        self,
        arrangement: Arrangement,
        control: ControlLoop,
        audit: Callable[..., None],
        open_counter: OpenCounter = open_counter,
    ) -> None:
        self._open_counter = open_counter
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
        self._time_sharing = TimeSharing()
        self._lags = Lags()
        self._in_force: list[Share] = []
        """By which cores were divided last."""
        self._parts: dict[str, float] = {}
        """By name the weights in force, without what makes up for a lag."""
        self._looked = (0, 0)
        """(time, harvested core-time) at the last look at the guarantees, in ns."""
        self._lent = 0.0
        self.holds = GroupHolds(arrangement, self._places(), audit)
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
            counts = place is not None and counts_instructions(settings, group)
            meter = GroupMeter(place, group.heartbeats, self._open_counter if counts else None)
            member = _Member(share, str(group.target), place, meter)
            member.keeper = None if group.guarantee is None else Keeper(group.guarantee)
            yield member
        if not settings.elastic_groups:
            elastic = self._arrangement.elastic
            name = str(settings.elastic)
            place = None if elastic is None else elastic.group
            yield _Member(Share(name), name, place, GroupMeter(place))

    def _places(self) -> dict[str, Group]:
        """The groups that have a name."""
        return {
            member.share.name: member.group
            for member in self._members
            if member.group is not None and self._arrangement.settings.elastic_groups
        }

    def take_up(self, settings: Settings) -> None:
        """Goes on with other groups; those that were there before keep what is known of them."""
        had = {member.share.name: member for member in self._members}
        self._members = [
            new if (known := had.pop(new.share.name, None)) is None else known.goes_on_as(new)
            for new in self._find(settings)
        ]
        for member in had.values():
            member.meter.close()
        if self._worth is not None:
            self._worth = self._worth.of([member.share.name for member in self._members])
        self._take_weights()
        self._in_force = []
        self.holds.take_up(self._places())
        self.evictions.take_up(settings.elastic_groups)
        self._note_evicted()
        self._note_pressed()
        self.memories.take_up(settings)
        self._arrangement.regroup(settings, self._bounded())

    def close(self) -> None:
        """Closes what counts."""
        for member in self._members:
            member.meter.close()

    def turn(self, now_ns: int) -> bool:
        """Once a second, for guarantees more often: True if the loop has to take up other masks."""
        inhibited = self._control.controller.inhibited
        hold = inhibited.of("operator") or inhibited.of("guardian")
        self.memories.turn(now_ns, hold, self._has_its_minimum_only)
        if now_ns >= self._next_ns:
            return self._whole_turn(now_ns)
        if now_ns - self._looked[0] < LOOK_S * 1e9:
            return False
        return self._keep_guarantees(now_ns) and self._divide()

    def hold(self, name: str, how: str) -> dict[str, Any]:
        """Pauses or evicts one group for the operator. Raises TargetError or WriteRefused."""
        self.holds.hold(name, how)
        self._next_ns = 0  # the cores go to the others at once
        return {"group": name, how: True}

    def resume(self, name: str) -> dict[str, Any]:
        """Ends ``hold``. Raises WriteRefused."""
        was_held = self.holds.resume(name)
        self._next_ns = 0
        return {"group": name, "was_held": was_held}

    def resume_all(self) -> list[str]:
        """The names of those that were held."""
        self._next_ns = 0
        return self.holds.resume_all()

    def _whole_turn(self, now_ns: int) -> bool:
        elapsed_ns, self._last_ns = now_ns - self._last_ns, now_ns
        self._next_ns = now_ns + TURN_NS
        self._note_here()
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
            self._lent = self._total(lent_ns / polled_ns)
        self.holds.turn()
        had = self._had(lent_ns / polled_ns) if polled_ns > 0 else [0.0] * len(self._members)
        self._had_ns += max(0, polled_ns)
        if polled_ns > 0:
            names = [(member.share.name, int(member.share.min)) for member in self._members]
            self.promises.step(now_ns, [(*one, n) for one, n in zip(names, had, strict=True)])
        spent: list[float | None] = []
        for member, cores in zip(self._members, had, strict=True):
            member.core_ns += 0 if member.evicted else cores * max(0, polled_ns)
            then, member.seen = member.seen, member.meter.read()
            used_ns = difference(then.cpu_ns, member.seen.cpu_ns)
            if used_ns is not None:
                member.used_ns = (member.used_ns or 0) + used_ns
            spent.append(used_ns if member.here else 0.0)
            used = None if used_ns is None else used_ns / elapsed_ns
            member.throughput = member.meter.throughput(then, member.seen, elapsed_ns)
            member.demands.append(demand_of(used, cores))
            member.share = replace(member.share, demand=largest(member.demands))
            if member.throughput is not None:
                member.curve.note(cores, member.throughput)
        self._count_dues(spent, sum(had) * max(0, polled_ns))
        self._keep_guarantees(now_ns)
        self._weigh(had)
        changed = self._divide()
        now = self._cores(self._control.loop.harvested)
        self._record.turn(now_ns, self._members, now, self._arrangement.mechanism.division)
        return changed

    def _count_dues(self, spent: Sequence[float | None], had_ns: float) -> None:
        """Of the last second: of what was ``spent``, where that is known, else of what all had.

        Others on the host leave the groups more in one second than in the next. So what a group is
        due on average says little of what it should have used.
        """
        shares = self._in_force or self._shares()
        if len(shares) != len(self._members):
            return  # others came since
        known = [one for one in spent if one is not None]
        total = sum(known) if len(known) == len(spent) else had_ns
        due_ns = due_of(total, self._of_awake(shares), self._lent)
        used, due = {}, {}
        for member, mine, its_due in zip(self._members, spent, due_ns, strict=True):
            member.due_ns += its_due
            if mine is not None and member.share.name in self._time_sharing.names:
                used[member.share.name], due[member.share.name] = mine / 1e9, its_due
        self._lags.turn(used, due)

    def _divide(self) -> bool:
        """By what each is due now; True if the loop has to take up other masks."""
        if not self._arrangement.settings.divides:
            return False
        self._in_force = self._shares()
        division = self._arrangement.mechanism.division
        together: Collection[str] = ()
        if division is not None:
            both = zip(self._members, self._in_force, strict=True)
            shares = [share for member, share in both if member.here]
            parts = weights(shares, self._lent)
            if self._arrangement.mechanism.weigh(self._lags.corrected(parts)):
                self._parts = parts
                cores = self._arrangement.capacity.cores
                together = self._time_sharing.turn(cores, division, shares, self._lent)
        return self._arrangement.divide(self._bounded(), together)

    def _bounded(self) -> list[Share]:
        """What each group may have while it exists."""
        return [self.holds.bound(member.bounded) for member in self._members]

    def _shares(self) -> list[Share]:
        """What each group may have now: one that does not exist is due nothing."""
        both = zip(self._members, self._bounded(), strict=True)
        return [share if member.here else _nothing_of(share) for member, share in both]

    def _of_awake(self, shares: Sequence[Share]) -> list[Share]:
        """The same of ``shares``: an evicted group's cores are the primaries', and nobody's due."""
        both = zip(self._members, shares, strict=True)
        return [_nothing_of(share) if member.evicted else share for member, share in both]

    def _note_here(self) -> None:
        if self._arrangement.settings.divides:
            for member in self._members:
                member.here = member.group is None or member.group.cpuset_path is not None

    def _evict(self, now_ns: int, demand: float, lent: float) -> None:
        """Takes even minima back that the primaries need, both in cores on average."""
        needed = needed_cores(self._arrangement.capacity.total, demand, lent)
        long_term = self._control.controller.long_term
        rests = long_term is not None and long_term.rest_left_ns(now_ns) > 0
        emergency = "the primaries wait too long for CPUs" if needed and rests else None
        self.evictions.turn(now_ns, needed, emergency)
        self._note_evicted()

    def _note_evicted(self) -> None:
        for member in self._members:
            member.evicted = self.evictions.is_evicted(member.share.name)

    def _has_its_minimum_only(self, name: str) -> bool:
        """Whether the group keeps no memory beyond its minimum, because it is evicted."""
        return self.evictions.is_evicted(name) or self.holds.is_evicted(name)

    def _keep_guarantees(self, now_ns: int) -> bool:
        """Asks each keeper that has seen enough. True if one wants another number of cores."""
        if all(member.keeper is None for member in self._members):
            return False
        counters = self._control.counters()
        before = self._looked
        self._looked = (now_ns, counters["harvested_core_ns"])
        elapsed_ns = now_ns - before[0]
        lent_ns = self._looked[1] - before[1]
        if before == (0, 0) or elapsed_ns <= 0:
            return False
        had = self._had(max(0.0, lent_ns / elapsed_ns))
        equal = sum(had) / max(1, sum(member.here for member in self._members))
        changed = False
        for member, cores in zip(self._members, had, strict=True):
            member.guarded_ns += cores * elapsed_ns
            keeper = member.keeper
            if keeper is None:
                continue
            floor = keeper.floor
            if member.evicted or self.holds.is_held(member.share.name):
                keeper.rest()
                self._record.look_at_guarantee(now_ns, member, None)
            elif now_ns - member.kept_ns >= _A_LITTLE_LESS * keeper.look_ns:
                self._keep_guarantee(member, keeper, now_ns, equal)
            changed |= keeper.floor != floor
        return self._note_pressed() or changed

    def _note_pressed(self) -> bool:
        """Whose guarantees have to hold next to another's that takes cores; True if others than
        before."""
        taking = [one for one in self._members if one.keeper is not None and one.keeper.floor]
        before = [member.pressed for member in self._members]
        for member in self._members:
            member.pressed = any(one is not member for one in taking)
        return before != [member.pressed for member in self._members]

    def _keep_guarantee(
        self, member: _Member, keeper: Keeper, now_ns: int, equal_share: float
    ) -> None:
        """One look. What a group without work lacks no core can give it: its guarantee rests."""
        then, since_ns = member.kept, now_ns - member.kept_ns
        mean = (member.guarded_ns - member.kept_core_ns) / since_ns
        member.kept, member.kept_ns = member.meter.read(), now_ns
        member.kept_core_ns = member.guarded_ns
        did = member.meter.throughput(then, member.kept, since_ns)
        used_ns = difference(then.cpu_ns, member.kept.cpu_ns)
        beats = did if member.meter.measure == "heartbeats" else None
        is_idle = used_ns is not None and used_ns <= IDLE_CORES * since_ns and not beats
        if is_idle and equal_share >= TO_SHOW_WORK:
            if member.share.demand == 0:  # a pause in its work is shorter
                keeper.rest()
        else:
            most = int(min(member.share.most, len(self._arrangement.capacity.pool)))
            keeper.turn(did, mean, member.curve.at(equal_share), most)
        self._record.look_at_guarantee(now_ns, member, did)

    def _weigh(self, had: Sequence[float]) -> None:
        """Learned weights, if the groups share by throughput."""
        if self._arrangement.settings.share != "throughput":
            return
        names = [member.share.name for member in self._members]
        lent = sum(had)
        if self._worth is None and lent <= 0:
            return
        if self._worth is None:
            self._worth = Worth(names, lent)
        self._worth.turn({one.share.name: one.throughput for one in self._members}, lent)
        self._take_weights()

    def _take_weights(self) -> None:
        """Those that have been learned, if any."""
        learned = {} if self._worth is None else self._worth.weights
        for member in self._members:
            if (weight := learned.get(member.share.name)) is not None:
                member.share = replace(member.share, weight=weight)

    def _total(self, harvested: float) -> float:
        """Cores that all groups together have with so many harvested on average."""
        capacity = self._arrangement.capacity
        low = math.floor(harvested)

        def at(number: int) -> int:
            number = min(number, capacity.max_shared)
            return 0 if capacity.is_parked(number) else len(capacity.elastic_cpus(number))

        return at(low) + (harvested - low) * (at(low + 1) - at(low))

    def _had(self, harvested: float) -> list[float]:
        """Cores of each group with so many harvested on average."""
        low = math.floor(harvested)
        less, more = self._cores(low), self._cores(low + 1)
        part = harvested - low
        return [a + (b - a) * part for a, b in zip(less, more, strict=True)]

    def _cores(self, harvested: int) -> list[float]:
        """Cores of each group with so many harvested; of one that shares the others' 0."""
        capacity = self._arrangement.capacity
        harvested = min(harvested, capacity.max_shared)
        if capacity.is_parked(harvested):
            return [0 for _ in self._members]
        lent = frozenset(capacity.elastic_cpus(harvested))
        if len(self._members) == 1:
            return [len(lent)]
        division = self._arrangement.mechanism.division
        if division is None:  # in a dry run nobody has any
            division = divide(capacity.cores, self._shares())
        return [had(division, one.share.name, lent, self._parts) for one in self._members]

    def cores_now(self, most_lent: int) -> list[GroupCores]:
        """What each group has, and the bounds of that; ``most_lent`` beyond the minimum."""
        most = self._arrangement.capacity.elastic_min + most_lent
        return [
            GroupCores(
                member.share.name,
                member.target,
                int(cores),
                int(member.share.min),
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
        had = zip(self._members, self._cores(self._control.loop.harvested), strict=True)
        now = [0 if member.evicted else cores for member, cores in had]
        shares = self._of_awake(self._shares())
        division = self._arrangement.mechanism.division
        together = frozenset() if division is None else division.together.keys()
        return [
            {
                "name": member.share.name,
                "target": member.target,
                "cores": cores,
                "mean_cores": member.core_ns / self._had_ns if self._had_ns else float(cores),
                "core_seconds": member.core_ns / 1e9,
                "due_core_seconds": member.due_ns / 1e9,
                "cpu_seconds": None if member.used_ns is None else member.used_ns / 1e9,
                "due": due,
                "min": int(member.share.min),
                "max": member.share.max,
                "throughput": member.throughput,
                "throughput_by": None if member.throughput is None else member.meter.measure,
                "divided_by": "time" if member.share.name in together else "cores",
                "guarantee": None if member.keeper is None else str(member.keeper.guarantee),
                "guarantee_met": None if member.keeper is None else member.keeper.met,
                "guarantee_violations": 0 if member.keeper is None else member.keeper.violations,
                "eviction": self.evictions.describe(member.share.name),
                **self.holds.describe(member.share.name),
                "memory_bytes": None if member.group is None else memory_bytes(member.group),
                "memory": self.memories.describe(member.share.name),
            }
            for member, cores, due in zip(self._members, now, dues(sum(now), shares), strict=True)
        ]
