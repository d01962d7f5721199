"""What counts of long waits show."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smartharvest.algorithm.evidence import CHANCE, Baseline, Usual, surely_more

SECOND = 1_000_000_000


def probability_of_at_least(k: int, n: int, share: float) -> float:
    """Of the binomial distribution, added up."""
    return sum(math.comb(n, i) * share**i * (1 - share) ** (n - i) for i in range(k, n + 1))


@given(st.integers(1, 60), st.integers(0, 60), st.floats(0.001, 0.999))
def test_what_is_sure_is_improbable_by_chance(dispatches: int, long: int, share: float) -> None:
    long = min(long, dispatches)
    if surely_more(long, dispatches, share):
        assert probability_of_at_least(long, dispatches, share) <= CHANCE * (1 + 1e-9)


@pytest.mark.parametrize(
    ("long", "dispatches", "share"), [(2, 2, 0.01), (3, 10, 0.01), (40, 1000, 0.01), (60, 100, 0.3)]
)
def test_much_more_than_the_share_is_sure(long: int, dispatches: int, share: float) -> None:
    assert surely_more(long, dispatches, share)


@pytest.mark.parametrize(
    ("long", "dispatches", "share"),
    [(0, 0, 0.01), (0, 10, 0.0), (1, 1, 0.01), (10, 1000, 0.01), (100, 100, 1.0), (5, 10, 1.2)],
)
def test_the_share_itself_or_one_alone_is_not_sure(
    long: int, dispatches: int, share: float
) -> None:
    assert not surely_more(long, dispatches, share)


def test_the_baseline_is_the_share_of_the_last_periods() -> None:
    baseline = Baseline(periods=4, fewest=2)
    baseline.add(1, 100, 50)
    assert baseline.usual(1).share == 0  # too little to know
    baseline.add(2, 300, 50)
    assert baseline.usual(2).share == 0.25
    for at in range(3, 7):
        baseline.add(at, 100, 10)
    assert baseline.usual(7).share == pytest.approx(0.1)


def test_counts_that_vary_more_than_by_chance_have_a_spread() -> None:
    alike, varied = Baseline(fewest=1), Baseline(fewest=1)
    for at in range(20):
        alike.add(at, 1000, 100)
        varied.add(at, 1000, 50 + 100 * (at % 2))
    assert alike.usual(20).spread == 1
    assert varied.usual(20).spread == pytest.approx(2500 / 90 * 20 / 19)
    assert surely_more(150, 1000, 0.1)
    assert not surely_more(150, 1000, 0.1, varied.usual(20).spread)


@pytest.mark.parametrize("long", [0, 10])
def test_all_or_none_has_no_spread(long: int) -> None:
    baseline = Baseline(fewest=1)
    baseline.add(1, 10, long)
    assert baseline.usual(2) == Usual(long / 10)


def test_an_idle_period_is_no_measure() -> None:
    baseline = Baseline(fewest=1)
    baseline.add(1, 10, 5)
    baseline.add(2, 0, 0)
    assert baseline.usual(3).share == 0.5


def test_an_old_baseline_is_none() -> None:
    baseline = Baseline(fewest=1, age_ns=SECOND)
    baseline.add(0, 10, 5)
    assert baseline.usual(SECOND - 1).share == 0.5
    assert baseline.usual(SECOND).share == 0
    baseline.add(2 * SECOND, 10, 1)
    assert baseline.usual(2 * SECOND).share == pytest.approx(0.1)
