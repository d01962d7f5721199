"""Adaptive: the boldest way of sharing whose measured harm the budget covers.

How much lending costs differs from case to case, and nobody knows it beforehand. So each way is
judged by what it costs the primary's tasks, held against themselves (``Pairs``): nothing has to be
lent less to know it, and a second tells enough.

A way that looks too dear is left at once. A bolder one is tried for a moment at a time, later and
later after each failure, and only while what was spent lately is well within the budget. Where
nothing is lent and no trial is due nobody looks: then the agent costs the primary nothing either.
What shows in no wait, such as caches, is seen by the median task of short rests.

Where cores are few none is moved but by the paper's prediction: a move takes a large part of such a
machine. And where an idle one answers late none of few is kept idle.

Time is counted in periods that were seen: what was found is as true after a pause, and after a
restart.

Where the kernel keeps CPUs idle for who wakes (``--mechanism strict``) the ways differ in how many,
and nothing is moved.

Where the primary does not preempt the batch it lends cores that have been idle (as
``adaptive-quiet``), or with few cores what the paper's prediction leaves, or nothing. Where the two
have no core in common the batch may also have a set of its own. Where no sensor tells, it is the
paper's policy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from smartharvest.algorithm.policy.adaptive_quiet import AdaptiveQuiet
from smartharvest.algorithm.policy.base import (
    DISPATCHES_PERIOD_NS,
    Dispatches,
    Policy,
    PolicySettings,
    Spent,
)
from smartharvest.algorithm.policy.judge import Judge
from smartharvest.algorithm.policy.meter import COMPARE_PERIODS
from smartharvest.algorithm.policy.records import (
    MOST_RETRY_PERIODS,
    RETRY_PERIODS,
    Kept,
    Record,
)
from smartharvest.algorithm.policy.rests import REST_PERIODS, Rests, told_by_rests
from smartharvest.algorithm.policy.smartharvest import make_smartharvest
from smartharvest.algorithm.policy.ways import Way, are_few, ways
from smartharvest.algorithm.safeguard import ShortTermSafeguard
from smartharvest.core.window import Window

BLIND_NS = 1_000_000_000
"""So long without a word on dispatches: nobody tells."""
LEARNED_LESSONS = 400
"""Windows, before the prediction is tried: one that has learned little lends too much."""
MOST_RESTED_NS = 20_000_000_000
"""So long nothing is learned while the loop rests,"""
LESSONS_OWED = 40
"""... and then so many windows are, for what is predicted to be of today."""
TRIAL_PERIODS = (3, 30)
"""A trial lasts so long at least, and at most: a primary that hardly runs is hardly hurt."""
PAUSE_PERIODS = 5
"""From one trial to the next."""
FORGET_PERIODS = 600
"""A way that is held for so long counts one failure less."""
LONG_PERIODS = 100
"""A way that was held for so long fails by little as if for the first time."""
MOST_MOVING = 0.01
"""Of a core for each of the total: more than that moving cores may not take."""
SETTLED_PERIODS = 30
"""A way without a move that was held for so long is looked at less often."""
WORTH_PERIODS = 10
"""A way that moves cores was held for so long before it is to be worth its moves: to lend"""
LEAST_LENT = 0.1
"""... so many cores in the mean, and if it follows demand as many as the batch mostly has of a set
(``apart``)."""
GONE_RETRY_PERIODS = 600
"""A way that failed is tried again so soon at the latest, once a primary is gone."""
LEAST_DOZE_PERIODS = 40
"""With nothing lent and no trial due for so long it does not look."""
BARREN_PERIODS = 300
"""After which it says that no way gives the batch more than its minimum."""
_NOT_PREEMPTED = "; the primary is not known to preempt the batch"


class Adaptive:
    """Moves between ways of sharing, by what each costs the primary."""

    def __init__(self, settings: PolicySettings) -> None:
        self.name = "adaptive"
        self._total = settings.total
        self._settings = settings
        self._paper = make_smartharvest(replace(settings, learner="native"))
        self._preempts = settings.preempts
        self._few = are_few(settings.total, settings.smallest)
        careful = not (settings.preempts or self._few)
        self._quiet = AdaptiveQuiet(settings) if careful else None
        self._freezes = settings.freezes
        # Else the minimum costs the primary what no way would take from it.
        self._judges = settings.preempts or settings.freezes or settings.exclusive
        # With a smallest set it meets the group nowhere, and has all cores with nothing lent.
        meet = settings.smallest == 0
        self._judge = Judge(settings.total, settings.protect_for, few=self._few, meet=meet)
        self._meets = not settings.exclusive
        """Whether the primary may meet the elastic group on a core."""
        self._ways = ways(
            settings.total,
            settings.spares if settings.preempts else (),
            preempts=settings.preempts,
            freezes=settings.freezes,
            exclusive=settings.exclusive,
            smallest=settings.smallest,
        )
        self._records = [Record() for _ in self._ways]
        self._predicts = not self._judges or any(way.kind == "prediction" for way in self._ways)
        self._keeps_part = any(way.kind == "part" for way in self._ways)
        """Which may cost more than keeping none: the primary then waits for itself."""
        self._nothing = len(self._ways) - 1
        self._now = self._held = self._nothing
        """The way in force, and what was fine before it."""
        self._since = self._periods = 0
        self._barren = 0
        """Periods since a way was held that gives the batch more than its minimum."""
        self._is_new = False
        """Whether the next window is of the way before."""
        self._usual_seen = -COMPARE_PERIODS
        """When it was last looked for what is usual, since it was not known."""
        self._unjudged = 0
        """Periods to come that say nothing about the way in force."""
        self._inhibited = False
        """Whether something else decides that nothing is lent."""
        self._held_rests = Rests(few=self._few)
        self._names: tuple[str, ...] = ()
        """Of the primaries that the sensor sees, in its order; empty: unknown."""
        self._recalled: Kept | None = None
        """From before a restart, until the first period."""
        self._doze_ns = 0
        """How long it does not look."""
        self._rested_ns = self._owed = 0
        """How long nothing was learned, and windows that are to be before it rests again."""
        self._why = ""
        self._answered: Way | None = None
        self._last_ns: int | None = None
        self._told_ns = 0
        self._tripped = False
        self._blind = False
        self.explanation = "lends nothing yet"

    # --- what is in force -------------------------------------------------------------------------

    @property
    def way(self) -> Way:
        """The one that is in force."""
        return self._ways[self._now]

    @property
    def wants_spans_alone(self) -> bool:
        """Of the dispatches."""
        return self._judges and self._quiet is None

    @property
    def judges_waits(self) -> bool:
        """Whether it sees what it needs to judge them."""
        return not self._blind and (self._judges or self._quiet is not None)

    @property
    def _delegate(self) -> Policy | None:
        """Another policy that decides; None: the way does."""
        if self._blind:
            return self._paper
        if self._judges and self.way.kind not in ("quiet", "prediction"):
            return None
        return self._quiet or self._paper

    @property
    def dozes(self) -> bool:
        """Whether it lends nothing and looks at nothing but the time. Not before a window was
        answered so: until then what it has left is in force."""
        return self._doze_ns > 0 and self.steady

    @property
    def steady(self) -> bool:
        """Whether the way in force has answered before, and no window may end it."""
        return self._delegate is None and self._answered is self.way

    @property
    def rests(self) -> bool:
        """Whether it can do without windows: it is steady, and has learned enough."""
        return self.steady and self._has_learned() and not self._owed

    @property
    def patient(self) -> bool:
        """Whether it has held a way without a move for so long that it need not look often."""
        is_held = self._now == self._held and not self.way.moves
        return self.steady and is_held and self._since >= SETTLED_PERIODS

    @property
    def is_barren(self) -> bool:
        """Whether no way was held for long that gives the batch more than its minimum, where the
        primary may meet it on a core and the sensor tells."""
        tells = bool(self._judge.meters) and not self._blind
        return tells and self._meets and self._barren >= BARREN_PERIODS

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
    def frozen(self) -> bool | None:
        """Whether even the minimum is taken back; None: what that costs is not judged."""
        if not self._freezes or self._blind:
            return None
        return self.way.kind == "nothing"

    @property
    def short_term(self) -> ShortTermSafeguard:
        return self

    def observe(self, window: Window) -> None:
        """For the safeguard of the paper's policy, which remembers a second."""
        if self._predicts or self._blind:
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

    @property
    def budget(self) -> Mapping[str, Spent] | None:
        """What lending has cost each primary lately, by name; None while it does not judge that."""
        if self._blind or not self._judges or self._inhibited or not self._judge.meters:
            return None
        spent = [meter.spent(self._held) for meter in self._judge.meters]
        return dict(zip(self._judge.names, spent, strict=True))

    # --- over a restart ---------------------------------------------------------------------------

    @property
    def lessons(self) -> int:
        """Periods that were judged."""
        return self._periods if self._judge.meters else 0

    @property
    def conditions(self) -> dict[str, Any]:
        """Under which its evidence was found: elsewhere it says nothing."""
        return {
            "total": self._total,
            "ways": [way.short for way in self._ways],
            "protect": self._settings.protect,
            "preempts": self._preempts,
            **({"protect_of": list(map(str, of))} if (of := self._settings.protect_of) else {}),
        }

    def dump(self) -> bytes:
        """Its evidence, for ``load``."""
        held, slowdowns = self._held, [meter.slowdowns for meter in self._judge.meters]
        names: Sequence[str] = self._judge.names
        if self._recalled is not None:
            held, slowdowns = self._recalled.held, list(self._recalled.slowdowns)
            names = self._recalled.names
        records = [
            replace(one, retry_at=min(MOST_RETRY_PERIODS, max(0, one.retry_at - self._periods)))
            for one in self._records
        ]
        return Kept(held, records, slowdowns, self._barren, names).dump()

    def load(self, dumped: bytes) -> None:
        """Begins with the evidence that one under the same conditions dumped.

        Raises ValueError for anything else; one that knew nothing then still knows nothing.
        """
        self._recalled = Kept.load(dumped, len(self._ways))
        self._records = list(self._recalled.records)
        self._barren = self._recalled.barren

    # --- windows ----------------------------------------------------------------------------------

    def learn(self, window: Window) -> int | None:
        if self._quiet is not None:
            self._quiet.learn(window)
        self._note_lent(window)
        if self.dozes:
            self._told_ns = window.end_ns
            self._sleep_through(window.end_ns - window.start_ns)
        if self._last_ns is None or window.end_ns - self._last_ns > BLIND_NS:
            self._told_ns = window.end_ns  # nobody could have reported before
        self._last_ns = window.end_ns
        if window.end_ns - self._told_ns > BLIND_NS:
            self.note_blind()
        if not (self._predicts or self._blind):
            return None
        if window.rested:
            self._rested_ns += window.end_ns - window.start_ns
            if self._rested_ns >= MOST_RESTED_NS:
                self._rested_ns, self._owed = 0, LESSONS_OWED
        else:
            self._owed = max(0, self._owed - 1)
        label = self._paper.learn(window)
        if not (window.stale or window.exhausted):
            self._paper.note(window)  # it is not asked to predict, and learns what follows
        return label

    def _note_lent(self, window: Window) -> None:
        is_of_before, self._is_new = self._is_new, False
        if not (is_of_before or self._inhibited or self._held_rests.is_on):
            self._records[self._now].note_lent(self._total - window.primary_cores)

    def predict(self, window: Window) -> int:
        delegate = self._delegate
        self._answered = self.way if delegate is None else None
        if delegate is self._paper:
            return delegate.predict(window)
        if window.stale:
            return self._total
        if delegate is not None:
            return delegate.predict(window)
        if self.way.is_static or self.way.moves:
            return self.way.kept
        return self._total

    # --- harm -------------------------------------------------------------------------------------

    def observe_dispatches(self, seen: Dispatches) -> None:
        if self._quiet is not None and self._delegate is self._quiet:
            self._quiet.observe_dispatches(seen)
        if not self._judges:
            self._hear(seen.end_ns)
            self.explanation = self._ways[0].describe() + _NOT_PREEMPTED
            return
        # Where only some of what is lent is known without its harm nothing tells.
        if not seen.spans or any(one.lent and not one.unharmed for one in seen.spans):
            return
        self._hear(seen.end_ns)
        self._answer_trip()
        self._inhibited = seen.inhibited
        if seen.inhibited:
            self._unjudged = max(self._unjudged, 1)  # a part of the next one may be of it, too
            return
        known = len(self._names) == len(seen.spans)
        names = self._names if known else tuple(map(str, range(len(seen.spans))))
        if names != self._judge.names:
            self._begin(names)
        periods = max(1, round(seen.period_ns / DISPATCHES_PERIOD_NS))
        self._judge.add(
            seen.spans,
            counts=not self._unjudged,
            lends=self._now != self._nothing,
            periods=periods,
        )
        self._note_moves(seen)
        self._periods += periods
        gives = self._ways[self._held].kind not in ("minimum", "nothing")
        self._barren = 0 if gives else self._barren + periods
        before, self._since = self._since, self._since + periods
        if self._now == self._held and self._since // FORGET_PERIODS > before // FORGET_PERIODS:
            self._records[self._now].forgive()
        if self._unjudged:
            self._unjudged -= 1
        elif self._held_rests.is_on:
            self._held_rests.go_on(periods)
            if not self._held_rests.is_on:
                self._end_rest()
        else:
            self._judge_way()
        self._doze()

    def note_primaries(self, names: Sequence[str]) -> None:
        """These are what the sensor sees from now on, in its order. Who is gone may be why a way
        failed, so it is tried again soon."""
        if not set(self._names) <= set(names):
            self._try_soon()
        self._names, self._doze_ns = tuple(names), 0

    def _try_soon(self) -> None:
        soon = self._periods + GONE_RETRY_PERIODS
        for record in self._records:
            record.retry_at = min(record.retry_at, soon)

    def note_trip(self) -> None:
        """The long-term safeguard has seen a task that waits too long: the way in force failed."""
        self._tripped = True

    def _answer_trip(self) -> None:
        tripped, self._tripped = self._tripped, False
        if tripped and not self._held_rests.is_on and self.way.kind != "nothing":
            self._leave("a task waited too long", by_little=False)

    def note_blind(self) -> None:
        """Nobody tells, for now."""
        if not self._blind:
            self._blind = True
            self.explanation = "the sensor does not tell harm: the paper's smartharvest decides"

    def _hear(self, end_ns: int) -> None:
        if self._blind:
            self._explain()
        self._told_ns, self._blind = end_ns, False

    def _begin(self, names: tuple[str, ...]) -> None:
        """With these primaries: what is known of those that were there stays, also over a restart.
        Who comes is seen with nothing lent first."""
        recalled, self._recalled = self._recalled, None
        before = self._judge.names if recalled is None else tuple(recalled.names)
        self._judge.watch(names)
        if recalled is not None:
            found = dict(zip(recalled.names, recalled.slowdowns, strict=True))
            for name, meter in zip(names, self._judge.meters, strict=True):
                meter.slowdowns = found.get(name, {})
        self._unjudged = 1  # what was seen was before
        if set(names) <= set(before):
            if recalled is None:
                return
            if set(before) != set(names):
                self._try_soon()
            if self._may_enter(recalled.held):
                self._held, self._why = recalled.held, ", as it was before"
        else:
            if set(names).isdisjoint(before):
                self._records = [Record() for _ in self._ways]
            for record in self._records:
                record.forget()
            self._held, self._why, self._barren = self._nothing, "", 0
        self._held_rests.abandon(self._judge.meters)
        self._enter(self._held)
        self._rest_later()
        self._unjudged = 1  # what was seen was before
        self._explain()

    def _note_moves(self, seen: Dispatches) -> None:
        if not self.way.moves:
            return  # what moves in its first period is of the way before
        moving = sum(ns * count for ns, count in seen.moves) / seen.period_ns
        self._records[self._now].note_moving(moving)

    def _judge_way(self) -> None:
        """Whether the way in force is too dear, and whether to try a bolder one."""
        judge = self._judge
        why, moved = self._too_dear()
        if why:
            seen = judge.may_compare or self._periods < self._usual_seen + COMPARE_PERIODS
            if self._now == self._held and not (judge.is_disaster or seen):
                self._see_usual()  # may be it would be as long then
            else:
                self._leave(why, moved=moved)
        elif self._now > self._held:
            if self._since >= REST_PERIODS:
                self._enter(self._held)
        elif self._now < self._held:
            self._judge_trial()
        elif why := self._lends_too_little():
            self._leave(why, is_worthless=True)
        elif self._is_to_rest():
            self._begin_rest()
        elif self._since >= PAUSE_PERIODS:
            self._choose()

    def _judge_trial(self) -> None:
        """Ends it once it tells, or has lasted long enough."""
        least, most = TRIAL_PERIODS
        doubt = self._judge.doubt()
        if self._since >= most and doubt:
            self._leave(doubt)
        elif self._since >= (least if self._judge.tells and not doubt else most):
            self._hold()

    def _is_to_rest(self) -> bool:
        """Whether the way that is in force, and held, is to be compared with nothing lent."""
        if self._now == self._nothing:
            return False
        return self._held_rests.is_due(self._periods) and self._since >= SETTLED_PERIODS

    def _begin_rest(self) -> None:
        """From the way that is held, to see what it makes longer in ways that no wait shows."""
        self._now, self._unjudged = self._nothing, 1
        self._held_rests.begin(self._judge.meters)

    def _see_usual(self) -> None:
        """Lends nothing for a moment, before the way that is held is left."""
        self._usual_seen = self._periods + REST_PERIODS
        if not self._few:
            self._enter(self._nothing)
            return
        self._begin_rest()
        self._judge.forget_usual()

    def _end_rest(self) -> None:
        self._now, self._is_new = self._held, True
        why = self._held_rests.end(self._held, self._records[self._held], self._judge.meters)
        self._rest_later()
        if why:
            self._leave(why, by_little=False, by_rests=True)
        else:
            self._explain()

    def _rest_later(self) -> None:
        """When what is held rests next."""
        record, is_new = self._records[self._held], self._since == 0
        self._held_rests.plan(self._periods, self._held, record, self._judge.meters, is_new=is_new)

    def _is_in_doubt(self) -> bool:
        """Whether what is held may cost what no wait shows."""
        return self._held != self._nothing and self._held_rests.doubt(
            self._held, self._records[self._held], self._judge.meters
        )

    def _too_dear(self) -> tuple[str, bool]:
        """Why the way in force is, and whether its moves are; empty: it is not."""
        if self._now == self._nothing:
            return "", False
        if why := self._judge.too_long(is_held=self._now == self._held):
            return why, False
        if self._moves_too_much():
            return f"moves take {self._records[self._now].moving:.2f} cores", True
        return "", False

    def _moves_too_much(self) -> bool:
        return self._records[self._now].moving > MOST_MOVING * self._total

    def _lends_too_little(self) -> str:
        """Why a way that is held, and moves cores, is not worth it; empty: it is."""
        lent = self._records[self._now].lent
        if not self.way.moves or self._since < WORTH_PERIODS:
            return ""
        if lent < LEAST_LENT:
            return f"no more than {lent:.2f} cores are lent"
        if self.way.kind not in ("quiet", "prediction"):
            return ""
        given = (
            record.lent if record.windows else self._total - way.kept
            for way, record in zip(self._ways, self._records, strict=True)
            if way.kind == "apart" and record.fine
        )
        most = max(given, default=0.0)
        if lent >= most:
            return ""
        return f"{lent:.1f} cores are lent, and {most:.1f} of a set apart did no harm"

    # --- from way to way --------------------------------------------------------------------------

    def _choose(self) -> None:
        """Puts a bolder way on trial that may be tried: the next, or where one keeps a part
        for good the longest due, and of those the boldest."""
        if self._held == self._nothing and self._judge.knows_little:
            return
        if self._is_in_doubt() or not self._judge.affords_trial:
            return
        due = [
            way
            for way in range(self._held)
            if self._may_enter(way) and self._periods >= self._records[way].retry_at
        ]
        if not due:
            return
        longest_due = min(due, key=lambda way: self._records[way].retry_at)
        self._enter(longest_due if self._keeps_part else due[-1])

    def _may_enter(self, way: int) -> bool:
        kind = self._ways[way].kind
        if kind == "part":
            return not self._judge.idles_late
        return kind != "prediction" or self._has_learned()

    def _has_learned(self) -> bool:
        """What is to be predicted, if anything is."""
        return not self._predicts or self._paper.learner.lessons >= LEARNED_LESSONS

    def _enter(self, way: int) -> None:
        # What waited under a bolder way still shows in the period after it.
        self._unjudged = int(way > self._now)
        self._now, self._since, self._is_new = way, 0, True
        self._judge.begin_way()

    def _hold(self) -> None:
        self._held, self._since = self._now, 0
        self._records[self._now].fine = True
        self._rest_later()
        self._explain()

    def _leave(
        self,
        why: str,
        *,
        by_little: bool | None = None,
        by_rests: bool = False,
        is_worthless: bool = False,
        moved: bool = False,
    ) -> None:
        """For what is more careful and was fine; whether it is left ``by_little`` is judged by
        waits unless it is known. What is left ``by_rests`` may say something of more careful ways,
        too. What is worthless now may be worth much under another load, and says nothing of bolder
        ways; what ``moved`` too much says nothing of those that do not."""
        way, record = self._now, self._records[self._now]
        was_held = way == self._held
        self._judge.note_left(way)
        disaster = self._judge.is_disaster
        if by_little is None:
            plainly = disaster or self._moves_too_much()
            by_little = not plainly and self._judge.is_marginal(way)
        if is_worthless:
            retry = record.put_off(self._periods, RETRY_PERIODS)
        elif by_little:
            if was_held and self._since >= LONG_PERIODS:
                record.marginal = 0
            retry = record.fail_by_little(self._periods)
        else:
            retry = record.fail(self._periods, disaster=disaster)
        for bolder in range(way):
            if not is_worthless and self._includes(bolder, way, moved=moved):
                # After this one, which puts it off again should it fail again.
                self._records[bolder].retry_at = max(
                    self._records[bolder].retry_at, record.retry_at + 1
                )
        if by_rests:
            self._put_off_parts(way)
        short = self._ways[way].short
        self._why = f", since with {short} {why}; it is tried again after {retry // 10} s"
        follows = self._held
        if was_held:
            later = range(way + 1, self._nothing)
            self._held = next(
                (one for one in later if self._records[one].fine and self._may_enter(one)),
                self._nothing,
            )
            follows = self._held if disaster else self._step_down(way)
        self._enter(follows)
        if was_held:
            self._rest_later()
        self._unjudged += disaster
        self._explain()

    def _put_off_parts(self, way: int) -> None:
        """As long as this way, which is left: those that lend less of it, and would be too dear if
        each core cost what they do in it. The most careful one is due first."""
        given = self._total - self._ways[way].kept
        for less in range(way + 1, self._nothing):
            record, one = self._records[less], self._ways[less]
            share = (self._total - one.kept) / given
            if one.kind == "part" and not record.fine and self._judge.expects(way, share):
                due = self._records[way].retry_at - (less - way)
                record.retry_at = max(record.retry_at, due)

    def _step_down(self, way: int) -> int:
        """What follows a way that was held: what is held now, or where that is nothing and the way
        was a part, what lends less of it. No budget has to be saved for that."""
        if self._held != self._nothing or self._ways[way].kind != "part":
            return self._held
        less = (
            one
            for one in range(way + 1, self._nothing)
            if self._ways[one].kind in ("part", "minimum")
            and self._may_enter(one)
            and self._periods >= self._records[one].retry_at
        )
        return next(less, self._held) if self._judge.may_compare else self._held

    def _includes(self, bolder: int, way: int, *, moved: bool) -> bool:
        """Whether what makes a way too dear is in a bolder one, too."""
        if moved:
            return self._ways[bolder].moves
        kind, bolders = self._ways[way].kind, self._ways[bolder].kind
        if kind == "part":
            return bolders == kind  # but all of them may cost less: none is kept idle
        return kind == "minimum" or bolders in ("everywhere", kind)

    def _doze(self) -> None:
        """Looks away while nothing is lent and no trial is due, if that is worth it."""
        self._doze_ns = 0
        if self._held != self._nothing or self._now != self._held or not self._has_learned():
            return
        due = [self._records[way].retry_at for way in range(self._nothing) if self._may_enter(way)]
        left = min(due) - self._periods
        if left >= LEAST_DOZE_PERIODS:
            self._doze_ns = left * DISPATCHES_PERIOD_NS

    def _sleep_through(self, dozed_ns: int) -> None:
        """So much of it has passed."""
        before = -(-self._doze_ns // DISPATCHES_PERIOD_NS)
        self._doze_ns = max(0, self._doze_ns - dozed_ns)
        periods = before - -(-self._doze_ns // DISPATCHES_PERIOD_NS)
        self._periods += periods
        self._barren += periods
        self._judge.fade(periods)

    def _explain(self) -> None:
        told = told_by_rests(self._held, self._judge.meters)
        parts = [self._ways[self._held].describe(), *([told] if told else [])]
        if self.frozen and self._held == self._nothing:
            parts.append("and has frozen the batch")
        limited = _NOT_PREEMPTED if self._meets and not self._preempts else ""
        self.explanation = " ".join(parts) + self._why + limited
