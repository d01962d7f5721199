"""Adaptive: the boldest way of sharing whose measured harm the budget covers.

How much lending costs differs from case to case, and nobody knows it beforehand. So the policy
compares the primary with itself: how long its tasks take from waking up to sleeping again, in short
windows with nothing lent and otherwise. A way of sharing is left as soon as it is surely too dear.
Trials cost as well, so there is an account: time with nothing lent saves what lending spends, and
without credit nothing is tried. What it falls back on is the paper's prediction: a search in vain
costs the batch nothing that the paper's policy would have given it. Where that is too dear as well,
nothing is lent and nobody looks until the next trial is due: then the agent costs the primary
nothing either.

Time is counted in periods that were seen: what was found is as true after a pause. It is so after a
restart as well, unless the primary fares otherwise with nothing lent than it did.

Where the kernel keeps CPUs idle for who wakes (``--mechanism strict``) the ways differ in how many:
nothing is moved, and the batch gives way at once. A mistake is cheap there and trials are dense.

Where the primary does not preempt the batch, a mistake is not cheap. There it lends cores that have
been idle (``adaptive-quiet``). Where no sensor tells, it is the paper's policy.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

from smartharvest.algorithm.policy.adaptive_quiet import AdaptiveQuiet
from smartharvest.algorithm.policy.base import (
    DISPATCHES_PERIOD_NS,
    Dispatches,
    Policy,
    PolicySettings,
)
from smartharvest.algorithm.policy.longer import Longer, merged
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
CHEAP_FIRST_PERIODS = (3, 6)
"""The same where a mistake is cheap."""
RECALL_PERIODS = 3
"""Instead, with what was kept over a restart: the first still shows the start."""
LEARNED_PERIODS = 100
"""Before it falls back on the prediction: one that has learned little lends too much."""
REST_PERIODS = 2
"""With nothing lent, in a row: the first still shows what waited before."""
SPACING = 4
"""A trial has one period in so many; then nothing is lent, then the way that is held goes on."""
SLICES = 4
"""Periods of a trial,"""
CHEAP_SPACING = 6
"""... where a mistake is cheap: the way has all of so many but the first ones, in which nothing is
lent."""
EVERYWHERE_SPACING, EVERYWHERE_SLICES = 5, 26
"""The same of the boldest way, which nothing stops: it has to meet what load there is, in one
period of so many;"""
PULSES = 16
"""... of so many of them one window alone,"""
PULSE = 0.25
"""... that part of a period,"""
CROWDED = 1.25
"""... and of all others one, if more tasks for each core are about;"""
ENOUGH_SLICES = 22
"""... and so many do if that shows it to be fine."""
CLEARLY = 1.0
"""Standard errors by which it has to be fine,"""
MISTAKES = 3.0
"""... and refusals by mistake while another way is held: they cost little then, and harm more."""
UNDECIDED = 3
"""A trial that looks too dear, but is not surely so, takes so many times as long at most."""
REST_EVERY = (40, 80)
"""Otherwise there are such in so many periods: at first, and of a way that was fine for
LONG_PERIODS."""
LONG_PERIODS = 200
RETRY_PERIODS = 200
OVERDRAWN_PERIODS = 25
"""The same of one whose trial had to end early: little was seen of it."""
RETRY_GROWTH = 3
MOST_RETRY_PERIODS = 3_200
FORGET_PERIODS = 600
"""A way that was fine for so long counts one failure less."""
DOUBT_PERIODS = 4
"""A way that is held and looks too dear rests for so long: if the primary then fares as badly, it
is not to blame;"""
CALM_PERIODS = 2
"""... and for so long after one disaster, which may have been the host's."""
MOST_MOVING = 0.01
"""Of a core for each of the total: more than that moving cores may not take,"""
MOVING_PERIODS = 4
"""... in the mean of so many periods of a way, the last one weighing most."""
TRY_CREDIT = 0.5
"""Credit for a trial."""
LEAST_DOZE_PERIODS = 40
"""With nothing lent and no trial due for so long it does not look,"""
WAKE_PERIODS = 10
"""... but so long before: what it compares with has to be fresh."""


@dataclass(slots=True)
class _Record:
    """What is remembered of a way."""

    failures: int = 0
    retry_at: int = 0
    """Number of the period."""
    disaster: bool = False
    fine: bool = False
    moving: float = 0.0
    """Share of a core that its moves take."""


