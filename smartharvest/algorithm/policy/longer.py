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
        return float(sum(beyond[0] for _, beyond in self._alone))

    def compare(
        self, protect: float, *, tried: bool = False, last: int = 0
    ) -> dict[float, Comparison]:
        """By quantile, what may be longer by the share ``protect``: of the way held, or on trial;
        of the ``last`` periods, or of all (0). Without those of which too few are known."""
        periods = list(self._tried if tried else self._held)[-last:]
        if min(len(periods), len(self._alone)) < LEAST_PERIODS:
            return {}
        lent, alone = _Sample(periods), _Sample(self._alone)
        fewest = min(lent.total, alone.total)
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
        last, alone = _Sample([periods[-1]]), _Sample(self._alone)
        if min(last.total, alone.total) < DISASTER_SPANS:
            return 0.0
        usual_ns = alone.quantile_ns(0.99)
        limit_ns = DISASTER_TIMES * (1 + protect) * usual_ns
        share, _ = last.share_beyond(limit_ns)
        if share < DISASTERS:
            return 0.0
        known = alone.counts >= DISASTER_SPANS
        shares = alone.beyond(limit_ns)[known] / alone.counts[known]
        if share < DISASTERS_GROWTH * max(shares, default=0.0):
            return 0.0
        return last.quantile_ns(0.99) / usual_ns


def _keep(
    periods: deque[tuple[int, Counts]], end_ns: int, spans: Durations, least: int = 0
) -> None:
    counts = np.zeros(BUCKETS + 1)
    add_to(counts[:-1], spans)
    periods.append((end_ns, np.cumsum(counts[::-1])[::-1]))
    while len(periods) > least and periods[0][0] < end_ns - MEMORY_NS:
        periods.popleft()


class _Sample:
    """Some periods. Of each the number of spans in a bucket or beyond it is known."""

    def __init__(self, periods: Iterable[tuple[int, Counts]]) -> None:
        self._from = np.stack([from_bucket for _, from_bucket in periods])
        self._all_from = self._from.sum(axis=0)
        self.total = float(self._all_from[0])
        self.counts: Counts = self._from[:, 0]
        """Spans of each period."""

    def quantile_ns(self, q: float) -> float:
        """Of all together."""
        ends_ns = np.concatenate(([0.0], EDGES_NS))
        return float(np.interp(q * self.total, self.total - self._all_from, ends_ns))

    def beyond(self, limit_ns: float) -> Counts:
        """Spans of each period that are longer."""
        bucket = min(int(np.searchsorted(EDGES_NS, limit_ns)), BUCKETS - 1)
        low_ns, high_ns = float(EDGES_NS[bucket - 1]) if bucket else 0.0, float(EDGES_NS[bucket])
        above = min(1.0, max(0.0, (high_ns - limit_ns) / (high_ns - low_ns)))
        here, further = self._from[:, bucket], self._from[:, bucket + 1]
        longer: Counts = further + above * (here - further)
        return longer

    def share_beyond(self, limit_ns: float) -> tuple[float, float]:
        """The share that is longer and its standard error, each period being one draw."""
        beyond, total = self.beyond(limit_ns), self.total
        share = float(beyond.sum()) / total
        spread = float(((beyond - share * self.counts) ** 2).sum()) / total**2
        chance = max(share * (1 - share), 1 / total) / total
        return share, float(np.sqrt(max(spread, chance)))


def _compare(
    lent: _Sample, alone: _Sample, q: float, protect: float, *, together: bool
) -> Comparison:
    usual_ns = alone.quantile_ns(q)
    share, error = lent.share_beyond(usual_ns * (1 + protect))
    if together:  # a turn for the worse differs from period to period by its nature
        error = float(np.sqrt(BURST * max(share * (1 - share), 1 / lent.total) / lent.total))
    _, usual_error = alone.share_beyond(usual_ns)
    return Comparison(
        lent.quantile_ns(q) / usual_ns, share - (1 - q), float(np.hypot(error, usual_error))
    )
