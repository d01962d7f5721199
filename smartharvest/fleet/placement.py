"""Where to put a request: one function a score, over all nodes at once. Pure.

A request is a vector r = (cores, GiB), a node has a = what is free (its capacity less what regular
VMs hold; evictable and Harvest VMs hold nothing against a regular one) and its capacity c. Both are
divided by the largest capacity of the cluster in each dimension, so that cores and GiB count alike.
A score is an array (n); the highest among the nodes that have room wins, the first of equal ones.
Sources: Panigrahy et al., "Heuristics for vector bin packing" (2011), Grandl et al., "Tetris"
(SIGCOMM'14). Best fit is the tightest node, worst fit the emptiest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from smartharvest.fleet.tables import Floats, Nodes

DAY_S: Final = 86400.0
NO_NODE: Final = -1
SLACK: Final = 1e-9
"""Sums of fractions of cores are exact up to here."""
HALF_TRUST_S: Final = 6 * 3600.0
"""A Harvest VM of this age counts half as much as one that is never evicted."""
EVICTION_CORES: Final = 8.0
"""So many cores an eviction costs besides its own: what has to be done again elsewhere."""
BROKEN_PROMISE: Final = 4.0
"""A promised core that is taken costs so many that were not promised."""
PACKING_CORES: Final = 10.0
"""So many cores an empty node is worth. On three openb clusters, which chose this value, regular
VMs are then rejected about as often as by the best fit (38, 55 and 32 times; 38, 55 and 30); less
saves more Harvest VMs and strews what is free."""


@dataclass(slots=True)
class Cluster:
    """What placement sees; arrays are of n nodes, their second dimension where there are two.

    ``free`` may change in place. Cores and GiB are of the same nodes in the same order.
    """

    capacity: Floats
    """(2, n): cores and GiB, as they are."""
    free: Floats
    """(2, n): what no regular VM holds."""
    lent: Floats
    """(n) cores that Harvest VMs have beyond their minimums."""
    minimum: Floats
    """(n) cores that are minimums of Harvest VMs."""
    promised: Floats
    """(n) cores that somebody was promised, of those lent or minimums."""
    age_s: Floats
    """(n) seconds that the longest-lived Harvest VM has been there; 0 without one."""
    scale: Floats = field(init=False)
    """(2, 1): the largest capacity in each dimension, or 1 where no node has any."""
    _shares: Floats = field(init=False)

    def __post_init__(self) -> None:
        largest = self.capacity.max(axis=1, keepdims=True)
        self.scale = np.where(largest > 0, largest, 1.0)
        self._shares = np.empty_like(self.free)

    @classmethod
    def empty(cls, nodes: Nodes) -> Cluster:
        """Nothing runs on ``nodes``."""
        capacity = np.ascontiguousarray(nodes.capacity.T)
        zeros = [np.zeros(len(nodes)) for _ in range(4)]
        return cls(capacity, capacity.copy(), *zeros)

    @property
    def shares(self) -> Floats:
        """(2, n): a, scaled."""
        return np.divide(self.free, self.scale, out=self._shares)

    def scaled(self, request: Floats) -> Floats:
        """(2): r, scaled."""
        return request / self.scale[:, 0]


Score = Callable[[Floats, Cluster], Floats]
"""(request (2): cores, GiB; cluster) -> (n) how good each node is; higher is better."""


def first_fit(request: Floats, cluster: Cluster) -> Floats:  # noqa: ARG001
    """-j: the first node in the order of the table."""
    return -np.arange(cluster.free.shape[1], dtype=np.float64)


def best_fit(request: Floats, cluster: Cluster) -> Floats:
    """-Σᵢ (aᵢ - rᵢ): the node that has least left."""
    return np.asarray(cluster.scaled(request).sum() - cluster.shares.sum(axis=0))


def worst_fit(request: Floats, cluster: Cluster) -> Floats:
    """Σᵢ (aᵢ - rᵢ): the node that has most left."""
    return np.asarray(cluster.shares.sum(axis=0) - cluster.scaled(request).sum())


def cosine(request: Floats, cluster: Cluster) -> Floats:
    """r·a / |r||a|: the node whose free resources have the request's proportions."""
    r, a = cluster.scaled(request), cluster.shares
    lengths = np.sqrt(np.einsum("ij,ij->j", a, a)) * np.sqrt(r @ r)
    return np.asarray(np.divide(r @ a, lengths, out=np.zeros(a.shape[1]), where=lengths > 0))


