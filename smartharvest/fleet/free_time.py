"""How much stays free for how long, exactly, from what regular VMs left of each node. Pure."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from smartharvest.fleet.simulation import Timeline
from smartharvest.fleet.tables import Floats


def rectangles(times_s: Floats, values: Floats, until_s: float) -> tuple[Floats, Floats]:
    """(heights, seconds): the area below a step function, cut into its widest level rectangles.

    ``values[k]`` >= 0 holds from ``times_s[k]`` on, the last until ``until_s``. Each rectangle is
    as wide as the function stays that high; so at a random moment what stays for h seconds is the
    sum of height x (seconds - h) over those wider than h.
    """
    heights: list[float] = []
    seconds: list[float] = []
    began: list[tuple[float, float]] = []  # (since when, how high), ever higher
    steps = [*zip(times_s.tolist(), values.tolist(), strict=True), (until_s, 0.0)]
    for now_s, value in steps:
        since_s = now_s
        while began and began[-1][1] > value:
            since_s, high = began.pop()
            below = max(value, began[-1][1] if began else 0.0)
            heights.append(high - below)
            seconds.append(now_s - since_s)
        if value > (began[-1][1] if began else 0.0):
            began.append((since_s, value))
    return np.array(heights), np.array(seconds)


class FreeTime:
    """Cores that no regular VM held on any node, from ``from_s`` to ``to_s``."""

    def __init__(self, timelines: Iterable[Timeline], from_s: float, to_s: float) -> None:
        self._seconds_in_all = to_s - from_s
        parts = [rectangles(one.times_s, np.maximum(one.cores, 0.0), to_s) for one in timelines]
        self._heights = np.concatenate([part[0] for part in parts])
        self._seconds = np.concatenate([part[1] for part in parts])

    def mean_cores(self, horizon_s: float = 0.0) -> float | None:
        """Cores that are free at a random moment and stay so for ``horizon_s``, on average.

        None if the horizon is not shorter than the window.
        """
        moments_s = self._seconds_in_all - horizon_s
        if moments_s <= 0:
            return None
        stays = np.clip(self._seconds - horizon_s, 0.0, None)
        return float(self._heights @ stays / moments_s)
