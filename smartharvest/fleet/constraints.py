"""Affinity, anti-affinity and node selectors: which nodes a request may have. Pure.

As Kubernetes means them, with the node as the topology: a selector must hold for the node's labels,
affinity asks for a VM with these labels on the node, anti-affinity for none; and a VM that is there
keeps away those it has an anti-affinity to. An affinity that no VM of the cluster satisfies is
passed over for the first one, or a group could never begin.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from smartharvest.fleet.tables import Constraints, Labels

_Set = frozenset[tuple[str, str]]


def has(labels: Labels, asked: Labels) -> bool:
    """Whether ``labels`` has every key of ``asked`` with its value."""
    return all(labels.get(key) == value for key, value in asked.items())


class Labelled:
    """The labels of ``nodes`` (n, or none) and of the VMs that run on them.

    VMs are counted per node and set of labels, so a look costs as many operations on arrays as
    there are different sets.
    """

    def __init__(self, nodes: int, labels: Sequence[Labels] = ()) -> None:
        self._nodes = nodes
        self._labels = labels or [{}] * nodes
        self._running: dict[tuple[_Set, _Set], NDArray[np.int64]] = {}
        self._selected: dict[_Set, NDArray[np.bool_]] = {}

    def place(self, node: int, asks: Constraints) -> None:
        """A VM with ``asks`` has come to ``node``."""
        key = frozenset(asks.labels.items()), frozenset(asks.anti_affinity.items())
        if key not in self._running:
            self._running[key] = np.zeros(self._nodes, dtype=np.int64)
        self._running[key][node] += 1

    def remove(self, node: int, asks: Constraints) -> None:
        """A VM with ``asks`` has left ``node``."""
        key = frozenset(asks.labels.items()), frozenset(asks.anti_affinity.items())
        counts = self._running[key]
        counts[node] -= 1
        if not counts.any():
            del self._running[key]

    def allowed(self, asks: Constraints) -> NDArray[np.bool_]:
        """(n) the nodes that a VM with ``asks`` may have; room is not looked at."""
        allowed = self._selected_by(asks.selector).copy()
        near = np.zeros(self._nodes, dtype=bool)
        for (labels, keeps_away), counts in self._running.items():
            there = dict(labels)
            if (asks.anti_affinity and has(there, asks.anti_affinity)) or (
                keeps_away and has(asks.labels, dict(keeps_away))
            ):
                allowed &= counts == 0
            if asks.affinity and has(there, asks.affinity):
                near |= counts > 0
        return allowed & near if near.any() else allowed

    def _selected_by(self, selector: Labels) -> NDArray[np.bool_]:
        key = frozenset(selector.items())
        if key not in self._selected:
            self._selected[key] = np.array([has(labels, selector) for labels in self._labels])
        return self._selected[key]
