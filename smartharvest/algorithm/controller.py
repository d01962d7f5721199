"""The control plane's decisions as one object without a clock: windows and periods in, plans out.

A host's control loop, the simulator, the replay of traces and the tests' simulated world drive this
very object, so what is simulated is what runs. Time comes in with the windows and the calls, as
CLOCK_MONOTONIC or any other clock that only the caller knows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

from smartharvest.algorithm.algorithm1 import Algorithm1, Decision
from smartharvest.algorithm.evidence import NOTHING_USUAL, Baseline
from smartharvest.algorithm.inhibit import InhibitReasons
from smartharvest.algorithm.policy import LENDS_NOTHING, Policy
from smartharvest.algorithm.policy.base import Dispatches, DispatchesObserver, Spent
from smartharvest.algorithm.policy.fallback import (
    budget,
    dozes,
    explanation,
    fallback_steps,
    frozen,
    is_steady,
    judges_waits,
    note_primaries,
    note_trip,
    rests,
    wants_dispatches,
)
from smartharvest.algorithm.safeguard import LongTermSafeguard, PeriodWaits
from smartharvest.core.plan import Plan
from smartharvest.core.timeouts import permit_ns
from smartharvest.core.window import Window

JUDGED_WAITS = ("paper", "attributed", "auto")
"""Which waits the long-term safeguard counts: all (``paper``), those that lending may have caused
(``attributed``), or these too, unless the policy judges waits itself: then only tasks that are
stuck (``auto``). Where they are blamed by circumstance only, what is usual without lending is
allowed for."""

LoopAnswer = tuple[int, int, int | None]
"""What a loop that decides by itself answered: (primary cores, safe cores, label)."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What one window is answered."""

    decision: Decision
    plan: Plan | None
    """What the loop is to do; None if it decided by itself and does so already."""
    inhibited_by: str | None
    """Why nothing is lent whatever the decision is; None if nothing stands against lending."""


def _ignore(_line: str) -> None:
    """Where nobody reads what the controller notes."""


