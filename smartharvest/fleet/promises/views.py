"""One cluster's history as the forest learns it: rows, outcomes, and simple forecasts. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from smartharvest.fleet.promises.cohorts import Cohorts, Size, cohorts
from smartharvest.fleet.promises.features import features
from smartharvest.fleet.promises.life_table import period_survival
from smartharvest.fleet.promises.occupancy import MOST_CORES, Occupancy
from smartharvest.fleet.promises.rivals import persistence
from smartharvest.fleet.tables import DAY_S, Floats

HOUR_S = 3600.0
HORIZONS_S = tuple(hours * HOUR_S for hours in (1, 6, 24, 3 * 24, 7 * 24, 14 * 24, 30 * 24))
TARGETS = ("survival", "cores")


@dataclass(frozen=True, slots=True)
class View:
    """A cluster at one horizon; arrays (steps)."""

    horizon: int
    """Steps."""
    rows: Floats
    """(steps, len(features.NAMES))."""
    outcome: dict[str, Floats]
    """Target -> what became of each cohort; NaN if it is empty or censored."""
    base: dict[str, Floats]
    """Target -> a simple forecast, whose error the forest learns: a life table of the last day or
    week, and the cores of the newest cohort."""
    newest: dict[str, Floats]
    """Target -> persistence."""


@dataclass(frozen=True, slots=True)
class History:
    """A cluster with the Harvest VMs of one size."""

    seen: Occupancy
    size: Size
    started: Cohorts
    views: dict[float, View]
    """By horizon in seconds."""

    @property
    def most(self) -> dict[str, float]:
        """Target -> the largest value there is."""
        return {"survival": 1.0, "cores": float(min(MOST_CORES, self.seen.node_cores.max()))}

    def reach(self, target: str) -> tuple[Floats, Floats] | None:
        """(steps) the fewest and the most cores of any cohort so far; None for survival."""
        if target == "survival":
            return None
        known = self.views[min(self.views)].newest[target]
        return np.minimum.accumulate(known), np.maximum.accumulate(known)


def history(seen: Occupancy, size: Size, horizons_s: Sequence[float]) -> History:
    """``horizons_s`` are whole numbers of steps and shorter than the trace."""
    started = cohorts(seen, size)
    of_cluster = features(seen, started, size)
    steps = {span: max(1, round(span / seen.step_s)) for span in horizons_s}
    day = round(DAY_S / seen.step_s)
    by_day = period_survival(started, list(steps.values()), day)
    by_week = period_survival(started, list(steps.values()), 7 * day)
    fits = started.fits
    cores_now = np.minimum(seen.free_cores, MOST_CORES) * fits
    now = cores_now.sum(axis=1) / np.maximum(1, fits.sum(axis=1))
    views = {}
    for span, horizon in steps.items():
        survival, cores = started.outcome(horizon)
        newest = {
            "survival": persistence(survival, horizon, np.ones(seen.steps)),
            "cores": persistence(cores, horizon, now),
        }
        tables = by_day[horizon], by_week[horizon]
        base = {"survival": tables[0 if span <= DAY_S else 1], "cores": newest["cores"]}
        rows = np.column_stack([of_cluster, newest["survival"], newest["cores"], *tables])
        views[span] = View(horizon, rows, {"survival": survival, "cores": cores}, base, newest)
    return History(seen, size, started, views)
