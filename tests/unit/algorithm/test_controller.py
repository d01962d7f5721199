"""The control plane's decisions: windows and periods in, plans out, without a clock."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from smartharvest.algorithm.controller import Controller
from smartharvest.algorithm.policy import make_policy
from smartharvest.algorithm.policy.adaptive_quiet import AdaptiveQuiet
from smartharvest.algorithm.policy.base import Dispatches, Policy, PolicySettings
from smartharvest.algorithm.policy.fallback import Fallback
from smartharvest.algorithm.policy.one_way import OneWay
from smartharvest.algorithm.policy.ways import Way
from smartharvest.algorithm.safeguard import LongTermSafeguard, PeriodWaits
from smartharvest.core.plan import Plan
from smartharvest.core.timeouts import LEAST_PERMIT_NS
from smartharvest.core.window import Window
from tests.unit.algorithm.policy.windows import window as made_window

TOTAL = 10
PERIOD_NS = 500_000_000
STUCK_NS = 500_000_000
LONG = PeriodWaits("sensor", dispatches=1000, long_waits=100, blamed=50)
STUCK = PeriodWaits(
    "sensor", dispatches=10, long_waits=1, blamed=1, longest_pending_us=STUCK_NS / 1e3 + 1
)


def window(seq: int = 1) -> Window:
    return replace(made_window([1, 4, 3]), seq=seq)


def controller(policy: str = "fixed-buffer:2", **more: object) -> Controller:
    return Controller(make_policy(policy, total=TOTAL), total=TOTAL, **more)  # type: ignore[arg-type]


def safeguard() -> LongTermSafeguard:
    return LongTermSafeguard(periods=2, period_ns=PERIOD_NS, stuck_ns=STUCK_NS)


def trips(waits: PeriodWaits, policy: str, judged_waits: str) -> bool:
    """Whether four periods of the same waits take everything back."""
    one = controller(policy, long_term=safeguard(), judged_waits=judged_waits)
    plans = [one.on_period(n * PERIOD_NS, waits) for n in range(4)]
    return any(plan is not None for plan in plans)


def test_a_window_is_answered_by_the_plan_of_its_decision() -> None:
    one = controller()
    answer = one.on_window(window())
    assert answer is not None
    assert answer.plan is answer.decision
    assert answer.decision.buffer == 2
    assert one.last == (window(), answer.decision)


def test_while_anything_inhibits_lending_the_plan_gives_everything_back() -> None:
    one = controller()
    one.on_window(window(seq=7))
    assert one.inhibit("host", "CPU 3 is offline") == Plan(7, TOTAL, TOTAL)
    assert one.inhibit("guardian", "no guardian") is None  # nothing more to stop
    answer = one.on_window(window(seq=8))
    assert answer is not None
    assert answer.plan == Plan(8, TOTAL, TOTAL)
    assert answer.inhibited_by == "CPU 3 is offline; no guardian"
    assert answer.decision.buffer == 2  # what it would have been
    one.inhibit("host", None)
    one.inhibit("guardian", None)
    answer = one.on_window(window(seq=9))
    assert answer is not None
    assert answer.plan is answer.decision


def test_before_any_window_giving_back_needs_no_number() -> None:
    assert controller().give_everything_back() == Plan(0, TOTAL, TOTAL)


def test_what_a_loop_decided_by_itself_is_noted_and_not_planned_again() -> None:
    one = controller(loop_decides=True)
    answer = one.on_window(window(seq=3), (6, 8, 4))
    assert answer is not None
    assert answer.plan is None
    assert (answer.decision.primary_cores, answer.decision.safe_cores) == (6, 8)
    assert one.lessons == 1
    assert one.on_window(window(seq=4), None) is None


def test_a_loop_may_decide_for_a_while_and_not_while_lending_is_stopped() -> None:
    one = controller(loop_decides=True, long_term=safeguard())
    assert one.permit_until_ns(1000) == 1000 + LEAST_PERMIT_NS
    one.inhibit("operator", "paused")
    assert one.permit_until_ns(1000) == 0
    one.inhibit("operator", None)
    for n in range(2):
        one.on_period(n * PERIOD_NS, LONG)
    assert one.permit_until_ns(2 * PERIOD_NS) == 0


def test_a_permit_outlasts_long_windows() -> None:
    assert controller(window_ns=1_000_000_000).permit_until_ns(0) == 4_000_000_000


@pytest.mark.parametrize("judged_waits", ["paper", "attributed", "auto"])
def test_long_waits_stop_the_lending(judged_waits: str) -> None:
    assert trips(LONG, "fixed-buffer:2", judged_waits)


def test_of_attributed_waits_only_the_blamed_count() -> None:
    innocent = PeriodWaits("sensor", dispatches=1000, long_waits=100, blamed=0)
    assert trips(innocent, "fixed-buffer:2", "paper")
    assert not trips(innocent, "fixed-buffer:2", "attributed")


def test_a_policy_that_judges_waits_itself_leaves_only_stuck_tasks_to_the_safeguard() -> None:
    assert not trips(LONG, "adaptive-quiet", "auto")
    assert trips(LONG, "adaptive-quiet", "attributed")
    assert trips(STUCK, "adaptive-quiet", "auto")


def circumstantial(long_waits: int, *, lent: bool) -> PeriodWaits:
    """Of 1000 dispatches; blamed only because something was lent."""
    blamed = long_waits if lent else 0
    return PeriodWaits("sensor", 1000, long_waits, blamed, lent=lent, circumstantial=True)


def with_baseline(long_waits: int, **more: Any) -> Controller:
    """One that has seen so many of 1000 without lending, ten periods long."""
    one = controller(long_term=safeguard(), judged_waits="auto", **more)
    one.inhibit("operator", "paused")
    for n in range(-9, 1):
        one.on_period(n * PERIOD_NS, circumstantial(long_waits, lent=False))
    one.inhibit("operator", None)
    return one


def test_before_it_is_known_what_is_usual_all_waits_while_lending_count() -> None:
    one = controller(long_term=safeguard(), judged_waits="auto")
    plans = [one.on_period(n * PERIOD_NS, circumstantial(100, lent=True)) for n in (1, 2)]
    assert [plan is not None for plan in plans] == [False, True]


@pytest.mark.parametrize(("while_lent", "trips"), [(300, False), (330, False), (400, True)])
def test_waits_that_are_as_usual_without_lending_are_not_its_doing(
    while_lent: int, trips: bool
) -> None:
    one = with_baseline(300)
    plans = [one.on_period(n * PERIOD_NS, circumstantial(while_lent, lent=True)) for n in (1, 2)]
    assert any(plan is not None for plan in plans) == trips


def test_the_rest_after_a_trip_shows_what_is_usual() -> None:
    one = controller(long_term=safeguard(), judged_waits="auto")
    trips = []
    for n in range(1, 200):
        resting = not one.may_lend(n * PERIOD_NS)
        plan = one.on_period(n * PERIOD_NS, circumstantial(100, lent=not resting))
        trips += [n] if plan is not None else []
    assert trips == [2]


def test_what_is_usual_has_to_be_measured_again_after_a_while() -> None:
    one = with_baseline(300)
    later_ns = 3_600_000_000_000
    plans = [
        one.on_period(later_ns + n * PERIOD_NS, circumstantial(300, lent=True)) for n in (1, 2)
    ]
    assert plans[1] is not None


def test_a_period_without_lending_that_the_policy_chose_is_no_measure() -> None:
    """The primary wanted everything: what is long then is no excuse for less demand."""
    one = controller(long_term=safeguard(), judged_waits="auto")
    for n in range(20):
        one.on_period(n * PERIOD_NS, circumstantial(300, lent=False))
    plans = [one.on_period(n * PERIOD_NS, circumstantial(300, lent=True)) for n in (20, 21)]
    assert plans[1] is not None


def test_a_task_that_is_stuck_without_lending_too_is_nothing_to_rest_for() -> None:
    stuck = replace(STUCK, circumstantial=True)
    one = controller("adaptive-quiet", long_term=safeguard(), judged_waits="auto")
    one.inhibit("operator", "paused")
    for n in range(-9, 1):
        one.on_period(n * PERIOD_NS, replace(stuck, lent=False))
    one.inhibit("operator", None)
    assert not any(one.on_period(n * PERIOD_NS, stuck) for n in (1, 2, 3))
    assert trips(stuck, "adaptive-quiet", "auto")


def test_the_paper_allows_for_nothing() -> None:
    one = controller(long_term=safeguard(), judged_waits="paper")
    plans = [one.on_period(n * PERIOD_NS, circumstantial(300, lent=False)) for n in (1, 2)]
    assert plans[1] is not None


def test_a_safeguard_that_trips_says_why() -> None:
    notes: list[str] = []
    one = controller(long_term=safeguard(), note=notes.append)
    for n in range(2):
        one.on_period(n * PERIOD_NS, LONG)
    assert notes == [
        "long-term safeguard: 50 of 1000 dispatches waited longer than 50 us; "
        "lending stops for 10 s"
    ]


def test_it_says_what_is_usual_too() -> None:
    notes: list[str] = []
    one = with_baseline(300, note=notes.append)
    for n in (1, 2):
        one.on_period(n * PERIOD_NS, circumstantial(400, lent=True))
    assert notes == [
        "long-term safeguard: 400 of 1000 dispatches waited longer than 50 us (30.0% do without "
        "lending); lending stops for 10 s"
    ]


def test_without_a_safeguard_no_period_is_judged() -> None:
    assert controller().on_period(PERIOD_NS, LONG) is None


def test_windows_wait_for_a_batch_only_where_nothing_can_be_lent() -> None:
    assert controller().hurries(0)
    assert controller(loop_decides=True, can_lend=False).hurries(0)
    assert not controller(can_lend=False).hurries(0)
    assert not controller("no-harvest").hurries(0)
    one = controller()
    one.inhibit("host", "CPU 3 is offline")
    assert not one.hurries(0)


@pytest.mark.parametrize("policy", ["everywhere", "part:3", "wait:500us"])
def test_a_way_that_no_window_changes_is_steady_once_it_has_answered(policy: str) -> None:
    one = controller(policy)
    assert not one.steady
    first = one.on_window(window())
    assert one.steady
    busier = one.on_window(replace(made_window([9, 10, 10]), seq=2))
    assert first is not None
    assert busier is not None
    assert first.plan is not None
    assert busier.plan is not None
    for name in ("primary_cores", "safe_cores", "buffer", "quiet_ns", "shared"):
        assert getattr(first.plan, name) == getattr(busier.plan, name)


def test_a_window_that_changes_nothing_has_a_decision_of_its_own() -> None:
    one = controller("part:3")
    first = one.on_window(window())
    again = one.on_window(replace(made_window([9, 10, 10]), seq=2))
    assert first is not None
    assert again is not None
    asked = Controller(make_policy("part:3", total=TOTAL), total=TOTAL)
    assert again.decision == asked.decide(replace(made_window([9, 10, 10]), seq=2))
    assert (first.decision.seq, again.decision.seq) == (1, 2)
    assert first.decision.busy_peak < again.decision.busy_peak == 10


def test_a_policy_that_fails_on_a_window_that_changes_nothing_is_replaced_on_it() -> None:
    class Failing(OneWay):
        fails = False

        def learn(self, window: Window) -> int | None:
            if self.fails:
                raise ValueError("no more")
            return super().learn(window)

    made: list[Failing] = []

    def make(spec: str) -> Policy:
        if spec != "it":
            return make_policy(spec, total=TOTAL)
        made.append(Failing(PolicySettings(TOTAL), Way("everywhere")))
        return made[-1]

    one = Controller(Fallback(["it", "no-harvest"], make, TOTAL, print), total=TOTAL)
    one.on_window(window())
    assert one.steady
    made[0].fails = True
    answer = one.on_window(window(2))
    assert answer is not None
    assert answer.decision.harvest_cores == 0
    assert one.fallbacks


@pytest.mark.parametrize("policy", ["smartharvest", "fixed-buffer:2", "prev-peak"])
def test_what_follows_the_windows_is_not_steady(policy: str) -> None:
    one = controller(policy)
    one.on_window(window())
    assert not one.steady


def test_a_steady_plan_is_so_only_while_it_is_in_force() -> None:
    one = controller("everywhere", long_term=safeguard())
    one.on_window(window())
    one.inhibit("host", "CPU 3 is offline")
    assert not one.steady
    one.on_window(window(2))
    assert not one.steady
    one.inhibit("host", None)
    assert not one.steady
    one.on_window(window(3))
    assert one.steady
    one.on_window(replace(window(4), stale=True))
    assert not one.steady
    one.on_window(window(5))
    assert one.steady
    one.change_policy(make_policy("part:3", total=TOTAL))
    assert not one.steady


class Sleepy(AdaptiveQuiet):
    """Says that it dozes, or not."""

    dozes = False


@pytest.mark.parametrize("chained", [False, True])
def test_a_policy_that_dozes_is_asked_nothing(chained: bool) -> None:
    made: list[Sleepy] = []

    def make(_spec: str) -> Sleepy:
        made.append(Sleepy(PolicySettings(TOTAL)))
        return made[-1]

    one = Controller(Fallback(["it"], make, TOTAL, print) if chained else make(""), total=TOTAL)
    assert (one.hurries(0), one.wants_dispatches) == (True, True)
    made[0].dozes = True
    assert (one.hurries(0), one.wants_dispatches) == (False, False)


def test_another_policy_goes_on_with_what_was_learned() -> None:
    one = controller("smartharvest")
    for seq in range(1, 6):
        one.on_window(window(seq))
    learner = one.policy.learner  # type: ignore[attr-defined]
    one.change_policy(make_policy("prev-peak", total=TOTAL))
    again = make_policy("smartharvest", total=TOTAL, safeguard="aggressive")
    one.change_policy(again)
    assert again.learner is learner  # type: ignore[attr-defined]


def test_dispatches_reach_a_policy_that_asks_for_them_alone() -> None:
    seen = Dispatches(100_000_000, waits=((1_000, 5),), runs=((1_000, 5),), lent=False)
    plain, asking = controller(), controller("adaptive-quiet")
    plain.on_dispatches(seen)
    assert (plain.wants_dispatches, asking.wants_dispatches) == (False, True)
    asking.on_dispatches(seen)


def test_a_policy_is_told_whether_what_is_lent_was_up_to_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told: list[bool] = []
    one = controller("adaptive-quiet")
    note = lambda seen: told.append(seen.inhibited)  # noqa: E731
    monkeypatch.setattr(one.policy, "observe_dispatches", note)
    for reason in (None, "paused", None):
        one.inhibit("operator", reason)
        one.on_dispatches(Dispatches(100_000_000, waits=(), runs=()))
    assert told == [False, True, False]


def test_waits_that_nobody_judges_so_are_refused() -> None:
    with pytest.raises(ValueError, match="judged_waits"):
        controller(judged_waits="some")


class Hears(AdaptiveQuiet):
    """Keeps what it hears of trips and primaries."""

    def __init__(self, settings: PolicySettings) -> None:
        super().__init__(settings)
        self.trips = 0
        self.primaries: Sequence[str] = ()

    def note_trip(self) -> None:
        self.trips += 1

    def note_primaries(self, names: Sequence[str]) -> None:
        self.primaries = names


@pytest.mark.parametrize(
    ("judged_waits", "paused", "told"), [("auto", False, 1), ("auto", True, 0), ("paper", False, 0)]
)
def test_a_policy_that_judges_waits_hears_of_a_task_that_is_stuck(
    judged_waits: str, paused: bool, told: int
) -> None:
    policy = Hears(PolicySettings(TOTAL))
    one = Controller(policy, total=TOTAL, long_term=safeguard(), judged_waits=judged_waits)
    if paused:
        one.inhibit("operator", "paused")
    for number in range(2):
        one.on_period(number * PERIOD_NS, STUCK if judged_waits == "auto" else LONG)
    assert policy.trips == told


@pytest.mark.parametrize("chained", [False, True])
def test_a_policy_hears_who_the_primaries_are_also_one_that_comes_later(chained: bool) -> None:
    def made() -> tuple[Policy, Hears]:
        policy = Hears(PolicySettings(TOTAL))
        return Fallback(["it"], lambda _: policy, TOTAL, print) if chained else policy, policy

    (first, heard), (second, heard_later) = made(), made()
    one = Controller(first, total=TOTAL)
    one.watch(["web", "db"])
    assert list(heard.primaries) == ["web", "db"]
    one.change_policy(second)
    assert list(heard_later.primaries) == ["web", "db"]
