"""Whether the primary's tasks take longer than they would without lending."""

from __future__ import annotations

import pytest

from smartharvest.algorithm.harm import Durations
from smartharvest.algorithm.policy.base import Spans
from smartharvest.algorithm.policy.spans import ELSEWHERE_NS, WAVE, Pairs, Sums, far_of

USUAL: Durations = ((100_000, 900), (200_000, 95), (400_000, 5))
LONGER: Durations = ((130_000, 900), (260_000, 95), (520_000, 5))
AWFUL: Durations = ((100_000, 500), (50_000_000, 500))


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


@pytest.mark.parametrize(("cores", "far"), [(1, 0.99), (2, 0.995), (10, 0.999), (64, 0.999)])
def test_the_far_tail_is_that_of_requests_as_wide_as_the_machine(cores: int, far: float) -> None:
    assert far_of(cores) == pytest.approx(far)


def test_of_a_single_core_the_far_tail_has_no_more_budget_than_the_p99() -> None:
    of = sums(((100_000, 9_800), (240_000, 200)), ((100_000, 9_800), (200_000, 200)))
    assert "P99 " in Pairs(of, far_of(1)).too_long(0.1)


HANDS_OVER: Durations = ((20_000, 5_000), (300_000, 5_000))
"""Half of the wake-ups hand over a lock, half work."""


@pytest.mark.parametrize(
    ("longer_ns", "woken_by_own", "meet", "said"),
    [
        (13_000, 4_900, True, "of its wake-ups"),
        (13_000, 5_100, True, ""),
        (13_000, 5_100, False, ""),
        (20_000, 5_100, True, "take 13."),
        (20_000, 5_100, False, "take 13."),
    ],
)
def test_where_tasks_wake_each_other_they_are_judged_together(
    longer_ns: int, woken_by_own: int, meet: bool, said: str
) -> None:
    taken = tuple((ns + longer_ns, count) for ns, count in HANDS_OVER)
    of = Sums()
    of.add(Spans(taken, (), HANDS_OVER, woken_by_own=woken_by_own))
    found = Pairs(of, meet=meet).too_long(0.1)
    assert said in found
    assert bool(found) is bool(said)
    of.scale(0.5)
    assert Pairs(of, meet=meet).too_long(0.1) == found


def test_of_tasks_that_wake_each_other_few_say_less() -> None:
    def found(count: int) -> str:
        of = Sums()
        usual = tuple((ns, count) for ns, _ in HANDS_OVER)
        taken = tuple((ns + 20_000, count) for ns, _ in HANDS_OVER)
        of.add(Spans(taken, (), usual, woken_by_own=2 * count))
        return Pairs(of).too_long(0.1, errors=2.0)

    assert not found(50)
    assert found(5_000)


def test_where_the_two_meet_nowhere_tasks_together_may_take_what_is_usual() -> None:
    of, usual = Sums(), Sums()
    of.add(Spans(((20_000, 5_000), (340_000, 5_000)), (), HANDS_OVER, woken_by_own=6_000))
    usual.add(Spans((), ((20_000, 50_000), (330_000, 50_000))))
    assert Pairs(of, meet=False).too_long(0.1)
    assert not Pairs(of, usual=usual, meet=False).too_long(0.1)
    assert Pairs(of, usual=usual).too_long(0.1)


def test_how_much_longer_is_a_part_of_what_a_request_takes() -> None:
    usual: Durations = ((100_000, 10_000),)
    longer: Durations = ((120_000, 10_000),)
    found = pairs(longer, usual)
    assert found.longer(0.5) == pytest.approx(20 / 125, rel=0.05)
    assert found.longer(0.99) == pytest.approx(20 / 150, rel=0.05)
    assert pairs(usual, usual).longer(0.99) == 0
    assert pairs(usual, longer).longer(0.5) == 0  # a wait less is no debt
    assert pairs(((120_000, 99),), ((100_000, 99),)).longer(0.99) is None


def test_tasks_that_wake_each_other_are_longer_by_their_sum() -> None:
    usual: Durations = ((20_000, 4_500), (80_000, 1_000), (300_000, 4_500))
    taken: Durations = ((40_000, 4_500), (120_000, 1_000), (300_000, 4_500))
    of = sums(taken, usual)
    alone = Pairs(of).longer(0.5)
    of.woken_by_own = 9_000
    together = Pairs(of).longer(0.5)
    assert alone is not None
    assert together is not None
    assert 0.05 < together < 0.15 < alone
