"""Whether tasks take longer than with nothing lent."""

from __future__ import annotations

import pytest

from smartharvest.algorithm.policy.base import DISPATCHES_PERIOD_NS, Durations
from smartharvest.algorithm.policy.longer import Longer

FEW = ((100_000, 95), (400_000, 5))
USUAL = ((100_000, 950), (400_000, 50))
LONGER = ((130_000, 950), (520_000, 50))


def known(lent: Durations, alone: Durations = USUAL, periods: int = 10) -> Longer:
    longer = Longer()
    for number in range(1, periods + 1):
        longer.add_alone(number * DISPATCHES_PERIOD_NS, alone)
        longer.add_held(number * DISPATCHES_PERIOD_NS, lent)
    return longer


def excess(longer: Longer, protect: float = 0.1) -> float:
    return max(found.excess for found in longer.compare(protect).values())


def test_as_long_as_alone_is_not_longer() -> None:
    found = known(USUAL).compare(0.1)
    assert all(one.ratio == pytest.approx(1) and one.excess <= 0 for one in found.values())


def test_longer_by_more_than_the_budget_is_told_with_its_ratio() -> None:
    found = known(LONGER).compare(0.1)
    assert found[0.5].ratio == pytest.approx(1.3, rel=0.1)
    assert found[0.5].excess > 3 * found[0.5].error


def test_a_larger_budget_allows_it() -> None:
    assert excess(known(LONGER), 0.1) > 0.1 > excess(known(LONGER), 0.6)


def test_a_quantile_is_judged_once_enough_spans_are_known() -> None:
    assert known(FEW, FEW, periods=2).compare(0.1) == {}
    assert known(FEW, FEW, periods=4).compare(0.1).keys() == {0.5, 0.95}
    assert known(USUAL, periods=10).compare(0.1).keys() == {0.5, 0.95, 0.99, 0.999}


def test_what_differs_from_period_to_period_is_less_sure() -> None:
    steady, waves = Longer(), Longer()
    for number in range(1, 11):
        end_ns = number * DISPATCHES_PERIOD_NS
        for longer in (steady, waves):
            longer.add_alone(end_ns, USUAL)
        steady.add_held(end_ns, ((100_000, 500), (300_000, 500)))
        waves.add_held(end_ns, ((100_000, 1000),) if number % 2 else ((300_000, 1000),))
    assert waves.compare(0.1)[0.5].error > 3 * steady.compare(0.1)[0.5].error


@pytest.mark.parametrize("tried", [True, False])
def test_one_period_is_enough_for_a_disaster(tried: bool) -> None:
    longer = known(USUAL)
    add = longer.add_tried if tried else longer.add_held
    add(11 * DISPATCHES_PERIOD_NS, USUAL)
    assert longer.disaster(0.1, tried=tried) == 0
    add(12 * DISPATCHES_PERIOD_NS, ((100_000, 900), (5_000_000, 100)))
    assert longer.disaster(0.1, tried=tried) > 5


def test_what_happens_with_nothing_lent_too_is_no_disaster() -> None:
    now_and_then = ((100_000, 900), (5_000_000, 100))
    longer = known(USUAL)
    longer.add_alone(11 * DISPATCHES_PERIOD_NS, now_and_then)
    longer.add_held(11 * DISPATCHES_PERIOD_NS, now_and_then)
    assert longer.disaster(0.1, tried=False) == 0


def test_another_way_is_judged_by_itself() -> None:
    longer = known(LONGER)
    for number in range(11, 15):
        longer.add_tried(number * DISPATCHES_PERIOD_NS, USUAL)
    assert all(one.excess <= 0 for one in longer.compare(0.1, tried=True).values())
    longer.hold(tried=True)
    assert excess(longer) <= 0
    longer.hold(tried=False)
    assert longer.compare(0.1) == {}
