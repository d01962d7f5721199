"""Whether tasks take longer than with nothing lent."""

from __future__ import annotations

from itertools import pairwise

import pytest

from smartharvest.algorithm.harm import Durations
from smartharvest.algorithm.policy.longer import (
    ALONE_PERIODS,
    MEMORY,
    QUANTILES,
    Longer,
    Tally,
    merged,
    sure,
)

FEW = ((100_000, 95), (400_000, 5))
USUAL = ((100_000, 900), (200_000, 95), (400_000, 5))
LONGER = ((130_000, 900), (260_000, 95), (520_000, 5))
HARDLY = ((105_000, 900), (210_000, 95), (420_000, 5))
WAY, BOLDEST = 1, 0


def known(lent: Durations, alone: Durations = USUAL, periods: int = 10) -> Longer:
    longer = Longer(3, 0.1)
    for _ in range(periods):
        longer.add_alone(alone)
        longer.add(WAY, lent)
    return longer


def test_as_long_as_alone_is_fine() -> None:
    longer = known(USUAL)
    assert longer.looks_fine(WAY)
    assert not longer.too_dear(WAY)
    assert longer.alone_spans >= 5_000


def test_longer_by_more_than_the_budget_is_too_dear_and_says_why() -> None:
    longer = known(LONGER)
    assert longer.too_dear(WAY) == "100.0% of its wake-ups take longer than the P50 may"
    assert not longer.looks_fine(WAY)


def test_a_larger_budget_allows_it() -> None:
    longer = Longer(3, 0.6)
    for _ in range(10):
        longer.add_alone(USUAL)
        longer.add(WAY, LONGER)
    assert longer.looks_fine(WAY)


def test_what_little_is_known_of_is_not_too_dear() -> None:
    assert not known(LONGER, periods=2).too_dear(WAY)
    assert known(LONGER, periods=4).too_dear(WAY)


def test_the_boldest_way_has_to_be_fine_by_some_errors() -> None:
    assert known(HARDLY).looks_fine(WAY)
    assert not known(LONGER).looks_fine(WAY, 1.0)
    assert known(USUAL, periods=40).looks_fine(WAY, 1.0)
    assert not known(USUAL).looks_fine(BOLDEST, 1.0)  # nothing is known of it


def test_what_differs_from_period_to_period_is_less_sure() -> None:
    steady, waves = Tally(), Tally()
    for number in range(10):
        steady.add(1000, [500] * len(QUANTILES))
        waves.add(1000, [0 if number % 2 else 1000] * len(QUANTILES))
    assert waves.share(0.5)[1] > 3 * steady.share(0.5)[1]


def test_the_more_often_one_looks_the_surer_one_has_to_be() -> None:
    bounds = [sure(looks, 0.3) for looks in range(1, MEMORY + 1)]
    assert all(earlier <= later for earlier, later in pairwise(bounds))
    assert 1 < bounds[0] < bounds[-1] < 5
    assert sure(10, 1.0) < sure(10, 0.1)


def test_what_was_found_before_counts_half_in_another_trial() -> None:
    longer, other = known(LONGER), known(LONGER)
    longer.begin(WAY)
    for one in (longer, other):
        for _ in range(100):
            one.add(WAY, USUAL)
    assert longer.looks_fine(WAY)
    assert not other.looks_fine(WAY)


def test_one_period_is_enough_for_a_disaster() -> None:
    longer = known(USUAL)
    assert not longer.disaster()
    longer.add(WAY, ((100_000, 900), (5_000_000, 100)))
    assert longer.disaster().startswith("10% of a moment's wake-ups")
    longer.add(WAY, USUAL)
    assert not longer.disaster()


def test_of_a_part_of_a_period_less_is_a_disaster() -> None:
    longer = known(USUAL)
    longer.add(WAY, ((100_000, 990), (5_000_000, 10)))
    assert not longer.disaster()
    assert longer.disaster(0.25)


def test_what_happens_with_nothing_lent_too_is_no_disaster() -> None:
    now_and_then = ((100_000, 900), (5_000_000, 100))
    longer = known(USUAL)
    longer.add_alone(now_and_then)
    longer.add(WAY, now_and_then)
    assert not longer.disaster()


def test_a_burst_that_comes_with_nothing_lent_too_is_no_disaster_where_little_else_is() -> None:
    longer = known(USUAL)
    few = ((100_000, 100), (5_000_000, 60))
    longer.add(WAY, few)
    assert longer.disaster()
    longer.add_alone(BURST)
    longer.add(WAY, few)
    assert not longer.disaster()


BURST = ((100_000, 900), (200_000, 40), (5_000_000, 60))


def in_bursts(number: int) -> Durations:
    """Most of the time as usual, now and then not."""
    return BURST if number % 4 == 0 else USUAL


def test_three_bad_periods_are_nothing_where_such_come_with_nothing_lent_too() -> None:
    steady, bursty = Longer(3, 0.1), Longer(3, 0.1)
    for number in range(20):
        steady.add_alone(USUAL)
        bursty.add_alone(in_bursts(number))
    for _ in range(3):
        for longer in (steady, bursty):
            longer.add(WAY, BURST)
    assert steady.too_dear(WAY)
    assert not bursty.too_dear(WAY)


def test_the_account_begins_with_what_chance_may_spend() -> None:
    longer = Longer(3, 0.1)
    for number in range(20):
        longer.add_alone(in_bursts(number))
    for number in range(20):
        longer.add(WAY, in_bursts(number))
    assert longer.credit > 0


def test_another_way_is_judged_by_itself() -> None:
    longer = known(LONGER)
    for _ in range(4):
        longer.add(2, USUAL)
    assert not longer.too_dear(2)
    assert longer.too_dear(WAY)


@pytest.mark.parametrize(("seen", "grows"), [(USUAL, True), (LONGER, False)])
def test_what_is_as_usual_saves_what_harm_spends(seen: Durations, grows: bool) -> None:
    longer = known(USUAL)
    before = longer.credit
    longer.add(WAY, seen)
    assert (longer.credit > before) == grows


def test_harm_that_says_nothing_about_a_way_is_paid_for() -> None:
    longer = known(USUAL)
    before = longer.credit
    longer.add_unjudged(LONGER)
    assert longer.credit < before
    assert not longer.too_dear(WAY)


def test_credit_has_a_limit() -> None:
    longer = known(USUAL, periods=2000)
    assert longer.credit == pytest.approx(5)


def test_only_the_last_periods_with_nothing_lent_count() -> None:
    longer = known(USUAL, alone=LONGER)
    for _ in range(ALONE_PERIODS):
        longer.add_alone(USUAL)
    assert longer.alone_spans == 1000 * ALONE_PERIODS
    for _ in range(3):
        longer.add(WAY, LONGER)
    assert longer.too_dear(WAY)


def test_an_empty_period_changes_nothing() -> None:
    longer = known(USUAL)
    before = longer.credit
    longer.add(WAY, ())
    longer.add_alone(())
    assert longer.credit == before
    assert not longer.too_dear(WAY)


def test_durations_are_added_by_bucket() -> None:
    assert merged(((1, 2), (3, 4)), ((3, 1),)) == ((1, 2), (3, 5))


def test_few_spans_say_nothing_of_the_tail() -> None:
    longer = known(((100_000, 90), (900_000, 10)), FEW, periods=4)
    assert longer.too_dear(WAY).endswith(("P95 may", "P95 may now"))
