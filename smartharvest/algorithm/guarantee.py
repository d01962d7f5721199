"""What a group is guaranteed, held in closed loop. Pure.

As in Hankendi and Coskun, "Autonomous Resource Sharing for Multi-Threaded Workloads in Virtualized
Servers", a user asks for 70 % of what equal shares give, or for four heartbeats a second. While a
guarantee is violated its group has more cores, whatever the division would give it: as many as its
throughput per core says it needs. Once it has been met for a while they go back little by little.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

LOOK_S = 0.5
"""How often it is compared, unless less than LEAST_BEATS are guaranteed in that time."""
LEAST_BEATS = 4
LONGEST_LOOK_S = 4.0
CALM_TURNS = 10
"""So many turns with the guarantee met before it is tried with less."""
MARGIN = 1.1
"""... and met by so much."""
HEADROOM = 1.05
"""What it is given above what it seems to need."""
LEAST_STEP = 0.25
"""Cores."""
MOST_GROWTH = 4
"""From one turn to the next: what a group did with few cores says little about many."""
_SHARE = re.compile(r"([0-9]{1,3}(?:\.[0-9]{1,3})?)\s*%")
_RATE = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)\s*/\s*s")


@dataclass(frozen=True)
class Guarantee:
    """Either of the two."""

    equal_share: float | None = None
    """A part, above 0 and at most 1, of what an equal share of the cores gives the group."""
    rate: float | None = None
    """Throughput a second, above 0: heartbeats."""

    @property
    def look_s(self) -> float:
        """How often it can be compared."""
        beats_s = LEAST_BEATS / self.rate if self.rate else 0.0
        return min(LONGEST_LOOK_S, max(LOOK_S, beats_s))

    def __str__(self) -> str:
        if self.rate is not None:
            return f"{self.rate:g}/s"
        return f"{100 * (self.equal_share or 0):g}%"


def parse_guarantee(text: str) -> Guarantee | None:
    """Of ``70%`` or ``4/s``; None if it is neither."""
    if (match := _SHARE.fullmatch(text.strip())) and 0 < float(match[1]) <= 100:
        return Guarantee(equal_share=float(match[1]) / 100)
    if (match := _RATE.fullmatch(text.strip())) and float(match[1]) > 0:
        return Guarantee(rate=float(match[1]))
    return None


class Curve:
    """What a group has done with each number of cores, in quarters, lately."""

    _NEW = 0.5

    def __init__(self) -> None:
        self._seen: dict[float, float] = {}

    def note(self, cores: float, throughput: float) -> None:
        """``throughput`` a second with so many cores on average."""
        number = round(4 * cores) / 4
        before = self._seen.get(number)
        now = throughput if before is None else before + self._NEW * (throughput - before)
        self._seen[number] = now

    def at(self, cores: float) -> float | None:
        """An estimate; None: nothing is known. Beyond what was seen it is proportional."""
        known = {number: value for number, value in self._seen.items() if number > 0}
        if not known or cores <= 0:
            return None
        nearest = min(known, key=lambda number: abs(number - cores))
        return known[nearest] * cores / nearest


class Keeper:
    """Holds one guarantee: how many cores the group has at least, beyond its minimum."""

    def __init__(self, guarantee: Guarantee) -> None:
        self.guarantee = guarantee
        self.met: bool | None = None
        """None: not known yet."""
        self.floor = 0.0
        """Cores that the group is to have; 0: what the division gives it."""
        self.needs = 0.0
        """Cores that it seemed to need at the last look, while the guarantee was met."""
        self.look_ns = round(1e9 * guarantee.look_s)
        self.violations = 0
        """How often it was violated."""
        self._calm = 0

    def turn(
        self, throughput: float | None, cores: float, at_equal_share: float | None, most: int
    ) -> None:
        """Once in ``Guarantee.look_s``, with its throughput since and the cores it had on average.

        ``at_equal_share`` is what an equal share would give it, ``most`` how many cores it could
        have at all.
        """
        wanted = self.guarantee.rate
        if wanted is None:
            part = self.guarantee.equal_share or 0.0
            wanted = None if at_equal_share is None else part * at_equal_share
        if throughput is None or wanted is None:
            self.met, self.floor, self.needs = None, 0.0, 0.0
            return
        self.violations += self.met is not False and throughput < wanted
        self.met = throughput >= wanted
        enough = HEADROOM * cores * wanted / throughput if throughput * cores > 0 else math.inf
        self.needs = min(cores, _on_rung(enough)) if self.met else 0.0
        if not self.met:
            self._calm = 0
            has = max(self.floor, cores)
            more = max(has + LEAST_STEP, min(enough, MOST_GROWTH * max(1.0, has)))
            self.floor = min(float(most), _rounded_up(more))
            return
        self._calm = self._calm + 1 if throughput >= MARGIN * wanted else 0
        if self.floor and self._calm >= CALM_TURNS:
            self._calm = 0
            less = min(self.floor, max(enough, self.floor - max(LEAST_STEP, self.floor / 4)))
            self.floor = less if less > _NOTHING else 0.0

    def rest(self) -> None:
        """Of a group that has no work, or is held: it is owed nothing, and nothing is violated."""
        self.met, self.floor, self.needs, self._calm = None, 0.0, 0.0, 0

    def least(self, *, pressed: bool) -> float:
        """Cores that the group is to have at least.

        ``pressed``: the guarantee of another group takes cores, which must not violate this one.
        """
        return self.floor or (self.needs if pressed else 0.0)


_NOTHING = 0.05
"""Cores."""


_RUNG = 1.2
"""Ratio of one number that a met guarantee may need to the next: small differences move nothing."""


def _on_rung(cores: float) -> float:
    """``cores`` or up to a fifth more."""
    return float(_RUNG ** math.ceil(math.log(cores, _RUNG))) if 0 < cores < math.inf else cores


def _rounded_up(cores: float) -> float:
    return math.ceil(100 * cores) / 100
