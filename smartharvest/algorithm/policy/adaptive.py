"""Adaptive: the boldest way of sharing whose measured harm the budget covers.

How much lending costs differs from case to case, and nobody knows it beforehand. So the policy
compares the primary with itself: how long its tasks take from waking up to sleeping again, in short
windows with nothing lent and otherwise. It begins with the boldest way, since a primary that
preempts the batch makes a mistake cheap, and leaves a way as soon as it is surely too dear. That
way is tried again later, after each failure three times as late.

Where the primary does not preempt the batch, a mistake is not cheap. There it lends cores that have
been idle (``adaptive-quiet``). Where no sensor tells, it is the paper's policy.
"""

from __future__ import annotations

from dataclasses import dataclass

from smartharvest.algorithm.policy.adaptive_quiet import AdaptiveQuiet
from smartharvest.algorithm.policy.base import (
    Dispatches,
    Durations,
    Policy,
    PolicySettings,
    Spans,
)
from smartharvest.algorithm.policy.longer import Comparison, Longer
from smartharvest.algorithm.policy.smartharvest import make_smartharvest
from smartharvest.algorithm.policy.ways import Way, ways
from smartharvest.algorithm.safeguard import ShortTermSafeguard
from smartharvest.core.window import Window

BLIND_NS = 1_000_000_000
"""So long without a word on dispatches: nobody tells."""
FIRST_SPANS = 200.0
"""Known with nothing lent before the first trial,"""
FIRST_PERIODS = (4, 10)
"""... and in so many periods at least, and at most: a primary that hardly runs is hardly hurt."""
SLICES, SPACING = 4, 3
"""Periods of a way on trial, and how far apart: in the second of three the way that is held goes
on, in the third nothing is lent."""
EVERYWHERE_SLICES, EVERYWHERE_SPACING = 26, 7
"""The same of the boldest way, which nothing stops: the trial lasts long enough to meet what load
there is, and of the first half of such periods it has one window alone."""
EVERYWHERE_SHARE = 0.5
"""It may spend half the budget: a request of several threads meets more of it than each thread."""
EVERYWHERE_AFTER_NS = 5_000_000_000
"""How long another way must have been fine before, unless all others are too dear: where moving
cores costs more than preempting, as on few CPUs, none of them is fine."""
REST_EVERY = 20
"""Otherwise nothing is lent in one of so many periods: 5 % of what could be."""
RECENT_PERIODS = 3
SURE_AT_ONCE = 3.0
"""Standard errors by which the recent periods must be too long,"""
SURE = 1.0
"""... and all of a way's."""
RETRY_NS = 10_000_000_000
RETRY_GROWTH = 3
MOST_RETRY_NS = 320_000_000_000
FORGET_NS = 60_000_000_000
"""A way that was fine for so long counts one failure less."""


@dataclass(slots=True)
class _Record:
    """What is remembered of a way."""

    failures: int = 0
    retry_at_ns: int = 0


