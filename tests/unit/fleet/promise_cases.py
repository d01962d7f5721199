"""A small cluster whose every hour is known."""

from __future__ import annotations

import numpy as np

from smartharvest.fleet.promises.occupancy import Occupancy
from smartharvest.fleet.tables import DAY_S, REGULAR, Allocations, Nodes

HOUR_S = 3600.0


def allocations(*rows: tuple[float, float, float], days: float = 4.0) -> Allocations:
    """Of (cores, start in hours, end in hours; inf: still there), without memory."""
    cores, start, end = (np.array(column, dtype=np.float64) for column in zip(*rows, strict=True))
    kinds = np.full(len(rows), REGULAR)
    names = [f"vm-{n}" for n in range(len(rows))]
    zeros = np.zeros(len(rows))
    return Allocations(names, cores, zeros, start * HOUR_S, end * HOUR_S, kinds, days * DAY_S)


def nodes(count: int, cores: float = 8.0) -> Nodes:
    names = [f"node-{n}" for n in range(count)]
    return Nodes(names, np.full(count, cores), np.full(count, 32.0))


def lively(days: float = 8.0, seed: int = 3) -> Allocations:
    """VMs of an hour or several that come by day, for a few nodes of 8 cores."""
    chance = np.random.default_rng(seed)
    count = int(60 * days)
    start = np.sort(chance.uniform(0, days * 24, count))
    start = start[chance.random(count) < 0.6 + 0.4 * np.sin(start * np.pi / 12)]
    end = start + np.exp(chance.normal(1.0, 1.0, len(start)))
    end[end >= days * 24] = np.inf
    cores = chance.choice([1.0, 2.0, 4.0], len(start))
    return allocations(*zip(cores, start, end, strict=True), days=days)


def of_free(*free: list[float], step_s: float = HOUR_S) -> Occupancy:
    """A cluster whose nodes have these free cores in each step, and never less within it."""
    cores = np.array(free, dtype=np.float64).T
    memory = np.full_like(cores, 32.0)
    steps, count = cores.shape
    zeros = np.zeros(steps)
    return Occupancy(
        step_s, np.full(count, 8.0), np.full(count, 32.0), cores, memory, zeros, cores, memory,
        cores, zeros, 0,
    )  # fmt: skip
