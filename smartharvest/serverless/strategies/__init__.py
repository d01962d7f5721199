"""Which functions stay on regular workers, that are never evicted. Pure.

Faster and Cheaper Serverless Computing on Harvested Resources (SOSP'21), section 4: the more may
run on Harvest VMs, the cheaper, and the more invocations an eviction can end.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from smartharvest.serverless.strategies.bounded_failures import BoundedFailures
from smartharvest.serverless.strategies.live_and_let_die import LiveAndLetDie
from smartharvest.serverless.strategies.no_failures import NoFailures
from smartharvest.serverless.strategies.profile import NOTICE_S, Profile

STRATEGY_NAMES = ("no-failures", "bounded-failures", "live-and-let-die")


class Strategy(Protocol):
    """Divides functions between regular and Harvest workers."""

    def regular(self, profiles: Sequence[Profile]) -> frozenset[str]:
        """Names of those that may not run where an eviction can end them."""


def make_strategy(name: str, budget: float = 1e-4, notice_s: float = NOTICE_S) -> Strategy:
    """The strategy called ``name``, one of ``STRATEGY_NAMES``.

    ``budget``: the share of all invocations that may fail, of bounded-failures alone. ``notice_s``:
    how long before an eviction its notice comes.
    """
    match name:
        case "no-failures":
            return NoFailures(notice_s)
        case "bounded-failures":
            return BoundedFailures(budget, notice_s=notice_s)
        case "live-and-let-die":
            return LiveAndLetDie()
    raise ValueError(f"{name!r} is no strategy: {', '.join(STRATEGY_NAMES)}")
