"""Whether the primary's tasks take longer than they would without lending."""

from __future__ import annotations

import pytest

from smartharvest.algorithm.harm import Durations
from smartharvest.algorithm.policy.base import Spans
from smartharvest.algorithm.policy.spans import (
    ELSEWHERE_NS,
    LATELY_PERIODS,
    RECENT_LOOKS,
    WAVE,
    Meter,
    Pairs,
    Slowdown,
    Sums,
    far_of,
)

USUAL: Durations = ((100_000, 900), (200_000, 95), (400_000, 5))
LONGER: Durations = ((130_000, 900), (260_000, 95), (520_000, 5))
AWFUL: Durations = ((100_000, 500), (50_000_000, 500))
TOTAL = 10


def pairs(taken: Durations, without: Durations, elsewhere_ns: float = ELSEWHERE_NS) -> Pairs:
    return Pairs(sums(taken, without), elsewhere_ns=elsewhere_ns)


def sums(taken: Durations, without: Durations) -> Sums:
    both = Sums()
    both.add(Spans(taken, (), without))
    return both


@pytest.mark.parametrize("budget", [0.05, 0.1, 0.2])
def test_a_quantile_is_too_long_from_the_budget_on(budget: float) -> None:
    usual = tuple((100_000 + 1_000 * i, 100) for i in range(100))
    less, more = (
        tuple((round(ns * (1 + budget * part)), count) for ns, count in usual)
        for part in (0.5, 3.0)
    )
    assert not pairs(less, usual).too_long(budget)
    assert "P50" in pairs(more, usual).too_long(budget)


def test_the_budget_is_a_share_of_what_a_request_takes_elsewhere_too() -> None:
    usual: Durations = ((10_000, 10_000),)
    longer: Durations = ((12_000, 10_000),)
    assert "P50" in pairs(longer, usual, elsewhere_ns=0).too_long(0.1)
    assert not pairs(longer, usual).too_long(0.1)
    assert "P50" in pairs(longer, usual).too_long(0.05)


def test_at_p99_a_request_takes_longer_elsewhere() -> None:
    def at(share: float, tail_ns: int) -> Durations:
        tail = round(100_000 * share)
        return ((10_000, 100_000 - tail), (tail_ns, tail))

    assert not pairs(at(0.02, 52_000), at(0.02, 43_500)).too_long(0.1)
    assert "P95" in pairs(at(0.1, 52_000), at(0.1, 43_500)).too_long(0.1)


def test_spans_that_come_in_waves_say_less() -> None:
    usual: Durations = ((100_000, 9_855), (400_000, 145))
    taken: Durations = ((100_000, 9_855), (480_000, 145))
    assert "P99 " in pairs(taken, usual).too_long(0.1, errors=2)
    assert not pairs(taken, usual).too_long(0.1, errors=2, burst=WAVE)


def test_of_few_spans_nothing_is_said() -> None:
    assert not pairs(((50_000_000, 4),), ((100_000, 4),)).too_long(0.1)


def test_one_in_twenty_far_beyond_is_a_disaster() -> None:
    assert pairs(AWFUL, USUAL).is_disaster(0.1)
    assert not pairs(LONGER, USUAL).is_disaster(0.4)


def metered(*periods: Durations) -> Meter:
    meter = Meter(TOTAL, few=True)
    for taken in periods:
        meter.add(Spans(taken, (), USUAL), counts=True)
    return meter


def test_a_meter_tells_of_the_last_periods_of_the_way_in_force() -> None:
    meter = metered(LONGER, *[USUAL] * (RECENT_LOOKS - 1))
    assert meter.recently().too_long(0.1, errors=-2)
    meter.add(Spans(USUAL, (), USUAL), counts=True)
    assert not meter.recently().too_long(0.1, errors=-2)
    assert meter.recently().tells
    meter.begin()
    assert not meter.recently().tells


def test_a_period_of_another_way_counts_for_all_of_them_alone() -> None:
    meter = metered(USUAL)
    meter.add(Spans(AWFUL, (), USUAL), counts=False)
    assert not meter.recently().too_long(0.1)
    assert not meter.last().is_disaster(0.1)
    assert meter.lately().too_long(0.1)


