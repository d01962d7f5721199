"""What lending costs a primary, from how its tasks are dispatched.

No signal of one kind says that a wait was lending's doing: the same waits happen with nothing lent.
So dispatches in which something was lent are compared with the others.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Durations = tuple[tuple[int, int], ...]
"""A histogram: (duration of a bucket in ns, count), ascending, without the empty ones."""

LONG_WAIT_NS = 200_000
"""A longer wait is looked into (csrc/bpf/sensor_state.h: SH_BPF_LONG_WAIT_NS)."""
LEAST = 200
"""Wake-ups on each side from which on the two are compared: a P95 of fewer is chance."""
QUANTILES = {"p50": 0.5, "p95": 0.95, "p99": 0.99}


@dataclass(frozen=True)
class HarmSide:
    """Dispatches that something was lent in, or all others.

    Durations are (middle of a bucket in ns, count), ascending. ``waits`` has one for each dispatch;
    ``wakes_to_sleeps`` one for each wake-up: waiting and running until the next sleep. Of the
    ``long_waits`` (above LONG_WAIT_NS), ``behind_elastic``: elastic tasks used more CPU time than
    LONG_WAIT_NS since a CPU had last been idle; ``here``: they did on the task's own CPU;
    ``unjudged``: only the latter is known. ``agent_ns`` of the waits a thread of the agent had the
    CPU.
    """

    waits: Durations = ()
    wakes_to_sleeps: Durations = ()
    wait_ns: int = 0
    wake_to_sleep_ns: int = 0
    long_waits: int = 0
    behind_elastic: int = 0
    here: int = 0
    unjudged: int = 0
    agent_ns: int = 0

    @property
    def dispatches(self) -> int:
        return _count(self.waits)

    @property
    def wakes(self) -> int:
        return _count(self.wakes_to_sleeps)

    def plus(self, other: HarmSide) -> HarmSide:
        """Both together."""
        return HarmSide(
            waits=_merged(self.waits, other.waits),
            wakes_to_sleeps=_merged(self.wakes_to_sleeps, other.wakes_to_sleeps),
            wait_ns=self.wait_ns + other.wait_ns,
            wake_to_sleep_ns=self.wake_to_sleep_ns + other.wake_to_sleep_ns,
            long_waits=self.long_waits + other.long_waits,
            behind_elastic=self.behind_elastic + other.behind_elastic,
            here=self.here + other.here,
            unjudged=self.unjudged + other.unjudged,
            agent_ns=self.agent_ns + other.agent_ns,
        )

    def describe(self) -> dict[str, Any]:
        """As ``status`` has it (docs/reference/json.md)."""
        dispatches = self.dispatches
        return {
            "dispatches": dispatches,
            "wait_us": _quantiles_us(self.waits),
            "wakes": self.wakes,
            "wake_to_sleep_us": _quantiles_us(self.wakes_to_sleeps),
            "long_waits": self.long_waits,
            "behind_elastic": self.behind_elastic,
            "behind_elastic_here": self.here,
            "behind_elastic_share": self.behind_elastic / max(1, dispatches),
            "behind_elastic_here_share": self.here / max(1, dispatches),
            "unjudged": self.unjudged,
            "agent_share": self.agent_ns / max(1, self.wait_ns),
        }


@dataclass(frozen=True)
class Harm:
    """Of one primary in some time. ``lost``: sleeps whose wake-up nobody saw."""

    lent: HarmSide = field(default_factory=HarmSide)
    not_lent: HarmSide = field(default_factory=HarmSide)
    lost: int = 0

    def plus(self, other: Harm) -> Harm:
        """Both times together."""
        return Harm(
            self.lent.plus(other.lent), self.not_lent.plus(other.not_lent), self.lost + other.lost
        )

    @property
    def longer(self) -> dict[str, float] | None:
        """Wake-to-sleep times while lent over those while not, by quantile; None if either side
        has too few."""
        if min(self.lent.wakes, self.not_lent.wakes) < LEAST:
            return None
        lent, not_lent = self.lent.wakes_to_sleeps, self.not_lent.wakes_to_sleeps
        return {
            name: quantile(lent, q) / max(1, quantile(not_lent, q)) for name, q in QUANTILES.items()
        }

    def describe(self) -> dict[str, Any]:
        """As ``status`` has it."""
        return {
            "lent": self.lent.describe(),
            "not_lent": self.not_lent.describe(),
            "longer": self.longer,
            "lost": self.lost,
        }


def in_words(harm: Mapping[str, Any]) -> str:
    """One line about a description of ``Harm``."""
    lent, longer = harm["lent"], harm["longer"]
    if not lent["dispatches"]:
        return "no dispatch while something was lent"
    text = (
        f"behind elastic tasks {lent['behind_elastic_share']:.2%} of {lent['dispatches']} "
        f"dispatches, {lent['behind_elastic_here_share']:.2%} on their own CPU"
    )
    if longer is None:
        return f"{text}; too few to compare"
    return f"p95 x{longer['p95']:.2f}, p99 x{longer['p99']:.2f} of not lent; {text}"


def quantile(durations: Durations, q: float) -> int:
    """Middle of the bucket with quantile ``q`` (0..1), in ns; 0 if there are none."""
    rank, below = q * _count(durations), 0
    for middle_ns, count in durations:
        below += count
        if below >= rank:
            return middle_ns
    return 0


def _quantiles_us(durations: Durations) -> dict[str, float]:
    return {name: quantile(durations, q) / 1e3 for name, q in QUANTILES.items()}


def _count(durations: Durations) -> int:
    return sum(count for _, count in durations)


def _merged(one: Durations, other: Durations) -> Durations:
    sums = dict(one)
    for middle_ns, count in other:
        sums[middle_ns] = sums.get(middle_ns, 0) + count
    return tuple(sorted(sums.items()))
