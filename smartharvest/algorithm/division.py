"""The cores lent now, divided among several elastic groups. Pure.

Every core of the order of lending has one owner, so that a division is made for each number of
lent cores at once: the loop takes cores back from the end of the order and thinks nothing. Owners
are found by progressive filling in whole cores (Webster's method within bounds): each core goes to
the group that is furthest below its due. So the last core, the first to be taken back, is of the
group furthest above it.

A group's due is weighted max-min fair: first the minimum of each, then as much as it can use, then
up to its maximum (Harvest VMs share so, OSDI'20 section 8). Where whole cores cannot give that,
groups share what they own by time (time_sharing.py).

Both are monotone: more cores lower nobody's part, and a weight, bound or demand that rises, or a
group that appears, raises nobody's part but its own, which does not fall. Of whole cores that holds
where all are of one size and every group may have each; elsewhere a group's next core depends on
which were given out before.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

_ROUNDING = 1e-9
"""Part of the largest weight: a sum of weights below it is what rounding leaves of none."""


@dataclass(frozen=True)
class Share:
    """What one group may have; all counts are cores."""

    name: str
    weight: float = 1.0
    """Above 0."""
    min: float = 0
    """In parts of a core where a guarantee asks for that."""
    max: int | None = None
    """At least ``min``; None: all there are; 0: it is to have none."""
    demand: int | None = None
    """What it can use; None: all it gets. Cores that nobody can use are given out last."""
    cpus: frozenset[int] | None = None
    """The CPUs that it can be given; None: all."""

    @property
    def most(self) -> float:
        return float("inf") if self.max is None else self.max

    @property
    def cap(self) -> float:
        """What it can use within its bounds."""
        return self.most if self.demand is None else min(self.most, max(self.min, self.demand))


@dataclass(frozen=True)
class Division:
    """Who owns which CPU."""

    order: tuple[int, ...] = ()
    """The CPUs in the order they are lent."""
    owners: tuple[str | None, ...] = ()
    """Of each CPU of the order; None: nobody may have it."""
    together: Mapping[str, frozenset[int]] = field(default_factory=dict)
    """The groups that share by time what they own, and the CPUs of that each may use."""
    _of: dict[str, list[int]] = field(default_factory=dict, compare=False, repr=False)

    def __post_init__(self) -> None:
        for cpu, owner in zip(self.order, self.owners, strict=True):
            if owner is not None:
                self._of.setdefault(owner, []).append(cpu)

    def cpus(self, name: str) -> frozenset[int]:
        """All CPUs that the group ever has."""
        shared = self.together.get(name)
        return frozenset(self._of.get(name, ())) if shared is None else shared

    def owned(self, name: str) -> int:
        """How many CPUs are the group's in the division by whole cores."""
        return len(self._of.get(name, ()))

    def count(self, name: str, lent: frozenset[int] | int) -> int:
        """Cores it owns of those ``lent``, or of the first so many of the order."""
        cpus = frozenset(self.order[:lent]) if isinstance(lent, int) else lent
        return len(cpus.intersection(self._of.get(name, ())))

    def portion(self, name: str, lent: frozenset[int], weights: Mapping[str, float]) -> float:
        """Cores the group has of those ``lent``; ``weights`` divide what is shared by time.

        A whole number where it shares none.
        """
        mine = self.together.get(name)
        if mine is None:
            return self.count(name, lent)
        by_set: dict[frozenset[int], float] = {}
        for other, cpus in self.together.items():
            by_set[cpus] = by_set.get(cpus, 0.0) + weights.get(other, 1.0)
        weight = weights.get(name, 1.0)
        if len(by_set) == 1:
            return len(mine & lent) * weight / by_set[mine]
        return sum(
            weight / sum(all_of for cpus, all_of in by_set.items() if cpu in cpus)
            for cpu in mine & lent
        )

    @property
    def owner_of(self) -> Mapping[int, str | None]:
        return dict(zip(self.order, self.owners, strict=True))


