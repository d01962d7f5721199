"""What is measured in a guest, and in which order. Pure."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bench.real import conditions as real
from bench.real.conditions import Condition

SIGMA = 0.3
"""Of the lognormal service time, as the demo's."""
QUEUE = "queue"
"""The demo's server."""


@dataclass(frozen=True)
class Experiment:
    """A primary's traffic and a batch."""

    name: str
    load: float
    """Share of all CPUs that the requests' work needs."""
    batch: str
    """A kind of batch.c."""
    service_us: float = 250.0
    """Median of a request's CPU time; lognormal."""
    gaps: bool = False
    """Whether the traffic pauses for some tenths of a second now and then."""
    shape: tuple[float, ...] = (1.0,)
    """Steps of the load within a slice, as multiples of it."""
    primary: str = QUEUE
    """The demo's server, or one of bench.real.primaries; then ``service_us`` is of no account."""
    second: str = ""
    """Another primary next to it, in a group of its own."""
    second_load: float = 0.0

    @property
    def mean_us(self) -> float:
        """Of a request's CPU time."""
        return self.service_us * math.exp(SIGMA**2 / 2)

    @property
    def about(self) -> str:
        kind = "bursty" if self.gaps else "in steps" if len(self.shape) > 1 else "steady"
        server = "" if self.primary == QUEUE else f"{self.primary}, "
        other = f", with {self.second} at {self.second_load:.0%}" if self.second else ""
        return f"{server}{self.load:.0%} load, {kind}{other}, next to {self.batch}"


EXPERIMENTS = (
    Experiment("queue-30-compute", 0.30, "compute"),
    Experiment("queue-30-forks", 0.30, "forks"),
    Experiment("bursty-30-forks", 0.30, "forks", gaps=True),
    Experiment("queue-50-compute", 0.50, "compute"),
    Experiment("queue-10-compute", 0.10, "compute"),
    Experiment("queue-30-slices", 0.30, "slices"),
    Experiment("millisecond-30-compute", 0.30, "compute", service_us=1000.0),
    Experiment("steps-20-compute", 0.20, "compute", shape=(1.0, 0.25, 2.0)),
    Experiment("memcached-30-forks", 0.30, "forks", primary="memcached"),
    Experiment("search-30-compute", 0.30, "compute", primary="search"),
    Experiment("two-20-10-compute", 0.20, "compute", second="memcached", second_load=0.10),
)
"""In the order of their worth: who has half an hour measures the first."""

