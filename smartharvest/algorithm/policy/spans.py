"""Whether the primary's tasks take longer than they would without lending.

Of each task the sensor tells two times from waking up to sleeping: what it took, and what it would
have taken without the waits for which elastic tasks had a core. Both are of the same tasks, so
waves of load and the primary's own queueing are in both, and what differs is what lending costs.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from itertools import accumulate

from smartharvest.algorithm.harm import Durations
from smartharvest.algorithm.policy.base import Spans

QUANTILES = {0.5: 1.0, 0.95: 1.0, 0.99: 1.0, 0.999: 2.5}
"""Those judged, and how many times the budget each may use: requests of many threads wait for the
slowest, so the far tail counts, too."""
LEAST_BEYOND = 5
"""A quantile is known once so many spans are expected beyond it."""
RECENT_PERIODS = 30
"""A way is judged by so many, the last ones that it had."""
BURST = 3.0
"""So many spans count as one draw: load comes in waves."""
LATELY_PERIODS = 600
"""What all ways together cost is the mean of about so many."""
DISASTER_TIMES, DISASTER = 2.0, 0.05
"""A period in which this share of the spans is beyond so many times the limit of their P99."""

HALF_BUCKET = 2 ** (1 / 32)

Counts = Sequence[tuple[int, float]]
"""As Durations, but older ones count less."""


class SpanCounts:
    """Of some time: how many were at least so long."""

    def __init__(self, durations: Counts) -> None:
        self._middles: tuple[int, ...] = ()
        counts: tuple[float, ...] = ()
        if durations:
            self._middles, counts = zip(*sorted(durations), strict=True)
        self._from = list(accumulate(reversed(counts), initial=0))[::-1]
        self.total = self._from[0]

    def beyond(self, limit_ns: float) -> float:
        """How many are longer; those of a bucket are spread over it."""
        at = bisect_left(self._middles, limit_ns / HALF_BUCKET)
        if at == len(self._middles):
            return 0.0
        low_ns, high_ns = self._bucket(at)
        above = min(1.0, (high_ns - limit_ns) / (high_ns - low_ns))
        return self._from[at + 1] + above * (self._from[at] - self._from[at + 1])

    def quantile_ns(self, q: float) -> float:
        left = (1 - q) * self.total
        at = next((i for i in range(len(self._middles), 0, -1) if self._from[i - 1] > left), 0) - 1
        if at < 0:
            return 0.0
        low_ns, high_ns = self._bucket(at)
        inside = (left - self._from[at + 1]) / (self._from[at] - self._from[at + 1])
        return high_ns - inside * (high_ns - low_ns)

    def _bucket(self, at: int) -> tuple[float, float]:
        return self._middles[at] / HALF_BUCKET, self._middles[at] * HALF_BUCKET


class Pairs:
    """Spans of some time, and the same tasks' spans without what lending held them up for."""

    def __init__(self, taken: Counts, without: Counts) -> None:
        self.taken, self._without = SpanCounts(taken), SpanCounts(without)

    def too_long(self, protect: float, errors: float = 0.0) -> str:
        """Which quantile is longer by more than its budget, by so many standard errors at least;
        empty: none."""
        for q, times in QUANTILES.items():
            usual = (1 - q) * self.taken.total
            if usual < LEAST_BEYOND:
                continue
            beyond = self._beyond(q, times * protect)
            if beyond > usual + errors * math.sqrt(BURST * usual):
                share = beyond / self.taken.total
                return f"{share:.1%} of its wake-ups take longer than the P{q * 100:g} may"
        return ""

    def is_disaster(self, protect: float) -> bool:
        limit_ns = self._without.quantile_ns(0.99) * (1 + protect) * DISASTER_TIMES
        return self.taken.beyond(limit_ns) > DISASTER * self.taken.total

    @property
    def tells(self) -> bool:
        """Whether there are enough for a P99."""
        return self.taken.total * 0.01 >= LEAST_BEYOND

    def _beyond(self, q: float, budget: float) -> float:
        return self.taken.beyond(self._without.quantile_ns(q) * (1 + budget))


class Meter:
    """What sharing costs one primary: the way in force, and all ways lately."""

    def __init__(self) -> None:
        self._recent: deque[tuple[Durations, Durations]] = deque()
        self._recent_taken: Counter[int] = Counter()
        self._recent_without: Counter[int] = Counter()
        """Sums of those."""
        self._taken: dict[int, float] = {}
        self._without: dict[int, float] = {}

    def add(self, spans: Spans, *, counts: bool) -> None:
        """A period; whether it ``counts`` for the way in force."""
        taken = merged(spans.lent, spans.not_lent)
        without = merged(spans.unharmed, spans.not_lent)
        self.fade(1)
        for sums, durations in ((self._taken, taken), (self._without, without)):
            for middle_ns, count in durations:
                sums[middle_ns] = sums.get(middle_ns, 0.0) + count
        if not counts:
            return
        if len(self._recent) == RECENT_PERIODS:
            old_taken, old_without = self._recent.popleft()
            self._recent_taken.subtract(dict(old_taken))
            self._recent_without.subtract(dict(old_without))
        self._recent.append((taken, without))
        self._recent_taken.update(dict(taken))
        self._recent_without.update(dict(without))

    def fade(self, periods: int) -> None:
        """So many have passed."""
        left = (1 - 1 / LATELY_PERIODS) ** periods
        for sums in (self._taken, self._without):
            for middle_ns in sums:
                sums[middle_ns] *= left

    def begin(self) -> None:
        """Another way is in force."""
        self._recent.clear()
        self._recent_taken.clear()
        self._recent_without.clear()

    def recently(self) -> Pairs:
        """Of the way in force."""
        return Pairs(_some(self._recent_taken), _some(self._recent_without))

    def last(self) -> Pairs:
        """Of the last period that counts."""
        return Pairs(*self._recent[-1]) if self._recent else Pairs((), ())

    def lately(self) -> Pairs:
        """Of all ways."""
        return Pairs(_some(self._taken), _some(self._without))


def _some(counts: Mapping[int, float]) -> Counts:
    return tuple((middle_ns, count) for middle_ns, count in counts.items() if count > 0)


def merged(*durations: Durations) -> Durations:
    """All together."""
    some = [one for one in durations if one]
    if len(some) < 2:  # mostly: something is lent for a whole period, or nothing
        return some[0] if some else ()
    counts: Counter[int] = Counter()
    for one in durations:
        for middle_ns, count in one:
            counts[middle_ns] += count
    return tuple(counts.items())