def divide(
    cores: Sequence[Sequence[int]],
    shares: Sequence[Share],
    before: Mapping[int, str | None] | None = None,
    together: Collection[str] = (),
) -> Division:
    """Who owns each of ``cores``, which are lists of CPUs in the order they are lent.

    The groups named in ``together`` share by time what they own.

    The owner of a CPU ``before`` keeps it where that leaves nobody further from its due than half
    a core more. Takes some microseconds a core and group.
    """
    before = before or {}
    numbers = {share.name: index for index, share in enumerate(shares)}
    counts = [0] * len(shares)
    bounds = [(share.min, share.cap, share.most, share.weight) for share in shares]
    cpus = [share.cpus for share in shares]

    def key(index: int, half: float) -> tuple[int, float] | None:
        """How soon it is its turn; None: it has all it may have."""
        least, cap, most, weight = bounds[index]
        count = counts[index]
        if count >= most:
            return None
        phase = 0 if count < least else 1 if count < cap else 2
        return phase, (count + half) / weight

    heap = [
        (*turn, index, 0)
        for index in range(len(shares))
        if (turn := key(index, 0.5 * _size(cores))) is not None
    ]
    heapq.heapify(heap)
    owners: list[str | None] = []
    for core in cores:
        size = len(core)
        passed = []
        chosen = None
        while heap:
            top = heap[0]
            index = top[2]
            if top[3] != counts[index]:
                heapq.heappop(heap)  # it has got a core out of its turn
            elif not _fits(index, size, counts, bounds, cpus, core):
                passed.append(heapq.heappop(heap))
            else:
                chosen = index
                break
        if chosen is not None:
            keeper = numbers.get(before.get(core[0]) or "")
            if keeper is not None and _fits(keeper, size, counts, bounds, cpus, core):
                turn = key(keeper, 0.0)
                if turn is not None and turn[0] == heap[0][0] and turn[1] <= heap[0][1]:
                    chosen = keeper
            counts[chosen] += size
            turn = key(chosen, 0.5 * size)
            if turn is not None:
                heapq.heappush(heap, (*turn, chosen, counts[chosen]))
        for entry in passed:
            heapq.heappush(heap, entry)
        owners += [None if chosen is None else shares[chosen].name] * size
    order = tuple(cpu for core in cores for cpu in core)
    return Division(order, tuple(owners), _shared_sets(order, owners, shares, together))


def _shared_sets(
    order: Sequence[int],
    owners: Sequence[str | None],
    shares: Sequence[Share],
    together: Collection[str],
) -> dict[str, frozenset[int]]:
    """Of each group of ``together`` its CPUs: of what they own the first that it may have."""
    own = [cpu for cpu, owner in zip(order, owners, strict=True) if owner in together]
    everything = frozenset(own)
    found = {}
    for share in shares:
        if share.name in together:
            mine = own if share.cpus is None else [cpu for cpu in own if cpu in share.cpus]
            most = len(mine) if share.max is None else share.max
            cut = most < len(mine) or len(mine) < len(own)
            found[share.name] = frozenset(mine[:most]) if cut else everything
    return found


def _size(cores: Sequence[Sequence[int]]) -> int:
    return len(cores[0]) if cores else 1


def _fits(
    index: int,
    size: int,
    counts: Sequence[int],
    bounds: Sequence[tuple[float, float, float, float]],
    cpus: Sequence[frozenset[int] | None],
    core: Sequence[int],
) -> bool:
    """Whether the group may have the whole core besides what it has."""
    mine = cpus[index]
    return counts[index] + size <= bounds[index][2] and (mine is None or mine.issuperset(core))


def dues(total: float, shares: Sequence[Share]) -> list[float]:
    """What each group is due of ``total`` cores, in parts of a core.

    Their sum is ``total``, unless that is more than all may have together.
    """
    weights = [share.weight for share in shares]
    nothing, least = [0.0] * len(shares), [float(share.min) for share in shares]
    caps = [min(share.cap, max(total, share.min)) for share in shares]
    most = [min(share.most, max(total, share.min)) for share in shares]
    for lower, upper in ((nothing, least), (least, caps), (caps, most)):
        if total <= sum(upper):
            return _fill(total, lower, upper, weights)
    return most


def _fill(
    total: float, lower: Sequence[float], upper: Sequence[float], weights: Sequence[float]
) -> list[float]:
    """``weight * level`` of each within its bounds, for the level at which they add up."""

    within = [
        (min(low, high), high, weight)
        for low, high, weight in zip(lower, upper, weights, strict=True)
    ]
    changes = sorted(
        [
            *((low / weight, weight) for low, _, weight in within),
            *((high / weight, -weight) for _, high, weight in within),
        ]
    )
    """Levels from which on a group grows, or no longer does."""
    filled, growing, level = sum(low for low, _, _ in within), 0.0, 0.0
    nothing = _ROUNDING * max(weights, default=0.0)
    for at, weight in changes:
        if growing > nothing:
            more = filled + growing * (at - level)
            if more >= total:
                level += (total - filled) / growing
                break
            filled = more
        growing += weight
        level = at
    return [min(high, max(low, weight * level)) for low, high, weight in within]
