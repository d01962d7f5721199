"""What was learned, ready to promise: forests, their errors on what was new to them, ranges."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from smartharvest.errors import ConfigError, TraceError
from smartharvest.fleet.promises.blend import share
from smartharvest.fleet.promises.evidence import alike, busyness, counted
from smartharvest.fleet.promises.features import NAMES
from smartharvest.fleet.promises.forest import Forest
from smartharvest.fleet.promises.learning import ask, learn
from smartharvest.fleet.promises.views import TARGETS, History, View
from smartharvest.fleet.tables import DAY_S, Floats

HELD_BACK = 0.4
"""The last share of each trace, on which the errors are found."""
_MOST_ERRORS = 400


@dataclass(frozen=True, slots=True)
class Learned:
    """Of one target and one horizon."""

    forest: Forest
    errors: Floats
    """Ascending; of forecasts that had not seen them."""
    independent: float
    """How many of the errors are independent, and of a time like the trace's end."""
    share: float
    """How much the forest counts, 0 to 1; the rest is persistence."""

    def say(self, view: View, target: str, first: int, last: int) -> Floats:
        """Forecasts for the steps from ``first`` to ``last``."""
        newest = view.newest[target][first:last]
        return newest + self.share * (ask(self.forest, view, target, first, last) - newest)


@dataclass(frozen=True, slots=True)
class Model:
    step_s: float
    days: float
    """Of all traces together."""
    nodes: int
    """Of the largest cluster."""
    sizes: tuple[tuple[float, float], ...]
    """(cores, GiB): the minimums it has learned."""
    lowest: Floats
    """(features) the least that was seen of each, and the next the most."""
    highest: Floats
    learned: dict[tuple[str, float], Learned]
    """(target, horizon in seconds)."""

    @property
    def horizons_s(self) -> list[float]:
        return sorted({span for _, span in self.learned})

    def only(self, asked: Sequence[float], must: bool) -> list[float]:
        """Those of ``asked`` that it has learned.

        Raises ConfigError if none is left, or one is missing that ``must`` be there.
        """
        known = [span for span in asked if all((name, span) in self.learned for name in TARGETS)]
        if not known or (must and len(known) < len(asked)):
            spans = ", ".join(f"{span / 3600:g} h" for span in self.horizons_s)
            raise ConfigError(f"--horizon: the model has learned {spans}; ask for those")
        return known

    def beyond(self, row: Floats) -> list[str]:
        """What of a cluster's ``row`` (features) the model has not seen, in words."""
        found = []
        for name, value, low, high in zip(NAMES, row, self.lowest, self.highest, strict=True):
            slack = 0.01 * (high - low) + 1e-6 * max(abs(low), abs(high))
            if not low - slack <= value <= high + slack and name != "days seen":
                shown = np.array([value, low, high])
                shown = np.exp(shown) if name == "nodes" else shown
                found.append(f"{name}: {shown[0]:.3g}, learned {shown[1]:.3g} to {shown[2]:.3g}")
        return found


def train(
    histories: Sequence[History],
    seed: int,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> Model:
    """Learns from ``histories`` of clusters and sizes, with the same step and horizons.

    ``progress`` gets how many of all forests are learned.

    Raises TraceError if they are too short for all horizons, ConfigError if scikit-learn is
    missing.
    """
    learned = {}
    wanted = [(target, span) for target in TARGETS for span in histories[0].views]
    for done, (target, span) in enumerate(wanted):
        progress(done, len(wanted))
        one = _learn(histories, target, span, seed)
        if one is not None:
            learned[target, span] = one
    if not learned:
        raise TraceError(
            "the trace is too short to learn from: its outcomes are known for too few steps"
        )
    rows = [view.rows for one in histories for view in one.views.values()]
    seen = histories[0].seen
    return Model(
        seen.step_s,
        sum(each.seconds for each in {id(one.seen): one.seen for one in histories}.values())
        / DAY_S,
        max(len(one.seen.node_cores) for one in histories),
        tuple(sorted({(one.size.cores, one.size.memory_gib) for one in histories})),
        np.min([part.min(axis=0) for part in rows], axis=0),
        np.max([part.max(axis=0) for part in rows], axis=0),
        learned,
    )


def _learn(histories: Sequence[History], target: str, span: float, seed: int) -> Learned | None:
    views = [one.views[span] for one in histories]
    split = [round(len(view.rows) * (1 - HELD_BACK)) for view in views]
    first = learn(views, target, split, seed)
    whole = learn(views, target, [len(view.rows) for view in views], seed)
    if first is None or whole is None:
        return None
    held = [slice(step, len(view.rows)) for view, step in zip(views, split, strict=True)]
    said = [
        (ask(first, view, target, part.start, part.stop), view.newest[target][part])
        for view, part in zip(views, held, strict=True)
    ]
    outcome = np.concatenate(
        [view.outcome[target][part] for view, part in zip(views, held, strict=True)]
    )
    forest, newest = (np.concatenate(column) for column in zip(*said, strict=True))
    there = np.isfinite(outcome)
    if not there.any():
        return None
    known = _independent(histories, held, target, span, [forecast for forecast, _ in said])
    forest, newest, outcome = forest[there], newest[there], outcome[there]
    off = [float(np.abs(each - outcome).mean()) for each in (forest, newest)]
    part_of_forest = float(share(off[0], off[1], known, max(one.most[target] for one in histories)))
    errors = np.sort(outcome - (newest + part_of_forest * (forest - newest)))
    if len(errors) > _MOST_ERRORS:
        errors = np.quantile(errors, np.linspace(0, 1, _MOST_ERRORS))
    return Learned(whole, errors, known, part_of_forest)


def _independent(
    histories: Sequence[History],
    held: Sequence[slice],
    target: str,
    span: float,
    said: Sequence[Floats],
) -> float:
    """How many independent errors the held back parts have; of one size of VM, that has the most.

    Traces of different clusters add up as far as they are alike and begin at one moment.
    """
    steps = max(part.stop for part in held)
    found: dict[tuple[float, float], list[tuple[float, Floats]]] = {}
    for one, part, forecast in zip(histories, held, said, strict=True):
        view, busy = one.views[span], busyness(one.seen)[part]
        last = max(0, len(busy) - view.horizon)
        errors = np.full(steps, np.nan)
        errors[part.start : part.start + last] = (view.outcome[target][part] - forecast)[:last]
        independent = alike(busy[:last], busy[-1]) / view.horizon
        found.setdefault((one.size.cores, one.size.memory_gib), []).append((independent, errors))
    most = 0.0
    for clusters in found.values():
        own = [independent for independent, _ in clusters]
        together = sum(own) * counted([errors for _, errors in clusters], sum(own) / len(own))
        most = max(most, *own, together)
    return most
