"""Verdicts on the way of sharing in force, for several primaries, few cores and many."""

from __future__ import annotations

import pytest

from smartharvest.algorithm.harm import Durations
from smartharvest.algorithm.policy.base import Spans
from smartharvest.algorithm.policy.judge import LEAST_USUAL_LOOKS, Judge

CORES = 10
USUAL: Durations = ((100_000, 900), (200_000, 80), (400_000, 20))
AWFUL: Durations = ((100_000, 500), (50_000_000, 500))


def longer(times: float) -> Durations:
    return tuple((round(ns * times), count) for ns, count in USUAL)


def judge(*taken: Durations, few: bool = True) -> Judge:
    """Of a look at one way, with a primary for each."""
    made = Judge(CORES, lambda _: 0.1, few=few, meet=True)
    made.watch([str(number) for number in range(len(taken))])
    made.add([Spans(one, (), USUAL) for one in taken], counts=True, periods=1)
    return made


def test_one_that_knows_no_primary_finds_nothing_too_dear() -> None:
    nobody = Judge(CORES, lambda _: 0.1, few=True, meet=True)
    assert not nobody.too_long(is_held=False)
    assert not nobody.is_disaster
    assert not nobody.idles_late
    assert nobody.affords_trial


@pytest.mark.parametrize("few", [True, False])
@pytest.mark.parametrize("hurt", [0, 1])
def test_one_primary_that_is_hurt_decides(few: bool, hurt: int) -> None:
    taken = [USUAL, USUAL]
    assert not judge(*taken, few=few).too_long(is_held=False)
    taken[hurt] = longer(1.3)
    assert judge(*taken, few=few).too_long(is_held=False)
    assert not judge(*taken, few=few).is_disaster
    taken[hurt] = AWFUL
    assert judge(*taken, few=few).is_disaster


def test_of_few_cores_what_may_be_chance_is_in_doubt_and_not_too_dear() -> None:
    maybe: Durations = ((100_000, 900), (200_000, 30), (300_000, 50), (400_000, 20))
    assert "P95" in judge(maybe, few=False).too_long(is_held=False)
    assert not judge(maybe, few=False).doubt()
    assert not judge(maybe).too_long(is_held=False)
    assert "P95" in judge(maybe).doubt()


@pytest.mark.parametrize(("times", "by_little"), [(1.15, True), (1.3, False)])
def test_of_few_cores_twice_the_budget_is_little(times: float, by_little: bool) -> None:
    for few in (True, False):
        dear = judge(longer(times), few=few)
        assert dear.too_long(is_held=False)
        dear.note_left(3)
        assert dear.is_marginal(3) is (few and by_little)


def test_of_few_cores_what_is_usual_is_known_from_many_looks() -> None:
    for few in (True, False):
        begun = judge(USUAL, few=few)
        for look in range(LEAST_USUAL_LOOKS):
            assert begun.knows_little is few, look
            begun.add([Spans((), USUAL)], counts=True, periods=1)
        assert not begun.knows_little
        begun.forget_usual()
        assert begun.knows_little is few


@pytest.mark.parametrize(("times", "affords"), [(1.03, True), (1.08, False)])
def test_a_trial_is_afforded_within_half_of_the_budget(times: float, affords: bool) -> None:
    assert judge(longer(times)).affords_trial is affords


def test_what_would_be_with_nothing_lent_is_known_for_a_minute() -> None:
    seen = judge(USUAL)
    assert not seen.may_compare
    seen.add([Spans((), USUAL)], counts=True, periods=1)
    assert seen.may_compare
    seen.fade(600)
    assert not seen.may_compare
