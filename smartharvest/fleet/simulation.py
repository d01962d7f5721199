"""Regular VMs come and go as a trace says; evictable ones fill what is left. Pure, from a seed.

Only regular VMs decide who is where: evictable VMs never stand in their way. So Harvest VMs and
evictable VMs of a fixed size are each counted alone, over the same regular ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

import numpy as np
from numpy.typing import NDArray

from smartharvest.errors import ConfigError
from smartharvest.fleet.constraints import Labelled
from smartharvest.fleet.placement import NO_NODE, WAYS, Cluster, choose
from smartharvest.fleet.pool import HARVEST, SPOT, Kind, Lives, Pool
from smartharvest.fleet.tables import DAY_S, Allocations, Floats, Nodes, too_large

_PROGRESS_EVERY = 100
"""Arrivals and ends."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What to simulate."""

    place: str = "best-fit"
    """A name of placement.WAYS."""
    harvest: Kind = HARVEST
    spot: Kind = SPOT
    days: tuple[float, float] | None = None
    """From and to, in days of the trace; None: all of it. What came before is placed, too."""
    seed: int = 1


@dataclass(frozen=True, slots=True)
class Timeline:
    """What regular VMs left of one node: from ``times_s[k]`` on so much; arrays of one length."""

    times_s: Floats
    """Ascending; the first is the window's start."""
    cores: Floats
    memory_gib: Floats
    vms: NDArray[np.int64]
    """Regular VMs on the node."""


@dataclass(frozen=True, slots=True)
class Run:
    """What happened, from ``from_s`` to ``to_s``."""

    plan: Plan
    from_s: float
    to_s: float
    nodes: Nodes
    placed_on: NDArray[np.int64]
    """(allocations) the node of each, NO_NODE (-1): rejected, or after the end."""
    requested: NDArray[np.bool_]
    """(allocations) whether it came within the window."""
    timelines: Sequence[Timeline]
    """One per node."""
    harvest: Lives
    spot: Lives

    @property
    def seconds(self) -> float:
        return self.to_s - self.from_s

    @property
    def placed(self) -> int:
        return int((self.requested & (self.placed_on != NO_NODE)).sum())

    @property
    def rejected(self) -> int:
        return int((self.requested & (self.placed_on == NO_NODE)).sum())


def simulate(
    table: Allocations, nodes: Nodes, plan: Plan, progress: Callable[[int, int], None] | None = None
) -> Run:
    """Runs ``plan``; ``progress`` gets how many of all arrivals and ends are done.

    Raises ConfigError for an unknown way to place or days beyond the trace, TraceError if a VM is
    larger than every node (tables.too_large).
    """
    if plan.place not in WAYS:
        raise ConfigError(f"--place: {plan.place!r} is unknown; there are {', '.join(WAYS)}")
    from_s, to_s = _window(table, plan.days)
    # With the whole trace goes what came in its last moment.
    before = table.start_s < to_s if plan.days else table.start_s <= to_s
    if before.any():
        too_large(table.only(before), nodes)
    return _Simulation(table, nodes, plan, from_s, to_s).run(before, progress)


def _window(table: Allocations, days: tuple[float, float] | None) -> tuple[float, float]:
    if days is None:
        return 0.0, table.until_s
    from_s, to_s = days[0] * DAY_S, days[1] * DAY_S
    if not 0 <= from_s < to_s:
        raise ConfigError(f"--days: {days[0]:g}-{days[1]:g}: the first must be below the second")
    if to_s > table.until_s:
        raise ConfigError(
            f"--days: {days[0]:g}-{days[1]:g}: the trace ends after {table.until_s / DAY_S:g} days"
        )
    return from_s, to_s