class Controller(Algorithm1):
    """Algorithm 1 on a host: policy, learner, both safeguards, permits and inhibit reasons.

    ``total`` and ``keep_idle`` are cores (``Algorithm1``). ``long_term`` is None where the
    safeguard is off; ``judged_waits`` is one of ``JUDGED_WAITS``. ``can_lend`` is False where the
    host's limits leave no core to lend. With ``loop_decides`` the loop answers windows by itself as
    long as ``permit_until_ns`` says. ``note`` gets a line for everything an operator should know.
    """

    def __init__(
        self,
        policy: Policy,
        *,
        total: int,
        keep_idle: int = 1,
        label_kind: str = "busy",
        long_term: LongTermSafeguard | None = None,
        judged_waits: str = "attributed",
        window_ns: int = 25_000_000,
        can_lend: bool = True,
        loop_decides: bool = False,
        note: Callable[[str], None] = _ignore,
    ) -> None:
        if judged_waits not in JUDGED_WAITS:
            raise ValueError(f"judged_waits: {judged_waits!r} is none of {', '.join(JUDGED_WAITS)}")
        super().__init__(
            policy, total=total, keep_idle=keep_idle, long_term=long_term, label_kind=label_kind
        )
        self._judged_waits = judged_waits
        self._permit_ns = permit_ns(window_ns)
        self.can_lend = can_lend
        self.loop_decides = loop_decides
        self._note = note
        self._primaries: Sequence[str] = ()
        self._baseline = Baseline()
        self._learner = getattr(policy, "learner", None)
        """What a policy without a learner leaves to the next one that learns."""
        self.inhibited = InhibitReasons()
        self._plain = False
        """Whether the last plan is what the policy predicts, and in force."""
        self.lessons = 0
        """Windows that were learned from."""
        self.last: tuple[Window, Decision] | None = None
        """The last window, and what was decided on it."""

    # --- windows ----------------------------------------------------------------------------------

    def on_window(self, window: Window, answer: LoopAnswer | None = None) -> Answer | None:
        """Answers a window that has ended; to be called for every one, in order.

        ``answer`` is what a loop that decides by itself has answered. None where that loop had no
        answer: its model was being saved, and the next window gets one.
        """
        if answer is not None:
            decision = self.decided(window, *answer)
        elif self.loop_decides:
            return None
        else:
            label = self.learn(window)
            broken = window.stale or window.exhausted
            again = self.last is not None and self.steady and not broken
            decision = self._again(window, label) if again else self.answer(window, label)
        self.last = window, decision
        self.lessons += decision.label is not None
        inhibited = self.inhibited.reason
        if answer is not None:
            return Answer(decision, None, inhibited)
        plan = decision if inhibited is None else self.give_everything_back()
        self._plain = inhibited is None and decision.reason == "predicted"
        return Answer(decision, plan, inhibited)

    def _again(self, window: Window, label: int | None) -> Decision:
        """The last decision, for a window that changes nothing."""
        assert self.last is not None
        return replace(
            self.last[1],
            seq=window.seq,
            label=label,
            busy_peak=window.busy_max,
            demand_peak=window.demand_max,
        )

    def hurries(self, now_ns: int) -> bool:
        """Whether each window wants its answer at once; if not, windows may be handed over in
        batches: nothing can be lent for what they are answered."""
        if self.loop_decides:
            return True
        lends = self.policy.name != LENDS_NOTHING and not dozes(self.policy)
        return self.may_lend(now_ns) and self.can_lend and lends

    @property
    def steady(self) -> bool:
        """Whether the next windows are answered as the last one, unless they are broken: then they
        may be handed over in batches, and a permit keeps the plan in force."""
        return self._plain and not self.loop_decides and is_steady(self.policy)

    @property
    def rests(self) -> bool:
        """Whether nobody asks for windows, so that they may be longer: the policy can do without,
        or lends nothing at all."""
        return not self.loop_decides and (
            self.policy.name == LENDS_NOTHING or (self._plain and rests(self.policy))
        )

    def permit_until_ns(self, now_ns: int) -> int:
        """Until when a loop that decides by itself or has a steady plan may lend; 0: no longer."""
        return now_ns + self._permit_ns if self.may_lend(now_ns) else 0

    def may_lend(self, now_ns: int) -> bool:
        """Whether neither the long-term safeguard nor any inhibit reason stands against lending."""
        long_term = self.long_term
        resting = long_term is not None and not long_term.harvesting(now_ns)
        return self.inhibited.reason is None and not resting

    def give_everything_back(self) -> Plan:
        """The plan that lends nothing, in place of the last one.

        If the reason comes from outside the elastic group keeps what it has then.
        """
        self._plain = False
        return Plan(
            0 if self.last is None else self.last[1].seq,
            self.total,
            self.total,
            frozen=frozen(self.policy) if self.inhibited.reason is None else None,
        )

    # --- periods ----------------------------------------------------------------------------------

    def on_period(self, now_ns: int, waits: PeriodWaits) -> Plan | None:
        """Judges the waits of a period of the long-term safeguard that ended at ``now_ns``.

        The plan that gives everything back if the safeguard trips, else None.
        """
        long_term = self.long_term
        if long_term is None:
            return None
        dispatches = waits.dispatches
        counted = waits.long_waits if self._judged_waits == "paper" else waits.blamed
        longest_ns = round((waits.longest_pending_us or 0) * 1000)
        judges = self._judged_waits == "auto" and judges_waits(self.policy)
        if judges:
            # The policy judges the waits that end; a task that waits on is left to the safeguard.
            dispatches, counted = 1, int(longest_ns >= long_term.stuck_ns)
        usual = NOTHING_USUAL
        if self._judged_waits != "paper" and waits.circumstantial:
            if not waits.lent:
                # Where the policy itself lends nothing the primary wants much: that would excuse
                # too much. While nothing may be lent it is seen under any load.
                if not self.may_lend(now_ns - long_term.period_ns):
                    self._baseline.add(now_ns, dispatches, counted if judges else waits.unlent)
                counted, longest_ns = (0 if judges else counted), 0
            usual = self._baseline.usual(now_ns)
        if not long_term.observe(now_ns, dispatches, counted, longest_ns, usual):
            return None
        self._note(
            f"long-term safeguard: {counted} of {dispatches} dispatches waited longer than "
            f"{long_term.wait_threshold_ns // 1000} us"
            + (f" ({usual.share:.1%} do without lending); " if usual.share else "; ")
            + f"lending stops for {long_term.rest_ns / 1e9:g} s"
        )
        if judges and self.inhibited.reason is None:
            note_trip(self.policy)
        return self.give_everything_back()

    @property
    def wants_dispatches(self) -> bool:
        """Whether the policy in force asks how the primary's tasks are dispatched."""
        return wants_dispatches(self.policy) and not dozes(self.policy)

    def on_dispatches(self, dispatches: Dispatches) -> None:
        """Hands a period's dispatches to a policy that asks for them."""
        if self.wants_dispatches:
            if not self.may_lend(dispatches.end_ns):
                dispatches = replace(dispatches, inhibited=True)
            # A protocol's isinstance takes as long as half of a judgement.
            cast(DispatchesObserver, self.policy).observe_dispatches(dispatches)

    # --- reasons from outside ---------------------------------------------------------------------

    def inhibit(self, cause: str, reason: str | None) -> Plan | None:
        """Lends nothing while ``cause`` has a ``reason`` (None: it has none any more).

        The plan that gives everything back if lending stops with this call, else None.
        """
        return self.give_everything_back() if self.inhibited.set(cause, reason) else None

    # --- what is in force -------------------------------------------------------------------------

    def change_policy(self, policy: Policy) -> None:
        """From the next window on another policy decides; what was learned stays.

        A learner of another kind than the one in force needs another controller.
        """
        self.policy = policy
        self._plain = False
        note_primaries(policy, self._primaries)
        if getattr(policy, "learner", None) is None:
            return
        if self._learner is not None:
            policy.learner = self._learner  # type: ignore[attr-defined]
        self._learner = policy.learner  # type: ignore[attr-defined]

    def watch(self, primaries: Sequence[str]) -> None:
        """Whom the sensors see from now on, by name, in their order."""
        self._primaries = tuple(primaries)
        note_primaries(self.policy, self._primaries)

    def change_long_term(self, long_term: LongTermSafeguard | None, judged_waits: str) -> None:
        """Another long-term safeguard, at rest, judges from now on."""
        self.long_term = long_term
        self._judged_waits = judged_waits

    @property
    def explanation(self) -> str:
        """Why the policy does what it does; empty if it does not explain itself."""
        return explanation(self.policy)

    @property
    def budget(self) -> Mapping[str, Spent] | None:
        """What harm has spent of each primary's budget, by name; None: the policy keeps none, or
        nobody tells."""
        return budget(self.policy)

    @property
    def fallbacks(self) -> list[str]:
        """Policies that failed, and what took their place."""
        return fallback_steps(self.policy)
