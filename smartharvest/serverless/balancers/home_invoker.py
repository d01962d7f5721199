"""Vanilla OpenWhisk: a function has a home invoker by its hash, and memory slots are counted.

As OpenWhisk's ShardingContainerPoolBalancer: from the home on, in steps coprime to the number of
invokers, the first that has memory left; if none has, one by chance. It knows no cores and no
notices.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from smartharvest.serverless.view import Function, Worker, Workers, has_memory, home_hash

UNHEALTHY_S = 10.0
"""An invoker that has been silent for this long is skipped (OpenWhisk's InvokerSupervision)."""


class HomeInvoker:
    """Memory slots are the only load it sees."""

    def __init__(self, below: Callable[[int], int]) -> None:
        """``below(count)`` draws from 0..count-1: who takes more than its memory."""
        self._below = below
        self._steps: tuple[int, list[int]] = (0, [])

    def choose(self, function: Function, workers: Workers, now_s: float) -> str | None:
        """None only if there is no worker. With none healthy, one of all by chance."""
        all_of_them = list(workers.values())
        count = len(all_of_them)
        if not count:
            return None
        if self._steps[0] != count:
            self._steps = count, coprimes(count)
        steps = self._steps[1]
        code = home_hash(function.name)
        index, step = code % count, steps[code % len(steps)]
        for _ in range(count):
            worker = all_of_them[index]
            if _healthy(worker, now_s) and has_memory(worker, function):
                return worker.name
            index = (index + step) % count
        healthy = [worker for worker in all_of_them if _healthy(worker, now_s)] or all_of_them
        return healthy[self._below(len(healthy))].name


def coprimes(count: int) -> list[int]:
    """Numbers from 1 on that are coprime to ``count`` and to one another, ascending."""
    found: list[int] = []
    for number in range(1, count + 1):
        if math.gcd(number, count) == 1 and all(math.gcd(number, one) == 1 for one in found):
            found.append(number)
    return found


def _healthy(worker: Worker, now_s: float) -> bool:
    return now_s - worker.reported_s <= UNHEALTHY_S
