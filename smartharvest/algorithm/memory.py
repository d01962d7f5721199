"""How much memory each elastic group may hold. Pure: a look a second in, limits in bytes out.

Two bounds hold together. *Unused*: what the host could still give away, with what the groups hold
of it, less a reserve that a primary can grow into before anything is answered. *Returnable*: memory
that no primary is allocated, and what swap takes of the rest. A page of a program that can go
nowhere is never taken back without a kill, so what a primary may claim is lent against swap only.

The sum is divided as cores are (division.py): first every minimum, then what each can use, then up
to its maximum. A limit falls at once and rises slowly, in rungs of a ladder that was journaled
before the first write. Any doubt leaves each group its minimum for REST_TURNS turns.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from smartharvest.algorithm.division import Share, dues

MIB = 1 << 20
RUNGS = 128
"""At most so many steps lie between a group's minimum and its maximum."""
UNIT = 64 << 10
"""Limits are whole numbers of these bytes, the largest page of the usual machines."""
RESERVE_SHARE = 1 / 16
"""Of the machine's memory; stays free whatever the primaries do."""
GROWTH_TURNS = 60
"""The reserve is twice what the primaries grew by in any one of so many turns."""
RISE_SHARE = 1 / 16
"""Of the way from minimum to maximum; a limit rises by this in one turn."""
REST_TURNS = 10
PRIMARY_STALL = 0.01
"""Share of a turn in which some task of a primary stood still for want of memory: more is harm."""
HOST_STALL = 0.05
"""The same of tasks outside the groups, anywhere on the host."""


@dataclass(frozen=True)
class HostMemory:
    """What the host has, in bytes; stalls are shares of the last turn."""

    total: int
    available: int
    """What could be given away without swap (MemAvailable), cached files of the groups included."""
    swap_free: int = 0
    stall: float = 0.0
    """Share of the turn in which some task of the host stood still for want of memory."""


@dataclass(frozen=True)
class PrimariesMemory:
    """All primaries together, in bytes."""

    held: int
    """What they use that is in no file, so that it cannot just be dropped."""
    allocated: int | None
    """What they may use at most; None: as much as there is."""
    stall: float = 0.0
    """Of the one that stood still longest."""


@dataclass(frozen=True)
class GroupMemory:
    """One elastic group, in bytes."""

    name: str
    min: int
    max: int
    """At least ``min``."""
    used: int
    """Charged to it."""
    held: int
    """Of ``used``: what is in no file, so that only swap takes it."""
    swap_room: int = 0
    """What it may still put into swap."""
    stall: float = 0.0
    weight: float = 1.0
    least_only: bool = False
    """Whether it is to have no more than its minimum, as while it is evicted."""


@dataclass(frozen=True)
class MemoryLimits:
    """What one turn came to."""

    due: Mapping[str, int]
    """Bytes each group is due, by its name."""
    limits: Mapping[str, int]
    """Bytes each may hold: a rung of its ladder."""
    why: str
    """What bounds the sum, in words."""
    reserve: int
    """Bytes kept free for the primaries."""


def ladder(least: int, most: int) -> tuple[int, ...]:
    """The limits that a group within ``least`` and ``most`` bytes can have, ascending.

    At most RUNGS + 1 multiples of UNIT; one if both are the same.
    """
    low, high = least // UNIT * UNIT, most // UNIT * UNIT
    step = max(UNIT, math.ceil((high - low) / RUNGS / UNIT) * UNIT)
    return (*range(low, high, step), high) if high > low else (low,)


def rung_below(rungs: Sequence[int], size: float) -> int:
    """The highest rung that is at most ``size``, or the lowest."""
    return max((rung for rung in rungs if rung <= size), default=rungs[0])


def rung_above(rungs: Sequence[int], size: float) -> int:
    """The lowest rung that is at least ``size``, or the highest."""
    return min((rung for rung in rungs if rung >= size), default=rungs[-1])


def doubt(
    host: HostMemory, primaries: PrimariesMemory | None, groups: Sequence[GroupMemory]
) -> str | None:
    """Why nothing beyond the minima may be held now; None: nothing says so.

    A limit makes its own group stand still, which the host's pressure contains. So what the groups
    explain of it does not count.
    """
    if primaries is not None and primaries.stall > PRIMARY_STALL:
        return f"a primary stood still for want of memory ({primaries.stall:.1%} of the time)"
    others = host.stall - sum(group.stall for group in groups)
    if others > HOST_STALL:
        return f"the host stood still for want of memory ({others:.1%} of the time)"
    return None


