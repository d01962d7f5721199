from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smartharvest.algorithm.evidence import Usual
from smartharvest.algorithm.safeguard import (
    AggressiveSafeguard,
    BufferSafeguard,
    ConservativeSafeguard,
    LongTermSafeguard,
    OneAtATimeSafeguard,
    ShortTermSafeguard,
)
from smartharvest.core.window import Window
from tests.unit.algorithm.policy.windows import window, windows

SECOND = 1_000_000_000
PERIOD = 500_000_000
TOTAL = 10


def test_the_conservative_safeguard_gives_one_more_than_the_last_seconds_peak() -> None:
    safeguard = ConservativeSafeguard(TOTAL)
    safeguard.observe(window([1, 6, 2], end_ns=1 * SECOND))
    safeguard.observe(window([1, 3, 2], end_ns=1 * SECOND + 25_000_000))
    assert safeguard.safe_cores(3) == 7


def test_the_conservative_safeguard_forgets_after_a_second() -> None:
    safeguard = ConservativeSafeguard(TOTAL)
    safeguard.observe(window([6], end_ns=1 * SECOND))
    safeguard.observe(window([2], end_ns=2 * SECOND - 1))
    assert safeguard.safe_cores(0) == 7
    safeguard.observe(window([1], end_ns=2 * SECOND))
    assert safeguard.safe_cores(0) == 3


def test_the_conservative_safeguard_never_exceeds_the_allocation() -> None:
    safeguard = ConservativeSafeguard(TOTAL)
    safeguard.observe(window([10]))
    assert safeguard.safe_cores(4) == TOTAL


def test_the_conservative_safeguard_counts_the_exhausting_sample_into_the_peak() -> None:
    safeguard = ConservativeSafeguard(TOTAL)
    safeguard.observe(window([1]))
    assert safeguard.safe_cores(5) == 6


def test_the_conservative_safeguard_gives_everything_before_it_knows_anything() -> None:
    assert ConservativeSafeguard(TOTAL).safe_cores(2) == TOTAL


def test_the_aggressive_safeguard_gives_all_cores() -> None:
    safeguard = AggressiveSafeguard(TOTAL)
    safeguard.observe(window([1]))
    assert safeguard.safe_cores(2) == TOTAL


def test_the_one_at_a_time_safeguard_gives_one_core_more() -> None:
    safeguard = OneAtATimeSafeguard(TOTAL)
    safeguard.observe(window([9]))
    assert safeguard.safe_cores(2) == 3


def test_the_buffer_safeguard_gives_the_whole_buffer_again() -> None:
    assert BufferSafeguard(TOTAL, 3).safe_cores(2) == 5


@pytest.mark.parametrize(
    "safeguard",
    [
        ConservativeSafeguard(TOTAL),
        AggressiveSafeguard(TOTAL),
        OneAtATimeSafeguard(TOTAL),
        BufferSafeguard(TOTAL, 3),
    ],
    ids=lambda safeguard: type(safeguard).__name__,
)
@given(seen=st.lists(windows(TOTAL), max_size=5), primary_cores=st.integers(0, TOTAL))
def test_safe_cores_are_more_than_were_exhausted_while_there_are_more(
    safeguard: ShortTermSafeguard, seen: list[Window], primary_cores: int
) -> None:
    for one in seen:
        safeguard.observe(one)
    safe = safeguard.safe_cores(primary_cores)
    assert min(TOTAL, primary_cores + 1) <= safe <= TOTAL


@given(st.lists(st.tuples(st.integers(1, SECOND), st.integers(0, TOTAL)), min_size=1, max_size=40))
def test_the_remembered_peak_is_the_highest_of_the_last_second(
    gaps_and_peaks: list[tuple[int, int]],
) -> None:
    safeguard = ConservativeSafeguard(TOTAL)
    end_ns = 0
    seen = []
    for gap_ns, peak in gaps_and_peaks:
        end_ns += gap_ns
        seen.append((end_ns, peak))
        safeguard.observe(window([peak], end_ns=end_ns))
        peak_of_second = max(p for at_ns, p in seen if at_ns > end_ns - SECOND)
        assert safeguard.safe_cores(0) == min(TOTAL, peak_of_second + 1)


def test_two_bad_periods_in_a_row_stop_harvesting_for_ten_seconds() -> None:
    safeguard = LongTermSafeguard()
    assert not safeguard.observe(1 * PERIOD, 1000, 10)
    assert safeguard.harvesting(1 * PERIOD)
    assert safeguard.observe(2 * PERIOD, 1000, 10)
    assert safeguard.trips == 1
    assert not safeguard.harvesting(2 * PERIOD)
    assert not safeguard.harvesting(2 * PERIOD + 10 * SECOND - 1)
    assert safeguard.harvesting(2 * PERIOD + 10 * SECOND)


def test_a_good_period_between_two_bad_ones_keeps_harvesting() -> None:
    safeguard = LongTermSafeguard()
    counts = [(1000, 10), (1000, 9), (1000, 10)]
    assert not any(safeguard.observe(i * PERIOD, *count) for i, count in enumerate(counts))
    assert safeguard.trips == 0


