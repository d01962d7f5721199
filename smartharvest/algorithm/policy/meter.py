"""What ways of sharing cost a primary: its spans under that in force, all ways, and none."""

from __future__ import annotations

from collections import deque
from dataclasses import replace

from smartharvest.algorithm.policy.base import PROTECT, Spans, Spent
from smartharvest.algorithm.policy.records import Slowdown
from smartharvest.algorithm.policy.spans import (
    ELSEWHERE_NS,
    QUANTILES,
    TYPICAL,
    Pairs,
    Sums,
    far_of,
)

RECENT_LOOKS = 30
"""A way is judged by so many, the last ones that it had; mostly of a period each. Where cores are
many it is so many periods, however few looks: there is enough in each."""
MANY_LOOKS = 300
"""The same of a way that is held where cores are few."""
USUAL_LOOKS = 100
"""So many of the last ones with nothing lent are kept there."""
LATELY_PERIODS = 600
"""What all ways together cost is the mean of about so many. What is usual is known for as long."""
COMPARE_PERIODS = 20
"""After which it may be looked at again where it was known under more load."""
SLOWER = 1.1
"""... or on a faster machine: tasks take so many times as long by themselves now."""
MOST_MORE_LOAD = 1.1
"""Times the spans of now: what was usual under more load says nothing,"""
LATE_MORE_LOAD = 2.0
"""... or little, where idle cores answer late: they do so less often under more load."""
ANSWER_LOOKS = 4
"""Whose mean tells how late an idle core answers."""
LATE_ANSWER, STILL_LATE = 0.4, 0.25
"""... which is late from this part of the median span on, and down to this one."""
FEWEST = 2
"""Where so few cores meet the group requests are not judged by their tasks and waits: next to
memcached that told what tasks alone do, and next to a search four times what requests took."""
LEAST_REST_SPANS = 100
"""With fewer a rest tells no median."""


