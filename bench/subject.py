"""What every benchmark is given and what it gives back."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")

Figures = dict[str, object]
"""Part of the JSON document. A subject may have the key ``goals``, as ``goal`` makes them."""


class NotMeasurableError(Exception):
    """This machine, or its user's rights, cannot answer the question; the message says why."""


@dataclass(frozen=True)
class Effort:
    """How long to measure: every case once a round, with ``share`` of its full samples."""

    rounds: int
    share: float
    seed: int

    def samples(self, full: int) -> int:
        return max(1, round(self.share * full))

    def seconds(self, full: float) -> float:
        return self.share * full


FULL = Effort(rounds=5, share=1.0, seed=1)
QUICK = Effort(rounds=5, share=0.2, seed=1)


def interleave(cases: Mapping[str, Callable[[], T]], effort: Effort) -> dict[str, list[T]]:
    """Runs all cases once a round, in an order drawn anew, and lists each one's results.

    A neighbour that is noisy for a while then meets all cases alike.
    """
    rng = random.Random(effort.seed)
    results: dict[str, list[T]] = {name: [] for name in cases}
    for _ in range(effort.rounds):
        for name in rng.sample(list(cases), len(cases)):
            results[name].append(cases[name]())
    return results


def goal(at_most: float, value: float) -> Figures:
    return {"goal": at_most, "value": value, "met": value <= at_most}
