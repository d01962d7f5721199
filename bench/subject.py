"""What every benchmark is given, what it gives back, and how the page shows it."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeVar

T = TypeVar("T")

Figures = dict[str, object]
"""Part of the JSON document. A subject may have the key ``goals``, as ``goal`` makes them."""


class NotMeasurableError(Exception):
    """This machine, or its user's rights, cannot answer the question; the message says why."""


class Watch:
    """Follows a subject while it is measured."""

    def __init__(self) -> None:
        self.interrupted = False
        """Somebody wants an end: what is measured by now is to be kept, and nothing begun."""

    def advance(self, done: int, total: int, case: str) -> None:
        """Called before each case of a subject."""


@dataclass(frozen=True)
class Effort:
    """How long to measure: every case once a round, with ``share`` of its full samples."""

    rounds: int
    share: float
    seed: int
    watch: Watch = field(default_factory=Watch, compare=False)

    def samples(self, full: int) -> int:
        return max(1, round(self.share * full))

    def seconds(self, full: float) -> float:
        return self.share * full


@dataclass(frozen=True)
class Picture:
    """A picture beyond the distributions, which every group of two cases or more has."""

    group: tuple[str, ...]
    """Where in the subject's figures the cases stand."""
    metric: str
    """The key that is drawn; ``median_us`` or one of a row of values."""
    kind: Literal["bars", "lines"] = "bars"
    """Lines: cases named ``what_N`` are one line for each ``what``, over N."""
    caption: str = ""
    x: str = ""
    """What N counts."""
    log: bool = False


@dataclass(frozen=True)
class Subject:
    """One question; a module of bench has it as SUBJECT."""

    measure: Callable[[Effort], Figures]
    seconds: float
    """What it takes in full, in ROUNDS rounds on two CPUs: its part of the time all have."""
    title: str
    about: str
    """What a sample is, what its floor is and how to read the table, in Markdown."""
    pictures: tuple[Picture, ...] = ()
    least_s: float = 0.0
    """What of ``seconds`` fewer samples do not save, such as starting and settling."""
    quick: bool = True
    """Whether it is worth its time in a run of two minutes; if not, it runs there when named."""


ROUNDS, QUICK_ROUNDS = 5, 3
LEAST_SHARE = 0.05


def interleave(cases: Mapping[str, Callable[[], T]], effort: Effort) -> dict[str, list[T]]:
    """Runs all cases once a round, in an order drawn anew, and lists each one's results.

    A neighbour that is noisy for a while then meets all cases alike. Interrupted, it keeps the
    whole rounds it has; raises KeyboardInterrupt if there is none, or no more is to be begun.
    """
    if effort.watch.interrupted:
        raise KeyboardInterrupt
    rng = random.Random(effort.seed)
    results: dict[str, list[T]] = {name: [] for name in cases}
    try:
        for number in range(effort.rounds):
            for place, name in enumerate(rng.sample(list(cases), len(cases))):
                done = number * len(cases) + place
                effort.watch.advance(done, effort.rounds * len(cases), name)
                results[name].append(cases[name]())
    except KeyboardInterrupt:
        effort.watch.interrupted = True
        whole = min(map(len, results.values()))
        if whole == 0:
            raise
        return {name: of_case[:whole] for name, of_case in results.items()}
    return results


def goal(at_most: float, value: float) -> Figures:
    return {"goal": at_most, "value": value, "met": value <= at_most}
