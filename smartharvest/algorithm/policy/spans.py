"""Whether the primary's tasks take longer than they would without lending.

Of each task the sensor tells two times from waking up to sleeping: what it took, and what it would
have taken without the waits for which elastic tasks had a core. Both are of the same tasks, so
waves of load and the primary's own queueing are in both, and what differs is what lending costs.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass

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
WORK = 0.25
"""A task that takes so large a part of the typical one's time is one that works for a request."""
LEAST_BEYOND = 5
"""A quantile is known once so many spans are expected beyond it."""
RECENT_LOOKS = 30
"""A way is judged by so many, the last ones that it had; mostly of a period each."""
MANY_LOOKS = 300
"""The same of a way that is held where cores are few."""
USUAL_LOOKS = 100
"""So many of the last ones with nothing lent are kept there."""
BURST, WAVE = 3.0, 9.0
"""So many spans count as one draw: load comes in bursts, and on few cores in waves."""
LATELY_PERIODS = 600
"""What all ways together cost is the mean of about so many. What is usual is known for as long."""
COMPARE_PERIODS = 60
"""After which it may be looked at again where it was known under more load."""
USUAL_ERRORS = 2.0
"""Standard errors by which it may be less."""
MOST_MORE_LOAD = 1.1
"""Times the spans of now: what was usual under more load says nothing,"""
LATE_MORE_LOAD = 2.0
"""... or little, where idle cores answer late: they do so less often under more load."""
ELSEWHERE_NS, TAIL_ELSEWHERE_NS = 25_000, 50_000
"""What a request takes that no task of the primary's shows, and at P99: the network, both ends'
stacks, the client's wake-ups. Memcached's over loopback took 17 to 23 us longer than its tasks at
the median, and 20 to 122 at P99, in four runs; what comes over a wire takes longer."""
ANSWER_LOOKS = 4
"""Whose mean tells how late an idle core answers."""
LATE_ANSWER = 0.4
"""... which is late from this part of the median span on."""
ENOUGH_PAIRS, MOST_PAIRS = 5, 12
"""Rests from which it is known how much longer the median is; later ones take the place of earlier
ones from the second number on."""
PAIRS_ERRORS = 2.0
"""Standard errors by which it is longer,"""
FEWER_PAIRS_ERRORS = {3: 4.5, 4: 3.3}
"""... or, of so few rests, Student's quantiles of the same level,"""
LEAST_DEVIATION = 0.05
"""... which are those of so large a deviation at least: few may agree by chance."""
LEAST_REST_SPANS = 100
"""With fewer a rest tells no median."""
DISASTER_TIMES, DISASTER = 2.0, 0.05
"""A period in which this share of the spans is beyond so many times the limit of their P99."""


def far_of(cores: int) -> float:
    """The quantile of spans that decides the P99 of a request which waits for the slowest of as
    many tasks as there are cores."""
    return min(FAREST, 1 - 0.01 / cores)


class Sums:
    """Of some time: how long tasks took (``taken``), what they would have taken ``without`` what
    lending held them up for, and how long they waited for a core each time (``waits``)."""

    def __init__(self) -> None:
        self.taken, self.without, self.waits = SpanCounts(), SpanCounts(), SpanCounts()

    def add(self, spans: Spans, times: float = 1) -> None:
        """``times`` -1 takes them away again."""
        self.taken.add(spans.lent, times)
        self.taken.add(spans.not_lent, times)
        self.without.add(spans.unharmed, times)
        self.without.add(spans.not_lent, times)
        self.waits.add(spans.waits, times)

    def scale(self, factor: float) -> None:
        """All count ``factor`` times as much."""
        for one in (self.taken, self.without, self.waits):
            one.scale(factor)

    def clear(self) -> None:
        """Forgets all."""
        for one in (self.taken, self.without, self.waits):
            one.clear()


