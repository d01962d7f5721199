"""A kernel that divides CPUs by weight, and has threads where they happen to be.

As the fair scheduler does, a CPU gives its time to the groups on it by their weight times the part
of their threads that are there. Threads move seldom: at random, to a CPU without work, or from the
CPU with the largest load to the one with the least.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

STEPS = 20
"""Of a second."""
IMBALANCE = 1.25
"""Loads that differ by less are balanced."""


class UnevenKernel:
    """``cpus`` CPUs, and groups that have a thread for each of them. Deterministic for a seed."""

    def __init__(
        self, cpus: int, names: Sequence[str], seed: int, moves: float = 10, balanced: float = 0.1
    ) -> None:
        """``moves`` a second, ``balanced`` of them (a part) by load and the others at random."""
        self._source = random.Random(seed)
        self._cpus, self._moves, self._balanced = cpus, moves, balanced
        self.threads = {name: [self._draw(cpus) for _ in range(cpus)] for name in names}
        """By name the CPU of each thread."""

    def second(
        self,
        weights: Mapping[str, float],
        working: Mapping[str, int] | None = None,
        seconds: float = 1.0,
    ) -> dict[str, float]:
        """Core-seconds that each group uses; ``working``: threads that have work, else all."""
        counts = {
            name: len(cpus) if working is None else working.get(name, len(cpus))
            for name, cpus in self.threads.items()
        }
        used = dict.fromkeys(self.threads, 0.0)
        steps = round(seconds * STEPS)
        for _ in range(steps):
            if self._source.random() < self._moves / STEPS:
                self._move(weights, counts)
            self._fill_idle(counts)
            for here in self._loads(weights, counts):
                for name, mine in here.items():
                    used[name] += seconds / steps * mine / sum(here.values())
        return used

    def _move(self, weights: Mapping[str, float], counts: Mapping[str, int]) -> None:
        if self._source.random() >= self._balanced:
            cpus = list(self.threads.values())[self._draw(len(self.threads))]
            cpus[self._draw(len(cpus))] = self._draw(self._cpus)
            return
        loads = [sum(here.values()) for here in self._loads(weights, counts)]
        most, least = loads.index(max(loads)), loads.index(min(loads))
        too_much = loads[most] - loads[least]
        if loads[most] > IMBALANCE * loads[least]:
            self._take(most, least, counts, lambda name: weights[name] / counts[name] <= too_much)

    def _fill_idle(self, counts: Mapping[str, int]) -> None:
        for _ in range(self._cpus):
            on = Counter(cpu for name, cpus in self.threads.items() for cpu in cpus[: counts[name]])
            crowded, idle = max(range(self._cpus), key=on.__getitem__), self._without(on)
            if idle is None or on[crowded] < 2:
                return
            self._take(crowded, idle, counts, lambda _: True)

    def _without(self, on: Counter[int]) -> int | None:
        return next((cpu for cpu in range(self._cpus) if not on[cpu]), None)

    def _take(
        self, there: int, here: int, counts: Mapping[str, int], may: Callable[[str], bool]
    ) -> None:
        """Moves one thread that ``may`` move, if there is one."""
        found = [
            (cpus, index)
            for name, cpus in self.threads.items()
            for index, cpu in enumerate(cpus[: counts[name]])
            if cpu == there and may(name)
        ]
        if found:
            cpus, index = found[self._draw(len(found))]
            cpus[index] = here

    def _draw(self, count: int) -> int:
        return int(count * self._source.random())

    def _loads(
        self, weights: Mapping[str, float], counts: Mapping[str, int]
    ) -> list[dict[str, float]]:
        """Of each CPU by group."""
        loads: list[dict[str, float]] = [{} for _ in range(self._cpus)]
        for name, cpus in self.threads.items():
            for cpu in cpus[: counts[name]]:
                loads[cpu][name] = loads[cpu].get(name, 0.0) + weights[name] / counts[name]
        return loads
