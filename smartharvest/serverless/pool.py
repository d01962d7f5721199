"""The Resource Monitor's decision: how many nodes a pool of harvested cores should have. Pure.

It keeps the cores that the pool's nodes promise (not those of the moment) above a threshold, as the
Resource Monitor of "Faster and Cheaper Serverless Computing on Harvested Resources" (SOSP'21) does
with virtual machines. Level-triggered: each step follows from what is there now; what is kept
between steps is only how long it has been so.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from smartharvest.printable import counted


@dataclass(frozen=True, slots=True)
class PoolSettings:
    """What the pool is to have. Cores are promised cores; prices are in one currency an hour."""

    at_least: float
    """Cores that are to be promised together."""
    most: int
    """Ceiling: never ask for more nodes."""
    least: int = 0
    """Never ask for fewer nodes."""
    expected: float | None = None
    """Cores that a node to come will promise; None: the mean of those that are there."""
    price: float = 0.0
    """Of one node for an hour."""
    budget: float = math.inf
    """For all nodes for an hour."""
    spare: float = 0.25
    """Share above ``at_least`` that must be left before a node is given up."""
    grow_after_s: float = 30.0
    """Too few cores must have been promised for this long."""
    shrink_after_s: float = 600.0
    """More than enough must have been promised for this long, for each node given up."""
    settle_s: float = 180.0
    """A node has this long to come and to learn what it can promise."""
    longest_wait_s: float = 3600.0
    """Waiting doubles up to this where nodes that were asked for do not come."""
    silent_s: float = 60.0
    """A node that does not answer counts with its last promise for this long, then as nothing."""

    @property
    def ceiling(self) -> int:
        """Nodes that may be asked for: ``most``, or as many as the budget pays."""
        if self.price * self.most <= self.budget:
            return self.most
        return int(self.budget / self.price + 1e-9)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What to do now, and why."""

    ask: int | None
    """Have the autoscaler run this number of nodes; None: it does already."""
    why: str


@dataclass(slots=True)
class _Answered:
    at_s: float
    cores: int


class ResourceMonitor:
    """Turns promises into a number of nodes. ``goal`` is None before the first step."""

    def __init__(self, settings: PoolSettings) -> None:
        self.settings = settings
        self.goal: int | None = None
        self._last: dict[str, _Answered] = {}
        self._short_since_s: float | None = None
        self._ample_since_s: float | None = None
        self._grown_at_s = -math.inf
        self._wait_s = settings.settle_s

    def step(self, now_s: float, nodes: Mapping[str, int | None], asked: int | None) -> Verdict:
        """``nodes`` maps each node's name to its promised cores, None if it does not answer.

        ``asked`` is the number that the autoscaler is set to, None if it does not say. A number
        above the goal is taken over (somebody asked for more) and given up slowly; one below is
        asked for again.
        """
        settings = self.settings
        known = asked if asked is not None else len(nodes)
        self.goal = known if self.goal is None else max(self.goal, asked or 0)
        promised, silent = self._promised(now_s, nodes)
        if 2 * silent > len(nodes):
            self._short_since_s = self._ample_since_s = None
            why = f"{silent} of {counted(len(nodes), 'node')} do not answer; nothing is changed"
            return self._verdict(asked, why)
        missing = max(0, self.goal - len(nodes))
        if not missing:
            self._wait_s = settings.settle_s
        change = self._grow(now_s, nodes, promised, missing)
        if change is None:
            change = self._shrink(now_s, nodes, promised, silent + missing)
        self.goal = max(settings.least, min(self.goal, settings.ceiling))
        by = counted(len(nodes), "node")
        said = f"{promised} of {settings.at_least:g} cores promised by {by}"
        return self._verdict(asked, f"{said}; {change}" if change else said)

    def _verdict(self, asked: int | None, why: str) -> Verdict:
        return Verdict(self.goal if self.goal != asked else None, why)

    def _promised(self, now_s: float, nodes: Mapping[str, int | None]) -> tuple[int, int]:
        """(cores promised by all, nodes that do not answer)."""
        self._last = {name: seen for name, seen in self._last.items() if name in nodes}
        for name, cores in nodes.items():
            if cores is not None:
                self._last[name] = _Answered(now_s, cores)
        fresh = [s.cores for s in self._last.values() if now_s - s.at_s <= self.settings.silent_s]
        return sum(fresh), sum(cores is None for cores in nodes.values())

    def _grow(
        self, now_s: float, nodes: Mapping[str, int | None], promised: int, missing: int
    ) -> str | None:
        """What a shortage led to; None without one."""
        settings = self.settings
        if promised >= settings.at_least:
            self._short_since_s = None
            return None
        if self._short_since_s is None:
            self._short_since_s = now_s
        assert self.goal is not None
        if now_s - self._grown_at_s < self._wait_s:
            return f"{counted(missing, 'node')} still to come" if missing else "the new ones settle"
        if now_s - self._short_since_s < settings.grow_after_s:
            return "waiting whether that lasts"
        if missing:
            # More of what does not come is no help: the same is asked for, ever more seldom.
            if math.isfinite(self._grown_at_s):
                self._wait_s = min(2 * self._wait_s, settings.longest_wait_s)
            self._grown_at_s = now_s
            return f"{counted(missing, 'node')} did not come; looking again in {self._wait_s:g} s"
        add = math.ceil((settings.at_least - promised) / self._expected() - 1e-9)
        most = settings.ceiling
        there = max(self.goal, len(nodes))
        if there >= most:
            limit = "ceiling" if most == settings.most else "budget"
            return f"the {limit} of {counted(most, 'node')} is reached"
        self.goal = min(there + add, most)
        self._grown_at_s = now_s
        return f"{counted(self.goal - there, 'node')} more"

    def _shrink(
        self, now_s: float, nodes: Mapping[str, int | None], promised: int, uncertain: int
    ) -> str | None:
        settings = self.settings
        largest = max((cores or 0 for cores in nodes.values()), default=0)
        assert self.goal is not None
        # The autoscaler chooses which node goes: it may be the largest.
        ample = promised - largest >= (1 + settings.spare) * settings.at_least
        if not ample or uncertain or len(nodes) > self.goal or self.goal <= settings.least:
            self._ample_since_s = None
        elif self._ample_since_s is None:
            self._ample_since_s = now_s
        elif now_s - self._ample_since_s >= settings.shrink_after_s:
            self._ample_since_s = now_s
            self.goal -= 1
            return "one node fewer will do"
        return None

    def _expected(self) -> float:
        """Cores that one more node will promise; at least one."""
        if self.settings.expected is not None:
            return max(1.0, self.settings.expected)
        promises = [seen.cores for seen in self._last.values() if seen.cores]
        return max(1.0, sum(promises) / len(promises)) if promises else 1.0