class _Simulation:
    def __init__(
        self, table: Allocations, nodes: Nodes, plan: Plan, from_s: float, to_s: float
    ) -> None:
        self._table, self._nodes, self._plan = table, nodes, plan
        self._from_s, self._to_s = from_s, to_s
        self._way = WAYS[plan.place]
        self._cluster = Cluster.empty(nodes)
        self._labelled = Labelled(len(nodes), nodes.labels) if table.constraints else None
        self._harvest = Pool(plan.harvest, len(nodes), from_s, Random(f"harvest {plan.seed}"))
        self._spot = Pool(plan.spot, len(nodes), from_s, Random(f"spot {plan.seed}"))
        self._placed_on = np.full(len(table), NO_NODE, dtype=np.int64)
        self._vms = [0] * len(nodes)
        self._oldest = np.full(len(nodes), np.inf)
        self._log: list[list[tuple[float, float, float, int]]] = [[] for _ in range(len(nodes))]
        self._began = False
        self._now_s = -1.0
        self._touched: dict[int, None] = {}

    def run(self, before: NDArray[np.bool_], progress: Callable[[int, int], None] | None) -> Run:
        table, from_s, to_s = self._table, self._from_s, self._to_s
        starts, ends = table.start_s.tolist(), table.end_s.tolist()
        events = self._events(np.flatnonzero(before))
        for done, (row, arrives) in enumerate(events):
            if progress is not None and done % _PROGRESS_EVERY == 0:
                progress(done, len(events))
            now_s = starts[row] if arrives else ends[row]
            if now_s > self._now_s:
                self._settle(now_s)
            if arrives:
                self._arrive(row, now_s, ends[row])
            elif self._placed_on[row] != NO_NODE:
                self._change(row, 1)
        self._settle(to_s)
        return Run(
            self._plan,
            from_s,
            to_s,
            self._nodes,
            self._placed_on,
            before & (table.start_s >= from_s),
            [self._timeline(log) for log in self._log],
            self._harvest.close(to_s, self._left),
            self._spot.close(to_s, self._left),
        )

    def _events(self, rows: NDArray[np.intp]) -> list[tuple[int, bool]]:
        """(row, whether it arrives), in the order of time; at one moment those that leave first.

        Of arrivals at one moment the higher priority comes first, then the larger if the way has
        sizes, then the order of the table. What ends as it starts never leaves, nor does what ends
        after the window.
        """
        table = self._table
        size = np.zeros(len(rows))
        if self._way.size is not None and len(rows):
            asked = np.column_stack([table.cores[rows], table.memory_gib[rows]])
            size = self._way.size(asked / self._cluster.scale[:, 0])
        leaves = (table.end_s[rows] < self._to_s) & (table.end_s[rows] > table.start_s[rows])
        times = np.concatenate([table.start_s[rows], table.end_s[rows][leaves]])
        arrives = np.concatenate([np.ones(len(rows), bool), np.zeros(leaves.sum(), bool)])
        which = np.concatenate([rows, rows[leaves]])
        priority = np.concatenate([table.priority[rows], np.zeros(leaves.sum(), np.int64)])
        sizes = np.concatenate([size, np.zeros(leaves.sum())])
        order = np.lexsort((which, -sizes, priority, arrives, times))
        return list(zip(which[order].tolist(), arrives[order].tolist(), strict=True))

    def _settle(self, now_s: float) -> None:
        """Ends the last moment: fills what is free after it, once all who must go have gone.

        What leaves and what comes at one moment are one change: no VM lives for no time.
        """
        if self._began:
            for node in self._touched:
                self._refill(node, self._now_s)
        elif now_s > self._from_s:
            self._began = True
            for node in range(len(self._nodes)):
                self._refill(node, self._from_s)
        self._touched.clear()
        self._now_s = now_s

    def _arrive(self, row: int, now_s: float, end_s: float) -> None:
        table, cluster = self._table, self._cluster
        request = np.array([table.cores[row], table.memory_gib[row]])
        asks = table.constraints.get(row)
        allowed = None
        if self._labelled is not None and asks is not None:
            allowed = self._labelled.allowed(asks)
        if self._way.harvest_aware and self._began:
            np.maximum(now_s - self._oldest, 0.0, out=cluster.age_s)
        node = choose(self._way.score, request, cluster, allowed)
        self._placed_on[row] = node
        if node != NO_NODE and end_s > now_s:
            self._change(row, -1)

    def _change(self, row: int, sign: int) -> None:
        """What ``row`` holds is free again (1) or taken (-1)."""
        table, free = self._table, self._cluster.free
        node = int(self._placed_on[row])
        free[0, node] += sign * table.cores[row]
        free[1, node] += sign * table.memory_gib[row]
        self._vms[node] -= sign
        asks = table.constraints.get(row)
        if self._labelled is not None and asks is not None:
            (self._labelled.remove if sign > 0 else self._labelled.place)(node, asks)
        self._touched[node] = None

    def _refill(self, node: int, now_s: float) -> None:
        cluster, harvest = self._cluster, self._harvest
        cores, memory_gib = self._left(node)
        self._log[node].append((now_s, cores, memory_gib, self._vms[node]))
        harvest.update(node, now_s, cores, memory_gib)
        self._spot.update(node, now_s, cores, memory_gib)
        if self._way.harvest_aware:
            cluster.lent[node] = harvest.extra(node)
            cluster.minimum[node] = harvest.count(node) * harvest.kind.minimum
            self._oldest[node] = harvest.oldest_s(node)

    def _left(self, node: int) -> tuple[float, float]:
        free = self._cluster.free
        return float(free[0, node]), float(free[1, node])

    @staticmethod
    def _timeline(log: list[tuple[float, float, float, int]]) -> Timeline:
        columns = np.array(log, dtype=np.float64).reshape(-1, 4).T.copy()
        times_s, cores, memory_gib, vms = columns
        return Timeline(times_s, cores, memory_gib, vms.astype(np.int64))