@pytest.mark.parametrize("percent", range(1, 100))
def test_exactly_the_share_is_enough(percent: int) -> None:
    safeguard = LongTermSafeguard(periods=1, share=percent / 100)
    assert not safeguard.observe(1, 200, 2 * percent - 1)
    assert safeguard.observe(2, 200, 2 * percent)


def test_few_dispatches_that_all_wait_too_long_are_enough() -> None:
    safeguard = LongTermSafeguard()
    trips = [safeguard.observe(i * PERIOD, 199, 199) for i in range(1, 3)]
    assert trips == [False, True]


@pytest.mark.parametrize(("dispatches", "long_waits"), [(2, 2), (4, 3), (10, 4), (150, 12)])
def test_a_few_dispatches_of_which_most_wait_too_long_are_enough(
    dispatches: int, long_waits: int
) -> None:
    safeguard = LongTermSafeguard()
    trips = [safeguard.observe(i * PERIOD, dispatches, long_waits) for i in range(1, 3)]
    assert trips == [False, True]


@pytest.mark.parametrize(("dispatches", "long_waits"), [(1, 1), (30, 1), (100, 2), (199, 2)])
def test_in_a_period_with_few_dispatches_a_slow_one_may_be_chance(
    dispatches: int, long_waits: int
) -> None:
    assert not LongTermSafeguard(periods=1).observe(PERIOD, dispatches, long_waits)


def test_periods_with_few_dispatches_are_judged_together() -> None:
    safeguard = LongTermSafeguard()
    trips = [safeguard.observe(i * PERIOD, i % 2, i % 2) for i in range(1, 8)]
    assert trips.index(True) == 4  # three waits, all of them too long, one a second


def test_what_was_seen_in_few_dispatches_is_forgotten_after_ten_seconds() -> None:
    safeguard = LongTermSafeguard(periods=1)
    assert not safeguard.observe(PERIOD, 1, 1)
    assert not any(safeguard.observe(i * PERIOD, 0, 0) for i in range(2, 21))
    assert not safeguard.observe(21 * PERIOD, 1, 1)
    assert safeguard.observe(22 * PERIOD, 1, 1)


def test_a_good_period_with_few_dispatches_ends_a_run_of_bad_ones() -> None:
    safeguard = LongTermSafeguard()
    counts = [(9, 9), (9, 0), (9, 9), (9, 0)]
    assert not any(safeguard.observe(i * PERIOD, *count) for i, count in enumerate(counts))


def test_only_what_is_beyond_the_usual_share_is_held_against_the_harvest() -> None:
    for long_waits, trips in ((300, False), (309, False), (400, True)):
        safeguard = LongTermSafeguard(periods=1)
        assert safeguard.observe(PERIOD, 1000, long_waits, usual=Usual(0.3)) == trips
    assert not LongTermSafeguard(periods=1).observe(PERIOD, 10, 5, usual=Usual(0.3))
    assert LongTermSafeguard(periods=1).observe(PERIOD, 10, 10, usual=Usual(0.3))


def test_a_share_that_chance_explains_is_the_usual_one() -> None:
    safeguard = LongTermSafeguard(periods=1)
    assert not safeguard.observe(
        PERIOD, 266, 90, usual=Usual(0.3)
    )  # 34 %, a period in ten has that
    assert safeguard.observe(2 * PERIOD, 266, 130, usual=Usual(0.3))


def test_a_task_stuck_for_a_period_counts_however_few_dispatches_there_are() -> None:
    safeguard = LongTermSafeguard()
    assert not safeguard.observe(1 * PERIOD, 1, 1, PERIOD)
    assert not safeguard.observe(2 * PERIOD, 1, 0)
    assert not safeguard.observe(3 * PERIOD, 1, 1, PERIOD)
    assert safeguard.observe(4 * PERIOD, 1, 1, 2 * PERIOD)


def test_one_stuck_task_among_many_dispatches_is_no_more_than_one() -> None:
    safeguard = LongTermSafeguard(periods=1)
    assert not safeguard.observe(PERIOD, 1000, 1, PERIOD)


def test_how_long_a_stuck_task_waits_is_settable() -> None:
    assert LongTermSafeguard(periods=1, stuck_ns=SECOND).observe(PERIOD, 1, 1, SECOND)
    assert not LongTermSafeguard(periods=1, stuck_ns=SECOND).observe(PERIOD, 1, 1, SECOND - 1)


def test_an_idle_period_is_not_judged_even_without_a_minimum() -> None:
    assert not LongTermSafeguard(periods=1, min_dispatches=0).observe(PERIOD, 0, 0)


def test_periods_during_the_rest_are_not_judged() -> None:
    safeguard = LongTermSafeguard(periods=1, rest_ns=SECOND)
    assert safeguard.observe(0, 1000, 1000)
    assert not safeguard.observe(PERIOD, 1000, 1000)
    assert safeguard.harvesting(SECOND)
    assert not safeguard.observe(SECOND + PERIOD - 1, 1000, 1000)  # it began during the rest
    assert safeguard.observe(SECOND + PERIOD, 1000, 1000)
    assert safeguard.trips == 2


def test_after_the_rest_it_takes_two_bad_periods_again() -> None:
    safeguard = LongTermSafeguard()
    trips = [safeguard.observe(i * PERIOD, 1000, 1000) for i in range(26)]
    assert [i for i, tripped in enumerate(trips) if tripped] == [1, 23]
