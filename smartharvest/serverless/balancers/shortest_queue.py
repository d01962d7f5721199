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
    cold_starts,
    trusted_cores,
)


class ShortestQueue:
    """Sees cores, load, memory and notices; where a function is warm only with ``cold_cost``."""

    def __init__(
        self, below: Callable[[int], int], caution: Caution = CAREFUL, cold_cost: float = 0.0
    ) -> None:
        """``below(count)`` draws from 0..count-1: which of several that are equally short.

        ``cold_cost``: what a cold start costs, in invocations; a queue where the function is cold
        counts as longer by that many, and by more if other functions would be displaced.
        """
        if cold_cost < 0.0:
            raise ValueError(f"cold_cost is {cold_cost:g}; it must be 0 or more")
        self._below = below
        self._caution = caution
        self._cold_cost = cold_cost

    def choose(self, function: Function, workers: Workers, now_s: float) -> str | None:
        """One of the shortest; of those without memory for it only if no other is left."""
        caution, fresh_s, memory_mib = self._caution, self._caution.fresh_s, function.memory_mib
        shortest: list[str] = []
        least, with_memory, cold_cost = math.inf, False, self._cold_cost
        # The helpers of the view, written out: a router asks for each request.
        for name, worker in workers.items():
            if worker.eviction_s is not None:
                continue
            fits = worker.busy_memory_mib + memory_mib <= worker.memory_mib
            if with_memory and not fits:
                continue
            cores = worker.cores
            if now_s - worker.reported_s > fresh_s:
                cores = trusted_cores(worker, now_s, caution)
            length = (worker.load + 1.0) / cores if cores > 0.0 else math.inf
            if cold_cost > 0.0 and function.name not in worker.warm:
                length *= 1.0 + cold_cost * cold_starts(worker)
            if not shortest or length < least or fits > with_memory:
                shortest, least, with_memory = [name], length, fits
            elif length == least:
                shortest.append(name)
        if len(shortest) > 1:
            return shortest[self._below(len(shortest))]
        return shortest[0] if shortest else None
