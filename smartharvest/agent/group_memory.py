"""The elastic groups' memory: carries out, once a second, what algorithm/memory.py decides.

Reads the host, the primaries and the groups; the limits go through the journaled writer
(mechanism/memory_limit.py). Where something cannot be read, the groups have their minima.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from smartharvest.agent.arrangement import Arrangement
from smartharvest.algorithm.memory import (
    GroupMemory,
    HostMemory,
    MemoryLimits,
    MemorySharing,
    PrimariesMemory,
)
from smartharvest.config.elastic_groups import ElasticGroup, MemoryBounds
from smartharvest.config.settings import Settings
from smartharvest.errors import SmartHarvestError
from smartharvest.host.cgroup.memory import (
    allocated_bytes,
    held_bytes,
    host_bytes,
    host_stalled_us,
    limit_file,
    memory_bytes,
    reclaim_file,
    stalled_us,
    swap_room,
)
from smartharvest.mechanism.memory_bounds import bounded_groups, no_controller
from smartharvest.mechanism.memory_limit import MemoryLimit

_log = logging.getLogger(__name__)

TURN_NS = 1_000_000_000
FOLLOW_NS = 50_000_000
"""How often a limit follows what is being taken back."""


class Stalls:
    """Shares of the time since the last look in which some task of each stood still."""

    def __init__(self) -> None:
        self._before: dict[str, tuple[int, int]] = {}
        self._now: dict[str, tuple[int, int]] = {}

    def begin(self) -> None:
        """Of another look: who was not in the last one is forgotten."""
        self._before, self._now = self._now, {}

    def share(self, name: str, now_ns: int, total_us: int | None) -> float:
        """0 the first time, and where the time is unknown."""
        if total_us is None:
            return 0.0
        then_ns, then_us = self._before.get(name, (now_ns, total_us))
        self._now[name] = now_ns, total_us
        elapsed_us = (now_ns - then_ns) / 1000
        return min(1.0, max(0, total_us - then_us) / elapsed_us) if elapsed_us > 0 else 0.0


class GroupMemories:
    """Of one run. ``audit`` gets a kind and details of what is done."""

    def __init__(self, arrangement: Arrangement, audit: Callable[..., None]) -> None:
        self._arrangement = arrangement
        self._audit = audit
        self._sharing = MemorySharing()
        self._stalls = Stalls()
        self._limits: dict[str, MemoryLimit] = {}
        self._groups: dict[str, tuple[ElasticGroup, MemoryBounds]] = {}
        self._last: MemoryLimits | None = None
        self._next_ns = self._follow_ns = 0
        self._began: dict[str, tuple[int, int]] = {}
        """Group -> when what it holds began to be taken back, and how much it held then."""
        self._taken: dict[str, int] = {}
        """Bytes taken back from each group over the run."""
        self._troubles: dict[str, str] = {}
        self.take_up(arrangement.settings)

    def take_up(self, settings: Settings) -> None:
        """Goes on with other groups; those that are gone get their owner's limit back."""
        groups = {group.name: (group, bounds) for group, bounds in bounded_groups(settings)}
        for name in self._groups.keys() - groups.keys():
            self._limits.pop(name).release()
            self._began.pop(name, None)
        undo = self._arrangement.undo
        for name, (group, bounds) in groups.items():
            if self._groups.get(name) == (group, bounds):
                continue
            if name in self._limits and self._groups[name][0].target == group.target:
                self._limits[name].close()
            elif name in self._limits:
                self._limits[name].release()
                self._began.pop(name, None)
            place = self._arrangement.tree.group(group.target.value)
            writer = None if undo is None else undo.writer
            self._limits[name] = MemoryLimit(place, bounds.min, bounds.max, writer)
        self._groups = groups

    def turn(self, now_ns: int, hold: str | None, evicted: Callable[[str], bool]) -> None:
        """Decides once a second, and follows more often what is being taken back.

        ``hold`` is why nothing beyond the minima may be lent; ``evicted`` says whether a group is.
        """
        if not self._groups:
            return
        if now_ns >= self._next_ns:
            self._next_ns, self._follow_ns = now_ns + TURN_NS, now_ns + FOLLOW_NS
            self._decide(now_ns, hold, evicted)
        elif now_ns >= self._follow_ns:
            self._follow_ns = now_ns + FOLLOW_NS
            for name, limit in self._limits.items():
                if limit.shrinks:
                    self._try(name, limit.follow)

    def _decide(self, now_ns: int, hold: str | None, evicted: Callable[[str], bool]) -> None:
        tree = self._arrangement.tree
        self._stalls.begin()
        groups = list(self._seen(now_ns, evicted))
        stalled = host_stalled_us(tree)
        if stalled is None and hold is None:
            hold = "this kernel does not tell who waits for memory (PSI)"
        try:
            sizes = host_bytes(tree)
        except (OSError, ValueError) as error:
            sizes = {"total": 0, "available": 0}
            hold = hold or f"the host's memory cannot be read: {error}"
        host = HostMemory(**sizes, stall=self._stalls.share("", now_ns, stalled))
        primaries = None if hold else self._primaries(now_ns)
        self._last = self._sharing.turn(host, primaries, groups, hold=hold)
        for group in groups:
            limit = self._limits[group.name]
            self._note(now_ns, group, self._last)
            self._try(
                group.name,
                lambda limit=limit, group=group: limit.aim(  # type: ignore[misc]
                    self._sharing.limits[group.name], group.used
                ),
            )

    def _seen(self, now_ns: int, evicted: Callable[[str], bool]) -> Iterator[GroupMemory]:
        """The groups that are there, as they are now."""
        for name, (group, _) in self._groups.items():
            place = self._arrangement.tree.group(group.target.value)
            used, held = memory_bytes(place), held_bytes(place)
            if used is None or limit_file(place) is None:
                if self._arrangement.tree.files.exists(place.path):
                    self._report(name, no_controller(place))
                continue
            share = self._arrangement.settings.share
            limit = self._limits[name]
            yield GroupMemory(
                name,
                limit.rungs[0],
                limit.rungs[-1],
                used,
                used if held is None else held,
                swap_room(place),
                self._stalls.share(f"elastic {name}", now_ns, stalled_us(place)),
                group.weight if share == "weight" else 1.0,
                evicted(name) or limit.trouble is not None,
            )

    def _primaries(self, now_ns: int) -> PrimariesMemory | None:
        """All that there are now; None where one cannot be read."""
        held, allocated, stall = 0, 0, 0.0
        unlimited = False
        for target in self._arrangement.primaries:
            group = target.group
            if group is None:  # a process, in any group
                unlimited = True
                continue
            mine = held_bytes(group)
            if mine is None:
                unlimited = True
                continue
            most = allocated_bytes(group)
            unlimited |= most is None
            held, allocated = held + mine, allocated + (most or 0)
            share = self._stalls.share(f"primary {target.spec}", now_ns, stalled_us(group))
            stall = max(stall, share)
        return PrimariesMemory(held, None if unlimited else allocated, stall)

    def _note(self, now_ns: int, group: GroupMemory, decided: MemoryLimits) -> None:
        """For the audit log: memory that has to come back, and how long that took."""
        name, target = group.name, decided.limits[group.name]
        began = self._began.get(name)
        if group.used > target and began is None:
            self._began[name] = now_ns, group.used
            self._audit(
                "memory taken back",
                group=name,
                bytes=group.used - target,
                limit_bytes=target,
                why=decided.why,
            )
        elif group.used <= target and began is not None:
            then_ns, then_used = self._began.pop(name)
            taken = max(0, then_used - group.used)
            self._taken[name] = self._taken.get(name, 0) + taken
            after_s = round((now_ns - then_ns) / 1e9, 3)
            self._audit("memory given back", group=name, bytes=taken, after_s=after_s)

    def _try(self, name: str, what: Callable[[], None]) -> None:
        try:
            what()
        except (SmartHarvestError, OSError, ValueError) as error:
            self._report(name, str(error))
            return
        trouble = self._limits[name].trouble
        if trouble is None:
            self._troubles.pop(name, None)
        else:
            self._report(name, trouble)

    def _report(self, name: str, why: str) -> None:
        """Once; a refused write is tried again."""
        if self._troubles.get(name) != why:
            self._troubles[name] = why
            _log.warning("memory of group %s: %s", name, why)

    def close(self) -> None:
        """Ends what is under way; what was written is restored with all else."""
        for limit in self._limits.values():
            limit.reclaimer.stop()
        for limit in self._limits.values():
            limit.close()

    # --- what is reported -------------------------------------------------------------------------

    def describe(self, name: str) -> dict[str, Any] | None:
        """As ``status`` has it; None for a group without bounds."""
        if name not in self._groups:
            return None
        group, bounds = self._groups[name]
        limit, last = self._limits[name], self._last
        place = self._arrangement.tree.group(group.target.value)
        began = self._began.get(name)
        now = memory_bytes(place)
        under_way = 0 if began is None or now is None else max(0, began[1] - now)
        return {
            "min_bytes": bounds.min,
            "max_bytes": bounds.max,
            "limit_bytes": limit.limit,
            "due_bytes": None if last is None else last.due.get(name),
            "why": None if last is None else last.why,
            "taking_back": began is not None,
            "taken_back_bytes": self._taken.get(name, 0) + under_way,
            "proactive": reclaim_file(place) is not None,
            "trouble": self._troubles.get(name),
        }

    def with_memory(self, rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """Rows of the capacity document, with what each may hold now, at least and at most."""
        return [row | {"memory": self._capacity(row["name"])} for row in rows]

    def _capacity(self, name: str) -> dict[str, int | None] | None:
        if name not in self._groups:
            return None
        bounds = self._groups[name][1]
        return {
            "now_bytes": self._limits[name].limit,
            "guaranteed_bytes": bounds.min,
            "most_bytes": bounds.max,
        }
