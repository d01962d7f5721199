"""The policy that is tuned by how the primary's tasks wait and run."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from smartharvest.algorithm.policy.adaptive_quiet import AdaptiveQuiet, steps
from smartharvest.algorithm.policy.alone import QUEUEING_PERIODS, REST_PERIODS
from smartharvest.algorithm.policy.base import (
    Dispatches,
    DispatchesObserver,
    Policy,
    PolicySettings,
)
from tests.unit.algorithm.policy.dispatches import period
from tests.unit.algorithm.policy.windows import window

TOTAL = 10
LONG = 300  # microseconds, of runs of 1 ms


class Told:
    """Tells a policy period after period; ``alone`` are the waits wherever nothing is lent."""

    def __init__(
        self,
        policy: AdaptiveQuiet,
        alone: dict[int, int] | None = None,
        runs: dict[int, int] | None = None,
    ) -> None:
        self.policy = policy
        self.runs = runs
        self.alone = alone or {0: 1000}
        self.number = 0
        self.of(*[{}] * REST_PERIODS)  # until it knows how the primary fares

    def of(self, *waits: dict[int, int], moves: dict[int, int] | None = None) -> int:
        """The buffer after that."""
        for counts in waits:
            self.number += 1
            lent = self.policy.buffer < TOTAL
            waited = counts if lent else self.alone
            self.policy.observe_dispatches(
                period(self.number, waited, self.runs, lent=lent, moves=moves)
            )
        return self.policy.buffer


def test_nothing_is_lent_before_anything_is_known() -> None:
    policy = AdaptiveQuiet(PolicySettings(TOTAL))
    assert policy.buffer == TOTAL
    assert policy.predict(window([1, 2])) == 0  # the loop adds the buffer to the demand


def test_without_strain_it_becomes_as_bold_as_it_gets() -> None:
    told = Told(policy := AdaptiveQuiet(PolicySettings(TOTAL)))
    told.of(*[{0: 1000}] * 50)
    assert (policy.buffer, policy.quiet_ns) == steps(TOTAL)[0]


def test_strain_on_the_median_makes_it_wait_longer_and_then_keep_more() -> None:
    told = Told(policy := AdaptiveQuiet(PolicySettings(TOTAL)))
    told.of(*[{0: 1000}] * 50)
    told.of(*[{0: 500, LONG: 500}] * 3)
    assert (policy.buffer, policy.quiet_ns) > steps(TOTAL)[0]
    seen = [told.of({0: 500, LONG: 500}) for _ in range(30)]
    assert max(seen) == TOTAL


def test_a_few_waits_longer_than_any_run_are_a_disaster() -> None:
    told = Told(policy := AdaptiveQuiet(PolicySettings(TOTAL)))
    told.of(*[{0: 1000}] * 50)
    few = {0: 9960, 5000: 40}
    told.of(few, few, few)
    assert policy.buffer == TOTAL  # is it the lending?
    told.of(*[few] * (REST_PERIODS + 1))
    assert (policy.buffer, policy.quiet_ns) > steps(TOTAL)[0]


def test_after_a_disaster_it_is_careful_for_longer_than_the_waits_last() -> None:
    told = Told(policy := AdaptiveQuiet(PolicySettings(TOTAL)))
    told.of(*[{0: 1000}] * 50, *[{0: 950, 5000: 50}] * (REST_PERIODS + 4))
    back = policy.buffer, policy.quiet_ns
    assert back > steps(TOTAL)[0]
    told.of(*[{0: 1000}] * 30)
    assert (policy.buffer, policy.quiet_ns) >= back


QUEUEING = {0: 500, LONG: 400, 5000: 100}
"""Half of a primary's tasks wait for one another."""


def test_a_primary_that_queues_on_its_own_is_lent_from_all_the_same() -> None:
    told = Told(AdaptiveQuiet(PolicySettings(TOTAL)), QUEUEING)
    assert told.of(*[QUEUEING] * 50) < 2


