"""Survival curves that take the living as living: Kaplan-Meier, and a life table of a period. Pure.

A mean that leaves out those that still live at the end of a trace, or counts them as dead, is a
shorter life than theirs.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from smartharvest.fleet.promises.cohorts import Cohorts
from smartharvest.fleet.tables import Floats

Z_95 = 1.959964


def kaplan_meier(
    lived: Floats, died: NDArray[np.bool_], horizon: float
) -> tuple[float, float, float]:
    """(survival at ``horizon``, lower and upper end of its 95 % interval).

    ``lived`` (n) is how long each was seen, ``died`` (n) whether that ended it. S = Π (1 - d/n)
    over the times of deaths before ``horizon``; Greenwood's variance is S² Σ d / n (n - d). Without
    any life the interval is all there is.
    """
    if not len(lived):
        return 1.0, 0.0, 1.0
    times, deaths = np.unique(lived[died & (lived < horizon)], return_counts=True)
    at_risk = len(lived) - np.searchsorted(np.sort(lived), times, "left")
    survival = float(np.prod(1 - deaths / at_risk))
    with np.errstate(divide="ignore"):
        sums = float(np.sum(np.where(at_risk > deaths, deaths / (at_risk * (at_risk - deaths)), 0)))
    spread = Z_95 * survival * np.sqrt(sums)
    return survival, max(0.0, survival - spread), min(1.0, survival + spread)


def period_survival(started: Cohorts, horizons: list[int], window: int) -> dict[int, Floats]:
    """Horizon -> (steps) what of a cohort would survive if each age died as it did of late.

    At each step and for each age, the share of VMs of that age that died within the last ``window``
    steps; the product over the ages up to a horizon. So today's evictions count today, and not
    only when a cohort has reached the horizon.
    """
    steps = len(started.fits)
    lasts = np.where(started.fits, started.lasts, -1)
    lag = np.arange(steps) - window
    found, log_survival = {}, np.zeros(steps)
    alive = (lasts >= 0).sum(axis=1).astype(np.float64)
    for age in range(max(horizons)):
        older = (lasts >= age + 1).sum(axis=1).astype(np.float64)
        first = age + 1  # the first cohort's next birthday
        if first < steps:
            ratios = []
            for counts in (older, alive):
                seen = np.zeros(steps)
                seen[first:] = np.cumsum(counts[: steps - first])
                ratios.append(seen - np.where(lag >= 0, seen[np.maximum(lag, 0)], 0.0))
            died_out = ratios[1] <= 0
            share = np.maximum(ratios[0], 1e-9) / np.where(died_out, 1.0, ratios[1])
            log_survival = log_survival + np.where(died_out, 0.0, np.log(np.minimum(share, 1.0)))
        if age + 1 in horizons:
            found[age + 1] = np.exp(log_survival)
        alive = older
    return found
