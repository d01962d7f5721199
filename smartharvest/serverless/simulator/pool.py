"""The workers that ``--workers 20x8`` describes, and what happens to each over time."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smartharvest.core import _serverless
from smartharvest.errors import ConfigError

MEMORY_GIB_PER_CORE = 4.0
MOST_WORKERS = 10_000
MOST_CORES = 1024
_WORKERS = re.compile(r"(\d{1,9})x(\d{1,9})(?:x(\d{1,9}(?:\.\d{1,9})?)g?)?")


@dataclass(frozen=True)
class WorkerSize:
    """``count`` workers of ``cores`` on average, and ``memory_gib``, which never changes."""

    count: int
    cores: int
    memory_gib: float

    @property
    def min_cores(self) -> int:
        """What a Harvest VM of this size keeps."""
        return max(1, round(self.cores / 4))

    @property
    def max_cores(self) -> int:
        """As far above the average as the minimum is below it."""
        return 2 * self.cores - self.min_cores


def parse_workers(text: str) -> WorkerSize:
    """``COUNTxCORES`` or ``COUNTxCORESxGIB``. Raises ConfigError."""
    match = _WORKERS.fullmatch(text.strip())
    if match is None:
        raise ConfigError(f"workers: {text!r} is no pool; write COUNTxCORES, for instance 20x8")
    count, cores = int(match[1]), int(match[2])
    if not 1 <= count <= MOST_WORKERS:
        raise ConfigError(f"workers: {count} workers; use 1 to {MOST_WORKERS}")
    if not 1 <= cores <= MOST_CORES:
        raise ConfigError(f"workers: {cores} cores each; use 1 to {MOST_CORES}")
    memory_gib = float(match[3]) if match[3] else cores * MEMORY_GIB_PER_CORE
    if not 0.0 < memory_gib <= 1e6:
        raise ConfigError(f"workers: {memory_gib:g} GiB each; use more than 0")
    return WorkerSize(count, cores, memory_gib)


@dataclass(frozen=True)
class Change:
    """What happens to the worker in ``slot`` at ``at_s``."""

    at_s: float
    slot: int
    kind: int
    """ARRIVES, RESIZED, NOTICED or EVICTED of ``core._serverless``."""
    value: float = 0.0
    """Cores, or the seconds of a notice."""


@dataclass(frozen=True)
class Pool:
    """S workers, those that come later too: each that replaces another is a worker of its own."""

    changes: NDArray[np.void]
    """In the order of time."""
    min_cores: NDArray[np.float64]
    memory_mib: NDArray[np.float64]
    regular: NDArray[np.uint8]
    """Never evicted, never resized."""


class PoolBuilder:
    """Collects workers and what happens to them."""

    def __init__(self, memory_gib: float) -> None:
        self._memory_mib = memory_gib * 1024.0
        self._min_cores: list[float] = []
        self._regular: list[bool] = []
        self._changes: list[Change] = []

    def worker(self, at_s: float, cores: float, min_cores: float, *, regular: bool = False) -> int:
        """One more worker; its slot."""
        slot = len(self._min_cores)
        self._min_cores.append(min(min_cores, cores))
        self._regular.append(regular)
        self._changes.append(Change(at_s, slot, _serverless.ARRIVES, cores))
        return slot

    def resize(self, at_s: float, slot: int, cores: float) -> None:
        """From ``at_s`` on it has ``cores``; its minimum is never above that."""
        self._changes.append(Change(at_s, slot, _serverless.RESIZED, cores))
        self._min_cores[slot] = min(self._min_cores[slot], cores)

    def evict(self, at_s: float, slot: int, notice_s: float, since_s: float = 0.0) -> None:
        """It goes at ``at_s``; the notice comes ``notice_s`` before, not before ``since_s``."""
        noticed_s = max(since_s, at_s - notice_s)
        self._changes.append(Change(noticed_s, slot, _serverless.NOTICED, at_s - noticed_s))
        self._changes.append(Change(at_s, slot, _serverless.EVICTED))

    def build(self) -> Pool:
        """Events at the same time stay in the order in which they were added."""
        return Pool(
            _array(sorted(self._changes, key=lambda change: change.at_s)),
            np.array(self._min_cores, np.float64),
            np.full(len(self._min_cores), self._memory_mib),
            np.array(self._regular, np.uint8),
        )


def _array(changes: Sequence[Change]) -> NDArray[np.void]:
    found = np.zeros(len(changes), _serverless.CHANGE)
    found["at_ns"] = [round(change.at_s * 1e9) for change in changes]
    found["value"] = [change.value for change in changes]
    found["slot"] = [change.slot for change in changes]
    found["kind"] = [change.kind for change in changes]
    return found
