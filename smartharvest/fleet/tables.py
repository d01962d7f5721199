"""The two tables every trace becomes: allocations (who held what, from when to when) and nodes.

As CSV they have one header line (docs/how-to/fleet.md): allocations ``id, cores, memory, start,
end, priority``, nodes ``id, cores, memory``; memory is in GiB, times are in seconds since the
trace's beginning. Pure.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from smartharvest.errors import TraceError

Floats = NDArray[np.float64]
Labels = Mapping[str, str]

DAY_S = 86400.0
REGULAR, EVICTABLE = 0, 1
"""Priorities, as in Azure's packing trace: 0 is high (regular), 1 is low (evictable)."""
MOST_TOO_LARGE = 0.01
"""Share of a public trace that may fit no node: it was recorded on others and has a few giants."""


@dataclass(frozen=True, slots=True)
class Constraints:
    """What a request asks of its node; every part is a set of labels, all of which must hold."""

    labels: Labels = field(default_factory=dict)
    """The labels it has itself."""
    selector: Labels = field(default_factory=dict)
    """Labels the node must have."""
    affinity: Labels = field(default_factory=dict)
    """Only nodes with a VM that has these labels; any node if none has."""
    anti_affinity: Labels = field(default_factory=dict)
    """No node with a VM that has these labels."""


@dataclass(frozen=True, slots=True)
class Allocations:
    """One row per VM or pod, in the order of the trace; arrays of one length n.

    ``end_s`` is infinite for what was still there when the trace ended (censored: not a death).
    """

    ids: Sequence[str]
    cores: Floats
    """Above 0; fractions are allowed."""
    memory_gib: Floats
    """0 or more."""
    start_s: Floats
    """0 or more, and below ``until_s``."""
    end_s: Floats
    """At least ``start_s``; infinite: censored."""
    priority: NDArray[np.int64]
    """REGULAR (0) or EVICTABLE (1)."""
    until_s: float
    """The end of the trace: what came or went later is not known."""
    constraints: Mapping[int, Constraints] = field(default_factory=dict)
    """Row -> constraints, of those rows that have any."""
    foreign: bool = False
    """It was recorded on other nodes: a few rows may be too large for those of a simulation."""

    def __len__(self) -> int:
        return len(self.cores)

    @property
    def censored(self) -> NDArray[np.bool_]:
        """Rows whose end is not known."""
        return np.isinf(self.end_s)

    def only(self, rows: NDArray[np.bool_]) -> Allocations:
        """The rows where ``rows`` (n) is true; the trace's end stays."""
        at: list[int] = np.flatnonzero(rows).tolist()
        kept = {new: self.constraints[old] for new, old in enumerate(at) if old in self.constraints}
        return Allocations(
            [self.ids[row] for row in at],
            self.cores[at],
            self.memory_gib[at],
            self.start_s[at],
            self.end_s[at],
            self.priority[at],
            self.until_s,
            kept,
            self.foreign,
        )


@dataclass(frozen=True, slots=True)
class Nodes:
    """One row per node; arrays of one length n, at least 1."""

    ids: Sequence[str]
    cores: Floats
    memory_gib: Floats
    labels: Sequence[Labels] = ()
    """One per node, or none at all."""

    def __len__(self) -> int:
        return len(self.cores)

    @property
    def capacity(self) -> Floats:
        """(n, 2): cores and GiB."""
        return np.column_stack([self.cores, self.memory_gib])


def check_allocations(table: Allocations, where: str) -> Allocations:
    """Returns ``table`` if it is sound.

    Raises TraceError for an empty one, values that are not finite, nothing asked for, negative
    times, an end before the start, and one id twice at the same time.
    """
    if not len(table):
        raise TraceError(f"{where}: has no allocations; give a trace with at least one")
    wrong = (
        (~np.isfinite(table.cores) | (table.cores <= 0), "cores must be above 0"),
        (~np.isfinite(table.memory_gib) | (table.memory_gib < 0), "memory must be 0 or more"),
        (~np.isfinite(table.start_s), "start must be a finite number of seconds"),
        (table.start_s < 0, "start is negative; count seconds from the trace's beginning"),
        (np.isnan(table.end_s) | (table.end_s < 0), "end is negative or no number"),
        (table.end_s < table.start_s, "end is before start; both count from the trace's beginning"),
        ((table.priority != REGULAR) & (table.priority != EVICTABLE), "priority must be 0 or 1"),
    )
    for rows, why in wrong:
        if rows.any():
            raise TraceError(f"{where}: {table.ids[int(np.argmax(rows))]}: {why}")
    _check_ids(table, where)
    if not 0 < table.until_s < math.inf:
        raise TraceError(f"{where}: lasts no time: nothing in it starts or ends after 0 s")
    return table


def _check_ids(table: Allocations, where: str) -> None:
    """An id may come again once it has gone, and not before."""
    if len(set(table.ids)) == len(table):
        return
    gone: dict[str, float] = {}
    for row in np.argsort(table.start_s, kind="stable"):
        name = table.ids[row]
        if table.start_s[row] < gone.get(name, 0.0):
            raise TraceError(
                f"{where}: {name}: the id is there twice at {table.start_s[row]:g} s; "
                "give each allocation an id of its own"
            )
        gone[name] = float(table.end_s[row])


def check_nodes(nodes: Nodes, where: str) -> Nodes:
    """Returns ``nodes`` if they are sound. Raises TraceError for none, for equal ids, and sizes
    that are not above 0 (cores) or are negative (memory)."""
    if not len(nodes):
        raise TraceError(f"{where}: has no nodes; a cluster needs at least one")
    if len(set(nodes.ids)) < len(nodes):
        seen: set[str] = set()
        twice = next(name for name in nodes.ids if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise TraceError(f"{where}: {twice}: two nodes have this id")
    wrong = (
        (~np.isfinite(nodes.cores) | (nodes.cores <= 0), "cores must be above 0"),
        (~np.isfinite(nodes.memory_gib) | (nodes.memory_gib < 0), "memory must be 0 or more"),
    )
    for rows, why in wrong:
        if rows.any():
            raise TraceError(f"{where}: {nodes.ids[int(np.argmax(rows))]}: {why}")
    return nodes


def too_large(table: Allocations, nodes: Nodes) -> NDArray[np.bool_]:
    """(n) rows that fit no node even when it is empty.

    Raises TraceError if there are any, or, of a ``foreign`` trace, more than MOST_TOO_LARGE of its
    rows: it is of larger machines, and what it does on these says nothing.
    """
    fits = np.zeros(len(table), dtype=bool)
    for cores, memory in {(float(c), float(m)) for c, m in nodes.capacity}:
        fits |= (table.cores <= cores) & (table.memory_gib <= memory)
    large = ~fits
    if large.sum() > (MOST_TOO_LARGE * len(table) if table.foreign else 0):
        row = int(np.argmax(large))
        raise TraceError(
            f"{table.ids[row]}: asks for {table.cores[row]:g} cores and "
            f"{table.memory_gib[row]:g} GiB, and no node has that ({int(large.sum())} of "
            f"{len(table)} allocations fit no node); give larger --nodes"
        )
    return large
