"""The learners by the names the command line knows them by."""

from __future__ import annotations

from typing import get_args

from smartharvest.algorithm.learning.base import Model
from smartharvest.algorithm.learning.options import LearnerName

LEARNERS = get_args(LearnerName)


def make_learner(kind: str, *, cost: str, total: int, learning_rate: float = 0.1) -> Model:
    """A learner that knows nothing, for the classes 0..total and the cost function ``cost``."""
    # Each is imported only where it is used: numpy takes a tenth of a second, VW 13 MiB.
    from smartharvest.algorithm.learning.costs import COSTS, cost_table

    costs = cost_table(COSTS[cost], total)
    if kind == "native":
        from smartharvest.algorithm.learning.csoaa_native import NativeCsoaa

        return NativeCsoaa(costs, learning_rate)
    from smartharvest.algorithm.learning.csoaa_vw import VwCsoaa

    return VwCsoaa(costs, learning_rate)