def test_what_was_long_ago_counts_little() -> None:
    meter = metered(LONGER)
    meter.fade(5_000)
    meter.add(Spans((), USUAL), counts=False)
    assert not meter.lately().too_long(0.1)


@pytest.mark.parametrize(("cores", "far"), [(1, 0.99), (2, 0.995), (10, 0.999), (64, 0.999)])
def test_the_far_tail_is_that_of_requests_as_wide_as_the_machine(cores: int, far: float) -> None:
    assert far_of(cores) == pytest.approx(far)


TAIL: Durations = ((100_000, 900), (260_000, 95), (520_000, 5))


def lent_after(idle: Durations, taken: Durations, periods: int = 0, *, meet: bool = True) -> Pairs:
    """Of three seconds of a way, so long after three with nothing lent."""
    meter = Meter(TOTAL, few=True, meet=meet)
    for _ in range(RECENT_LOOKS):
        meter.add(Spans((), idle), counts=True)
    meter.fade(periods)
    meter.begin()
    for _ in range(RECENT_LOOKS):
        meter.add(Spans(taken, (), USUAL), counts=True)
    return meter.recently()


def test_what_is_as_long_with_nothing_lent_is_nobodys_doing() -> None:
    assert lent_after(USUAL, TAIL).too_long(0.1)
    assert not lent_after(TAIL, TAIL).too_long(0.1)


def test_only_where_the_two_meet_nowhere_is_that_said_of_the_median() -> None:
    assert "P50" in lent_after(LONGER, LONGER).too_long(0.1)
    assert not lent_after(LONGER, LONGER, meet=False).too_long(0.1)
    assert lent_after(USUAL, LONGER, meet=False).too_long(0.1)


def test_what_was_usual_under_more_load_says_nothing() -> None:
    twice = tuple((ns, 2 * count) for ns, count in TAIL)
    assert lent_after(twice, TAIL).too_long(0.1)


def test_what_was_usual_long_ago_says_nothing() -> None:
    assert lent_after(TAIL, TAIL, periods=LATELY_PERIODS).too_long(0.1)


def test_a_median_is_held_against_the_same_tasks_alone() -> None:
    assert "P50" in lent_after(LONGER, LONGER).too_long(0.1)


def test_of_a_single_core_the_far_tail_has_no_more_budget_than_the_p99() -> None:
    of = sums(((100_000, 9_800), (240_000, 200)), ((100_000, 9_800), (200_000, 200)))
    assert "P99 " in Pairs(of, far_of(1)).too_long(0.1)


@pytest.mark.parametrize(("meet", "longer"), [(True, 7.1), (False, 0.036)])
def test_a_rest_compares_the_medians_of_the_way_and_of_nothing_lent(
    meet: bool, longer: float
) -> None:
    meter = Meter(TOTAL, few=True, meet=meet)
    without: Durations = ((10_000, 510), (250_000, 490))
    taken: Durations = ((10_000, 490), (260_000, 510))
    meter.add(Spans(taken, (), without), counts=True)
    meter.begin_rest()
    meter.add(Spans((), without), counts=True)
    assert meter.end_rest(0).mean == pytest.approx(longer, rel=0.25)


@pytest.mark.parametrize(
    ("parts", "beyond"),
    [
        ([0.2] * 5, True),
        ([0.2] * 4, True),
        ([0.19] * 4, False),
        ([0.3] * 3, True),
        ([0.25] * 3, False),
        ([0.9] * 2, False),
        ([0.12] * 5, False),
        ([0.6, -0.2, 0.5, -0.1, 0.2], False),
        ([0.1] * 20, False),
        ([0.0] * 5 + [0.3] * 40, True),
    ],
)
def test_rests_tell_what_lending_makes_longer_by_their_mean_and_errors(
    parts: list[float], beyond: bool
) -> None:
    told = Slowdown()
    for part in parts:
        told.add(part)
    assert told.is_beyond(0.1) is beyond
