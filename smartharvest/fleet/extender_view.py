"""What the extender knows: size and use of the nodes, and what their agents promise.

Written by the threads that ask, read by those that answer: a ``Known`` is made once per change and
replaced as a whole, so an answer never waits.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from smartharvest.fleet.extender import NOTHING_KNOWN, Known
from smartharvest.fleet.placement import Cluster

Document = Mapping[str, Any]


@dataclass(slots=True)
class _Node:
    cores: float | None = None
    memory_gib: float = 0.0
    used_cores: float = 0.0
    used_gib: float = 0.0
    taken: float = 0.0
    lent: float = 0.0
    minimum: float = 0.0
    promised: float = 0.0
    heard_s: float | None = None
    since_s: float = 0.0
    """Since when it has had more than its minimum."""


class View:
    """Nodes by name; what an agent said counts for ``stale_s`` seconds."""

    def __init__(self, stale_s: float) -> None:
        self._stale_s = stale_s
        self._nodes: dict[str, _Node] = {}
        self._lock = threading.Lock()
        self._known = NOTHING_KNOWN

    @property
    def known(self) -> Known:
        """As of the last ``renew``; never waits."""
        return self._known

    def set_size(self, name: str, cores: float, memory_gib: float) -> None:
        """What pods may have of a node (its allocatable)."""
        with self._lock:
            node = self._nodes.setdefault(name, _Node())
            node.cores, node.memory_gib = cores, memory_gib

    def set_used(self, used: Mapping[str, tuple[float, float, float]]) -> None:
        """Node -> cores, GiB and lent cores that its pods request; a node that is missing has none.

        Lent cores are those of ``smartharvest.io/cores``.
        """
        with self._lock:
            for name, node in self._nodes.items():
                node.used_cores, node.used_gib, node.taken = used.get(name, (0.0, 0.0, 0.0))

    def keep_only(self, names: set[str]) -> None:
        """Forgets all other nodes."""
        with self._lock:
            self._nodes = {name: node for name, node in self._nodes.items() if name in names}

    def hear(self, name: str, capacity: Document, now_s: float) -> None:
        """A capacity document of the node's agent (the Harvest Monitor's promise)."""
        cores = capacity["cores"]
        with self._lock:
            node = self._nodes.setdefault(name, _Node())
            lent = max(0.0, float(cores["now"] - cores["guaranteed"]))
            if node.heard_s is None or (node.lent <= 0 < lent):
                node.since_s = now_s
            node.lent, node.minimum = lent, float(cores["guaranteed"])
            node.promised = float(cores["promised"])
            node.heard_s = now_s

    def renew(self, now_s: float) -> None:
        """Makes what was set and heard visible; silence for ``stale_s`` is nothing heard."""
        with self._lock:
            names, nodes = list(self._nodes), list(self._nodes.values())
            if not nodes:
                self._known = NOTHING_KNOWN
                return
            heard = np.array(
                [n.heard_s is not None and now_s - n.heard_s <= self._stale_s for n in nodes]
            )
            sized = np.array([n.cores is not None for n in nodes])
            capacity = np.array([[n.cores or 0.0, n.memory_gib] for n in nodes]).T
            used = np.array([[n.used_cores, n.used_gib] for n in nodes]).T
            lent, minimum, promised, taken, since = (
                np.array([getattr(n, name) for n in nodes])
                for name in ("lent", "minimum", "promised", "taken", "since_s")
            )
        cluster = Cluster(
            capacity,
            np.maximum(capacity - used, 0.0),
            np.where(heard, lent, 0.0),
            np.where(heard, minimum, 0.0),
            np.where(heard, promised, 0.0),
            np.where(heard & (lent > 0), np.maximum(now_s - since, 0.0), 0.0),
        )
        at = {name: row for row, name in enumerate(names)}
        self._known = Known(at, cluster, sized, heard, taken)
