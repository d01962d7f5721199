"""What the forest sees of a cluster at each step: the paper's features (OSDI'20, section 5). Pure.

Sums are per node, so that what was learned of one cluster says something of a larger one. Nothing
here looks past its step: the survival "of a day ago" is that of the cohort started a day ago, whose
day is over.
"""

from __future__ import annotations

import numpy as np

from smartharvest.fleet.promises.cohorts import Cohorts, Size
from smartharvest.fleet.promises.occupancy import MOST_CORES, Occupancy
from smartharvest.fleet.tables import DAY_S, Floats

HOUR_S = 3600.0
_LOOK_BACK_S = (HOUR_S, 6 * HOUR_S, DAY_S, 7 * DAY_S)

OF_A_CLUSTER = (
    *("nodes", "node cores", "node GiB", "minimum cores", "minimum GiB", "VMs per node"),
    *("allocated cores", "allocated memory", "free cores", "nodes with room", "cores with room"),
    *("nodes with twice the room", "least free, day", "spread of free, day", "arrivals, hour"),
    *("arrivals, day", "free cores, a day ago", "nodes with room, a day ago"),
    *("free cores, mean of a week", "nodes with room, mean of a week"),
    *(f"survival, last {span}" for span in ("1 h", "6 h", "1 d", "7 d")),
    *(f"cores, last {span}" for span in ("1 h", "6 h", "1 d", "7 d")),
    *("hour, sine", "hour, cosine", "days seen"),
)
OF_A_HORIZON = (
    *("survival of the newest cohort", "cores of the newest cohort"),
    *("survival by a day's evictions", "survival by a week's evictions"),
)
NAMES = (*OF_A_CLUSTER, *OF_A_HORIZON)
"""One name a column of View.rows (views.py)."""


def features(seen: Occupancy, started: Cohorts, size: Size) -> Floats:
    """(steps, len(OF_A_CLUSTER))."""
    step_s, steps = seen.step_s, seen.steps
    day, hour = round(DAY_S / step_s), max(1, round(HOUR_S / step_s))
    nodes = len(seen.node_cores)
    free = seen.free_cores.mean(axis=1)
    fits = started.fits
    room = fits.mean(axis=1)
    capped = np.minimum(seen.free_cores, MOST_CORES)
    with_room = np.where(room > 0, (capped * fits).sum(axis=1) / np.maximum(1, fits.sum(axis=1)), 0)
    arrivals = seen.arrivals / nodes
    before = np.concatenate([[0.0], arrivals[:-1]])  # those of this step are still to come
    hours = np.arange(steps) * step_s / HOUR_S
    same = np.ones(steps)
    ago = [
        _ago(started.outcome(round(span / step_s)), round(span / step_s), with_room)
        for span in _LOOK_BACK_S
    ]
    columns = (
        same * np.log(nodes), same * seen.node_cores.mean(), same * seen.node_memory_gib.mean(),
        same * size.cores, same * size.memory_gib, seen.vms / nodes,
        1 - seen.free_cores.sum(axis=1) / seen.node_cores.sum(),
        1 - seen.free_memory_gib.sum(axis=1) / max(1e-9, seen.node_memory_gib.sum()),
        free, room, with_room,
        (seen.free_cores >= 2 * size.cores).mean(axis=1),
        free - _windowed(free, day, np.min), _windowed(free, day, np.std),
        hour * _windowed(before, hour, np.mean), day * _windowed(before, day, np.mean),
        _delayed(free, day), _delayed(room, day),
        _windowed(free, 7 * day, np.mean), _windowed(room, 7 * day, np.mean),
        *(survival for survival, _ in ago), *(cores for _, cores in ago),
        np.sin(hours * np.pi / 12), np.cos(hours * np.pi / 12), np.minimum(hours / 24, 30.0),
    )  # fmt: skip
    return np.stack(columns, axis=1)


def _delayed(values: Floats, steps: int) -> Floats:
    """``values`` as they were ``steps`` before; the first until then."""
    return values[np.maximum(0, np.arange(len(values)) - steps)]


def _windowed(values: Floats, steps: int, summary: object) -> Floats:
    """A summary of the last ``steps`` values, this one included; of fewer at the beginning."""
    padded = np.concatenate([np.full(steps - 1, values[0]), values])
    windows = np.lib.stride_tricks.sliding_window_view(padded, steps)
    return np.asarray(summary(windows, axis=1))  # type: ignore[operator]


def _ago(outcome: tuple[Floats, Floats], steps: int, with_room: Floats) -> tuple[Floats, Floats]:
    """The newest outcome that is known at each step; everything survives as long as none is."""
    survival, cores = outcome
    at = np.arange(len(survival)) - steps
    known = at >= 0
    at = np.maximum(at, 0)
    survived = last_known(np.where(known, survival[at], np.nan), np.ones(len(at)))
    had = last_known(np.where(known, cores[at], np.nan), with_room)
    return survived, had


def last_known(values: Floats, otherwise: Floats) -> Floats:
    """``values`` with each NaN as the last number before it, or ``otherwise``."""
    index = np.where(np.isnan(values), -1, np.arange(len(values)))
    last = np.maximum.accumulate(index)
    return np.where(last >= 0, values[np.maximum(last, 0)], otherwise)
