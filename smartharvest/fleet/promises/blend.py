"""The forest's forecast and persistence as one, each as good as its known errors say. Pure.

The forest is nearer where a trace has a pattern that it has seen, persistence where nothing changes
or everything has; which of them it is differs by trace and horizon. So each counts by what it was
off before, and the forest only as far as independent errors are known to say so.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from smartharvest.fleet.tables import Floats

SHARPNESS = 8.0
"""A forecast counts by its mean error to the power of minus this."""
DOUBT = 39.0
"""With so many independent errors the forest counts half of what its errors say."""
_LEAST = 1e-3
"""Of all there is: smaller errors are equal."""


def share(
    forest_off: Floats | float, newest_off: Floats | float, independent: Floats | float, most: float
) -> NDArray[np.float64]:
    """How much the forest counts, 0 to 1.

    ``forest_off`` and ``newest_off`` are mean distances to the outcome, ``independent`` is of how
    many independent ones, ``most`` the largest outcome there is.
    """
    off = np.maximum(np.stack(np.broadcast_arrays(forest_off, newest_off)), _LEAST * most)
    counts = (off.min(axis=0) / off) ** SHARPNESS
    sure = np.asarray(independent) / (np.asarray(independent) + DOUBT)
    return np.asarray(sure * counts[0] / counts.sum(axis=0))


def blended(forest: Floats, newest: Floats, outcome: Floats, horizon: int, most: float) -> Floats:
    """(steps) forecasts out of two; an error counts ``horizon`` steps after its forecast.

    NaN where the forest says nothing.
    """
    off = np.stack([np.abs(forest - outcome), np.abs(newest - outcome)])
    known = np.isfinite(off).all(axis=0)
    sums = np.cumsum(np.where(known, off, 0.0), axis=1)
    count = np.cumsum(known)
    last = np.arange(len(outcome)) - horizon  # the newest whose outcome is known
    at = np.maximum(last, 0)
    known_then = np.where(last >= 0, count[at], 0)
    mean = np.where(known_then > 0, sums[:, at] / np.maximum(1, known_then), most)
    part = share(mean[0], mean[1], known_then / horizon, most)
    return newest + part * (forest - newest)