class Meter:
    """What sharing ``cores``, which may be ``few``, costs one primary: the way in force, and all
    ways lately.

    Its P50, P95 and P99 may become longer by the part ``protect``. Where the two ``meet`` on no
    core the sensor blames what is lent for every wait, so those with nothing lent have to say how
    long the median task and requests would have waited all the same.
    """

    def __init__(
        self, cores: int, *, few: bool, meet: bool = True, protect: float = PROTECT
    ) -> None:
        self._meet, self._few = meet, few
        self.protect = protect
        self._knows_requests = not meet or cores > FEWEST
        """Which tasks work for one, and what those wait that do not."""
        self._far = far_of(cores)
        self._recent = _Looks(RECENT_LOOKS, by_periods=not few)
        """Of the way in force."""
        self._long = _Looks(MANY_LOOKS)
        """The same, for longer."""
        self._usual = _Looks(USUAL_LOOKS if few else RECENT_LOOKS)
        """The last ones with nothing lent."""
        self._usual_age = 0
        """Periods since."""
        self._all = Sums()
        """Of all ways, lately,"""
        self._unseen = 0
        """... and periods since it was looked at."""
        self._left: dict[int, Sums] = {}
        """Of each way what it was left for, lately."""
        self._resting: _Looks | None = None
        """Looks at a rest from the way in force."""
        self.slowdowns: dict[int, Slowdown] = {}
        """By the way's number."""
        self._idle_answer_ns = 0.0
        self.idles_late = False
        """Whether an idle core answers so late that keeping one idle may cost more than keeping
        none."""

    def add(self, spans: Spans, *, counts: bool, lends: bool = True, periods: int = 1) -> None:
        """Of one look at so many periods; whether it ``counts`` for the way in force, and whether
        that ``lends`` anything: a look at no task tells how much load there is without only if it
        does not."""
        self.fade(periods)
        if not self._knows_requests:
            spans = replace(spans, waits=(), unharmed_waits=(), woken_by_own=0)
        elif self._meet:
            spans = replace(spans, waits=spans.harmed_waits)
        else:
            spans = replace(spans, unharmed_waits=())
        self._all.add(spans)
        self._unseen = 0
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
        self._see_if_late()
        if not spans.lent and (spans.not_lent or not lends):
            if not self.knows_usual:
                self._usual.clear()
            self._usual.add(spans, periods)
            self._usual_age = 0

    def _see_if_late(self) -> None:
        typical_ns = self._recent.sums.without.quantile_ns(0.5)
        if typical_ns > 0:
            part = STILL_LATE if self.idles_late else LATE_ANSWER
            self.idles_late = self._idle_answer_ns > part * typical_ns

    def fade(self, periods: int) -> None:
        """So many have passed."""
        left = (1 - 1 / LATELY_PERIODS) ** periods
        for one in (self._all, *self._left.values()):
            one.scale(left)
        self._usual_age += periods
        self._unseen += periods

    def begin(self) -> None:
        """Another way is in force."""
        self._recent.clear()
        self._long.clear()

    def begin_rest(self) -> None:
        """For a moment nothing is lent; then the same way goes on."""
        self._resting = _Looks(RECENT_LOOKS)
        if not self._few:  # there one rest tells too little of the tail
            self.forget_usual()

    def abandon_rest(self) -> None:
        """What it has told so far is no evidence."""
        self._resting = None

    def end_rest(self, way: int) -> Slowdown:
        """What rests have told of the way, which is number ``way``."""
        rest, self._resting = self._resting, None
        found = self.slowdowns.setdefault(way, Slowdown())
        if (
            rest is not None
            and min(rest.sums.taken.total, self._recent.sums.taken.total) > LEAST_REST_SPANS
        ):
            usual_ns = self._median_ns(rest)
            longer_ns = self._median_ns(self._recent) - usual_ns
            found.add(longer_ns / (usual_ns + ELSEWHERE_NS + self._late_ns))
        return found

    def _median_ns(self, looks: _Looks) -> float:
        taken = looks.sums.taken
        return (taken.by_time(TYPICAL) if self._knows_requests else taken).quantile_ns(0.5)

    def may_be_longer(self, way: int) -> bool:
        """Whether rests let expect that the way costs too much: from it, or as long as there was
        none from another, since what no wait shows seldom depends on the way."""
        own = self.slowdowns.get(way)
        if own is not None and own.rests:
            return own.mean > self.protect
        return any(one.is_beyond(self.protect) for one in self.slowdowns.values())

    @property
    def knows_usual(self) -> bool:
        """Whether it is known how long spans are with nothing lent."""
        return self._usual_age < LATELY_PERIODS and self._usual.periods > 0

    @property
    def usual_looks(self) -> int:
        """How many tell how long spans are with nothing lent."""
        return len(self._usual) if self.knows_usual else 0

    @property
    def may_compare(self) -> bool:
        """Whether what is usual says something about the way in force, or was seen so lately that
        it would not if it were seen again."""
        if self._usual_age < COMPARE_PERIODS:
            return True
        return self._compares(self._recent) and not self._is_slower

    @property
    def _is_slower(self) -> bool:
        """Whether tasks take longer by themselves now than when it was seen what is usual."""
        now_ns = self._last_sums().without.quantile_ns(0.5)
        return now_ns > SLOWER * self._usual.sums.taken.quantile_ns(0.5)

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
        # Where they meet, what is usual is in the same tasks.
        usual = self._usual.sums if self.knows_usual and not self._meet else None
        return Pairs(self._last_sums(), self._far, usual)

    def _last_sums(self) -> Sums:
        sums = Sums()
        if self._recent.last is not None:
            sums.add(self._recent.last)
        return sums

    def lately(self) -> Pairs:
        """Of all ways."""
        usual = self._usual.sums if self.knows_usual else None
        return Pairs(self._all, self._far, usual, meet=self._meet)

    def spent(self, way: int) -> Spent:
        """What all ways cost lately, and what rests have told of that one, which is held."""
        told = self.slowdowns.get(way, Slowdown())
        # Nobody looks for so long only while nothing is lent.
        lately = self.lately() if self._unseen < LATELY_PERIODS else None
        p50, p95, p99 = (0.0 if lately is None else lately.longer(q) for q in QUANTILES)
        return Spent(self.protect, p50, p95, p99, told.rests, told.mean if told.rests else None)


class _Looks:
    """The sum of the last ``most``, or of those at the last ``most`` periods."""

    def __init__(self, most: int, *, by_periods: bool = False) -> None:
        self._most, self._by_periods = most, by_periods
        self._looks: deque[tuple[Spans, int]] = deque()
        self.sums = Sums()
        self.periods = 0

    def add(self, spans: Spans, periods: int) -> None:
        """One more, at so many periods."""
        while self._looks and self._is_full(periods):
            oldest, of = self._looks.popleft()
            self.sums.add(oldest, -1)
            self.periods -= of
        self._looks.append((spans, periods))
        self.sums.add(spans)
        self.periods += periods

    def _is_full(self, periods: int) -> bool:
        if self._by_periods:
            return self.periods + periods > self._most
        return len(self._looks) == self._most

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