class Pairs:
    """Spans of some time, and the same tasks' spans without what lending held them up for.

    ``usual`` are those with nothing lent, under no more load: what they show is nobody's doing.
    Where the two do not ``meet`` the median is held against theirs, too, and the tail of what
    requests take.
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
        for q, times in self._budgets.items():
            beyond = self._beyond(q, times * protect)
            if share := _share_beyond(beyond, total, q, errors, burst):
                return f"{share:.1%} of its wake-ups take longer than the P{q * 100:g} may"
        requests = None if self._meet or self._usual is None else _Requests.of(self._of, self._usual)
        if requests is None:
            return ""
        for q in QUANTILES[1:]:
            limit_ns = self._may_take_ns(requests.usual_ns(q), q, protect)
            beyond = requests.beyond(limit_ns)
            if share := _share_beyond(beyond, requests.total, q, errors, burst):
                return f"{share:.1%} of its requests are taken to last longer than the P{q * 100:g} may"
        return ""

    def is_disaster(self, protect: float) -> bool:
        limit_ns = self._of.without.quantile_ns(0.99) * (1 + protect) * DISASTER_TIMES
        return self._of.taken.beyond(limit_ns) > DISASTER * self._of.taken.total

    @property
    def tells(self) -> bool:
        """Whether there are enough for a P99."""
        return self._of.taken.total * 0.01 >= LEAST_BEYOND

    def _beyond(self, q: float, budget: float) -> float:
        usual_ns = max(self._of.without.quantile_ns(q), self._usual_ns(q))
        return self._of.taken.beyond(self._may_take_ns(usual_ns, q, budget))

    def _may_take_ns(self, usual_ns: float, q: float, budget: float) -> float:
        elsewhere_ns = self._elsewhere_ns
        if q >= 0.99:
            elsewhere_ns += TAIL_ELSEWHERE_NS - ELSEWHERE_NS
        return usual_ns * (1 + budget) + elsewhere_ns * budget

    def _usual_ns(self, q: float) -> float:
        """That quantile with nothing lent, at least; 0: not known, or the median, where an idle CPU
        that wakes up late does not show."""
        told = q > 0.5 or not self._meet
        if self._usual is None or not told:
            return 0.0
        return _at_least_ns(self._usual.taken, q)


def _share_beyond(beyond: float, total: float, q: float, errors: float, burst: float) -> float:
    """What share that is, if it is more than beyond quantile ``q`` by so many standard errors of
    so large bursts; 0: it is not, or nobody can tell."""
    usual = (1 - q) * total
    if usual < LEAST_BEYOND or beyond <= usual + errors * math.sqrt(burst * usual):
        return 0.0
    return beyond / total


def _at_least_ns(spans: SpanCounts, q: float, delays: SpanCounts | None = None) -> float:
    """That quantile, by USUAL_ERRORS less; 0: not known."""
    if (1 - q) * spans.total < LEAST_BEYOND:
        return 0.0
    error = math.sqrt(BURST * (1 - q) / spans.total)
    return spans.quantile_ns(q - USUAL_ERRORS * error, delays)


class _Requests:
    """What requests take, as their tasks tell: one that works, and waits of another that has sent
    it its work or hears of it. Short ones' waits do not show in the tail of all, since that is of
    those that work.
    """

    def __init__(self, of: Sums, usual: Sums, share: float) -> None:
        self._taken, self._waits = of.taken.longest(share), of.waits
        self._usual_waits = usual.waits
        self._without, self._usual = of.without.longest(share), usual.taken.longest(share)

    @classmethod
    def of(cls, of: Sums, usual: Sums) -> _Requests | None:
        """None: nobody can tell."""
        if not (of.waits.total and usual.waits.total and usual.taken.total):
            return None
        works_ns = WORK * usual.taken.by_time(TYPICAL).quantile_ns(0.5)
        return cls(of, usual, usual.taken.beyond(works_ns) / usual.taken.total)

    @property
    def total(self) -> float:
        return self._taken.total

    def usual_ns(self, q: float) -> float:
        """That quantile without lending; what makes the work itself longer is told by rests."""
        return max(
            _at_least_ns(self._usual, q, self._usual_waits),
            self._without.quantile_ns(q, self._usual_waits),
        )

    def beyond(self, limit_ns: float) -> float:
        """How many take longer."""
        return self._taken.beyond(limit_ns, self._waits)


@dataclass(slots=True)
class Slowdown:
    """By what part of a request's median time lending makes it longer, as rests from it tell.

    That has in it what no wait shows, such as caches that the batch has filled. One rest differs
    from the next by the load, so the mean counts, with the errors that the rests themselves show.
    """

    rests: int = 0
    mean: float = 0.0
    variance: float = 0.0

    def add(self, part: float) -> None:
        """Of one more rest."""
        self.rests = min(self.rests + 1, MOST_PAIRS)
        more = part - self.mean
        self.mean += more / self.rests
        self.variance = (1 - 1 / self.rests) * (self.variance + more * more / self.rests)

    def is_beyond(self, protect: float) -> bool:
        """For all that is known."""
        errors = PAIRS_ERRORS
        if self.rests < ENOUGH_PAIRS:
            errors = FEWER_PAIRS_ERRORS.get(self.rests, math.inf)
        variance = max(self.variance, LEAST_DEVIATION**2)
        return self.rests > 1 and (
            self.mean - errors * math.sqrt(variance / (self.rests - 1)) > protect
        )


class Meter:
    """What sharing ``cores``, which may be ``few``, costs one primary: the way in force, and all
    ways lately.

    Where the two ``meet`` on no core the sensor blames what is lent for every wait, so those with
    nothing lent have to say how long the median task would have waited all the same.
    """

    def __init__(self, cores: int, *, few: bool, meet: bool = True) -> None:
        self._meet = meet
        self._far = far_of(cores)
        self._recent = _Looks(RECENT_LOOKS)
        """Of the way in force."""
        self._long = _Looks(MANY_LOOKS)
        """The same, for longer."""
        self._usual = _Looks(USUAL_LOOKS if few else RECENT_LOOKS)
        """The last ones with nothing lent."""
        self._usual_age = 0
        """Periods since."""
        self._all = Sums()
        """Of all ways, lately."""
        self._left: dict[int, Sums] = {}
        """Of each way what it was left for, lately."""
        self._resting: _Looks | None = None
        """Looks at a rest from the way in force."""
        self.slowdowns: dict[int, Slowdown] = {}
        """By the way's number."""
        self._idle_answer_ns = 0.0

    def add(self, spans: Spans, *, counts: bool, periods: int = 1) -> None:
        """Of one look at so many periods; whether it ``counts`` for the way in force."""
        self.fade(periods)
        self._all.add(spans)
        if spans.idle_answer_ns:
            before_ns = self._idle_answer_ns or spans.idle_answer_ns
            self._idle_answer_ns = before_ns + (spans.idle_answer_ns - before_ns) / ANSWER_LOOKS
        if not counts:
            return
        if self._resting is not None:
            self._resting.add(spans, periods)
        else:
            self._recent.add(spans, periods)
            self._long.add(spans, periods)
        if not spans.lent:
            if not self.knows_usual:
                self._usual.clear()
            self._usual.add(spans, periods)
            self._usual_age = 0

    def fade(self, periods: int) -> None:
        """So many have passed."""
        left = (1 - 1 / LATELY_PERIODS) ** periods
        for one in (self._all, *self._left.values()):
            one.scale(left)
        self._usual_age += periods

    def begin(self) -> None:
        """Another way is in force."""
        self._recent.clear()
        self._long.clear()

    def begin_rest(self) -> None:
        """For a moment nothing is lent; then the same way goes on."""
        self._resting = _Looks(RECENT_LOOKS)
        self.forget_usual()

    def end_rest(self, way: int) -> Slowdown:
        """What rests have told of the way, which is number ``way``."""
        rest, self._resting = self._resting, None
        found = self.slowdowns.setdefault(way, Slowdown())
        if rest is not None and min(rest.sums.taken.total, self._recent.sums.taken.total) > LEAST_REST_SPANS:
            usual_ns = self._median_ns(rest)
            longer_ns = self._median_ns(self._recent) - usual_ns
            found.add(longer_ns / (usual_ns + ELSEWHERE_NS + self._late_ns))
        return found

    def _median_ns(self, looks: _Looks) -> float:
        taken = looks.sums.taken
        return (taken if self._meet else taken.by_time(TYPICAL)).quantile_ns(0.5)

    def may_be_longer(self, way: int, protect: float) -> bool:
        """Whether rests let expect that the way costs too much: from it, or as long as there was
        none from another, since what no wait shows seldom depends on the way."""
        own = self.slowdowns.get(way)
        if own is not None and own.rests:
            return own.mean > protect
        return any(one.is_beyond(protect) for one in self.slowdowns.values())

    @property
    def knows_usual(self) -> bool:
        """Whether it is known how long spans are with nothing lent."""
        return self._usual_age < LATELY_PERIODS and self._usual.periods > 0

    @property
    def idles_late(self) -> bool:
        """Whether an idle core answers so late that keeping one idle may cost more than keeping
        none."""
        return self._idle_answer_ns > LATE_ANSWER * self._recent.sums.without.quantile_ns(0.5) > 0

    @property
    def usual_looks(self) -> int:
        """How many tell how long spans are with nothing lent."""
        return len(self._usual) if self.knows_usual else 0

    @property
    def may_compare(self) -> bool:
        """Whether what is usual says something about the way in force, or was seen so lately that
        it would not if it were seen again."""
        return self._usual_age < COMPARE_PERIODS or self._compares(self._recent)

    def _compares(self, looks: _Looks) -> bool:
        most = LATE_MORE_LOAD if self.idles_late else MOST_MORE_LOAD
        return self.knows_usual and self._usual.load <= most * looks.load

    def _pairs(self, looks: _Looks, sums: Sums | None = None) -> Pairs:
        """Of ``looks``, or of other ``sums`` of their kind."""
        usual = self._usual.sums if self._compares(looks) else None
        elsewhere_ns = ELSEWHERE_NS + self._late_ns
        return Pairs(sums or looks.sums, self._far, usual, elsewhere_ns, meet=self._meet)

    @property
    def _late_ns(self) -> float:
        """So late is who sends a task its work, or hears of it: woken on an idle CPU, if nothing is
        lent."""
        return self._idle_answer_ns if self.idles_late else 0.0

    def recently(self) -> Pairs:
        """Of the way in force."""
        return self._pairs(self._recent)

    def for_long(self) -> Pairs:
        """The same, of more looks."""
        return self._pairs(self._long)

    def note_left(self, way: int) -> None:
        """The way in force, which is number ``way``, is left."""
        self._long.add_to(self._left.setdefault(way, Sums()))

    def when_left(self, way: int) -> Pairs:
        """Of all the times after which it was left, lately."""
        return self._pairs(self._recent, self._left[way])

    def forget_usual(self) -> None:
        """It is to be seen again."""
        self._usual.clear()

    def last(self) -> Pairs:
        """Of the last period that counts."""
        sums = Sums()
        if self._recent.last is not None:
            sums.add(self._recent.last)
        return Pairs(sums, self._far)

    def lately(self) -> Pairs:
        """Of all ways."""
        usual = self._usual.sums if self.knows_usual else None
        return Pairs(self._all, self._far, usual, meet=self._meet)


class _Looks:
    """The sum of the last ``most``."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._looks: deque[tuple[Spans, int]] = deque()
        self.sums = Sums()
        self.periods = 0

    def add(self, spans: Spans, periods: int) -> None:
        """One more, at so many periods."""
        if len(self._looks) == self._most:
            oldest, of = self._looks.popleft()
            self.sums.add(oldest, -1)
            self.periods -= of
        self._looks.append((spans, periods))
        self.sums.add(spans)
        self.periods += periods

    def __len__(self) -> int:
        return len(self._looks)

    def add_to(self, sums: Sums) -> None:
        """Adds them all to others."""
        for spans, _ in self._looks:
            sums.add(spans)

    def clear(self) -> None:
        """As if there had been none."""
        self._looks.clear()
        self.sums.clear()
        self.periods = 0

    @property
    def last(self) -> Spans | None:
        return self._looks[-1][0] if self._looks else None

    @property
    def load(self) -> float:
        """Spans a period."""
        return self.sums.taken.total / max(1, self.periods)

