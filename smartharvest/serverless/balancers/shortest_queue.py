"""Join-the-Shortest-Queue: the worker with the fewest invocations a core.

Faster and Cheaper Serverless Computing on Harvested Resources (SOSP'21), section 4.
"""

from __future__ import annotations

import math
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


class ShortestQueue:
    """Sees cores, load, memory and notices; not where a function is warm."""

    def __init__(self, below: Callable[[int], int], caution: Caution = CAREFUL) -> None:
        """``below(count)`` draws from 0..count-1: which of several that are equally short."""
        self._below = below
        self._caution = caution

    def choose(self, function: Function, workers: Workers, now_s: float) -> str | None:
        """One of the shortest; of those without memory for it only if no other is left."""
        caution = self._caution
        shortest: list[str] = []
        least, with_memory = math.inf, False
        for name, worker in workers.items():
            if worker.eviction_s is not None:
                continue
            fits = has_memory(worker, function)
            if with_memory and not fits:
                continue
            length = crowding(worker, trusted_cores(worker, now_s, caution))
            if not shortest or length < least or fits > with_memory:
                shortest, least, with_memory = [name], length, fits
            elif length == least:
                shortest.append(name)
        if len(shortest) > 1:
            return shortest[self._below(len(shortest))]
        return shortest[0] if shortest else None
