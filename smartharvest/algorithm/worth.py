"""What a core is worth to each group, learned by small changes. Pure.

Sharing by the throughput a group has now feeds itself: who has more does more, and gets more. Here
a core, or a part of one, is tried elsewhere for a few seconds, and stays there if all groups
together do more for it. A group's throughput counts by what it does with an equal share, so that
heartbeats of one group can be held against CPU time of another.

Each trial lies between two measurements without it, and is repeated until it is beyond chance. What
chance does is measured, too: it is what differs between two measurements of the same division. So
next to others whose load varies, trials end in vain and the division stays.
"""

from __future__ import annotations

import itertools
import math
from collections import deque
from collections.abc import Mapping, Sequence

SETTLE_TURNS = 1
TURNS = 3
"""Of a measurement, after it has settled."""
RESTS = 10
"""Measurements without a trial once every trial was in vain: each costs a little."""
GAIN = 0.005
"""A trial has to gain this part beyond chance, or it is not worth a move."""
LEAST_REPEATS, MOST_REPEATS = 2, 8
"""Of one trial, before it is kept and before it is given up."""
LEAST_WEIGHT = 0.25
LEAST_KNOWN = 4
"""Differences without a trial that have to be known before the first trial."""
CHANCE = (7.17, 5.89, 5.21, 4.79, 4.50, 4.30, 4.14, 4.02, 3.93, 3.85, 3.79, 3.73, 3.69)
"""Standard errors that one in a thousand exceeds by chance, with LEAST_KNOWN and more differences
to know the error from: Student's t."""
_OF_A_DIFFERENCE = 0.75
"""Variance of a trial against the mean of two measurements, by that of one against another."""


class Worth:
    """Weights for ``names``, in cores: equal at first, then with one change tried after another."""

    def __init__(self, names: Sequence[str], total: float) -> None:
        equal = max(2 * LEAST_WEIGHT, total / max(1, len(names)))
        self._step = min(1.0, equal / 2)
        """A core, or less where equal shares are less than two: groups share by time then."""
        self.weights = dict.fromkeys(names, equal)
        self._usual: dict[str, float] = {}
        """Throughput of each for a core of an equal share."""
        self._pairs = list(itertools.permutations(names, 2))
        self._next = 0
        self._seen: list[dict[str, float]] = []
        self._settling = SETTLE_TURNS
        self._before: float | None = None
        """What all did in the last measurement without a trial, as a logarithm."""
        self._by_chance: deque[float] = deque(maxlen=LEAST_KNOWN + len(CHANCE) - 1)
        """Differences of such measurements, squared."""
        self._kept: dict[str, float] | None = None
        """The weights without the trial that is on; None: none is on."""
        self._tried: dict[str, float] | None = None
        """The weights of the trial that is being repeated."""
        self._during: float | None = None
        """What all did in the trial that has just ended, as a logarithm."""
        self._gains: list[float] = []
        """Of each repeat, as logarithms."""
        self._in_vain = self._rests = 0
        self.changes = 0
        """Trials that were kept."""

    def of(self, names: Sequence[str]) -> Worth:
        """For other groups: what is known of one stays, a new one begins with the mean."""
        if list(names) == list(self.weights):
            return self
        learned = self._kept or self.weights
        known = {name: learned[name] for name in names if name in learned}
        total = sum(learned.values())
        found = Worth(names, total)
        if known:
            mean = sum(known.values()) / len(known)
            scale = total / (sum(known.values()) + mean * (len(names) - len(known)))
            found.weights = {
                name: max(LEAST_WEIGHT, scale * known.get(name, mean)) for name in names
            }
            part = len(learned) / len(names)
            found._usual = {name: part * self._usual[name] for name in known if self._usual}
        return found

    def turn(self, throughput: Mapping[str, float | None], lent: float) -> None:
        """Once a second, with what each group did for each second, and the cores all had."""
        if lent <= 0 or any(throughput.get(name) is None for name in self.weights):
            return
        if self._settling:
            self._settling -= 1
            return
        self._seen.append({name: (throughput[name] or 0.0) / lent for name in self.weights})
        if len(self._seen) < TURNS:
            return
        means = {
            name: sum(row[name] for row in self._seen) / len(self._seen) for name in self.weights
        }
        self._seen, self._settling = [], SETTLE_TURNS
        for name, value in means.items():
            self._usual.setdefault(name, value or 1e-9)
        did = sum(means[name] / self._usual[name] for name in self.weights)
        self._measured(math.log(max(did, 1e-9)))

    def _measured(self, now: float) -> None:
        """With or without a trial; says what is measured next."""
        if self._kept is not None:
            self.weights, self._kept, self._during = self._kept, None, now
            return
        if self._before is not None:
            self._by_chance.append((now - self._before) ** 2)
        if self._before is not None and self._during is not None:
            self._gains.append(self._during - (self._before + now) / 2)
            self._during = None
            if self._judge():
                return
        self._before = now
        self._rests = max(0, self._rests - 1)
        if not self._rests and len(self._by_chance) >= LEAST_KNOWN:
            self._try()

    def _judge(self) -> bool:
        """Keeps the trial (True), gives it up, or leaves it to be repeated."""
        assert self._tried is not None
        gain = sum(self._gains) / len(self._gains)
        if len(self._gains) >= LEAST_REPEATS and gain > self._beyond_chance(len(self._gains)):
            self.weights, self._before = self._tried, None
            self.changes += 1
            self._in_vain = 0
            self._next -= 1  # the same again
        elif len(self._gains) < MOST_REPEATS and gain > self._beyond_chance(MOST_REPEATS):
            return False
        else:
            self._in_vain += 1
            if self._in_vain >= len(self._pairs):
                self._in_vain, self._rests = 0, RESTS
        self._gains, self._tried = [], None
        return self._before is None

    def _beyond_chance(self, repeats: int) -> float:
        """What the mean of so many repeats has to gain."""
        known = len(self._by_chance)
        variance = _OF_A_DIFFERENCE * sum(self._by_chance) / known / repeats
        return GAIN + CHANCE[known - LEAST_KNOWN] * math.sqrt(variance)

    def _try(self) -> None:
        """The trial to repeat, or the next."""
        if self._tried is None:
            for _ in self._pairs:
                gains, loses = self._pairs[self._next % len(self._pairs)]
                self._next += 1
                if self.weights[loses] - self._step >= LEAST_WEIGHT:
                    self._tried = {**self.weights, gains: self.weights[gains] + self._step}
                    self._tried[loses] -= self._step
                    break
        if self._tried is not None:
            self._kept, self.weights = self.weights, self._tried
