"""How many of the known errors say something of now. Pure.

Errors of neighbouring steps are nearly the same error, so a week has as many independent ones of a
horizon as horizons fit into it. And a time in which little happened says little of one in which
much does: a step counts by how many VMs came then, for each that comes now. Clusters of their own
know more together, as far as they are alike and what happens does not happen to all of them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from smartharvest.fleet.promises.occupancy import Occupancy
from smartharvest.fleet.tables import DAY_S, Floats

FEWEST = 19
"""Independent errors without which nothing is promised: the next is worse than all n of them with
1 / (n + 1), which has to be at most 5 %."""
_WINDOW_S = 7 * DAY_S


def busyness(seen: Occupancy) -> Floats:
    """(steps) VMs that came in a step for each node, the mean of the week before it."""
    window = max(1, round(_WINDOW_S / seen.step_s))
    came = np.concatenate([[0.0], np.cumsum(seen.arrivals / len(seen.node_cores))])
    steps = np.arange(seen.steps)
    since = np.maximum(0, steps - window)
    return np.asarray((came[steps] - came[since]) / np.maximum(1, steps - since))


def independent(
    busy: Floats, known: NDArray[np.bool_], horizon: int, now: Floats | None = None
) -> Floats:
    """(steps) how many independent errors of ``horizon`` steps are known at each.

    ``busy`` is of the cluster: a step before counts by its share of the present, at most 1.
    ``known`` (steps) says which forecasts have an error once their horizon is over. ``now``: the
    busyness of the cluster that they are to say something of, if it is another.
    """
    present = busy if now is None else now
    found = np.zeros(len(busy))
    for step in range(horizon, len(busy)):
        end = step - horizon + 1
        found[step] = alike(busy[:end][known[:end]], present[step]) / horizon
    return found


def alike(before: Floats, now: float) -> float:
    """The sum over ``before`` of its share of ``now``, at most 1 each."""
    if now <= 0.0:
        return float(len(before))
    return float(np.minimum(1.0, before / now).sum())


def counted(errors: Sequence[Floats], each: float) -> float:
    """What share of its errors each of several clusters adds to those of all, above 0 to 1.

    ``errors`` (steps, the same for all; NaN where there is none) of each cluster, ``each`` how many
    of them are independent within one, on average. Errors of one moment are as alike as what
    happens reaches all clusters, errors of one cluster as clusters differ in mean or size: the sum
    shrinks by the design effect of either (Kish, Survey Sampling, 1965). Clusters that have nothing
    in common count as one error each, and clusters to which the same happens as one cluster.
    """
    table = np.stack(errors)
    table = table[:, np.isfinite(table).any(axis=0)]
    clusters = len(table)
    if clusters < 2 or each < 1.0 or not np.isfinite(table).any(axis=1).all():
        return 1.0 / clusters
    at_once = 1 + (clusters - 1) * _at_once(table)
    within = 1 + (each - 1) * max(_within(table, each), _within(np.abs(table), each))
    return 1.0 / (at_once * within)


def _at_once(table: Floats) -> float:
    """The mean correlation of two clusters' errors, 0 to 1. ``table``: (clusters, steps)."""
    off = table - np.nanmean(table, axis=1, keepdims=True)
    size = np.sqrt(np.nanmean(off**2, axis=1, keepdims=True))
    off = np.where(np.isfinite(off), off, 0.0) / np.where(size > 0, size, 1.0)
    there = np.isfinite(table).sum(axis=0)
    pairs = (there * (there - 1)).sum()
    products = (off.sum(axis=0) ** 2 - (off**2).sum(axis=0)).sum()
    return float(np.clip(products / pairs, 0.0, 1.0)) if pairs else 1.0


def _within(table: Floats, each: float) -> float:
    """The share of the errors' variance that is between clusters (intraclass correlation), 0 to 1;
    means of ``each`` independent errors differ by chance, too."""
    means, inside = np.nanmean(table, axis=1), float(np.nanvar(table, axis=1).mean())
    between = max(0.0, float(means.var(ddof=1)) - inside / each)
    return between / (between + inside) if between else 0.0
