"""A trace of spot instances as a cluster of nodes of one core.

A missing instance counts as a node that a regular VM holds.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from smartharvest.fleet.csv_tables import read_nodes
from smartharvest.fleet.held import read_spot
from smartharvest.fleet.tables import REGULAR, Allocations, Nodes, check_allocations


def spot_cluster(path: str) -> tuple[Allocations, Nodes]:
    """Raises TraceError if ``path`` is no such trace."""
    there = read_spot(path)
    most = int(there.counts.max())
    taken = replace(there, counts=most - there.counts).lives()
    order = np.argsort(taken.born_s, kind="stable")
    count = len(order)
    table = Allocations(
        [f"vm-{row}" for row in range(count)],
        np.ones(count),
        np.ones(count),
        taken.born_s[order],
        taken.died_s[order],
        np.full(count, REGULAR),
        there.until_s,
    )
    return check_allocations(table, path), read_nodes(f"{most}x1c1g")
