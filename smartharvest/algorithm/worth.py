"""What a core is worth to each group, learned by small changes. Pure.

Sharing by the throughput a group has now feeds itself: who has more does more, and gets more. Here
a core, or a part of one, is tried elsewhere for a few seconds, and stays there if all groups
together do more for it. A group's throughput counts by what it does with an equal share, so that
heartbeats of one group can be held against CPU time of another.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

SETTLE_TURNS = 1
TURNS = 3
"""Of a trial, after it has settled."""
RESTS = 10
"""Measurements without a trial once every trial was in vain: each costs a little."""
GAIN = 0.01
"""A trial has to gain this part, or it is noise."""
LEAST_WEIGHT = 0.25


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
        """What all did before the trial."""
        self._kept: dict[str, float] | None = None
        """The weights before the trial; None: none is on."""
        self._in_vain = self._rests = 0
        self.changes = 0
        """Trials that were kept."""

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
        if not self._usual:
            self._usual = {name: value or 1e-9 for name, value in means.items()}
        self._judge(sum(means[name] / self._usual[name] for name in self.weights))

    def _judge(self, now: float) -> None:
        """Keeps or undoes the trial that is on, or measures without one; then tries the next."""
        if self._kept is None:
            self._before = now
            self._rests = max(0, self._rests - 1)
            if not self._rests:
                self._try()
            return
        assert self._before is not None
        if now > self._before * (1 + GAIN):
            self.changes += 1
            self._in_vain = 0
            self._before, self._kept = now, None
            self._next -= 1  # the same again
            self._try()
        else:
            self.weights, self._kept = self._kept, None
            self._in_vain += 1
            if self._in_vain >= len(self._pairs):
                self._in_vain, self._rests = 0, RESTS

    def _try(self) -> None:
        for _ in self._pairs:
            gains, loses = self._pairs[self._next % len(self._pairs)]
            self._next += 1
            if self.weights[loses] - self._step >= LEAST_WEIGHT:
                self._kept = dict(self.weights)
                self.weights = {**self.weights, gains: self.weights[gains] + self._step}
                self.weights[loses] -= self._step
                return