_OF_REAL = {one.name: one for one in real.CONDITIONS}
WARM_UP_S = 1.0
"""Of adaptive, which remembers what it found: an emulated agent begins seconds later."""
LEARNS_S = 30.0
"""Its first trials and those of 20 s later, and its first rests."""
EVERYWHERE: Mapping[str, Any] = {"lend_shared": True, "long_term": "off"}
"""Settings of an agent that lends every core and takes none back for a wait."""
STRICT: Mapping[str, Any] = {**EVERYWHERE, "mechanism": "strict"}
ALONE, AGAIN = "alone", "alone again"
TASKS_TOO = f"{real.RIVAL}, tasks too"
EXCLUSIVE = f"{real.RECOMMENDED}, exclusive"
AUTO = f"{real.RECOMMENDED}, auto"
CONDITIONS: tuple[Condition, ...] = (
    Condition(ALONE, "no batch runs", batch=False),
    *(
        _OF_REAL[name]
        for name in (
            *(AGAIN, "sensing only", "nice 19", real.RIVAL, "static half", "fixed-buffer:1"),
            *("prev-peak", "smartharvest", "adaptive-quiet"),
        )
    ),
    Condition(TASKS_TOO, "each task of the batch is SCHED_IDLE as well", phase="cpu-idle"),
    *(
        Condition(
            f"{real.RIVAL} on {cpus}",
            "the batch under cpu.idle on so many CPUs, which are the primary's as well",
            phase=f"cpu-idle:{cpus}",
        )
        for cpus in (1, 2, 4)
    ),
    *(
        Condition(
            f"static split, {cpus}",
            f"{what} its own, and the others are the primary's",
            phase=f"apart:{cpus}",
        )
        for cpus, what in ((1, "the batch has a CPU of"), (2, "the batch has two CPUs of"))
    ),
    Condition(
        "alone, 2 fewer", "no batch runs, and two CPUs are nobody's", batch=False, phase="apart:2"
    ),
    Condition("fixed-buffer:2", "two idle cores are always kept", policy="fixed-buffer:2"),
    Condition("fixed-buffer:3", "three idle cores are always kept", policy="fixed-buffer:3"),
    Condition(
        real.RECOMMENDED,
        _OF_REAL[real.RECOMMENDED].about,
        policy=real.RECOMMENDED,
        warm_up_s=WARM_UP_S,
        learns_s=LEARNS_S,
    ),
    Condition(
        EXCLUSIVE,
        "cores that are lent are taken out of the primary's cpuset",
        policy=real.RECOMMENDED,
        settings={"placement": "exclusive"},
        warm_up_s=WARM_UP_S,
        learns_s=LEARNS_S,
    ),
    Condition(
        AUTO,
        "first as adaptive, and as exclusive once no way of sharing has given anything for 30 s",
        policy=real.RECOMMENDED,
        settings={"placement": "auto"},
        warm_up_s=WARM_UP_S,
        learns_s=2 * LEARNS_S,
    ),
    Condition(
        "smartharvest, exclusive",
        "the same with the paper's policy: the paper's two disjoint sets",
        policy="smartharvest",
        settings={"placement": "exclusive"},
        warm_up_s=0.5,
    ),
    Condition(
        "strict, adaptive",
        "every core is lent, and adaptive says how many CPUs the kernel keeps idle",
        policy="adaptive",
        settings={"mechanism": "strict", "lend_shared": True},
        warm_up_s=WARM_UP_S,
        learns_s=LEARNS_S,
    ),
    Condition(
        "smartharvest, strict",
        "the paper's policy, and a batch in a class below every normal task",
        policy="smartharvest",
        settings={"mechanism": "strict"},
        warm_up_s=0.5,
    ),
    *(
        Condition(name, about, policy="everywhere", settings=settings, warm_up_s=0.5)
        for name, about, settings in (
            ("everywhere", "every core is lent, under cpu.idle and the rescue", EVERYWHERE),
            ("strict", "the same, in a class below every normal task", STRICT),
            *(
                (
                    f"strict, {spare} spare",
                    "the same, and so many CPUs kept idle for who wakes",
                    {**STRICT, "strict_spare": spare},
                )
                for spare in (0, 2, 3)
            ),
        )
    ),
)
CORE = (ALONE, AGAIN, real.RIVAL, "fixed-buffer:1", "smartharvest", real.RECOMMENDED)
"""The rows that answer the page's question; all others come with more time."""


@dataclass(frozen=True)
class Step:
    """One slice that is to be measured."""

    experiment: Experiment
    condition: Condition
    round: int
    seed: int


def rounds_of(
    experiment: Experiment, conditions: Sequence[Condition], rounds: int, first: int, seed: int
) -> list[list[Step]]:
    """Interleaved rounds: every condition once in each, in an order drawn from the seed.

    ``first`` is how many whole rounds there are already: their numbers, and traffic, go on.
    """
    found = []
    for number in range(first, first + rounds):
        # Not by hash(), which differs from process to process.
        order = random.Random(f"{seed} {experiment.name} {number}")
        shuffled = order.sample(list(conditions), len(conditions))
        found.append([Step(experiment, one, number, seed * 1000 + number) for one in shuffled])
    return found


def whole_rounds(
    samples: Sequence[Mapping[str, Any]], experiment: str, kernel: str, conditions: Sequence[str]
) -> list[int]:
    """Numbers of the rounds in which each of ``conditions`` was measured."""
    rounds: dict[int, set[str]] = {}
    for one in samples:
        if one["experiment"] == experiment and one["kernel"] == kernel:
            rounds.setdefault(one["round"], set()).add(one["condition"])
    return sorted(number for number, seen in rounds.items() if seen >= set(conditions))


def next_round(samples: Sequence[Mapping[str, Any]], experiment: str, kernel: str) -> int:
    """The number after the highest of that experiment, whole or not."""
    own = [one for one in samples if (one["experiment"], one["kernel"]) == (experiment, kernel)]
    return 1 + max((one["round"] for one in own), default=-1)
