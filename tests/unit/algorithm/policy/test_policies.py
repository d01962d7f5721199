"""The heuristics of sections 5.1 and 5.3, and what holds for every policy."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smartharvest.algorithm.policy import make_policy
from smartharvest.core.window import Window
from tests.unit.algorithm.policy.windows import window, windows

TOTAL = 10


def decide(spec: str, *seen: Window) -> int:
    """The decision after the last of these windows."""
    policy = make_policy(spec, total=TOTAL)
    cores = TOTAL
    for one in seen:
        policy.short_term.observe(one)
        policy.learn(one)
        if one.exhausted:
            cores = policy.short_term.safe_cores(one.primary_cores)
        else:
            cores = policy.predict(one)
    return cores


def test_no_harvest_leaves_the_primary_everything() -> None:
    assert decide("no-harvest", window([0, 0, 0])) == TOTAL


def test_a_fixed_buffer_is_kept_above_the_last_sample() -> None:
    assert decide("fixed-buffer:3", window([5, 1, 2])) == 5


def test_a_fixed_buffer_ends_at_the_total() -> None:
    assert decide("fixed-buffer:3", window([5, 9])) == TOTAL


def test_a_fixed_buffer_that_ran_out_is_filled_again() -> None:
    assert decide("fixed-buffer:3", window([1, 4], primary_cores=4, exhausted=True)) == 7


def test_prev_peak_assigns_the_last_windows_peak() -> None:
    assert decide("prev-peak", window([7]), window([1, 4, 2])) == 4


def test_prev_peak_returns_all_cores_for_a_window_and_then_knows_the_peak() -> None:
    broken = window([1, 4], primary_cores=4, exhausted=True)
    assert decide("prev-peak", window([4]), broken) == TOTAL
    assert decide("prev-peak", window([4]), broken, window([6, 8], primary_cores=TOTAL)) == 8


def test_prev_peak_10_assigns_the_highest_of_ten_peaks() -> None:
    ten = [window([peak]) for peak in (6, 1, 1, 1, 1, 1, 1, 1, 1, 2)]
    assert decide("prev-peak:10", *ten) == 6
    assert decide("prev-peak:10", *ten, window([1])) == 2


def test_prev_peak_10_returns_one_core_at_a_time() -> None:
    broken = window([1, 4], primary_cores=4, exhausted=True)
    assert decide("prev-peak:10", broken) == 5
    assert decide("prev-peak:10", window([7]), broken) == 5


def test_a_part_is_kept_for_good() -> None:
    assert decide("part:3", window([1]), window([9])) == 3
    assert decide("part:30", window([1])) == TOTAL
    assert make_policy("part:3", total=TOTAL).shared


def test_everything_is_lent_until_a_task_waits() -> None:
    assert decide("wait:500us", window([1]), window([9])) == 0
    policy = make_policy("wait:500us", total=TOTAL)
    assert (policy.buffer, policy.quiet_ns, policy.shared) == (0, 500_000, False)


@pytest.mark.parametrize(
    "spec",
    [
        *("fixed-buffer:3", "prev-peak", "prev-peak:10", "smartharvest"),
        *("everywhere", "part:3", "wait:500us"),
    ],
)
def test_after_a_stale_window_the_primary_has_everything(spec: str) -> None:
    lessons = [window([1, 2])] * 5
    assert decide(spec, *lessons) < TOTAL
    assert decide(spec, *lessons, window([1], stale=True)) == TOTAL


@pytest.mark.parametrize("spec", ["prev-peak", "prev-peak:10"])
def test_a_stale_windows_peak_is_not_remembered(spec: str) -> None:
    assert decide(spec, window([8], stale=True), window([2])) == 2


@pytest.mark.parametrize(
    "spec",
    [
        *("no-harvest", "fixed-buffer:2", "prev-peak", "prev-peak:3", "smartharvest"),
        *("everywhere", "part:3", "wait:500us"),
    ],
)
@settings(max_examples=30)
@given(seen=st.lists(windows(TOTAL), min_size=1, max_size=12))
def test_a_decision_is_always_a_core_count_of_the_pool(spec: str, seen: list[Window]) -> None:
    assert 0 <= decide(spec, *seen) <= TOTAL
