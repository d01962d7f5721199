"""Strategies: what may run where an eviction can end it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smartharvest.errors import ConfigError
from smartharvest.serverless.strategies import STRATEGY_NAMES, make_strategy
from smartharvest.serverless.strategies.bounded_failures import BoundedFailures
from smartharvest.serverless.strategies.profile import Profile

SHORT = Profile("short", 2.0, 90.0, 0.0, 0.0)
RARELY_LONG = Profile("rarely", 300.0, 9.0, 1e-4, 0.01)
LONG = Profile("long", 300.0, 1.0, 0.5, 60.0)
ALL = [SHORT, RARELY_LONG, LONG]


def test_no_failures_keeps_on_regular_workers_what_has_ever_outlived_a_notice() -> None:
    assert make_strategy("no-failures").regular(ALL) == {"rarely", "long"}


def test_live_and_let_die_keeps_nothing() -> None:
    assert make_strategy("live-and-let-die").regular(ALL) == frozenset()


def test_bounded_failures_spends_its_budget_on_those_that_fail_least() -> None:
    assert make_strategy("bounded-failures", 1e-4).regular(ALL) == {"long"}


def test_without_a_budget_bounded_failures_is_no_failures() -> None:
    assert make_strategy("bounded-failures", 0.0).regular(ALL) == {"rarely", "long"}


def test_with_all_the_budget_bounded_failures_is_live_and_let_die() -> None:
    assert make_strategy("bounded-failures", 1.0).regular(ALL) == frozenset()


def test_a_known_eviction_rate_makes_more_fit_the_budget() -> None:
    once_a_day = BoundedFailures(1e-4, evictions_per_s=1 / 86400)
    assert once_a_day.expected_failures(LONG) == pytest.approx(60 / 86400)
    assert once_a_day.regular(ALL) == frozenset()


@pytest.mark.parametrize("budget", [-0.1, 1.1, float("nan")])
def test_a_budget_is_a_share(budget: float) -> None:
    with pytest.raises(ConfigError, match="is no share"):
        BoundedFailures(budget)


PROFILES = st.lists(
    st.builds(
        Profile,
        name=st.uuids().map(str),
        longest_s=st.floats(0, 600),
        rate_per_s=st.floats(0, 100),
        beyond_notice=st.floats(0, 1),
        seconds_beyond=st.floats(0, 300),
    ),
    max_size=8,
)


@given(profiles=PROFILES, budget=st.floats(0, 1))
def test_bounded_failures_stays_within_its_budget(profiles: list[Profile], budget: float) -> None:
    regular = BoundedFailures(budget).regular(profiles)
    total = sum(one.rate_per_s for one in profiles)
    exposed = [one for one in profiles if one.name not in regular and one.longest_s > 30.0]
    failing = sum(one.beyond_notice * one.rate_per_s for one in exposed)
    assert failing <= budget * total * (1 + 1e-9) + 1e-12


def test_an_unknown_strategy_is_refused() -> None:
    assert len(STRATEGY_NAMES) == 3
    with pytest.raises(ValueError, match="no strategy"):
        make_strategy("hope")
