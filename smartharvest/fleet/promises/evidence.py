"""How many of the known errors say something of now. Pure.

Errors of neighbouring steps are nearly the same error, so a week has as many independent ones of a
horizon as horizons fit into it. And a time in which little happened says little of one in which
much does: a step counts by how many VMs came then, for each that comes now.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from smartharvest.fleet.promises.occupancy import Occupancy
from smartharvest.fleet.tables import DAY_S, Floats

FEWEST = 19
"""Independent errors without which nothing is promised: the next is worse than all n of them with
1 / (n + 1), which has to be at most 5 %."""
_WINDOW_S = 7 * DAY_S


def busyness(seen: Occupancy) -> Floats:
    """(steps) VMs that came in a step, the mean of the week before it."""
    window = max(1, round(_WINDOW_S / seen.step_s))
    came = np.concatenate([[0.0], np.cumsum(seen.arrivals)])
    steps = np.arange(seen.steps)
    since = np.maximum(0, steps - window)
    return np.asarray((came[steps] - came[since]) / np.maximum(1, steps - since))


def independent(busy: Floats, known: NDArray[np.bool_], horizon: int) -> Floats:
    """(steps) how many independent errors of ``horizon`` steps are known at each.

    ``busy`` is of the cluster: a step before counts by its share of the present, at most 1.
    ``known`` (steps) says which forecasts have an error once their horizon is over.
    """
    found = np.zeros(len(busy))
    for step in range(horizon, len(busy)):
        end = step - horizon + 1
        found[step] = alike(busy[:end][known[:end]], busy[step]) / horizon
    return found


def alike(before: Floats, now: float) -> float:
    """The sum over ``before`` of its share of ``now``, at most 1 each."""
    if now <= 0.0:
        return float(len(before))
    return float(np.minimum(1.0, before / now).sum())
