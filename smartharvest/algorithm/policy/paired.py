"""Paired: the boldest way of sharing whose measured harm the budget covers, without a rest.

Of each of the primary's tasks the sensor tells two times from waking up to sleeping: what it took,
and what it would have taken without the waits for which elastic tasks had a core. Both are of the
same tasks, so waves of load and the primary's own queueing are in both, and what differs is what
lending costs. Nothing has to be lent less to know it, and a second tells enough.

A way that looks too dear is left at once. A bolder one is tried for a moment at a time, later and
later after each failure, and only while what was spent lately is well within the budget. What shows
in no wait, such as caches, is not seen.

Where the primary does not preempt the batch it lends cores that have been idle
(``adaptive-quiet``). Where no sensor tells, it is the paper's policy.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace

from smartharvest.algorithm.harm import Durations
from smartharvest.algorithm.policy.adaptive_quiet import AdaptiveQuiet
from smartharvest.algorithm.policy.base import (
    DISPATCHES_PERIOD_NS,
    Dispatches,
    Policy,
    PolicySettings,
    Spans,
)
from smartharvest.algorithm.policy.longer import (
    LEAST_BEYOND,
    QUANTILES,
    SpanCounts,
    describe,
    merged,
)
from smartharvest.algorithm.policy.smartharvest import make_smartharvest
from smartharvest.algorithm.policy.ways import Way, ways
from smartharvest.algorithm.safeguard import ShortTermSafeguard
from smartharvest.core.window import Window

BLIND_NS = 1_000_000_000
"""So long without a word on dispatches: nobody tells."""
LEARNED_PERIODS = 100
"""Before the prediction is tried: one that has learned little lends too much."""
TRIAL_PERIODS = (3, 30)
"""A trial lasts so long at least, and at most: a primary that hardly runs is hardly hurt."""
RECENT_PERIODS = 30
"""A way is judged by so many, the last ones that it had,"""
ERRORS = 1.0
"""... and is too dear by more than so many standard errors,"""
BURST = 3.0
"""... so many spans counting as one draw: load comes in waves."""
PAUSE_PERIODS = 5
"""From one trial to the next."""
LATELY_PERIODS = 600
"""What all ways together cost is the mean of about so many."""
TRY_PART = 0.5
"""A trial begins while that is within this part of the budget."""
RETRY_PERIODS = 200
"""After which a way that failed may be tried again,"""
RETRY_GROWTH = 3
MOST_RETRY_PERIODS = 6_400
FORGET_PERIODS = 600
"""A way that is held for so long counts one failure less."""
DISASTER = 0.05
"""This share of a period's spans beyond the limit of their P99 counts as two more failures."""
MOST_MOVING = 0.01
"""Of a core for each of the total: more than that moving cores may not take,"""
MOVING_PERIODS = 4
"""... in the mean of so many periods of a way, the last one weighing most."""


Counts = Sequence[tuple[int, float]]
"""As Durations, but older ones count less."""


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
                return describe(q, beyond / self.taken.total)
        return ""

    def is_disaster(self, protect: float) -> bool:
        return self._beyond(0.99, protect) > DISASTER * self.taken.total

    @property
    def tells(self) -> bool:
        """Whether there are enough for a P99."""
        return self.taken.total * 0.01 >= LEAST_BEYOND

    def _beyond(self, q: float, budget: float) -> float:
        return self.taken.beyond(self._without.quantile_ns(q) * (1 + budget))


class Meter:
    """What the ways of sharing cost one primary."""

    def __init__(self) -> None:
        self._recent: deque[tuple[Durations, Durations]] = deque(maxlen=RECENT_PERIODS)
        """Of the way that is in force."""
        self._taken: dict[int, float] = {}
        self._without: dict[int, float] = {}
        """Of all ways, older ones counting less."""

    def add(self, spans: Spans, *, counts: bool) -> None:
        """A period; whether it ``counts`` for the way in force."""
        taken = merged(spans.lent, spans.not_lent)
        without = merged(spans.unharmed, spans.not_lent)
        _fade_and_add(self._taken, taken)
        _fade_and_add(self._without, without)
        if counts:
            self._recent.append((taken, without))

    def begin(self) -> None:
        """Another way is in force."""
        self._recent.clear()

    def recently(self) -> Pairs:
        """Of the way in force."""
        taken, without = zip(*self._recent, strict=True) if self._recent else ((), ())
        return Pairs(merged(*taken), merged(*without))

    def last(self) -> Pairs:
        """Of the last period that counts."""
        return Pairs(*self._recent[-1]) if self._recent else Pairs((), ())

    def lately(self) -> Pairs:
        """Of all ways."""
        return Pairs(tuple(self._taken.items()), tuple(self._without.items()))