class Adaptive:
    """Moves between ways of sharing, by what each costs the primary.

    It begins with nothing lent, for as long as a comparison needs.
    """

    def __init__(self, settings: PolicySettings) -> None:
        self.name = "adaptive"
        self._total = settings.total
        self._protect = settings.protect
        self._paper = make_smartharvest(settings)
        self._quiet = AdaptiveQuiet(settings)
        self._preempts = settings.preempts
        self._ways = ways(settings.total)
        self._records = [_Record() for _ in self._ways]
        self._held = len(self._ways) - 1
        self._tried: int | None = None
        self._fine_ns = self._held_ns = 0
        self._periods = self._step = self._slices = 0
        self._now = self._held
        self._cut = False
        """Whether the period on trial goes on in the way that is held."""
        self._windows = 0
        self._counts = True
        """Whether what is seen now says something about the way in force."""
        self._begins = True
        self._longer: list[Longer] = []
        self._why: dict[int, str] = {}
        self._last_ns: int | None = None
        self._told_ns = 0
        self._blind = False
        self.explanation = "lends nothing yet: it looks how the primary fares alone"

    # --- what is in force -------------------------------------------------------------------------

    @property
    def way(self) -> Way:
        """The one that is in force."""
        return self._ways[self._held if self._cut else self._now]

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
    def buffer(self) -> int:
        return self.way.buffer if self._delegate is None else self._delegate.buffer

    @property
    def quiet_ns(self) -> int | None:
        return self.way.quiet_ns if self._delegate is None else self._delegate.quiet_ns

    @property
    def shared(self) -> bool:
        return self._delegate is None and self.way.kind == "everywhere"

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
        self._quiet.learn(window)
        if self._last_ns is None or window.end_ns - self._last_ns > BLIND_NS:
            self._told_ns = window.end_ns  # nobody could have told before
        self._last_ns = window.end_ns
        if not self._blind and window.end_ns - self._told_ns > BLIND_NS:
            self._blind = True
            self.explanation = "the sensor does not tell harm: the paper's smartharvest decides"
        return self._paper.learn(window)

    def predict(self, window: Window) -> int:
        self._windows += 1
        self._cut = (
            self._tried == self._now == 0
            and self._windows > 1
            and self._slices < EVERYWHERE_SLICES // 2
        )
        predicted = self._paper.predict(window)  # its features are those of the last window
        if window.stale:
            return self._total
        if self._delegate is not None and self._delegate is not self._paper:
            return self._delegate.predict(window)
        if self._delegate is self._paper:
            return predicted
        return self._total if self.way.kind == "nothing" else 0

    # --- harm -------------------------------------------------------------------------------------

    def observe_dispatches(self, seen: Dispatches) -> None:
        if not self._preempts:
            self._hear(seen.end_ns)
            self._quiet.observe_dispatches(seen)
            self.explanation = (
                "the primary does not preempt the batch: lends cores that were idle, "
                "for how long by how its tasks wait"
            )
            return
        if not seen.spans:
            return
        self._hear(seen.end_ns)
        if len(self._longer) != len(seen.spans):
            self._longer = [Longer() for _ in seen.spans]
            self._begins, self._tried = True, None
            self._held = self._now = len(self._ways) - 1
            self._periods = 0
        self._take(seen)
        self._periods += 1
        if self._begins and not self._knows_enough():
            return
        if self._begins:
            self._begins = False
            self._try_next(0, seen.end_ns)
        self._judge(seen.end_ns)
        self._go_on()

    def _hear(self, end_ns: int) -> None:
        if self._blind:
            self.explanation = self._ways[self._held].describe()
        self._told_ns, self._blind = end_ns, False

    def _take(self, seen: Dispatches) -> None:
        for longer, spans in zip(self._longer, seen.spans, strict=True):
            if self._ways[self._now].kind == "nothing":
                if self._counts:
                    longer.add_alone(seen.end_ns, spans.not_lent)
            elif self._now == self._tried:
                longer.add_tried(seen.end_ns, _both(spans))
            elif self._counts:
                longer.add_held(seen.end_ns, _both(spans))

    def _knows_enough(self) -> bool:
        least, most = FIRST_PERIODS
        known = min(longer.alone_spans for longer in self._longer)
        return self._periods >= most or (self._periods >= least and known >= FIRST_SPANS)

    def _judge(self, now_ns: int) -> None:
        """Whether the way in force is too dear, and whether to try a bolder one."""
        if self._tried is not None:
            if self._now == self._tried:
                self._slices += 1
                if why := self._too_dear(tried=True):
                    self._refuse(self._tried, now_ns, why)
                    self._try_next(self._tried + 1, now_ns)
                elif self._slices >= self._trial[0]:
                    self._hold(self._tried, now_ns)
            return
        lends = self._ways[self._now].kind != "nothing" and self._now == self._held
        if lends and (why := self._too_dear(tried=False)):
            self._refuse(self._held, now_ns, why)
            careful = self._held + 1
            self._release()
            self._try_next(careful, now_ns)
            return
        if now_ns - self._fine_ns > FORGET_NS:
            self._fine_ns = now_ns
            held = self._records[self._held]
            held.failures = max(0, held.failures - 1)
        self._try_next(0, now_ns)

    def _too_dear(self, *, tried: bool) -> str:
        """Why the way costs a primary more than the budget; empty if it does not."""
        way = self._tried if tried and self._tried is not None else self._held
        protect = self._protect * (1.0 if way else EVERYWHERE_SHARE)
        for longer in self._longer:
            if times := longer.disaster(protect, tried=tried):
                self._records[way].failures += 2  # not to be met often
                return f"P99 from waking up to sleeping was x{times:.1f} for a moment"
            for last, sure in ((RECENT_PERIODS, SURE_AT_ONCE), (0, SURE)):
                found = longer.compare(protect, tried=tried, last=last)
                for q, one in found.items():
                    if one.excess > sure * one.error:
                        return _describe(q, one)
        return ""

    # --- from way to way --------------------------------------------------------------------------

    def _try_next(self, first: int, now_ns: int) -> None:
        """Puts the boldest way from ``first`` on that may be tried on trial, if it is bolder than
        the one that is held."""
        self._tried = None
        nothing = len(self._ways) - 1
        due = [now_ns >= record.retry_at_ns for record in self._records]
        due[0] &= (
            now_ns >= self._held_ns + EVERYWHERE_AFTER_NS
            if self._held < nothing
            else not any(due[1:nothing])
        )
        for way in range(first, self._held):
            if due[way]:
                self._tried = way
                self._step = self._slices = 0
                for longer in self._longer:
                    longer.begin_trial()
                return

    @property
    def _trial(self) -> tuple[int, int]:
        """Slices of the trial that is under way, and how far they are apart."""
        return (EVERYWHERE_SLICES, EVERYWHERE_SPACING) if self._tried == 0 else (SLICES, SPACING)

    def _hold(self, way: int, now_ns: int) -> None:
        self._held, self._tried = way, None
        self._fine_ns = self._held_ns = now_ns
        for longer in self._longer:
            longer.hold(tried=True)
        self.explanation = self._ways[way].describe() + self._why_not_bolder(way)

    def _release(self) -> None:
        """Nothing is held while the next way is sought."""
        self._held = len(self._ways) - 1
        for longer in self._longer:
            longer.hold(tried=False)
        self.explanation = self._ways[-1].describe() + self._why_not_bolder(self._held)

    def _refuse(self, way: int, now_ns: int, why: str) -> None:
        record = self._records[way]
        retry_ns = min(MOST_RETRY_NS, RETRY_NS * RETRY_GROWTH**record.failures)
        record.failures += 1
        record.retry_at_ns = now_ns + retry_ns
        self._why[way] = f"{why}; it is tried again after {retry_ns // 1_000_000_000} s"

    def _why_not_bolder(self, way: int) -> str:
        if way == 0 or way - 1 not in self._why:
            return ""
        return f", since with {self._ways[way - 1].short} {self._why[way - 1]}"

    def _go_on(self) -> None:
        """Chooses what is in force in the next period."""
        nothing = len(self._ways) - 1
        before = self._now
        self._windows, self._cut = 0, False
        rests = self._periods % REST_EVERY == REST_EVERY // 2
        if self._tried is None:
            self._now = nothing if rests else self._held
        else:
            spacing = self._trial[1]
            phase, self._step = self._step % spacing, self._step + 1
            rests = phase == 2 if spacing == SPACING else rests and phase > 1
            self._now = self._tried if phase == 0 else nothing if rests else self._held
        # What waited under a way on trial still shows in the period after it.
        self._counts = before == self._now or before != self._tried


def _both(spans: Spans) -> Durations:
    return (*spans.lent, *spans.not_lent)


def _describe(q: float, found: Comparison) -> str:
    return f"P{q * 100:g} from waking up to sleeping is x{found.ratio:.2f}"
