"""idle-first against primaries made by hand: what hurts them decides, not what they do anyway."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest

from smartharvest.algorithm.policy.base import PolicySettings
from smartharvest.algorithm.policy.idle_first import IdleFirst, rungs
from tests.unit.algorithm.policy.dispatches import period
from tests.unit.algorithm.policy.windows import window

TOTAL = 8
STALL_US = 2_000

Hurt = Callable[[int], tuple[dict[int, int], dict[int, int]]]
"""Waits and runs of a period, given how many cores the elastic group is kept off."""


def after(periods: int, hurt: Hurt, policy: IdleFirst | None = None, busy: int = 2) -> IdleFirst:
    policy = policy or IdleFirst(PolicySettings(TOTAL))
    start = getattr(policy, "_told", 0)
    for number in range(start + 1, start + periods + 1):
        policy.learn(window([busy]))
        policy.observe_dispatches(period(number, *hurt(policy.reserved)))
    policy._told = start + periods  # type: ignore[attr-defined]  # the test's own mark
    return policy


def harmless(_reserved: int) -> tuple[dict[int, int], dict[int, int]]:
    return {0: 1000}, {50: 1000}


def stalls_below(reserved: int) -> Hurt:
    """One wake-up in a hundred waits for a tick unless so many cores are kept free."""

    def hurt(now: int) -> tuple[dict[int, int], dict[int, int]]:
        return ({0: 1000} if now >= reserved else {0: 990, STALL_US: 10}), {50: 1000}

    return hurt


def test_it_lends_nothing_before_it_has_seen_the_primary() -> None:
    policy = IdleFirst(PolicySettings(TOTAL))
    assert policy.shared
    assert policy.predict(window([1])) == TOTAL


def test_a_primary_that_is_not_held_up_shares_everything() -> None:
    policy = after(30, harmless)
    assert policy.predict(window([5])) == 0
    assert policy.explanation.startswith("runs everywhere")


def test_a_stale_window_lends_nothing() -> None:
    assert after(30, harmless).predict(window([1], stale=True)) == TOTAL


@pytest.mark.parametrize("needed", range(1, TOTAL))
def test_it_finds_the_least_confinement_that_protects_and_says_what_it_is_for(needed: int) -> None:
    policy = after(90, stalls_below(needed))
    assert policy.chosen == needed
    assert "without confinement" in policy.explanation
    assert f"kept off {needed} of {TOTAL} cores" in policy.explanation


def test_where_every_lent_core_hurts_nothing_is_lent() -> None:
    policy = after(90, stalls_below(TOTAL))
    assert policy.chosen == TOTAL
    assert policy.explanation.startswith("lends nothing")


def test_a_primary_that_queues_on_its_own_is_compared_with_itself() -> None:
    policy = after(30, lambda _: ({0: 800, STALL_US: 200}, {3_000: 1000}))
    assert policy.reserved == 0


def test_longer_runs_ask_for_confinement_without_any_wait() -> None:
    policy = after(90, lambda reserved: ({0: 1000}, {100 if reserved >= 4 else 130: 1000}))
    assert policy.chosen == 4
    assert "its runs take +30%" in policy.explanation


def test_a_decision_is_held_and_looked_at_ever_less_often() -> None:
    policy = after(30, harmless)
    tried = []
    for number in range(6_000):
        after(1, harmless, policy)
        if policy.reserved != 0:
            tried.append(number)
    trials = [at for at, before in zip(tried, [-1000, *tried], strict=False) if at - before > 20]
    gaps = [late - early for early, late in itertools.pairwise(trials)]
    assert gaps == sorted(gaps)
    assert len(trials) < 10


def test_more_long_waits_than_in_the_trial_take_the_cores_back_within_a_second() -> None:
    policy = after(30, harmless)
    reserved = [after(1, stalls_below(3), policy).reserved for _ in range(10)]
    assert TOTAL in reserved
    after(60, stalls_below(3), policy)
    assert policy.chosen == 3


def test_when_the_batch_no_longer_hurts_confinement_ends() -> None:
    policy = after(90, stalls_below(2))
    after(6_000, harmless, policy)
    assert policy.chosen == 0


def test_another_load_is_another_question() -> None:
    policy = after(120, stalls_below(6))
    after(80, harmless, policy, busy=1)
    assert policy.chosen == 0


def test_an_idle_primary_is_not_hurt() -> None:
    policy = after(100, lambda _: ({}, {}))
    assert policy.reserved == 0


def test_time_that_was_not_seen_is_not_judged() -> None:
    policy = after(30, harmless)
    policy.observe_dispatches(period(100_000, {STALL_US: 1000}))
    assert policy.reserved == 0


@pytest.mark.parametrize(("total", "steps"), [(1, (0, 1)), (2, (0, 1, 2)), (4, (0, 1, 2, 3, 4))])
def test_few_cores_have_a_step_each(total: int, steps: tuple[int, ...]) -> None:
    assert rungs(total) == steps


def test_many_cores_have_few_steps() -> None:
    assert rungs(64) == tuple(range(0, 65, 8))
