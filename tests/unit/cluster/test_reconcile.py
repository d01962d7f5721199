from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from smartharvest.cluster.reconcile import Hysteresis, Reconciler, Step

EAGER = Hysteresis(grow_after_s=0, shrink_after_s=0, grace_s=5)


def test_growth_waits_and_then_takes_the_least_that_was_there() -> None:
    reconciler = Reconciler(Hysteresis(grow_after_s=2), guaranteed=1)
    goals = []
    for now_s, offered in enumerate([4, 3, 5, 5]):
        reconciler.step(now_s, offered, in_use=0, advertised=1)
        goals.append(reconciler.goal)
    assert goals == [1, 1, 3, 3]


def test_a_dip_starts_the_waiting_anew() -> None:
    reconciler = Reconciler(Hysteresis(grow_after_s=2), guaranteed=1)
    for now_s, offered in enumerate([4, 1, 4, 4]):
        reconciler.step(now_s, offered, in_use=0, advertised=1)
    assert reconciler.goal == 1
    reconciler.step(4, 4, in_use=0, advertised=1)
    assert reconciler.goal == 4


def test_shrinking_is_told_at_once_but_not_below_what_is_in_use() -> None:
    reconciler = Reconciler(EAGER, guaranteed=0)
    reconciler.step(0, 4, in_use=0, advertised=0)
    assert reconciler.step(1, 1, in_use=3, advertised=4) == Step(3, 1, 5.0)
    assert reconciler.step(3, 1, in_use=2, advertised=3) == Step(2, 1, 3.0)
    assert reconciler.step(6, 1, in_use=2, advertised=2) == Step(None, 1, 0.0)
    assert reconciler.step(7, 1, in_use=1, advertised=2) == Step(1, None, 5.0)


def test_work_beyond_a_cautious_promise_goes_on_while_its_cores_are_there() -> None:
    reconciler = Reconciler(EAGER, guaranteed=0)
    reconciler.step(0, 4, in_use=0, advertised=0)
    assert reconciler.step(1, 1, in_use=3, advertised=4, present=3) == Step(3, None, 5.0)
    assert reconciler.step(2, 1, in_use=3, advertised=3, present=2) == Step(None, 1, 5.0)
    assert reconciler.step(9, 1, in_use=3, advertised=3, present=2) == Step(None, 1, 0.0)


def test_use_beyond_what_was_advertised_does_not_raise_it() -> None:
    reconciler = Reconciler(EAGER, guaranteed=1)
    assert reconciler.step(0, 1, in_use=6, advertised=2).advertise is None


def test_an_engine_that_forgot_is_told_again() -> None:
    reconciler = Reconciler(EAGER, guaranteed=0)
    assert reconciler.step(0, 3, in_use=0, advertised=None).advertise == 3
    assert reconciler.step(1, 3, in_use=0, advertised=3).advertise is None
    assert reconciler.step(2, 3, in_use=1, advertised=0).advertise == 3


def test_no_offer_goes_below_the_guaranteed() -> None:
    reconciler = Reconciler(EAGER, guaranteed=2)
    reconciler.step(0, 0, in_use=0, advertised=None)
    assert reconciler.goal == 2


TURNS = st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), max_size=40)


@given(TURNS, st.floats(0, 3), st.floats(0, 3))
def test_whatever_happens_running_work_is_covered_and_excess_is_shed(
    turns: list[tuple[int, int]], grow_after_s: float, shrink_after_s: float
) -> None:
    reconciler = Reconciler(Hysteresis(grow_after_s, shrink_after_s), guaranteed=1)
    advertised: int | None = None
    for now_s, (offered, wanted) in enumerate(turns):
        in_use = min(wanted, advertised or 0)  # an engine gives out no more than it was told
        step = reconciler.step(now_s, offered, in_use, advertised)
        if step.advertise is not None:
            advertised = step.advertise
        assert advertised is not None
        assert advertised >= max(1, min(in_use, advertised))
        assert advertised >= in_use
        assert (step.shed is not None) == (in_use > reconciler.goal)
        assert reconciler.goal <= max(8, 1)


@given(st.lists(st.integers(0, 8), min_size=1, max_size=40))
def test_the_goal_is_never_above_every_offer_of_the_waiting_time(offers: list[int]) -> None:
    reconciler = Reconciler(Hysteresis(grow_after_s=3), guaranteed=0)
    for now_s, offered in enumerate(offers):
        before = reconciler.goal
        reconciler.step(now_s, offered, 0, None)
        if reconciler.goal > before:
            assert reconciler.goal == min(offers[now_s - 3 : now_s + 1])
