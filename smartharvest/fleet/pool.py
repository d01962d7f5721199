"""The VMs that fill what regular ones leave: all evictable, of one kind, on every node. Pure.

Every hole is filled as soon as it is there, and a VM goes only when its minimum is needed, chosen
by chance. A Harvest VM takes whole cores beyond its minimum; those of one node share them equally.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from random import Random

import numpy as np
from numpy.typing import NDArray

from smartharvest.errors import ConfigError
from smartharvest.fleet.tables import Floats

_SLACK = 1e-9


@dataclass(frozen=True, slots=True)
class Kind:
    """What one VM of the pool is."""

    minimum: float
    """Cores it always has; needed for less, it is evicted."""
    most: float
    """Cores it has at most, those included."""
    per_node: float = math.inf
    """At most so many on a node."""
    memory_gib: float = 0.0
    """What it holds; 0: only cores are counted."""

    @property
    def harvests(self) -> bool:
        """Whether it grows beyond its minimum."""
        return self.most > self.minimum


HARVEST = Kind(1, 40, 1)
SPOT = Kind(1, 1)


def parse_harvest(text: str) -> Kind:
    """The kind of ``min=1,max=40,per-node=1,memory=0``; what is missing is of that.

    Raises ConfigError for anything else.
    """
    values = _values("--harvest", text, {"min": 1, "max": 40, "per-node": 1, "memory": 0})
    kind = Kind(values["min"], values["max"], values["per-node"], values["memory"])
    if kind.most < kind.minimum:
        raise ConfigError(f"--harvest: {text}: max is below min")
    return kind


def parse_spot(text: str) -> Kind:
    """The kind of ``cores=1,memory=0``. Raises ConfigError for anything else."""
    values = _values("--spot", text, {"cores": 1, "memory": 0})
    return Kind(values["cores"], values["cores"], memory_gib=values["memory"])


def _values(option: str, text: str, known: dict[str, float]) -> dict[str, float]:
    values = dict(known)
    for part in filter(None, text.split(",")):
        name, _, value = part.partition("=")
        try:
            number = float(value)
            if name not in known or not number < 1e6:
                raise ValueError
        except ValueError:
            names = ", ".join(f"{one}={known[one]:g}" for one in known)
            raise ConfigError(f"{option}: {part!r} is not understood; there are {names}") from None
        least = 0 if name == "memory" else 1 if name == "per-node" else 1e-3
        if number < least or (name == "per-node" and number != int(number)):
            raise ConfigError(f"{option}: {part!r}: {name} is too small or no whole number")
        values[name] = number
    return values


class Pool:
    """VMs of one ``kind`` on ``nodes`` nodes from ``from_s`` on; ``random`` picks whom to evict."""

    def __init__(self, kind: Kind, nodes: int, from_s: float, random: Random) -> None:
        self.kind = kind
        self._from_s = from_s
        self._random = random
        self._since = [from_s] * nodes
        self._extra = [0.0] * nodes
        self._born: list[list[float]] = [[] for _ in range(nodes)]
        self._lives: tuple[list[int], list[float], list[float]] = [], [], []  # node, born, died
        self.extra_core_s = 0.0
        self.vm_s = 0.0

    def count(self, node: int) -> int:
        """VMs on ``node`` now."""
        return len(self._born[node])

    def extra(self, node: int) -> float:
        """Cores that those on ``node`` have beyond their minimums."""
        return self._extra[node]

    def oldest_s(self, node: int) -> float:
        """When the longest-lived VM on ``node`` began; infinite without one."""
        born = self._born[node]
        return min(born) if born else math.inf

    def update(self, node: int, now_s: float, cores: float, memory_gib: float) -> None:
        """From ``now_s`` on so much of ``node`` is left; times never go back."""
        kind, born = self.kind, self._born[node]
        passed = now_s - self._since[node]
        if passed > 0:
            self._since[node] = now_s
            self.extra_core_s += self._extra[node] * passed
            self.vm_s += len(born) * passed
        room = min(kind.per_node, (cores + _SLACK) // kind.minimum)
        if kind.memory_gib > 0:
            room = min(room, (memory_gib + _SLACK) // kind.memory_gib)
        while len(born) > room:
            at = self._random.randrange(len(born)) if len(born) > 1 else 0
            born[at], born[-1] = born[-1], born[at]
            self._end(node, born.pop(), now_s)
        while len(born) < room:
            born.append(now_s)
        if kind.harvests:
            count = len(born)
            left = (cores + _SLACK) // 1.0 if count else 0.0
            self._extra[node] = max(
                0.0, min(left - count * kind.minimum, count * (kind.most - kind.minimum))
            )

    def _end(self, node: int, born_s: float, died_s: float) -> None:
        nodes, births, deaths = self._lives
        nodes.append(node)
        births.append(born_s)
        deaths.append(died_s)

    def close(self, until_s: float, left: Callable[[int], tuple[float, float]]) -> Lives:
        """Ends the count at ``until_s``; ``left`` says what is left of a node."""
        for node, born in enumerate(self._born):
            self.update(node, until_s, *left(node))
            for one in born:
                self._end(node, one, math.inf)
        nodes, births, deaths = self._lives
        return Lives(
            np.array(nodes, dtype=np.int64),
            np.array(births, dtype=np.float64),
            np.array(deaths, dtype=np.float64),
            self._from_s,
            until_s,
            self.extra_core_s,
            self.vm_s,
        )


@dataclass(frozen=True)
class Lives:
    """Every VM that a pool ever had; arrays of one length."""

    node: NDArray[np.int64]
    born_s: Floats
    died_s: Floats
    """When it was evicted; infinite: it was still there at the end (censored)."""
    from_s: float
    until_s: float
    extra_core_s: float
    """Core-seconds that all of them had beyond their minimums."""
    vm_s: float
    """Seconds that all of them were there."""

    @property
    def evictions(self) -> int:
        return int(np.isfinite(self.died_s).sum())

    @property
    def mean_extra_cores(self) -> float:
        """Of one VM, over the time it was there; 0 without any."""
        return self.extra_core_s / self.vm_s if self.vm_s > 0 else 0.0

    @cached_property
    def _seen(self) -> tuple[Floats, NDArray[np.bool_]]:
        """How long each was seen, ascending, and whether it died then."""
        died = np.isfinite(self.died_s)
        seen = np.where(died, self.died_s, self.until_s) - self.born_s
        order = np.argsort(seen, kind="stable")
        return seen[order], died[order]

    def survival(self, horizon_s: float) -> float:
        """Share of those there at a random moment that are there ``horizon_s`` later.

        Those that end with the window are no deaths: they count for as long as they were seen. It
        is the estimate of Kaplan and Meier over all moments: the rate of dying after u seconds is
        D(u) / R(u), with D the VMs that died and had lived u or longer, R the time that VMs were
        seen to live on beyond u. Falls with the horizon; 1 without any VM.
        """
        seen, died = self._seen
        if not len(seen):
            return 1.0
        steps = np.append(0.0, seen)
        at_s, to_s = np.minimum(steps[:-1], horizon_s), np.minimum(steps[1:], horizon_s)
        alive = np.arange(len(seen), 0, -1)
        deaths = np.cumsum(died[::-1])[::-1]
        lived = np.cumsum(seen[::-1])[::-1]
        at_risk, left = lived - alive * at_s, lived - alive * to_s
        counts = (to_s > at_s) & (deaths > 0)
        if (left[counts] <= 1e-9 * lived[counts]).any():
            return 0.0
        rates = deaths[counts] / alive[counts]
        return float(np.exp(-(rates @ np.log(at_risk[counts] / left[counts]))))

    def survival_from_birth(self, horizon_s: float) -> float:
        """Share of those born that live for ``horizon_s`` (Kaplan and Meier); 1 without any.

        Much lower than ``survival`` where few places see most births and deaths.
        """
        seen, died = self._seen
        times, deaths = np.unique(seen[died & (seen <= horizon_s)], return_counts=True)
        at_risk = len(seen) - np.searchsorted(seen, times, side="left")
        return float(np.prod(1.0 - deaths / at_risk))