def test_a_primary_that_queues_on_its_own_keeps_an_idle_core() -> None:
    assert Told(AdaptiveQuiet(PolicySettings(TOTAL))).of(*[{0: 1000}] * 50) == 0
    assert Told(AdaptiveQuiet(PolicySettings(TOTAL)), QUEUEING).of(*[QUEUEING] * 50) == 1


def test_what_lending_adds_to_its_own_queueing_is_harm() -> None:
    told = Told(AdaptiveQuiet(PolicySettings(TOTAL)), QUEUEING)
    told.of(*[QUEUEING] * 50)
    worse = {0: 300, LONG: 500, 5000: 200}
    assert max(told.of(worse) for _ in range(60)) == TOTAL


def test_waits_with_nothing_lent_are_no_reason_to_go_on_lending_nothing() -> None:
    policy = AdaptiveQuiet(PolicySettings(TOTAL))
    told = Told(policy, QUEUEING)
    told.of(*[{}] * QUEUEING_PERIODS)
    told.alone = {0: 100, LONG: 500, 3000: 400}  # its own, and far worse than at first
    assert min(told.of({}) for _ in range(20)) < TOTAL


def test_a_queueing_primary_is_judged_at_the_most_careful_lending_before_it_ends() -> None:
    policy = AdaptiveQuiet(PolicySettings(TOTAL))
    told = Told(policy, QUEUEING)
    told.of(*[QUEUEING] * 50)
    worse = {0: 300, LONG: 500, 5000: 200}
    seen = [told.of(worse) for _ in range(60)]
    assert seen.index(TOTAL - 1) < seen.index(TOTAL)


def test_where_cores_come_back_late_what_was_wanted_lately_stays() -> None:
    policy = AdaptiveQuiet(PolicySettings(TOTAL))
    told = Told(policy)
    told.of(*[{0: 1000}] * 50, moves={100: 10})
    policy.learn(window([3, 7]))
    assert policy.predict(window([3, 7])) == 0
    told.of(*[{0: 1000}] * 5, moves={5_000: 1000})  # later than runs of 1 ms end
    assert policy.predict(window([3, 7])) == 8


durations = st.dictionaries(st.integers(0, 10_000_000), st.integers(1, 10_000), max_size=8)


@given(st.lists(st.tuples(durations, durations), max_size=30))
def test_whatever_is_seen_the_plan_stays_possible(
    seen: list[tuple[dict[int, int], dict[int, int]]],
) -> None:
    policy: Policy = AdaptiveQuiet(PolicySettings(TOTAL))
    assert isinstance(policy, DispatchesObserver)
    for number, (waits, runs) in enumerate(seen, 1):
        policy.observe_dispatches(period(number, waits, runs))
        assert 0 <= policy.buffer <= TOTAL
        assert policy.quiet_ns is not None
        assert 0 <= policy.quiet_ns <= 16_000_000
        assert 1 <= policy.short_term.safe_cores(1) <= TOTAL


def test_no_dispatches_at_all_change_nothing() -> None:
    policy = AdaptiveQuiet(PolicySettings(TOTAL))
    policy.observe_dispatches(Dispatches(1, (), ()))
    assert policy.buffer == TOTAL


def test_while_nothing_may_be_lent_it_finds_nothing_harmless() -> None:
    told = Told(AdaptiveQuiet(PolicySettings(TOTAL)))
    told.of(*[{LONG: 500, 0: 500}] * 30)
    before = told.policy.buffer, told.policy.quiet_ns
    assert before[0] > 0
    for number in range(50):
        seen = period(told.number + number, {0: 1000})
        told.policy.observe_dispatches(replace(seen, lent=False, inhibited=True))
    # Nor by the period after that, a part of which may be of it.
    told.policy.observe_dispatches(period(told.number + 50, {0: 1000}))
    assert (told.policy.buffer, told.policy.quiet_ns) == before
    told.of(*[{0: 1000}] * 50)
    assert (told.policy.buffer, told.policy.quiet_ns) < before
