"""Several clusters out of one trace, none of which shares a VM with another. Pure, from a seed."""

from __future__ import annotations

import numpy as np

from smartharvest.errors import ConfigError
from smartharvest.fleet.tables import Allocations, Nodes


def divided(
    table: Allocations, nodes: Nodes, clusters: int, seed: int
) -> list[tuple[Allocations, Nodes]]:
    """Every node and every allocation goes to one of ``clusters``, by chance, evenly.

    Raises ConfigError if there are fewer nodes or allocations than clusters.
    """
    if clusters == 1:
        return [(table, nodes)]
    if clusters > min(len(nodes), len(table)):
        raise ConfigError(
            f"--clusters: {clusters}, and there are {len(nodes)} nodes and {len(table)} allocations"
        )
    chance = np.random.default_rng(seed)
    whose_row = chance.permutation(np.arange(len(table)) % clusters)
    whose_node = chance.permutation(np.arange(len(nodes)) % clusters)
    found = []
    for cluster in range(clusters):
        at = np.flatnonzero(whose_node == cluster).tolist()
        labels = [nodes.labels[node] for node in at] if nodes.labels else ()
        part = Nodes(
            [nodes.ids[node] for node in at], nodes.cores[at], nodes.memory_gib[at], labels
        )
        found.append((table.only(whose_row == cluster), part))
    return found
