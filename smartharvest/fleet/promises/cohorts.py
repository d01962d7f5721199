"""What became of the Harvest VMs that could have been started at each step. Pure.

A cohort are all Harvest VMs of one size that fit at a moment, one a node. Its survival rate at a
horizon is the share whose minimum was not needed by a regular VM until then; its mean cores are
those of its VMs while they lived. A cohort whose horizon ends after the trace is censored: it has
no outcome, and is neither a survivor nor a death.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smartharvest.fleet.promises.occupancy import Occupancy
from smartharvest.fleet.tables import Floats


@dataclass(frozen=True, slots=True)
class Size:
    """The minimum of a Harvest VM."""

    cores: float = 1.0
    memory_gib: float = 0.0
    """0: only cores are counted."""


@dataclass(frozen=True, slots=True)
class Cohorts:
    """Arrays (steps, nodes)."""

    fits: NDArray[np.bool_]
    """A VM could start there."""
    lasts: NDArray[np.int64]
    """Whole steps until the minimum is needed, or until the trace ends."""
    evicted: NDArray[np.bool_]
    """Whether that was needed; False: censored, the VM lived when the trace ended."""
    _sums: Floats
    """(steps + 1, nodes): cores of all steps before."""

    def outcome(self, steps: int) -> tuple[Floats, Floats]:
        """(survival rate, mean cores) after ``steps`` of the cohort of each step.

        NaN where the cohort is empty or censored; mean cores also where nobody lived for a step.
        """
        total = len(self.fits)
        known = np.arange(total) + steps <= total
        size = self.fits.sum(axis=1)
        lived = np.where(self.fits, np.minimum(self.lasts, steps), 0)
        survivors = (self.fits & (self.lasts >= steps)).sum(axis=1)
        rows = np.arange(total)[:, np.newaxis]
        cores = np.take_along_axis(self._sums, rows + lived, axis=0) - self._sums[:-1]
        with np.errstate(invalid="ignore", divide="ignore"):
            survival = np.where(known & (size > 0), survivors / size, np.nan)
            mean = np.where(known, cores.sum(axis=1) / lived.sum(axis=1), np.nan)
        return survival, mean

    def lives(self) -> Lives:
        """VMs that start wherever one fits, and again once there is room after an eviction."""
        found: list[tuple[int, int, bool]] = []
        for node in range(self.fits.shape[1]):
            starts = np.flatnonzero(self.fits[:, node])
            step = 0
            while (at := int(np.searchsorted(starts, step))) < len(starts):
                start = int(starts[at])
                lived = int(self.lasts[start, node])
                found.append((start, lived, bool(self.evicted[start, node])))
                step = start + max(1, lived)
        columns = np.array(found, dtype=np.int64).reshape(-1, 3).T
        return Lives(columns[0], columns[1].astype(np.float64), columns[2].astype(bool))


@dataclass(frozen=True, slots=True)
class Lives:
    """Arrays of one length."""

    start: NDArray[np.int64]
    lived: Floats
    """Steps."""
    died: NDArray[np.bool_]
    """False: censored."""

    def known_at(self, step: int) -> tuple[Floats, NDArray[np.bool_]]:
        """(steps lived, whether that was all) of those that had begun; who lived is censored."""
        begun = self.start < step
        seen = np.minimum(self.lived[begun], step - self.start[begun])
        return seen, self.died[begun] & (self.start[begun] + self.lived[begun] < step)


def cohorts(seen: Occupancy, size: Size) -> Cohorts:
    """Of Harvest VMs of ``size``, one a node."""
    fits = (seen.free_cores >= size.cores) & (seen.free_memory_gib >= size.memory_gib)
    stays = (seen.least_cores >= size.cores) & (seen.least_memory_gib >= size.memory_gib)
    steps, nodes = fits.shape
    lasts = np.zeros((steps, nodes), dtype=np.int64)
    evicted = np.ones((steps, nodes), dtype=bool)
    left, ends = np.zeros(nodes, dtype=np.int64), np.zeros(nodes, dtype=bool)
    for step in range(steps - 1, -1, -1):
        left = np.where(stays[step], left + 1, 0)
        ends = np.where(stays[step], ends, True)
        lasts[step], evicted[step] = left, ends
    sums = np.concatenate([np.zeros((1, nodes)), np.cumsum(seen.harvested, axis=0)])
    return Cohorts(fits, lasts, evicted, sums)