@dataclass
class MemorySharing:
    """What is remembered from turn to turn."""

    limits: dict[str, int] = field(default_factory=dict)
    _rest: int = 0
    """Turns until limits may rise again."""
    _because: str = ""
    _held: int | None = None
    _growths: deque[int] = field(default_factory=lambda: deque(maxlen=GROWTH_TURNS))

    def turn(
        self,
        host: HostMemory,
        primaries: PrimariesMemory | None,
        groups: Sequence[GroupMemory],
        *,
        hold: str | None = None,
    ) -> MemoryLimits:
        """Once a second. Without ``primaries``, or with a reason to ``hold``: the minima only."""
        self.limits = {one.name: self.limits[one.name] for one in groups if one.name in self.limits}
        reserve = self._reserve(host, primaries)
        because = hold or doubt(host, primaries, groups)
        if primaries is None:
            because = because or "no primary can be seen"
        if because is not None:
            self._rest, self._because = REST_TURNS, because
        elif self._rest:
            self._rest -= 1
        least = sum(group.min for group in groups)
        if self._rest or primaries is None:
            total, why = float(least), self._because
        else:
            total, why = _lendable(host, primaries, groups, reserve)
        beyond = 0 if primaries is None else _unallocated(host, primaries, groups)
        shares = [_share(group, host, beyond) for group in groups]
        due = {
            group.name: int(part)
            for group, part in zip(groups, dues(max(total, least), shares), strict=True)
        }
        for group in groups:
            self.limits[group.name] = self._next(group, due[group.name])
        return MemoryLimits(due, dict(self.limits), why, reserve)

    def _reserve(self, host: HostMemory, primaries: PrimariesMemory | None) -> int:
        """Twice the fastest growth that was seen of late, and never less than a part of all."""
        held = None if primaries is None else primaries.held
        if held is not None and self._held is not None:
            self._growths.append(max(0, held - self._held))
        self._held = held
        return max(int(host.total * RESERVE_SHARE), 2 * max(self._growths, default=0))

    def _next(self, group: GroupMemory, due: int) -> int:
        rungs = ladder(group.min, group.max)
        now = self.limits.get(group.name, rung_above(rungs, group.used))
        wanted, now = rung_below(rungs, due), rung_below(rungs, now)
        if wanted <= now:
            # One rung of noise moves nothing, unless it is the last.
            near = len([rung for rung in rungs if wanted < rung <= now]) == 1
            return now if near and wanted > rungs[0] else wanted
        step = (rungs[-1] - rungs[0]) * RISE_SHARE
        return max(now, rung_below(rungs, min(wanted, now + step)))


def _lendable(
    host: HostMemory,
    primaries: PrimariesMemory,
    groups: Sequence[GroupMemory],
    reserve: int,
) -> tuple[float, str]:
    """Bytes that all groups together may hold, and what bounds them."""
    least = sum(group.min for group in groups)
    unused = host.available + sum(group.held for group in groups) - reserve
    swap = min(host.swap_free, sum(group.swap_room for group in groups))
    returnable = least + _unallocated(host, primaries, groups) + swap
    if unused <= least:
        return least, "the primaries use the rest, but for the reserve"
    if unused <= returnable:
        return unused, "what the primaries leave unused, less the reserve"
    if swap:
        return returnable, "what can be taken back: unallocated memory, and what swap takes"
    return returnable, "memory that no primary is allocated: there is no swap for the rest"


def _unallocated(
    host: HostMemory, primaries: PrimariesMemory, groups: Sequence[GroupMemory]
) -> int:
    """Bytes beyond the minima that no primary may ever claim and nobody else uses."""
    if primaries.allocated is None:
        return 0
    held, least = sum(group.held for group in groups), sum(group.min for group in groups)
    others = max(0, host.total - host.available - primaries.held - held)
    taken = max(primaries.allocated, primaries.held) + others + least
    return max(0, host.total - taken - int(host.total * RESERVE_SHARE))


def _share(group: GroupMemory, host: HostMemory, beyond: int) -> Share:
    """Its bounds; beyond its minimum are ``beyond`` bytes of nobody's, and its room in swap."""
    room = beyond + min(host.swap_free, group.swap_room)
    most = group.min if group.least_only else min(group.max, group.min + room)
    demand = group.used + max(group.used // 4, 64 * MIB)
    return Share(group.name, group.weight, group.min, most, demand)
