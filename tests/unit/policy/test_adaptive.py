"""The policies that are tuned by how the primary's tasks are dispatched."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smartharvest.policy.adaptive_buffer import AdaptiveBuffer
from smartharvest.policy.adaptive_quiet import LONGEST_QUIET_NS, AdaptiveQuiet, steps
from smartharvest.policy.base import Dispatches, DispatchesObserver, Policy, PolicySettings
from tests.unit.policy.dispatches import period
from tests.unit.policy.windows import window

TOTAL = 10
LONG, SHORT = 300, 100  # microseconds: beyond and below a fifth of runs of 1 ms


def buffer_after(policy: AdaptiveBuffer, *waits: dict[int, int]) -> int:
    for number, counts in enumerate(waits, 1):
        policy.observe_dispatches(period(number, waits=counts))
    return policy.buffer


@pytest.mark.parametrize("make", [AdaptiveBuffer, AdaptiveQuiet])
def test_nothing_is_lent_before_anything_is_known(
    make: type[AdaptiveBuffer | AdaptiveQuiet],
) -> None:
    policy = make(PolicySettings(TOTAL))
    assert policy.buffer == TOTAL
    assert policy.predict(window([1, 2])) == 0  # the loop adds the buffer to the demand


def test_the_buffer_shrinks_while_waits_are_short_down_to_none() -> None:
    policy = AdaptiveBuffer(PolicySettings(TOTAL))
    quiet = {0: 900, SHORT: 100}
    # The first period only tells how long tasks run.
    assert buffer_after(policy, quiet, quiet, quiet) == TOTAL - 2
    assert buffer_after(policy, *[quiet] * 20) == 0


def test_the_buffer_grows_when_more_than_a_fiftieth_wait_long() -> None:
    policy = AdaptiveBuffer(PolicySettings(TOTAL))
    buffer_after(policy, *[{0: 1000}] * 20)
    assert buffer_after(policy, {0: 979, LONG: 21}) == 1


def test_in_between_the_buffer_stays() -> None:
    policy = AdaptiveBuffer(PolicySettings(TOTAL))
    buffer_after(policy, *[{0: 1000}] * 5)
    before = policy.buffer
    assert buffer_after(policy, *[{0: 990, LONG: 10}] * 5) == before


def test_a_few_dispatches_show_nothing() -> None:
    policy = AdaptiveBuffer(PolicySettings(TOTAL))
    before = buffer_after(policy, *[{0: 1000}] * 5)
    assert buffer_after(policy, {LONG: 19}) == before


def test_the_same_waits_are_long_for_short_runs() -> None:
    waits = {0: 900, SHORT: 100}
    kept = {}
    for run_us in (100, 10_000):
        policy = AdaptiveBuffer(PolicySettings(TOTAL))
        for number in range(1, 30):
            policy.observe_dispatches(period(number, waits=waits, runs={run_us: 1000}))
        kept[run_us] = policy.buffer
    assert kept == {100: TOTAL, 10_000: 0}


def quiet_after(policy: AdaptiveQuiet, first: int, *waits: dict[int, int]) -> tuple[int, int]:
    for number, counts in enumerate(waits, first):
        policy.observe_dispatches(period(number, waits=counts))
    return policy.buffer, policy.quiet_ns


def test_without_strain_it_becomes_as_bold_as_it_gets() -> None:
    policy = AdaptiveQuiet(PolicySettings(TOTAL))
    assert quiet_after(policy, 1, *[{0: 1000}] * 50) == steps(TOTAL)[0]


def test_strain_on_the_median_makes_it_wait_longer_and_then_keep_more() -> None:
    policy = AdaptiveQuiet(PolicySettings(TOTAL))
    quiet_after(policy, 1, *[{0: 1000}] * 50)
    _, quiet_ns = quiet_after(policy, 51, *[{0: 500, LONG: 500}] * 3)
    assert quiet_ns > steps(TOTAL)[0][1]
    assert quiet_after(policy, 54, *[{0: 500, LONG: 500}] * 40) == (TOTAL, LONGEST_QUIET_NS)


def test_a_few_waits_longer_than_any_run_are_a_disaster() -> None:
    policy = AdaptiveQuiet(PolicySettings(TOTAL))
    before = quiet_after(policy, 1, *[{0: 1000}] * 50)
    disaster = {0: 9960, 5000: 40}
    assert quiet_after(policy, 51, disaster, disaster, disaster) > before


def test_after_a_disaster_it_is_careful_for_longer_than_the_waits_last() -> None:
    policy = AdaptiveQuiet(PolicySettings(TOTAL))
    quiet_after(policy, 1, *[{0: 1000}] * 50)
    back = quiet_after(policy, 51, *[{0: 950, 5000: 50}] * 3)
    assert quiet_after(policy, 54, *[{0: 1000}] * 30) >= back


durations = st.dictionaries(st.integers(0, 10_000_000), st.integers(1, 10_000), max_size=8)


@pytest.mark.parametrize("make", [AdaptiveBuffer, AdaptiveQuiet])
@given(st.lists(st.tuples(durations, durations), max_size=30))
def test_whatever_is_seen_the_plan_stays_possible(
    make: type[AdaptiveBuffer | AdaptiveQuiet], seen: list[tuple[dict[int, int], dict[int, int]]]
) -> None:
    policy: Policy = make(PolicySettings(TOTAL))
    assert isinstance(policy, DispatchesObserver)
    for number, (waits, runs) in enumerate(seen, 1):
        policy.observe_dispatches(period(number, waits, runs))
        assert 0 <= policy.buffer <= TOTAL
        assert policy.quiet_ns is not None
        assert 0 <= policy.quiet_ns <= 16_000_000
        assert 1 <= policy.short_term.safe_cores(1) <= TOTAL


def test_no_dispatches_at_all_change_nothing() -> None:
    for policy in (AdaptiveBuffer(PolicySettings(TOTAL)), AdaptiveQuiet(PolicySettings(TOTAL))):
        policy.observe_dispatches(Dispatches(1, (), ()))
        assert policy.buffer == TOTAL
