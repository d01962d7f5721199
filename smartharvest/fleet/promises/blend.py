"""One forecast out of several, each as good as its known errors say. Pure.

The forest is the nearest where a trace has a pattern, persistence where nothing changes, and a life
table where all is chance; which of them it is differs by trace and horizon. So each counts by what
its forecasts were off before, as soon as that is known, and the blend is close to the best of them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from smartharvest.fleet.tables import Floats

SHARPNESS = 4.0
"""A forecast counts by its mean error to the power of minus this."""
_LEAST_ERROR = 1e-3
"""Of all there is: smaller errors are equal."""


def weights(errors: Sequence[float], most: float) -> Floats:
    """(forecasts) shares that add up to 1, of their mean distances to the outcome."""
    off = np.maximum(np.asarray(errors, dtype=np.float64), _LEAST_ERROR * most)
    share: Floats = (off.min() / off) ** SHARPNESS
    return share / share.sum()


def blended(forecasts: Sequence[Floats], outcome: Floats, horizon: int, most: float) -> Floats:
    """(steps) the mean of ``forecasts`` (steps), each weighted by what it was off so far.

    An error counts ``horizon`` steps after its forecast. NaN of one forecast is left out; equal
    shares as long as no error is known.
    """
    said = np.stack(forecasts)
    off = np.abs(said - outcome)
    known = np.isfinite(off).all(axis=0)
    sums = np.cumsum(np.where(known, off, 0.0), axis=1)
    before = np.arange(len(outcome)) - horizon  # the newest whose outcome is known
    have = before >= 0
    at = np.maximum(before, 0)
    count = np.where(have, np.cumsum(known)[at], 0)
    mean = np.where(count > 0, sums[:, at] / np.maximum(1, count), 1.0)
    mean = np.maximum(mean, _LEAST_ERROR * most)
    share = (mean.min(axis=0) / mean) ** SHARPNESS
    share = np.where(np.isfinite(said), share, 0.0)
    total = share.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(total > 0, (share * np.nan_to_num(said)).sum(axis=0) / total, np.nan)
