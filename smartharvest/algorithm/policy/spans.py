"""Whether the primary's tasks take longer than they would without lending.

Of each task the sensor tells two times from waking up to sleeping: what it took, and what it would
have taken without the waits for which elastic tasks had a core. Both are of the same tasks, so
waves of load and the primary's own queueing are in both, and what differs is what lending costs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from smartharvest.algorithm.policy.base import Spans
from smartharvest.core._spans import SpanCounts

QUANTILES = (0.5, 0.95, 0.99)
"""Those judged, and one in the far tail,"""
FAR_TIMES = 2.5
"""... which may use so many times the budget."""
FAREST = 0.999
TYPICAL = 0.95
"""A median by time is of so many spans, shortest first; the others are the tail's. Many that are
short hand over a lock: by their number the median may lie in the gap between them and those that
work, where it moves far from one rest to the next."""
OWN = 0.5
"""Where tasks of the same primary wake so large a part a request takes several, one after the
other: its time is their sum, and their median by number no request's."""
HANDED_OVER = 0.1
"""Where they wake less no request takes two."""
SPREAD = 2.0
"""Times their mean is the deviation of delays, and of spans, at most."""
WORK = 0.25
"""A task that takes so large a part of the typical one's time is one that works for a request."""
LEAST_BEYOND = 5
"""A quantile is known once so many spans are expected beyond it."""
BURST, WAVE = 3.0, 9.0
"""So many spans count as one draw: load comes in bursts, and on few cores in waves."""
USUAL_ERRORS = 2.0
"""Standard errors by which what is usual may be less than it was seen to be."""
ELSEWHERE_NS, TAIL_ELSEWHERE_NS = 25_000, 50_000
"""What a request takes that no task of the primary's shows, and at P99: the network, both ends'
stacks, the client's wake-ups. Memcached's over loopback took 17 to 23 us longer than its tasks at
the median, and 20 to 122 at P99, in four runs; what comes over a wire takes longer."""
DISASTER_TIMES, DISASTER = 2.0, 0.05
"""A period in which this share of the spans is beyond so many times the limit of their P99."""


def far_of(cores: int) -> float:
    """The quantile of spans that decides the P99 of a request which waits for the slowest of as
    many tasks as there are cores."""
    return min(FAREST, 1 - 0.01 / cores)


class Sums:
    """Of some time: how long tasks took (``taken``), what they would have taken ``without`` what
    lending held them up for, and how long they waited for a core each time (``waits``), or would
    have (``waits_without``). Tasks of the same primary woke ``woken_by_own`` of them."""

    def __init__(self) -> None:
        self.taken, self.without = SpanCounts(), SpanCounts()
        self.waits, self.waits_without = SpanCounts(), SpanCounts()
        self.woken_by_own = 0.0

    def add(self, spans: Spans, times: float = 1) -> None:
        """``times`` -1 takes them away again."""
        self.taken.add(spans.lent, times)
        self.taken.add(spans.not_lent, times)
        self.without.add(spans.unharmed, times)
        self.without.add(spans.not_lent, times)
        self.waits.add(spans.waits, times)
        self.waits_without.add(spans.unharmed_waits, times)
        self.woken_by_own += times * spans.woken_by_own

    def scale(self, factor: float) -> None:
        """All count ``factor`` times as much."""
        for one in self._counts:
            one.scale(factor)
        self.woken_by_own *= factor

    def clear(self) -> None:
        """Forgets all."""
        for one in self._counts:
            one.clear()
        self.woken_by_own = 0.0

    @property
    def _counts(self) -> Sequence[SpanCounts]:
        return self.taken, self.without, self.waits, self.waits_without


