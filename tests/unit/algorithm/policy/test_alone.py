"""What a primary does to itself is not held against the lending."""

from __future__ import annotations

from dataclasses import replace

import pytest

from smartharvest.algorithm.policy.alone import (
    MOST_REST_PERIODS,
    QUEUEING_PERIODS,
    REST_AGAIN_NS,
    REST_PERIODS,
    Alone,
)
from smartharvest.algorithm.policy.base import DISPATCHES_PERIOD_NS, Dispatches, Spans
from smartharvest.algorithm.policy.strain import Strain
from tests.unit.algorithm.policy.dispatches import period

QUEUEING = {0: 500, 300: 500}


def rested(waits: dict[int, int]) -> Alone:
    alone = Alone()
    periods = REST_PERIODS if set(waits) == {0} else QUEUEING_PERIODS
    for number in range(1, periods + 1):
        assert alone.resting
        assert alone.observe(period(number, waits, lent=False))
    assert not alone.resting
    return alone


def test_it_begins_with_a_rest() -> None:
    rested({0: 1000})


def test_waits_that_began_while_something_was_lent_are_not_its_own() -> None:
    alone = rested({0: 1000})
    alone.observe(period(10, {0: 1000}))
    alone.rest()
    alone.observe(period(11, QUEUEING, lent=True))
    alone.observe(period(12, QUEUEING, lent=False))
    assert alone.strain.waits_beyond(100_000) == 0
    alone.observe(period(13, QUEUEING, lent=False))
    assert alone.strain.waits_beyond(100_000) > 0


def test_a_rest_ends_even_where_nothing_is_dispatched() -> None:
    alone = Alone()
    for number in range(1, MOST_REST_PERIODS + 1):
        assert alone.resting
        alone.observe(period(number, {}, {}, lent=False))
    assert not alone.resting


def test_only_what_exceeds_its_own_queueing_is_excess() -> None:
    alone, same, worse = rested(QUEUEING), Strain(), Strain()
    same.observe(period(11, QUEUEING))
    worse.observe(period(11, {0: 100, 300: 500, 3000: 400}))
    assert abs(alone.excess(same, 0.5)) < 0.01
    assert alone.excess(worse, 0.99) > 0.5
    assert alone.excess_beyond(same, 1e5) == 0
    assert 0.1 < alone.excess_beyond(worse, 1e5) < 0.4  # chance allowed for


def test_one_that_queues_is_looked_at_again_and_one_that_does_not_is_left_alone() -> None:
    periods = REST_AGAIN_NS // DISPATCHES_PERIOD_NS + 2
    for waits, again in (({0: 1000}, False), (QUEUEING, True)):
        alone = rested(waits)
        for number in range(QUEUEING_PERIODS + 1, QUEUEING_PERIODS + periods):
            alone.observe(period(number, waits))
        assert alone.resting == again


def test_a_load_that_falls_asks_for_another_look() -> None:
    alone = rested(QUEUEING)
    for number in range(QUEUEING_PERIODS + 1, QUEUEING_PERIODS + 40):
        if alone.observe(period(number, {0: 100}, {1000: 100})):
            break
    assert alone.resting


def test_what_no_core_that_came_back_can_have_caused_is_not_held_against_lending() -> None:
    alone, few, many = rested({0: 600, 300: 400}), Strain(), Strain()
    worse = {0: 100, 300: 500, 3000: 400}
    alone.observe(period(11, worse, moves={100: 2}))
    few.observe(period(11, worse, moves={100: 2}))
    many.observe(period(11, worse, moves={100: 400}))
    for q in (0.5, 0.99):
        assert alone.excess(few, q) < 0.02 < alone.excess(many, q)


def test_where_nothing_queues_on_its_own_all_of_it_is_held_against_lending() -> None:
    alone, worse = rested({0: 1000}), Strain()
    worse.observe(period(11, {0: 100, 3000: 900}, moves={100: 2}))
    assert alone.excess(worse, 0.5) > 1


def waking(number: int, woken_by_own: int, *, lent: bool) -> Dispatches:
    """A period of a thousand threads, of which another of the primary's woke so many."""
    seen = period(number, {0: 800, 50: 200}, runs={15: 520, 500: 480}, lent=lent)
    return replace(seen, spans=(Spans(((600_000, 1000),), (), woken_by_own=woken_by_own),))


@pytest.mark.parametrize(("before", "after"), [(390, 410), (410, 390)])
def test_the_same_waits_are_no_excess_whichever_way_the_median_is_judged(
    before: int, after: int
) -> None:
    alone = Alone()
    for number in range(1, QUEUEING_PERIODS + 1):
        alone.observe(waking(number, before, lent=False))
    seen = Strain()
    seen.observe(waking(QUEUEING_PERIODS + 1, after, lent=True))
    assert alone.queues
    assert alone.strain.wakes_itself is not seen.wakes_itself
    assert alone.excess(seen, 0.5) == pytest.approx(0, abs=0.01)
