"""What the demo compares, and in which order and for how long."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Literal

from smartharvest.errors import ConfigError

MINIMUM_SECONDS = 12.0
SLICE_TARGET_S = 2.5
SLICE_MINIMUM_S = 0.5
"""About one on-period and one quiet gap."""
ROUNDS = (2, 12)
LEARNING_PART = 3 / 8
"""Of the time beyond the minimum, for all that learn together at most."""


@dataclass(frozen=True, slots=True)
class Phase:
    """One row of the comparison."""

    name: str
    policy: str | None
    """The agent's policy; None if no agent runs."""
    batch: Literal["minimum", "lent", "everywhere"]
    """Where the bully may run: on the elastic minimum alone, on what is lent beyond it too, or
    on every CPU of the pool."""
    learns_s: float = 0.0
    """Traffic before the first round for a policy that remembers what it has seen: an agent lives
    for days, a slice for seconds."""


PHASES = (
    Phase("no-harvest", None, "minimum"),
    Phase("sensing-only", "no-harvest", "minimum"),
    Phase("cpu-idle", None, "everywhere"),
    Phase("nice-19", None, "everywhere"),
    Phase("fixed-buffer:1", "fixed-buffer:1", "lent"),
    Phase("smartharvest", "smartharvest", "lent", learns_s=6.0),
    Phase("adaptive", "adaptive", "lent", learns_s=15.0),
)


def plan_rounds(seconds: float) -> int:
    """How many rounds of all phases fit into ``seconds``; ConfigError if not even two do."""
    if seconds < MINIMUM_SECONDS:
        raise ConfigError(
            f"--seconds: {seconds:g} is too short for {len(PHASES)} phases in {ROUNDS[0]} rounds;"
            f" give {MINIMUM_SECONDS:g} or more"
        )
    return max(ROUNDS[0], min(ROUNDS[1], round(seconds / len(PHASES) / SLICE_TARGET_S)))


def plan_learning_s(seconds: float) -> dict[Phase, float]:
    """How long each policy that learns does so before the first of the rounds."""
    wanted_s = sum(phase.learns_s for phase in PHASES)
    part = min(1.0, LEARNING_PART * (seconds - MINIMUM_SECONDS) / wanted_s)
    planned = {phase: part * phase.learns_s for phase in PHASES}
    return {phase: each_s for phase, each_s in planned.items() if each_s >= SLICE_MINIMUM_S}


def plan_order(rounds: int, seed: int) -> list[tuple[Phase, ...]]:
    """The order of the phases in each round: shuffled by ``seed``, rotated from round to round.

    No phase keeps its place, so that a machine that grows slower or noisier favours none.
    """
    shuffled = tuple(Random(seed).sample(PHASES, len(PHASES)))
    step = max(1, len(PHASES) // rounds)
    starts = [number * step % len(PHASES) for number in range(rounds)]
    return [shuffled[start:] + shuffled[:start] for start in starts]


def plan_slice_s(remaining_s: float, slices_left: int, overhead_s: float) -> float:
    """Seconds of each of the slices left, when each costs ``overhead_s`` more to set up."""
    return max(SLICE_MINIMUM_S, remaining_s / slices_left - overhead_s)
