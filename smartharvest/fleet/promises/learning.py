"""Learning from what was known by then: walking forward through a trace, or all of it at once."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from smartharvest.fleet.promises.forest import Forest, grow
from smartharvest.fleet.promises.views import View
from smartharvest.fleet.tables import Floats

FEWEST_ROWS = 50


def learn(views: Sequence[View], target: str, until: Sequence[int], seed: int) -> Forest | None:
    """A forest of the errors of ``base``, from outcomes that are known at each view's ``until``.

    None if there are too few.
    """
    rows, errors = [], []
    for view, step in zip(views, until, strict=True):
        end = max(0, step - view.horizon + 1)
        outcome = view.outcome[target][:end]
        known = np.isfinite(outcome)
        rows.append(view.rows[:end][known])
        errors.append((outcome - view.base[target][:end])[known])
    if sum(map(len, rows)) < FEWEST_ROWS:
        return None
    return grow(np.concatenate(rows), np.concatenate(errors), seed)


def ask(forest: Forest | None, view: View, target: str, first: int, last: int) -> Floats:
    """Forecasts for the steps from ``first`` to ``last``; ``base`` alone without a forest."""
    base = view.base[target][first:last]
    if forest is None:
        return base
    return base + forest.predict(view.rows[first:last])[0]


def edges_of(steps: int, split: float, retrain: int) -> list[int]:
    """Steps at which the forest learns again; the last is the end of the trace.

    Thrice before the split, so that the errors of forecasts are known there, then at the split and
    every ``retrain`` steps; 0: never again.
    """
    first = round(steps * split)
    again = range(first, steps, retrain) if retrain else [first]
    return sorted({first // 4, first // 2, 3 * first // 4, *again, steps})


def walk(
    view: View, others: Sequence[View], target: str, edges: Sequence[int], seed: int
) -> Floats:
    """(steps) forecasts for ``view``, each by a forest that has learned what was known by then.

    It learns from ``others``, of which ``view`` may be one. NaN before the first edge.
    """
    said = np.full(len(view.rows), np.nan)
    for first, last in pairwise(edges):
        forest = learn(others, target, [first] * len(others), seed)
        said[first:last] = ask(forest, view, target, first, last)
    return said
