"""Ways of sharing, from the boldest to the one that lends nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Kind = Literal[
    "everywhere",
    "spare",
    "part",
    "wait",
    "buffer",
    "quiet",
    "prediction",
    "apart",
    "minimum",
    "nothing",
]

MANY = 8
"""Cores. Where there are fewer a move takes a large part of them, and delays the primary in ways
that no wait shows."""
WAIT_QUIET_NS = (100_000, 500_000, 2_000_000)
"""After taking cores back on a wait: less hurts primaries whose bursts come in rows."""
BUFFER_QUIET_NS = 1_000_000
APART_QUIET_NS = 16_000_000
"""Of sets that seldom change: a primary that wanted more cores may soon do so again."""
CPUS_PER_SPARE = 16


@dataclass(frozen=True, slots=True)
class Way:
    """One of them."""

    kind: Kind
    kept: int = 0
    """Cores that the primary has to itself, of ``part``, and of a ``minimum`` that is lent, or at
    least, of ``apart``."""
    buffer: int = 0
    """Idle cores; of ``buffer`` alone."""
    spare: int | None = None
    """CPUs that the kernel keeps idle; of ``spare`` alone."""
    quiet_ns: int | None = None
    """How long without need before cores are lent again."""

    @property
    def is_static(self) -> bool:
        """Whether something is lent for good: no core moves, and the primary preempts the batch
        where they meet."""
        return self.kind in ("everywhere", "spare", "part") or (
            self.kind == "minimum" and self.kept > 0
        )

    @property
    def moves(self) -> bool:
        """Whether cores change hands by what the primary does."""
        return not (self.is_static or self.kind in ("minimum", "nothing"))

    @property
    def short(self) -> str:
        """Its kind, with what distinguishes it from others of it; mostly a policy's name."""
        if self.kind == "wait":
            return f"wait:{(self.quiet_ns or 0) // 1000}us"
        kept = {"part": self.kept, "apart": self.kept}
        number = {"buffer": self.buffer, "spare": self.spare, **kept}.get(self.kind)
        return self.kind if number is None else f"{self.kind}:{number}"

    def describe(self) -> str:
        """What it does, as a clause."""
        if self.kind == "everywhere":
            return "the batch runs everywhere under cpu.idle"
        if self.kind == "spare":
            cpus = {0: "no CPU", 1: "a CPU"}.get(self.spare or 0, f"{self.spare} CPUs")
            return f"lends everything and keeps {cpus} idle for those who wake"
        cores = "a core" if self.kept == 1 else f"{self.kept} cores"
        if self.kind == "part":
            return f"keeps {cores} free of the batch, which runs on the others under cpu.idle"
        if self.kind == "apart":
            return f"leaves the primary {cores}, and the batch the others until a task waits"
        if self.kind == "quiet":
            return "lends cores that were idle, for how long by how its tasks wait"
        if self.kind == "prediction":
            return "lends what the paper's prediction leaves"
        if self.kind == "minimum":
            left = f", and leaves the primary {cores}" if self.kept else ""
            return f"lends nothing beyond the batch's minimum{left}"
        if self.kind == "nothing":
            return "lends nothing"
        quiet_us = (self.quiet_ns or 0) // 1000
        if self.kind == "wait":
            return f"lends everything, takes it back on a wait, lends again after {quiet_us} us"
        return f"keeps {self.buffer} idle, lends the rest after {quiet_us} us"


def are_few(total: int, smallest: int = 0) -> bool:
    """Whether a move takes a large part of ``total`` cores, of which ``smallest`` are the batch's
    minimum."""
    return total - smallest < MANY


def usual_spare(cpus: int) -> int:
    """How many of so many CPUs that share a cache the kernel keeps idle unless somebody chooses:
    who wakes often wakes the next at once."""
    return 1 + cpus // CPUS_PER_SPARE if cpus > 1 else 0


def spares_of(cpus: int) -> tuple[int, ...]:
    """How many of so many CPUs that share a cache may be kept idle; what is usual in the middle."""
    some = {0, 1, 2, usual_spare(cpus), cpus // 4 + 1, cpus // 2}
    return tuple(sorted(count for count in some if count <= cpus // 2))


def ways(
    total: int,
    spares: Sequence[int] = (),
    *,
    preempts: bool = True,
    freezes: bool = False,
    exclusive: bool = False,
    smallest: int = 0,
) -> tuple[Way, ...]:
    """Those for ``total`` cores, boldest first; where a primary does not preempt the elastic group
    (``preempts``) it is not to meet it. Where it cannot (``exclusive``) cores may also be given
    away until one of its tasks waits, which moves few.

    Where cores are few, none moves: the batch has all, or half of them for good, half of that, and
    so on, and of two nobody predicts who needs the last. Where the kernel keeps CPUs idle
    (``spares``: how many it may be), it does by events what moves would. Where the elastic group
    has a minimum that can be taken from it (``freezes``), that is a way, too, and so is the
    ``smallest`` set of a group that is to have none with nothing lent.
    """
    predicts = total > 2
    minimum = (Way("minimum"),) if freezes else ()
    if not preempts:
        given = _halved(total // 2) if exclusive else []
        if smallest and predicts:
            minimum = (Way("minimum", kept=total - smallest),)
            given = [cores for cores in given if cores > smallest]
        apart = [Way("apart", kept=total - cores, quiet_ns=APART_QUIET_NS) for cores in given]
        if not are_few(total, smallest):
            return Way("quiet"), *apart, *minimum, Way("nothing")
        predicted = [Way("prediction")] if predicts or not apart else []
        return *apart, *predicted, *minimum, Way("nothing")
    if not predicts:
        minimum = ()  # it is half, or all
    careful = *((Way("prediction"),) if predicts else ()), *minimum, Way("nothing")
    if spares:
        return *(Way("spare", spare=count) for count in sorted(spares)), *careful
    if are_few(total):
        given = _halved(total - total // 2) if total > 1 else []
        parts = [Way("part", kept=total - cores) for cores in given]
        return Way("everywhere"), *parts, *careful
    buffers = sorted({1, max(1, total // 8), max(1, total // 4)})
    return (
        Way("everywhere"),
        *(Way("wait", quiet_ns=quiet_ns) for quiet_ns in WAIT_QUIET_NS),
        *(Way("buffer", buffer=cores, quiet_ns=BUFFER_QUIET_NS) for cores in buffers),
        *careful,
    )


def _halved(cores: int) -> list[int]:
    """So many, half of them, half of that, and so on down to one."""
    return [cores >> shift for shift in range(cores.bit_length())]