class Pairs:
    """Spans of some time, and the same tasks' spans without what lending held them up for.

    ``usual`` are those with nothing lent, under no more load: what they show is nobody's doing.
    Where the two do not ``meet`` the median is held against theirs, too. Where tasks of the primary
    wake each other their mean takes its place.
    ``far`` is the quantile of the far tail that is judged. A request also takes ``elsewhere_ns``,
    and more at P99; the budget is a share of the task's time and of that.
    """

    def __init__(
        self,
        of: Sums,
        far: float = FAREST,
        usual: Sums | None = None,
        elsewhere_ns: float = ELSEWHERE_NS,
        *,
        meet: bool = True,
    ) -> None:
        self._of, self._usual = of, usual
        self._elsewhere_ns = elsewhere_ns
        self._meet = meet
        self._budgets = {far: FAR_TIMES, **dict.fromkeys(QUANTILES, 1.0)}

    def too_long(self, protect: float, errors: float = 0.0, burst: float = BURST) -> str:
        """Which quantile is longer by more than its budget, by so many standard errors at least if
        so many spans count as one draw; empty: none."""
        total = self._of.taken.total
        wake_each_other = self._wake_each_other
        if wake_each_other and (longer := self._longer_together(protect, errors, burst)):
            return f"its tasks, which wake each other, take {longer:.1%} longer together"
        for q, times in self._budgets.items():
            if wake_each_other and q == 0.5:
                continue
            beyond = self._beyond(q, times * protect)
            if share := _share_beyond(beyond, total, q, errors, burst):
                return f"{share:.1%} of its wake-ups take longer than the P{q * 100:g} may"
        requests = _Requests.of(self._of, self._usual, meet=self._meet)
        if requests is None:
            return ""
        for q in QUANTILES[1:]:
            limit_ns = self._may_take_ns(requests.usual_ns(q), q, protect)
            beyond = requests.beyond(limit_ns)
            if share := _share_beyond(beyond, requests.total, q, errors, burst):
                beyond_it = f"last longer than the P{q * 100:g} may"
                return f"{share:.1%} of its requests are taken to {beyond_it}"
        return ""

    def is_disaster(self, protect: float) -> bool:
        usual_ns = max(self._of.without.quantile_ns(0.99), self._usual_ns(0.99))
        limit_ns = usual_ns * (1 + protect) * DISASTER_TIMES
        return self._of.taken.beyond(limit_ns) > DISASTER * self._of.taken.total

    @property
    def tells(self) -> bool:
        """Whether there are enough for a P99."""
        return self._of.taken.total * 0.01 >= LEAST_BEYOND

    def _beyond(self, q: float, budget: float) -> float:
        return self._of.taken.beyond(self._may_take_ns(self._least_usual_ns(q), q, budget))

    def _least_usual_ns(self, q: float) -> float:
        """What that quantile would be at least without lending."""
        return max(self._of.without.quantile_ns(q), self._usual_ns(q))

    def longer(self, q: float) -> float | None:
        """By what part of what it may be one of QUANTILES is longer, of tasks or of requests; None:
        too few to tell."""
        total = self._of.taken.total
        if (1 - q) * total < LEAST_BEYOND:
            return None
        if q == 0.5 and self._wake_each_other:
            return max(0.0, self._part_longer_together())
        pairs = [(self._of.taken.quantile_ns(q), self._least_usual_ns(q))]
        requests = _Requests.of(self._of, self._usual, meet=self._meet)
        if q > 0.5 and requests is not None:
            pairs.append((requests.taken_ns(q), requests.usual_ns(q)))
        return max(
            0.0,
            *((taken - usual) / self._counts_ns(usual, q) for taken, usual in pairs),
        )

    @property
    def _wake_each_other(self) -> bool:
        return self._of.woken_by_own >= OWN * self._of.taken.total > 0

    def _longer_together(self, protect: float, errors: float, burst: float) -> float:
        """By what part all but the longest take longer together, if that is more than ``protect``
        by so many standard errors; 0: it is not, or nobody can tell."""
        total = self._of.taken.total
        if not total:
            return 0.0
        longer = self._part_longer_together()
        error = protect * SPREAD * math.sqrt(burst / total)
        return longer if longer > protect + errors * error else 0.0

    def _part_longer_together(self) -> float:
        total = self._of.taken.total
        usual_ns = self._of.without.by_time(TYPICAL).total
        if self._usual is not None and not self._meet:
            usual = self._usual.taken
            least = 1 - USUAL_ERRORS * SPREAD * math.sqrt(BURST / max(1.0, usual.total))
            mean_ns = usual.by_time(TYPICAL).total / max(1.0, usual.total)
            usual_ns = max(usual_ns, least * mean_ns * total)
        return self._of.taken.by_time(TYPICAL).total / max(1.0, usual_ns) - 1

    def _may_take_ns(self, usual_ns: float, q: float, budget: float) -> float:
        return usual_ns + budget * self._counts_ns(usual_ns, q)

    def _counts_ns(self, usual_ns: float, q: float) -> float:
        """Of what the budget is a share."""
        tail_ns = TAIL_ELSEWHERE_NS - ELSEWHERE_NS if q >= 0.99 else 0
        return usual_ns + self._elsewhere_ns + tail_ns

    def _usual_ns(self, q: float) -> float:
        """That quantile with nothing lent, at least; 0: not known, or the median, where an idle CPU
        that wakes up late does not show."""
        told = q > 0.5 or not self._meet
        if self._usual is None or not told:
            return 0.0
        return _at_least_ns(self._usual.taken, None, q)


