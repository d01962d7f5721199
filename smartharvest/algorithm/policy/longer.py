"""Whether tasks take longer, from waking up to sleeping again, than with nothing lent.

Both sides are kept as periods, not as sums: load comes in waves, so the spans of one period belong
together, and how much the periods differ says how sure a difference is.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smartharvest.algorithm.policy.base import Durations
from smartharvest.algorithm.policy.strain import BUCKETS, EDGES_NS, add_to

QUANTILES = {0.5: 1, 0.95: 1, 0.99: 1, 0.999: 5}
"""Those judged, and how many times the budget each may use: requests of many threads wait for the
slowest, so the far tail counts, too."""
LEAST_BEYOND = 5
"""A quantile is judged once so many spans are expected beyond it, on both sides,"""
LEAST_PERIODS = 3
"""... of so many periods each."""
BURST = 10.0
"""So many spans of the last periods count as one draw: they come in bursts."""
MEMORY_NS = 20_000_000_000
LEAST_ALONE = 16
"""Periods with nothing lent that are kept however old."""
DISASTER_TIMES = 2
"""A span is a disaster beyond so many times what the P99 may be,"""
DISASTERS = 0.02
"""... and a period with this share of them,"""
DISASTERS_GROWTH = 2
"""... if it is so many times that of any period with nothing lent."""
DISASTER_SPANS = 20

Counts = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Of one quantile."""

    ratio: float
    """The quantile over that with nothing lent."""
    excess: float
    """Share of the spans beyond what they may take, less those that may be."""
    error: float
    """Standard error of that."""


class Longer:
    """The spans of one primary in the last ``MEMORY_NS``: with nothing lent, in the way of sharing
    that is held, and in the one on trial."""

    def __init__(self) -> None:
        self._alone: deque[tuple[int, Counts]] = deque()
        self._held: deque[tuple[int, Counts]] = deque()
        self._tried: deque[tuple[int, Counts]] = deque()

    def add_alone(self, end_ns: int, spans: Durations) -> None:
        """A period with nothing lent."""
        _keep(self._alone, end_ns, spans, LEAST_ALONE)

    def add_held(self, end_ns: int, spans: Durations) -> None:
        """A period of the way that is held."""
        _keep(self._held, end_ns, spans)

    def add_tried(self, end_ns: int, spans: Durations) -> None:
        """A period of the way that is on trial."""
        _keep(self._tried, end_ns, spans)

    def begin_trial(self) -> None:
        """Another way is on trial."""
        self._tried.clear()

    def hold(self, *, tried: bool) -> None:
        """The way on trial, or another one, is held from now on."""
        self._held = self._tried if tried else deque()
        self._tried = deque()

    @property
    def alone_spans(self) -> float:
        """How many with nothing lent are known."""
        return float(sum(counts.sum() for _, counts in self._alone))

    def compare(
        self, protect: float, *, tried: bool = False, last: int = 0
    ) -> dict[float, Comparison]:
        """By quantile, what may be longer by the share ``protect``: of the way held, or on trial;
        of the ``last`` periods, or of all (0). Without those of which too few are known."""
        periods = list(self._tried if tried else self._held)[-last:]
        if min(len(periods), len(self._alone)) < LEAST_PERIODS:
            return {}
        lent, alone = _stacked(periods), _stacked(self._alone)
        fewest = min(lent.sum(), alone.sum())
        return {
            q: _compare(lent, alone, q, times * protect, together=last > 0)
            for q, times in QUANTILES.items()
            if fewest * (1 - q) >= LEAST_BEYOND
        }

    def disaster(self, protect: float, *, tried: bool) -> float:
        """How many times the usual P99 that of the last period is, if that is not to be waited out;
        else 0."""
        periods = self._tried if tried else self._held
        if not periods or not self._alone:
            return 0.0
        last, alone = periods[-1][1], _stacked(self._alone)
        if last.sum() < DISASTER_SPANS or alone.sum() < DISASTER_SPANS:
            return 0.0
        usual_ns = _quantile_ns(alone.sum(axis=0), 0.99)
        limit_ns = DISASTER_TIMES * (1 + protect) * usual_ns
        share, _ = _share_beyond(last[np.newaxis], limit_ns)
        known = alone[alone.sum(axis=1) >= DISASTER_SPANS]
        most = max((_share_beyond(one[np.newaxis], limit_ns)[0] for one in known), default=0.0)
        if share < max(DISASTERS, DISASTERS_GROWTH * most):
            return 0.0
        return _quantile_ns(last, 0.99) / usual_ns


def _keep(
    periods: deque[tuple[int, Counts]], end_ns: int, spans: Durations, least: int = 0
) -> None:
    counts = np.zeros(BUCKETS)
    add_to(counts, spans)
    periods.append((end_ns, counts))
    while len(periods) > least and periods[0][0] < end_ns - MEMORY_NS:
        periods.popleft()


def _stacked(periods: Iterable[tuple[int, Counts]]) -> Counts:
    return np.stack([counts for _, counts in periods])


def _compare(
    lent: Counts, alone: Counts, q: float, protect: float, *, together: bool
) -> Comparison:
    usual_ns = _quantile_ns(alone.sum(axis=0), q)
    most_ns = usual_ns * (1 + protect)
    share, error = _share_beyond(lent, most_ns)
    if together:  # a turn for the worse differs from period to period by its nature
        error = float(np.sqrt(BURST * max(share * (1 - share), 1 / lent.sum()) / lent.sum()))
    _, usual_error = _share_beyond(alone, usual_ns)
    return Comparison(
        _quantile_ns(lent.sum(axis=0), q) / usual_ns,
        share - (1 - q),
        float(np.hypot(error, usual_error)),
    )


def _quantile_ns(counts: Counts, q: float) -> float:
    done = np.concatenate(([0.0], np.cumsum(counts)))
    return float(np.interp(q * done[-1], done, np.concatenate(([0.0], EDGES_NS))))


def _share_beyond(periods: Counts, limit_ns: float) -> tuple[float, float]:
    """The share of the spans beyond a limit and its standard error, each period being one draw."""
    bucket = min(int(np.searchsorted(EDGES_NS, limit_ns)), BUCKETS - 1)
    low_ns = float(EDGES_NS[bucket - 1]) if bucket else 0.0
    above = min(1.0, max(0.0, (float(EDGES_NS[bucket]) - limit_ns) / (EDGES_NS[bucket] - low_ns)))
    beyond = periods[:, bucket + 1 :].sum(axis=1) + above * periods[:, bucket]
    counts = periods.sum(axis=1)
    total = float(counts.sum())
    share = float(beyond.sum()) / total
    spread = float(((beyond - share * counts) ** 2).sum()) / total**2
    chance = max(share * (1 - share), 1 / total) / total
    return share, float(np.sqrt(max(spread, chance)))