def _fade_and_add(counts: dict[int, float], durations: Durations) -> None:
    for middle_ns in counts:
        counts[middle_ns] *= 1 - 1 / LATELY_PERIODS
    for middle_ns, count in durations:
        counts[middle_ns] = counts.get(middle_ns, 0.0) + count


@dataclass(slots=True)
class _Record:
    """What is remembered of a way."""

    failures: int = 0
    retry_at: int = 0
    """Number of the period."""
    fine: bool = False
    moving: float = 0.0
    """Share of a core that its moves take."""


class Paired:
    """Moves between ways of sharing, by what each costs the primary."""

    def __init__(self, settings: PolicySettings) -> None:
        self.name = "paired"
        self._total = settings.total
        self._protect = settings.protect
        self._paper = make_smartharvest(replace(settings, learner="native"))
        self._quiet = AdaptiveQuiet(settings)
        self._preempts = settings.preempts
        self._spares = settings.preempts and bool(settings.spares)
        self._ways = ways(settings.total, settings.spares if self._spares else ())
        self._records = [_Record() for _ in self._ways]
        self._nothing = len(self._ways) - 1
        self._careful = self._nothing - 1
        """The paper's prediction."""
        self._now = self._held = self._nothing
        """The way in force, and what was fine before it."""
        self._since = self._periods = 0
        self._unjudged = 0
        """Periods to come that say nothing about the way in force."""
        self._meters: list[Meter] = []
        self._why = ""
        self._answered: Way | None = None
        self._last_ns: int | None = None
        self._told_ns = 0
        self._blind = False
        self.explanation = "lends nothing yet"

    # --- what is in force -------------------------------------------------------------------------

    @property
    def way(self) -> Way:
        """The one that is in force."""
        return self._ways[self._now]

    @property
    def judges_waits(self) -> bool:
        """Whether it sees what it needs to judge them."""
        return not self._blind

    @property
    def _delegate(self) -> Policy | None:
        """Another policy that decides; None: the way does."""
        if self._blind:
            return self._paper
        if not self._preempts:
            return self._quiet
        return self._paper if self.way.kind == "prediction" else None

    @property
    def steady(self) -> bool:
        """Whether the way in force has answered before, and no window may end it."""
        return self._delegate is None and self._answered is self.way

    @property
    def buffer(self) -> int:
        return self.way.buffer if self._delegate is None else self._delegate.buffer

    @property
    def quiet_ns(self) -> int | None:
        return self.way.quiet_ns if self._delegate is None else self._delegate.quiet_ns

    @property
    def shared(self) -> bool:
        return self._delegate is None and self.way.is_static

    @property
    def spare(self) -> int | None:
        """CPUs that the kernel keeps idle for who wakes; None: as it does by itself."""
        return self.way.spare if self._delegate is None else None

    @property
    def short_term(self) -> ShortTermSafeguard:
        return self

    def observe(self, window: Window) -> None:
        """For the safeguard of the paper's policy, which remembers a second."""
        self._paper.short_term.observe(window)

    def safe_cores(self, primary_cores: int) -> int:
        """Of the policy that decides; of a way that follows demand by itself, one core more."""
        if self._delegate is not None:
            return self._delegate.short_term.safe_cores(primary_cores)
        return min(self._total, primary_cores + max(1, self.buffer))

    @property
    def learner(self) -> object:
        """Of the paper's policy."""
        return self._paper.learner

    @learner.setter
    def learner(self, learner: object) -> None:
        self._paper.learner = learner  # type: ignore[assignment]

    # --- windows ----------------------------------------------------------------------------------

    def learn(self, window: Window) -> int | None:
        if not self._preempts:
            self._quiet.learn(window)
        if self._last_ns is None or window.end_ns - self._last_ns > BLIND_NS:
            self._told_ns = window.end_ns  # nobody could have reported before
        self._last_ns = window.end_ns
        if not self._blind and window.end_ns - self._told_ns > BLIND_NS:
            self._blind = True
            self.explanation = "the sensor does not tell harm: the paper's smartharvest decides"
        return self._paper.learn(window)

    def predict(self, window: Window) -> int:
        self._answered = self.way if self._delegate is None else None
        predicted = self._paper.predict(window)  # its features are those of the last window
        if window.stale:
            return self._total
        if self._delegate is self._paper:
            return predicted
        if self._delegate is not None:
            return self._delegate.predict(window)
        return self._total if self.way.kind == "nothing" else self.way.kept

    # --- harm -------------------------------------------------------------------------------------

    def observe_dispatches(self, seen: Dispatches) -> None:
        if not self._preempts:
            self._told_ns, self._blind = seen.end_ns, False
            self._quiet.observe_dispatches(seen)
            return
        # Where only some of what is lent is known without its harm nothing tells.
        if not seen.spans or any(one.lent and not one.unharmed for one in seen.spans):
            return
        self._told_ns, self._blind = seen.end_ns, False
        if len(self._meters) != len(seen.spans):
            self._meters = [Meter() for _ in seen.spans]
        for meter, spans in zip(self._meters, seen.spans, strict=True):
            meter.add(spans, counts=not self._unjudged)
        self._note_moves(seen)
        self._periods += 1
        self._since += 1
        if self._unjudged:
            self._unjudged -= 1
        else:
            self._judge()

    def _note_moves(self, seen: Dispatches) -> None:
        record = self._records[self._now]
        moving = sum(ns * count for ns, count in seen.moves) / DISPATCHES_PERIOD_NS
        record.moving += (moving - record.moving) / MOVING_PERIODS

    def _judge(self) -> None:
        """Whether the way in force is too dear, and whether to try a bolder one."""
        if why := self._too_dear():
            self._leave(why)
        elif self._now < self._held:
            least, most = TRIAL_PERIODS
            tells = all(meter.recently().tells for meter in self._meters)
            if self._since >= (least if tells else most):
                self._hold()
        elif self._since >= PAUSE_PERIODS:
            self._choose()
        if self._now == self._held and self._since % FORGET_PERIODS == FORGET_PERIODS - 1:
            record = self._records[self._now]
            record.failures = max(0, record.failures - 1)

    def _too_dear(self) -> str:
        if self._now == self._nothing:
            return ""
        for meter in self._meters:
            if why := meter.recently().too_long(self._protect, ERRORS):
                return why
        moving = self._records[self._now].moving
        return f"moves take {moving:.2f} cores" if moving > MOST_MOVING * self._total else ""

    # --- from way to way --------------------------------------------------------------------------

    def _choose(self) -> None:
        """Puts the next bolder way on trial that may be tried."""
        part = TRY_PART * self._protect
        if any(meter.lately().too_long(part) for meter in self._meters):
            return
        for way in range(self._held - 1, -1, -1):
            early = way == self._careful and self._periods < LEARNED_PERIODS
            if not early and self._periods >= self._records[way].retry_at:
                self._enter(way)
                return

    def _enter(self, way: int) -> None:
        # What waited under a bolder way still shows in the period after it.
        self._unjudged = int(way > self._now)
        self._now, self._since = way, 0
        for meter in self._meters:
            meter.begin()

    def _hold(self) -> None:
        self._held, self._since = self._now, 0
        self._records[self._now].fine = True
        self._explain()

    def _leave(self, why: str) -> None:
        """For what is more careful and was fine."""
        way, record = self._now, self._records[self._now]
        disaster = any(meter.last().is_disaster(self._protect) for meter in self._meters)
        record.failures += 2 * disaster
        retry = min(MOST_RETRY_PERIODS, RETRY_PERIODS * RETRY_GROWTH**record.failures)
        record.failures += 1
        record.fine = False
        record.retry_at = self._periods + retry
        for bolder in range(way):
            if self._ways[bolder].kind in ("everywhere", self._ways[way].kind):
                self._records[bolder].retry_at = max(
                    self._records[bolder].retry_at, record.retry_at
                )
        short = self._ways[way].short
        self._why = f", since with {short} {why}; it is tried again after {retry // 10} s"
        if way == self._held:
            later = range(way + 1, self._nothing)
            self._held = next((one for one in later if self._records[one].fine), self._nothing)
        self._enter(self._held)
        self._unjudged += disaster
        self._explain()

    def _explain(self) -> None:
        self.explanation = self._ways[self._held].describe() + self._why
