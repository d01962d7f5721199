"""Whether the primary's tasks take longer than they would without lending.

Of each task the sensor tells two times from waking up to sleeping: what it took, and what it would
have taken without the waits for which elastic tasks had a core. Both are of the same tasks, so
waves of load and the primary's own queueing are in both, and what differs is what lending costs.
"""

from __future__ import annotations

import math
from collections import deque

from smartharvest.algorithm.policy.base import Spans
from smartharvest.core._spans import SpanCounts

QUANTILES = (0.5, 0.95, 0.99)
"""Those judged, and one in the far tail,"""
FAR_TIMES = 2.5
"""... which may use so many times the budget."""
FAREST = 0.999
LEAST_BEYOND = 5
"""A quantile is known once so many spans are expected beyond it."""
RECENT_LOOKS = 30
"""A way is judged by so many, the last ones that it had; mostly of a period each."""
BURST = 3.0
"""So many spans count as one draw: load comes in waves."""
LATELY_PERIODS = 600
"""What all ways together cost is the mean of about so many."""
DISASTER_TIMES, DISASTER = 2.0, 0.05
"""A period in which this share of the spans is beyond so many times the limit of their P99."""


def far_of(cores: int) -> float:
    """The quantile of spans that decides the P99 of a request which waits for the slowest of as
    many tasks as there are cores."""
    return min(FAREST, 1 - 0.01 / cores)


class Pairs:
    """Spans of some time, and the same tasks' spans without what lending held them up for.

    ``far`` is the quantile of the far tail that is judged.
    """

    def __init__(self, taken: SpanCounts, without: SpanCounts, far: float = FAREST) -> None:
        self.taken, self.without = taken, without
        self._budgets = {**dict.fromkeys(QUANTILES, 1.0), far: FAR_TIMES}

    def too_long(self, protect: float, errors: float = 0.0) -> str:
        """Which quantile is longer by more than its budget, by so many standard errors at least;
        empty: none."""
        for q, times in self._budgets.items():
            usual = (1 - q) * self.taken.total
            if usual < LEAST_BEYOND:
                continue
            beyond = self._beyond(q, times * protect)
            if beyond > usual + errors * math.sqrt(BURST * usual):
                share = beyond / self.taken.total
                return f"{share:.1%} of its wake-ups take longer than the P{q * 100:g} may"
        return ""

    def is_disaster(self, protect: float) -> bool:
        limit_ns = self.without.quantile_ns(0.99) * (1 + protect) * DISASTER_TIMES
        return self.taken.beyond(limit_ns) > DISASTER * self.taken.total

    @property
    def tells(self) -> bool:
        """Whether there are enough for a P99."""
        return self.taken.total * 0.01 >= LEAST_BEYOND

    def _beyond(self, q: float, budget: float) -> float:
        return self.taken.beyond(self.without.quantile_ns(q) * (1 + budget))


class Meter:
    """What sharing ``cores`` costs one primary: the way in force, and all ways lately."""

    def __init__(self, cores: int) -> None:
        self._far = far_of(cores)
        self._recent: deque[Spans] = deque()
        self._recent_taken, self._recent_without = SpanCounts(), SpanCounts()
        """Sums of those."""
        self._taken, self._without = SpanCounts(), SpanCounts()

    def add(self, spans: Spans, *, counts: bool, periods: int = 1) -> None:
        """Of one look at so many periods; whether it ``counts`` for the way in force."""
        self.fade(periods)
        _add(self._taken, self._without, spans)
        if not counts:
            return
        if len(self._recent) == RECENT_LOOKS:
            _add(self._recent_taken, self._recent_without, self._recent.popleft(), -1)
        self._recent.append(spans)
        _add(self._recent_taken, self._recent_without, spans)

    def fade(self, periods: int) -> None:
        """So many have passed."""
        left = (1 - 1 / LATELY_PERIODS) ** periods
        self._taken.scale(left)
        self._without.scale(left)

    def begin(self) -> None:
        """Another way is in force."""
        self._recent.clear()
        self._recent_taken.clear()
        self._recent_without.clear()

    def recently(self) -> Pairs:
        """Of the way in force."""
        return Pairs(self._recent_taken, self._recent_without, self._far)

    def last(self) -> Pairs:
        """Of the last period that counts."""
        taken, without = SpanCounts(), SpanCounts()
        if self._recent:
            _add(taken, without, self._recent[-1])
        return Pairs(taken, without, self._far)

    def lately(self) -> Pairs:
        """Of all ways."""
        return Pairs(self._taken, self._without, self._far)


def _add(taken: SpanCounts, without: SpanCounts, spans: Spans, times: float = 1) -> None:
    taken.add(spans.lent, times)
    taken.add(spans.not_lent, times)
    without.add(spans.unharmed, times)
    without.add(spans.not_lent, times)
