"""Power of two choices: two workers by chance, the one with fewer invocations a core.

Mitzenmacher, The Power of Two Choices in Randomized Load Balancing (TPDS 2001).
"""

from __future__ import annotations

from collections.abc import Callable

from smartharvest.serverless.view import (
    CAREFUL,
    Caution,
    Function,
    Workers,
    crowding,
    has_memory,
    trusted_cores,
)


class TwoChoices:
    """Sees cores, load, memory and notices of the two that it draws."""

    def __init__(self, below: Callable[[int], int], caution: Caution = CAREFUL) -> None:
        """``below(count)`` draws from 0..count-1."""
        self._below = below
        self._caution = caution

    def choose(self, function: Function, workers: Workers, now_s: float) -> str | None:
        """The better of two different workers; the first drawn if they are equal."""
        usable = [worker for worker in workers.values() if worker.eviction_s is None]
        if len(usable) < 2:
            return usable[0].name if usable else None
        first = self._below(len(usable))
        second = self._below(len(usable) - 1)
        a, b = usable[first], usable[second + (second >= first)]
        fits_a, fits_b = has_memory(a, function), has_memory(b, function)
        if fits_a != fits_b:
            return a.name if fits_a else b.name
        length_a = crowding(a, trusted_cores(a, now_s, self._caution))
        length_b = crowding(b, trusted_cores(b, now_s, self._caution))
        return b.name if length_b < length_a else a.name