class Adaptive:
    """Moves between ways of sharing, by what each costs the primary.

    It begins with nothing lent, for as long as a comparison needs.
    """

    def __init__(self, settings: PolicySettings) -> None:
        self.name = "adaptive"
        self._total = settings.total
        self._protect = settings.protect
        self._paper = make_smartharvest(replace(settings, learner="native"))
        self._quiet = AdaptiveQuiet(settings)
        self._preempts = settings.preempts
        self._spares = settings.preempts and bool(settings.spares)
        """Whether the kernel keeps as many CPUs idle as the ways say."""
        self._ways = ways(settings.total, settings.spares if self._spares else ())
        self._everywhere = 0 if self._ways[0].kind == "everywhere" else -1
        """The way that nothing stops; -1: there is none."""
        self._records = [_Record() for _ in self._ways]
        self._nothing = len(self._ways) - 1
        self._careful = self._nothing - 1
        """The paper's prediction: what it falls back on."""
        self._held = self._now = self._nothing
        self._tried: int | None = None
        self._doze_ns = 0
        """How long it does not look."""
        self._periods = self._step = self._slices = self._fine = 0
        self._cut = False
        """Whether the period on trial goes on in the way that is held."""
        self._windows = 0
        self._answered: Way | None = None
        """The way that answered the last window; None: another policy did."""
        self._counts = True
        """Whether what is seen now says something about the way in force."""
        self._begins = True
        self._recalled: int | None = None
        """What was held before a restart, while it begins."""
        self._doubt = ""
        """Why the way that is held looks too dear, while it rests."""
        self._rests_until = 0
        """The period before which nothing is lent."""
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
    def dozes(self) -> bool:
        """Whether it lends nothing and looks at nothing but the time."""
        return self._doze_ns > 0

    @property
    def steady(self) -> bool:
        """Whether the way that is in force has answered before, and no window may end it."""
        ends = self._tried == self._now == self._everywhere
        return self._delegate is None and self._answered is self.way and not ends

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

    # --- over a restart ---------------------------------------------------------------------------

    @property
    def lessons(self) -> int:
        """Periods that were judged; none before it knows how each primary fares alone."""
        knows = not self._begins and all(longer.alone_spans for longer in self._longer)
        return self._periods if knows else 0

    @property
    def conditions(self) -> dict[str, Any]:
        """Under which its evidence was found: elsewhere it says nothing."""
        names = [way.short for way in self._ways]
        return {
            "total": self._total,
            "ways": names,
            "protect": self._protect,
            "preempts": self._preempts,
        }

    def dump(self) -> bytes:
        """Its evidence, for ``load``."""
        kept = {
            "held": self._held,
            "records": [
                [one.failures, max(0, one.retry_at - self._periods), int(one.fine)]
                for one in self._records
            ],
            "primaries": [longer.kept() for longer in self._longer],
        }
        return json.dumps(kept).encode()

    def load(self, dumped: bytes) -> None:
        """Begins with the evidence that one under the same conditions dumped.

        Raises ValueError for anything else; one that knew nothing then still knows nothing.
        """
        try:
            kept = json.loads(dumped)
            records = [
                _Record(int(failures), int(retry), fine=bool(fine))
                for failures, retry, fine in kept["records"]
            ]
            longer = [Longer(len(self._ways), self._protect) for _ in kept["primaries"]]
            for one, found in zip(longer, kept["primaries"], strict=True):
                one.recall(found)
            held = int(kept["held"])
        except (KeyError, TypeError, OverflowError, RecursionError) as error:
            raise ValueError(f"no evidence: {error}") from None
        if not longer or len(records) != len(self._ways) or not 0 <= held <= self._nothing:
            raise ValueError("no evidence for these ways of sharing")
        for record in records:
            if not (0 <= record.failures < 100 and 0 <= record.retry_at <= MOST_RETRY_PERIODS):
                raise ValueError("no evidence: a number is out of range")
        self._longer, self._records, self._recalled = longer, records, held

    # --- windows ----------------------------------------------------------------------------------

    def learn(self, window: Window) -> int | None:
        if not self._preempts:
            self._quiet.learn(window)
        if self.dozes:
            self._told_ns = window.end_ns
            self._doze_ns -= window.end_ns - window.start_ns
        if self._last_ns is None or window.end_ns - self._last_ns > BLIND_NS:
            self._told_ns = window.end_ns  # nobody could have reported before
        self._last_ns = window.end_ns
        if not self._blind and window.end_ns - self._told_ns > BLIND_NS:
            self._blind = True
            self.explanation = "the sensor does not tell harm: the paper's smartharvest decides"
        return self._paper.learn(window)

    def predict(self, window: Window) -> int:
        self._windows += 1
        self._cut = (
            self._tried == self._now == self._everywhere
            and self._windows > 1
            and (self._pulses or window.demand_max > CROWDED * self._total)
        )
        self._answered = self.way if self._delegate is None else None
        predicted = self._paper.predict(window)  # its features are those of the last window
        if window.stale:
            return self._total
        if self._delegate is not None and self._delegate is not self._paper:
            return self._delegate.predict(window)
        if self._delegate is self._paper:
            return predicted
        return self._total if self.way.kind == "nothing" else self.way.kept

    # --- harm -------------------------------------------------------------------------------------

    def observe_dispatches(self, seen: Dispatches) -> None:
        if not self._preempts:
            self._hear(seen.end_ns)
            self._quiet.observe_dispatches(seen)
            self.explanation = (
                "the primary is not known to preempt the batch: lends cores that were idle, "
                "for how long by how its tasks wait"
            )
            return
        if not seen.spans:
            return
        self._hear(seen.end_ns)
        if len(self._longer) != len(seen.spans):
            self._forget(len(seen.spans))
        if self._recalled is None or self._periods:
            self._take(seen)
        self._note_moves(seen)
        self._periods += 1
        if self._begins and not self._knows_enough():
            return
        if self._recalled is not None and not self._fares_as_before():
            self._forget(len(seen.spans))
            return
        if self._begins:
            self._begins = False
            self._settle()
            self._choose()
        else:
            self._judge()
        self._go_on()

    def _hear(self, end_ns: int) -> None:
        if self._blind:
            self.explanation = self._ways[self._held].describe()
        self._told_ns, self._blind = end_ns, False

    def _take(self, seen: Dispatches) -> None:
        for longer, spans in zip(self._longer, seen.spans, strict=True):
            if not self._counts:
                longer.add_unjudged(merged(spans.lent, spans.not_lent))
            elif self._now == self._nothing:
                longer.add_alone(spans.not_lent)
            else:
                durations = merged(spans.lent, spans.not_lent)
                longer.add(self._now, durations, stops=self.way.gives_way)

    def _note_moves(self, seen: Dispatches) -> None:
        record = self._records[self._now]
        moving = sum(ns * count for ns, count in seen.moves) / DISPATCHES_PERIOD_NS
        record.moving += (moving - record.moving) / MOVING_PERIODS

    def _forget(self, primaries: int) -> None:
        """Begins as one that knows nothing."""
        self._longer = [Longer(len(self._ways), self._protect) for _ in range(primaries)]
        self._records = [_Record() for _ in self._ways]
        self._begins, self._tried, self._recalled = True, None, None
        self._doubt, self._rests_until = "", 0
        self._held = self._now = self._nothing
        self._periods = 0
        self._why.clear()

    def _fares_as_before(self) -> bool:
        return all(longer.fares_as_before(RECALL_PERIODS - 1) for longer in self._longer)

    def _settle(self) -> None:
        """Holds what was held before a restart."""
        held, self._recalled = self._recalled, None
        if held is not None:
            self._held, self._fine = held, self._periods
            self.explanation = f"{self._ways[held].describe()}, as before the restart"

    def _knows_enough(self) -> bool:
        if self._recalled is not None:
            return self._periods >= RECALL_PERIODS
        least, most = CHEAP_FIRST_PERIODS if self._spares else FIRST_PERIODS
        known = min(longer.alone_spans for longer in self._longer)
        return self._periods >= most or (self._periods >= least and known >= FIRST_SPANS)

    @property
    def _pulses(self) -> bool:
        """Whether the way on trial has one window of its period."""
        return self._tried == self._everywhere and self._slices < PULSES

    @property
    def _credit(self) -> float:
        return min(longer.credit for longer in self._longer)

    def _judge(self) -> None:
        """Whether the way in force is too dear, and whether to try a bolder one."""
        way = self._now
        if self._doubt:
            if self._periods >= self._rests_until:
                self._decide_doubt()
        elif self._counts and way == self._held != self._nothing and self._hurts(way):
            return
        elif self._tried is None:
            self._choose()
        elif way == self._tried:
            self._slices += 1
            self._judge_trial(way)
        elif self._credit < 0:
            self._end_overdrawn(self._tried)

    def _hurts(self, way: int) -> bool:
        """Whether the way that is held is doubted or left."""
        why = self._too_dear(way)
        if not why and self._tried is None and self._credit < 0:
            fine = self._looks_fine(way, CLEARLY if way == self._everywhere else 0.0)
            why = "" if fine else "its harm has used up the budget"
        if why:
            self._look_again(way, why)
            return True
        if self._had_disaster:
            self._rests_until = self._periods + CALM_PERIODS
        if self._periods - self._fine > FORGET_PERIODS:
            self._fine = self._periods
            self._records[way].failures = max(0, self._records[way].failures - 1)
        return False

    def _look_again(self, way: int, why: str) -> None:
        """What takes cores back by itself, and may not be to blame, is left only if the primary
        fares better without it."""
        if not self._ways[way].gives_way:
            self._leave(way, why)
            return
        self._doubt, self._tried = why, None
        self._rests_until = self._periods + DOUBT_PERIODS

    def _decide_doubt(self) -> None:
        bad = [longer for longer in self._longer if longer.as_bad_alone() is not None]
        if not bad or not all(longer.as_bad_alone() for longer in bad):
            self._leave(self._held, self._doubt)
            return
        self._doubt = ""
        for longer in bad:
            longer.renew()

    def _leave(self, way: int, why: str) -> None:
        self._doubt = ""
        self._refuse(way, why)
        self._release()
        self._choose()

    def _judge_trial(self, way: int) -> None:
        why = self._too_dear(way)
        everywhere = way == self._everywhere
        if everywhere and self._slices == PULSES and not why:
            for longer in self._longer:
                longer.begin(way)  # a window of a period shows little of what a period does
        slices = UNDECIDED * SLICES if self._is_cheap(way) and self._is_extra(way) else SLICES
        enough = self._slices >= (ENOUGH_SLICES if everywhere else slices)
        if enough and not why:
            undecided = self._slices < (EVERYWHERE_SLICES if everywhere else UNDECIDED * slices)
            # Chance may hide what a way costs for as long as anybody looks. What is no extra is
            # held unless it is surely too dear: the account ends what it spends.
            unproved = not undecided and not self._is_extra(way) and self._credit >= 0
            if self._looks_fine(way, CLEARLY if self._is_extra(way) else 0.0) or unproved:
                self._hold(way)
                self._choose()
                return
            if not undecided:
                why = "it was not shown to be harmless"
        if why:
            self._refuse(way, why)
            self._choose()
        elif self._credit < 0:
            self._end_overdrawn(way)

    def _end_overdrawn(self, way: int) -> None:
        """Ends a trial that there is no credit for."""
        self._refuse(way, "a short trial has used up the budget", OVERDRAWN_PERIODS)
        self._tried = None

    def _too_dear(self, way: int) -> str:
        """Why the way costs a primary more than the budget; empty if it does not."""
        for longer in self._longer:
            why = longer.disaster(PULSE if self._pulses else 1.0)
            if why and not (self._ways[way].gives_way and longer.disasters_by_chance(way)):
                self._records[way].disaster = True
                return why
        extra = way == self._tried == self._everywhere and self._held < self._careful
        mistakes = (MISTAKES,) if extra else ()
        for longer in self._longer:
            if why := longer.too_dear(way, *mistakes):
                return why
        moving = self._records[way].moving
        return f"moves take {moving:.2f} cores" if moving > MOST_MOVING * self._total else ""

    @property
    def _had_disaster(self) -> bool:
        return any(longer.disaster() for longer in self._longer)

    def _looks_fine(self, way: int, errors: float) -> bool:
        """As far as is known, by so many standard errors."""
        return all(longer.looks_fine(way, errors) for longer in self._longer)

    # --- from way to way --------------------------------------------------------------------------

    def _choose(self) -> None:
        """Puts the boldest of the ways that have failed least on trial, if it may be tried and is
        bolder than the one held."""
        self._tried = None
        if self._held == self._nothing and self._may_predict():
            self._held, self._fine = self._careful, self._periods
            self.explanation = self._ways[self._held].describe() + self._why_not_bolder(self._held)
        if self._held == 0 or self._credit < TRY_CREDIT:
            return
        due = [way for way in range(self._held) if self._periods >= self._due(way)]
        if due:
            self._begin(min(due, key=self._rank))

    def _rank(self, way: int) -> tuple[int, bool, int]:
        """Lower ones are tried first: what the primary alone stops comes last while little is lent,
        the boldest of it last of all. A mistake with any other is cheaper."""
        if self._spares:
            return self._rank_of_spares(way)
        failures, static = self._records[way].failures, self._ways[way].is_static
        if self._held >= self._careful:
            return failures, static, -way if static else way
        return failures, way == self._everywhere, way

    def _rank_of_spares(self, way: int) -> tuple[int, bool, int]:
        """From what the kernel does by itself, in the middle, to the more careful; from what is
        held, a step at a time to the bolder, since who harms less keeps more."""
        if self._held < self._careful:
            return 0, False, -way
        far = self._careful // 2 - way
        return int(way == self._careful), far > 0, abs(far)

    def _is_extra(self, way: int) -> bool:
        """Whether the primary alone stops the way, and another that lends much is held: the gain is
        small, and a mistake dear."""
        if self._ways[way].gives_way and not self._is_cheap(way):
            return False
        return way == self._everywhere or self._held < self._careful

    def _is_cheap(self, way: int) -> bool:
        """Whether neither trying the way nor what it moves costs much."""
        return self._ways[way].kind == "spare"

    def _due(self, way: int) -> int:
        """The period from which on it may be tried."""
        return self._records[way].retry_at

    def _begin(self, way: int) -> None:
        self._tried = way
        self._records[way].moving = 0.0
        # What is compared with is fresh where nothing is lent yet.
        self._step = REST_PERIODS if self._is_cheap(way) and self._now == self._nothing else 0
        self._slices = 0
        for longer in self._longer:
            longer.begin(way)

    def _hold(self, way: int) -> None:
        self._held, self._tried = way, None
        self._fine = self._periods
        self._records[way].disaster, self._records[way].fine = False, True
        self.explanation = self._ways[way].describe() + self._why_not_bolder(way)

    def _release(self) -> None:
        """Holds what was fine before and is more careful, or the paper's prediction."""
        later = range(self._held + 1, self._nothing)
        careful = self._careful in later and self._may_predict()
        instead = self._careful if careful else self._nothing
        self._held = next((way for way in later if self._records[way].fine), instead)
        self._fine = self._periods
        self.explanation = self._ways[self._held].describe() + self._why_not_bolder(self._held)

    def _may_predict(self) -> bool:
        """Whether the paper's prediction may be fallen back on."""
        return self._periods >= max(LEARNED_PERIODS, self._due(self._careful))

    def _refuse(self, way: int, why: str, periods: int = RETRY_PERIODS) -> None:
        record = self._records[way]
        if record.disaster:
            record.failures += 2  # not to be met often
        retry = min(MOST_RETRY_PERIODS, periods * RETRY_GROWTH**record.failures)
        record.failures += 1
        record.fine = False
        record.retry_at = self._periods + retry
        if self._is_cheap(way):  # with fewer idle CPUs who wakes fares no better
            for bolder in self._records[:way]:
                bolder.retry_at = max(bolder.retry_at, record.retry_at)
        self._why[way] = f"{why}; it is tried again after {retry // 10} s"
        if self._held >= self._careful:
            does = self._ways[self._held].describe()
            self.explanation = f"{does}, since with {self._ways[way].short} {self._why[way]}"
        elif way == self._held - 1:
            self.explanation = self._ways[self._held].describe() + self._why_not_bolder(self._held)

    def _why_not_bolder(self, way: int) -> str:
        if way == 0 or way - 1 not in self._why:
            return ""
        return f", since with {self._ways[way - 1].short} {self._why[way - 1]}"

    def _go_on(self) -> None:
        """Chooses what is in force in the next period."""
        before = self._now
        self._windows, self._cut = 0, False
        every = REST_EVERY[self._periods - self._fine > LONG_PERIODS]
        rests = 0 <= self._periods % every - every // 2 < REST_PERIODS
        if self._periods < self._rests_until:
            self._now = self._nothing
        elif self._tried is None:
            self._now = self._nothing if rests or self._credit < 0 else self._held
        else:
            self._now = self._of_trial(self._tried, self._step)
            self._step += 1
        # What waited under a bolder way still shows in the period after it.
        self._counts = before >= self._now
        if self._tried is None and self._held == self._nothing:
            self._doze(min(self._due(way) for way in range(self._nothing)) - self._periods)

    def _of_trial(self, tried: int, step: int) -> int:
        """The way in force in a period of its trial."""
        if self._is_cheap(tried):
            rests = step % CHEAP_SPACING < REST_PERIODS
            tries = not rests
        elif tried != self._everywhere:
            phase = step % SPACING
            tries, rests = phase == 0, 1 <= phase <= REST_PERIODS
        else:
            turn, phase = divmod(step, EVERYWHERE_SPACING)
            # One shows nothing by itself: what has queued up everywhere may last for longer.
            tries, rests = phase == 0, phase == 2 and turn % 2 == 0
        return tried if tries else self._nothing if rests else self._held

    def _doze(self, left: int) -> None:
        """Looks away while no trial is due for ``left`` periods, if that is worth it."""
        if left < LEAST_DOZE_PERIODS:
            return
        self._doze_ns = (left - WAKE_PERIODS) * DISPATCHES_PERIOD_NS
        self._periods += left - WAKE_PERIODS
        for longer in self._longer:
            longer.rest(left - WAKE_PERIODS)
