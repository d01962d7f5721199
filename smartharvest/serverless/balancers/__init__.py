"""Which worker runs an invocation. Pure: what is known comes in, a name comes out.

``csrc/lab/serverless/balancer.c`` makes the same choices for the simulator.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from smartharvest.serverless.balancers.home_invoker import HomeInvoker
from smartharvest.serverless.balancers.min_worker_set import MinWorkerSet
from smartharvest.serverless.balancers.shortest_queue import ShortestQueue
from smartharvest.serverless.balancers.two_choices import TwoChoices
from smartharvest.serverless.view import CAREFUL, Caution, Function, Workers

BALANCER_NAMES = ("mws", "jsq", "vanilla", "p2c")


class Balancer(Protocol):
    """Chooses a worker for one invocation."""

    def choose(self, function: Function, workers: Workers, now_s: float) -> str | None:
        """The worker's name; None if each worker is about to be evicted, or there is none."""


def make_balancer(name: str, below: Callable[[int], int], caution: Caution = CAREFUL) -> Balancer:
    """The balancer called ``name``, one of ``BALANCER_NAMES``.

    ``below(count)`` draws from 0..count-1; ``random.Random(seed).randrange`` is one.
    """
    match name:
        case "mws":
            return MinWorkerSet(caution=caution)
        case "jsq":
            return ShortestQueue(below, caution)
        case "vanilla":
            return HomeInvoker(below)
        case "p2c":
            return TwoChoices(below, caution)
    raise ValueError(f"{name!r} is no balancer: {', '.join(BALANCER_NAMES)}")