def dot_product(request: Floats, cluster: Cluster) -> Floats:
    """r·a: much is free of what is asked for (Tetris' alignment)."""
    return np.asarray(cluster.scaled(request) @ cluster.shares)


def l2_norm_diff(request: Floats, cluster: Cluster) -> Floats:
    """-Σᵢ (rᵢ - aᵢ)²: the node whose free resources are nearest to the request."""
    difference = cluster.shares - cluster.scaled(request)[:, np.newaxis]
    return np.asarray(-np.einsum("ij,ij->j", difference, difference))


def l2_norm_ratio(request: Floats, cluster: Cluster) -> Floats:
    """Σᵢ rᵢ / aᵢ, 0 where aᵢ is 0: the node of whose free resources most is used."""
    r, a = cluster.scaled(request)[:, np.newaxis], cluster.shares
    return np.asarray(np.divide(r, a, out=np.zeros_like(a), where=a > SLACK).sum(axis=0))


def least_harvested(request: Floats, cluster: Cluster) -> Floats:
    """-(w·(taken + K·evicted + B·broken) + P·Σᵢ (aᵢ - rᵢ)): where harvesting loses least. Ours.

    - taken: cores that Harvest VMs lose, max(0, r - idle) of those lent or minimums; idle cores
      are free and nobody's.
    - evicted: 1 if a minimum is among them. K = EVICTION_CORES.
    - broken: promised cores among them: what promises exceed that which remains.
      B = BROKEN_PROMISE.
    - w = age / (age + HALF_TRUST_S): what has lived long will live long, so it is worth more.
    - P = PACKING_CORES: it is the best fit where harvesting loses the same, and large requests keep
      their room.
    """
    has = cluster.lent + cluster.minimum
    idle = cluster.free[0] - has
    taken = np.clip(request[0] - idle, 0.0, has)
    evicted = (taken > cluster.lent + SLACK) & (cluster.minimum > 0)
    broken = np.clip(cluster.promised - (has - taken), 0.0, taken)
    worth = cluster.age_s / (cluster.age_s + HALF_TRUST_S)
    loss = worth * (taken + EVICTION_CORES * evicted + BROKEN_PROMISE * broken)
    return np.asarray(PACKING_CORES * best_fit(request, cluster) - loss)


def ffd_prod(requests: Floats) -> Floats:
    """(m) Πᵢ rᵢ of requests (m, 2), scaled: the size by which FFD takes them, largest first."""
    return np.asarray(requests.prod(axis=1))


def ffd_sum(requests: Floats) -> Floats:
    """(m) Σᵢ wᵢ rᵢ of requests (m, 2), scaled: the size by which FFD takes them.

    wᵢ is the mean of rᵢ: what is asked for most counts most.
    """
    return np.asarray(requests @ requests.mean(axis=0))


@dataclass(frozen=True, slots=True)
class Way:
    """A way to place: a score and, for first-fit decreasing, the size that orders a batch."""

    score: Score
    size: Callable[[Floats], Floats] | None = None
    harvest_aware: bool = False
    """Whether it looks at lent, minimum, promised and age_s."""


WAYS: Mapping[str, Way] = {
    "first-fit": Way(first_fit),
    "best-fit": Way(best_fit),
    "worst-fit": Way(worst_fit),
    "cosine": Way(cosine),
    "dot-product": Way(dot_product),
    "l2-norm-diff": Way(l2_norm_diff),
    "l2-norm-ratio": Way(l2_norm_ratio),
    "ffd-prod": Way(first_fit, ffd_prod),
    "ffd-sum": Way(first_fit, ffd_sum),
    "least-harvested": Way(least_harvested, harvest_aware=True),
}
"""By the name that ``--place`` takes. FFD orders what asks at the same time, and takes the first
node with room."""


def fits(request: Floats, cluster: Cluster) -> NDArray[np.bool_]:
    """(n) whether a node has room: rᵢ ≤ aᵢ in both dimensions."""
    free = cluster.free
    return np.asarray((free[0] >= request[0] - SLACK) & (free[1] >= request[1] - SLACK))


def choose(
    score: Score,
    request: Floats,
    cluster: Cluster,
    allowed: NDArray[np.bool_] | None = None,
) -> int:
    """The node for ``request`` among those that fit and are ``allowed`` (n); NO_NODE if none is."""
    room = fits(request, cluster)
    if allowed is not None:
        room &= allowed
    if not room.any():
        return NO_NODE
    if score is first_fit:
        return int(room.argmax())
    return int(np.where(room, score(request, cluster), -np.inf).argmax())