def _share_beyond(beyond: float, total: float, q: float, errors: float, burst: float) -> float:
    """What share that is, if it is more than beyond quantile ``q`` by so many standard errors of
    so large bursts; 0: it is not, or nobody can tell."""
    usual = (1 - q) * total
    if usual < LEAST_BEYOND or beyond <= usual + errors * math.sqrt(burst * usual):
        return 0.0
    return beyond / total


def _at_least_ns(spans: SpanCounts, delays: SpanCounts | None, q: float) -> float:
    """That quantile, by USUAL_ERRORS less; 0: not known."""
    if (1 - q) * spans.total < LEAST_BEYOND:
        return 0.0
    error = math.sqrt(BURST * (1 - q) / spans.total)
    return spans.quantile_ns(q - USUAL_ERRORS * error, delays)


class _Requests:
    """What requests take, by their tasks: one that works, and a wait of another, which sends it
    its work or hears of it. The tail of all tasks is that of those that work, and hides what short
    ones wait."""

    def __init__(
        self, of: Sums, usual: Sums | None, waits_without: SpanCounts, share: float
    ) -> None:
        self._taken, self._waits = of.taken.longest(share), of.waits
        self._without, self._waits_without = of.without.longest(share), waits_without
        self._usual = (
            (usual.taken.longest(share), usual.waits) if usual and usual.waits.total else None
        )

    @classmethod
    def of(cls, of: Sums, usual: Sums | None, *, meet: bool) -> _Requests | None:
        """None: no other is waited for, or nobody can tell. Where the two do not meet only those
        with nothing lent do."""
        if of.woken_by_own < HANDED_OVER * of.taken.total:
            return None
        if meet:
            typical, waits_without = of.without, of.waits_without
        elif usual is None:
            return None
        else:
            typical, waits_without = usual.taken, usual.waits
        if not (of.waits.total and waits_without.total and typical.total):
            return None
        works_ns = WORK * typical.by_time(TYPICAL).quantile_ns(0.5)
        return cls(of, usual, waits_without, typical.beyond(works_ns) / typical.total)

    @property
    def total(self) -> float:
        return self._taken.total

    def usual_ns(self, q: float) -> float:
        """That quantile with nothing lent. Work that takes longer by itself counts as usual: rests
        tell of it."""
        without_ns = self._without.quantile_ns(q, self._waits_without)
        return max(without_ns, _at_least_ns(*self._usual, q)) if self._usual else without_ns

    def taken_ns(self, q: float) -> float:
        """That quantile as it was."""
        return self._taken.quantile_ns(q, self._waits)

    def beyond(self, limit_ns: float) -> float:
        """How many take longer."""
        return self._taken.beyond(limit_ns, self._waits)
