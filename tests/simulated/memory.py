"""A host's memory in simulated time: primaries that grow and shrink, and a batch that fills all.

The decisions are those of algorithm/memory.py, once a second; the limit follows what is taken back
as mechanism/memory_limit.py has it. The kernel is a model: whoever needs a page where none is free
waits until one of the batch's is in swap, and without room in swap somebody is killed. ``python -m
tests.simulated.memory`` prints what comes of twenty seeds, with the decisions and without.
"""

from __future__ import annotations

import random
import statistics
from collections.abc import Callable
from dataclasses import dataclass, field

from smartharvest.algorithm.memory import (
    MIB,
    GroupMemory,
    HostMemory,
    MemorySharing,
    PrimariesMemory,
    rung_above,
)

GIB = 1024 * MIB
STEP_S = 0.01
STEPS_A_TURN = 100
STEPS_A_LOOK = 5
"""How often the limit follows (group_memory.FOLLOW_NS)."""
SWAPS_PER_S = 256 * MIB
"""What the kernel puts into swap in a second, whoever asks."""
FILLS_PER_S = 1024 * MIB
MARK = 64 * MIB
"""Of free memory: below it the kernel takes pages back by itself."""


@dataclass(frozen=True)
class Shape:
    """A host. All sizes in bytes."""

    total: int = 16 * GIB
    swap: int = 8 * GIB
    others: int = GIB
    """What the rest of the host uses."""
    allocated: int | None = None
    """What the primary may use at most."""
    least: int = GIB
    most: int = 12 * GIB
    grows_per_s: tuple[int, int] = (16 * MIB, GIB)


@dataclass
class Outcome:
    """Of one run."""

    stalled_s: float = 0.0
    """How long the primary waited for memory."""
    longest_s: float = 0.0
    """... in a row."""
    killed: int = 0
    held: list[int] = field(default_factory=list)
    """By the batch, at each turn, in memory."""

    @property
    def batch_gib(self) -> float:
        """On average."""
        return statistics.fmean(self.held) / GIB


class MemoryWorld:
    """One run from a seed; without ``lends`` nothing limits the batch."""

    def __init__(self, seed: int, shape: Shape = Shape(), *, lends: bool = True) -> None:
        self._random = random.Random(seed)
        self._shape = shape
        self._sharing = MemorySharing() if lends else None
        self._limit: float = shape.most if lends else float("inf")
        self._target = self._limit
        self.primary = 2.0 * GIB
        self._wanted, self._rate = self.primary, 0.0
        self.batch = self.swapped = 0.0
        self._stalled_s = self._row_s = 0.0
        self.outcome = Outcome()

    @property
    def free(self) -> float:
        return self._shape.total - self._shape.others - self.primary - self.batch

    def run(self, turns: int) -> Outcome:
        """So many seconds."""
        for _ in range(turns):
            self._plan_primary()
            if self._sharing is not None:
                self._decide()
            self._stalled_s = 0.0
            for step in range(STEPS_A_TURN):
                self._step(follows=step % STEPS_A_LOOK == 0)
            self.outcome.held.append(int(self.batch))
        return self.outcome

    def _plan_primary(self) -> None:
        """Every few seconds it wants another size, at another pace."""
        shape = self._shape
        if self._random.random() < 0.1:
            most = min(shape.allocated or shape.total, shape.total - shape.others - 2 * GIB)
            self._wanted = self._random.uniform(0.5 * GIB, 0.75 * most)
            self._rate = self._random.uniform(*shape.grows_per_s)

    def _decide(self) -> None:
        shape, sharing = self._shape, self._sharing
        assert sharing is not None
        room = int(shape.swap - self.swapped)
        host = HostMemory(shape.total, max(0, int(self.free)), room, self._stalled_s)
        primaries = PrimariesMemory(int(self.primary), shape.allocated, self._stalled_s)
        used = int(self.batch)
        group = GroupMemory("batch", shape.least, shape.most, used, used, room)
        self._target = sharing.turn(host, primaries, [group]).limits["batch"]

    def _step(self, *, follows: bool) -> None:
        swaps = SWAPS_PER_S * STEP_S
        change = self._rate * STEP_S
        if self.primary > self._wanted:
            self.primary -= min(change, self.primary - self._wanted)
        else:
            swaps -= self._grow(min(change, self._wanted - self.primary), swaps)
        if follows and self._sharing is not None:
            rungs = range(self._shape.least, self._shape.most + 1, 64 * MIB)
            self._limit = max(self._target, rung_above(rungs, self.batch))
        above = max(self.batch - self._target, MARK - self.free, 0.0)
        self._swap_out(min(above, swaps))
        self._fill()

    def _grow(self, wanted: float, swaps: float) -> float:
        """The primary takes what it wants; what had to be swapped out for that."""
        missing = max(0.0, wanted - self.free)
        freed = self._swap_out(min(missing, swaps))
        if missing > freed:
            if self.swapped >= self._shape.swap or self.batch <= 0:
                self.outcome.killed += 1
                self.batch = self.swapped = 0.0
                return freed
            self._stalled_s += STEP_S
            self._row_s += STEP_S
            self.outcome.stalled_s += STEP_S
            self.outcome.longest_s = max(self.outcome.longest_s, self._row_s)
        else:
            self._row_s = 0.0
        self.primary += min(wanted, max(0.0, self.free))
        return freed

    def _swap_out(self, size: float) -> float:
        taken = max(0.0, min(size, self.batch, self._shape.swap - self.swapped))
        self.batch -= taken
        self.swapped += taken
        return taken

    def _fill(self) -> None:
        """The batch takes all it may, out of swap first."""
        room = min(self._limit - self.batch, self.free - 2 * MARK, self._shape.most - self.batch)
        more = max(0.0, min(room, FILLS_PER_S * STEP_S))
        self.swapped -= min(more, self.swapped)
        self.batch += more


SHAPES: dict[str, Shape] = {
    "8 GiB of swap": Shape(),
    "no swap": Shape(swap=0),
    "no swap, the primary may use 6 GiB": Shape(swap=0, allocated=6 * GIB),
}


def main(say: Callable[[str], None] = print) -> None:
    """A table: medians and the worst of twenty seeds, five minutes each."""
    say("| host | limits | batch holds, GiB | stands still, s | longest, s | killed |")
    say("|---|---|---|---|---|---|")
    for name, shape in SHAPES.items():
        for lends in (True, False):
            runs = [MemoryWorld(seed, shape, lends=lends).run(300) for seed in range(20)]
            stalls = [run.stalled_s for run in runs]
            say(
                f"| {name} | {'followed' if lends else 'none'} "
                f"| {statistics.median(run.batch_gib for run in runs):.1f} "
                f"| {statistics.median(stalls):.2f} ({max(stalls):.2f}) "
                f"| {max(run.longest_s for run in runs):.2f} "
                f"| {sum(run.killed for run in runs)} |"
            )


if __name__ == "__main__":
    main()
