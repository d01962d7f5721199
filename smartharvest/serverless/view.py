"""What a balancer knows: of a function, and of each worker as its last report says."""

from __future__ import annotations

import math
import zlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass

NEVER_S = -math.inf
"""``Worker.reported_s`` of a worker that has not reported yet."""


@dataclass(frozen=True, slots=True)
class Function:
    """What a balancer must know of a function."""

    name: str
    memory_mib: float = 0.0
    """Of one instance."""


@dataclass(slots=True)
class Worker:
    """One worker, as of ``reported_s``. Its owner changes it in place."""

    name: str
    cores: float
    """Live cores, at least 0."""
    min_cores: float = 0.0
    """What it keeps when everything harvested is taken back."""
    load: float = 0.0
    """Invocations that it runs or holds, with those sent since the report."""
    reported_s: float = NEVER_S
    """When, on the clock of ``now_s``."""
    eviction_s: float | None = None
    """When it will be evicted, if a notice says so."""
    warm: Collection[str] = ()
    """Functions that would start warm: an idle or starting instance is here."""
    most_warm: float = math.inf
    """Functions that stay warm together: one more displaces another."""
    memory_mib: float = math.inf
    busy_memory_mib: float = 0.0
    """Of the instances that run."""


Workers = Mapping[str, Worker]
"""Name -> worker. The order is part of what the hashing balancers see: keep it stable."""


@dataclass(frozen=True, slots=True)
class Caution:
    """How far a report is trusted as it ages.

    Doubting what is only as old as usual costs: with fewer cores than there are, sets grow and
    functions start cold.
    """

    fresh_s: float = 3.0
    """A report of at most this age is trusted fully."""
    lost_s: float = 15.0
    """From this age on only ``min_cores`` count; in between, linearly fewer cores."""

    @classmethod
    def of_period(cls, period_s: float) -> Caution:
        """For workers that report every ``period_s``: three may be late."""
        return cls(3.0 * period_s, 15.0 * period_s)


CAREFUL = Caution()
"""For reports each second."""


def trusted_cores(worker: Worker, now_s: float, caution: Caution = CAREFUL) -> float:
    """The cores to count on, given the age of the report; never more than it says.

    A worker that has not reported counts with ``min_cores``: little is sent to it, not nothing.
    """
    age_s = now_s - worker.reported_s
    if age_s <= caution.fresh_s:
        return worker.cores
    kept = min(worker.cores, worker.min_cores)
    if age_s >= caution.lost_s:
        return kept
    part = (age_s - caution.fresh_s) / (caution.lost_s - caution.fresh_s)
    return worker.cores - (worker.cores - kept) * part


def crowding(worker: Worker, cores: float) -> float:
    """Invocations a core, had it one more; infinite without cores."""
    return (worker.load + 1.0) / cores if cores > 0.0 else math.inf


def has_memory(worker: Worker, function: Function) -> bool:
    return worker.busy_memory_mib + function.memory_mib <= worker.memory_mib


def cold_starts(worker: Worker) -> float:
    """Cold starts that a function costs where it is not warm, from 1 on.

    Its own; and for each function beyond what stays warm together another: they start one by one,
    and what is displaced starts again.
    """
    return 1.0 + max(0.0, len(worker.warm) + 1.0 - worker.most_warm)


def home_hash(name: str) -> int:
    """Where a function's home is, the same in every process: 0..2**32-1."""
    return zlib.crc32(name.encode())
