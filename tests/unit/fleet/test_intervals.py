"""Intervals hold as often as they say, also where what happens changes."""

from __future__ import annotations

import numpy as np
import pytest

from smartharvest.fleet.promises.cohorts import Size, cohorts
from smartharvest.fleet.promises.intervals import (
    Forecasts,
    intervals,
    quantiles,
    score,
    tracked,
    unexcluded,
    widening,
)
from tests.unit.fleet.promise_cases import of_free


def made(outcome: np.ndarray, horizon: int = 1) -> Forecasts:
    return Forecasts(np.full(len(outcome), 0.5), outcome, horizon, 1.0, ENOUGH[: len(outcome)])


ENOUGH = np.full(2000, 1000.0)
"""Independent errors."""


def test_noise_is_covered_as_often_as_promised() -> None:
    outcome = np.clip(np.random.default_rng(1).normal(0.5, 0.05, 1500), 0, 1)
    one = made(outcome)
    found = score(one.said, *intervals(one, [one], 300, 400), outcome)
    assert found is not None
    assert found.n == 1200
    assert 0.93 <= found.coverage <= 0.98
    assert found.width < 0.3
    assert abs(found.above - found.below) < 0.02


def test_a_level_that_changes_is_covered_again_soon() -> None:
    outcome = np.random.default_rng(2).normal(0.5, 0.02, 1500)
    outcome[800:] -= 0.3
    one = made(outcome)
    lower, upper = intervals(one, [one], 500, 100)
    inside = (lower <= outcome) & (outcome <= upper)
    assert not inside[800:803].any()
    assert inside[1000:].mean() > 0.9


def test_what_is_worse_than_all_known_errors_is_covered_once_it_was_missed() -> None:
    drift = np.linspace(0.0, 0.45, 1000)
    outcome = 0.5 + np.concatenate([np.zeros(500), drift])
    outcome += np.random.default_rng(3).normal(0, 0.01, 1500)
    one = made(outcome, horizon=20)
    ends = intervals(one, [one], 250, 100)
    plain, wide = (score(one.said, *found, outcome) for found in (ends, tracked(one, *ends)))
    assert plain is not None
    assert wide is not None
    assert plain.coverage < 0.9 < wide.coverage
    assert wide.above < plain.above / 2


def test_intervals_that_hold_are_not_widened() -> None:
    one = made(np.full(400, 0.5), horizon=10)
    lower, upper = np.full(400, 0.4), np.full(400, 0.6)
    lower[:50] = upper[:50] = np.nan
    for before, after in zip((lower, upper), tracked(one, lower, upper), strict=True):
        np.testing.assert_array_equal(before, after)


def test_an_error_counts_only_when_its_horizon_is_over() -> None:
    outcome = np.full(400, 0.5)
    outcome[300:] = 0.1
    one = made(outcome, horizon=50)
    lower, _ = intervals(one, [one], 200, 100)
    same, _ = intervals(made(np.full(400, 0.5), 50), [made(np.full(400, 0.5), 50)], 200, 100)
    assert lower[200:349].tolist() == same[200:349].tolist()
    assert lower[399] < same[399]


def test_fewer_alive_than_promised_counts_before_the_horizon() -> None:
    free = [[8.0] * 1330 for _ in range(10)]
    for node in free[:4]:
        node[1310:] = [0.0] * 20
    started = cohorts(of_free(*free), Size(4))
    survival, _ = started.outcome(30)
    told = Forecasts(np.full(1330, 1.0), survival, 30, 1.0, ENOUGH[:1330], started)
    blind = Forecasts(np.full(1330, 1.0), survival, 30, 1.0, ENOUGH[:1330])
    at = 1311  # cohorts since step 1282 are not over
    low, blindly = (intervals(one, [one], at, 50)[0][at] for one in (told, blind))
    assert low == pytest.approx(0.6, abs=0.02)
    assert blindly > 0.65


def test_nothing_is_promised_without_known_errors() -> None:
    one = made(np.full(100, 0.5), horizon=90)
    lower, upper = intervals(one, [one], 50, 10)
    assert (lower[50], upper[50]) == (0.0, 1.0)
    assert np.isnan(lower[49])


def test_few_independent_errors_widen_and_leave_more_open() -> None:
    assert widening(1000) == pytest.approx(1.0, abs=0.01)
    assert widening(3) == pytest.approx(3.182 / 1.96, abs=0.01)
    assert widening(0.2) == widening(1)
    assert unexcluded(39) == 0.0
    assert unexcluded(1) == pytest.approx(1.0)
    assert unexcluded(5) > unexcluded(10) > 0


def test_the_papers_error_is_the_distance_to_the_nearest_end() -> None:
    said, outcome = np.full(4, 0.5), np.array([0.5, 0.9, 0.1, np.nan])
    found = score(said, np.full(4, 0.4), np.full(4, 0.6), outcome)
    assert found is not None
    assert found.n == 3
    assert found.coverage == pytest.approx(1 / 3)
    assert found.mean_error == pytest.approx((0.3 + 0.3) / 3)
    assert [found.above, found.below] == pytest.approx([1 / 3, 1 / 3])
    assert score(said, np.full(4, np.nan), np.full(4, np.nan), outcome) is None


@pytest.mark.parametrize("count", [20, 21, 999])
def test_quantiles_are_those_of_numpy(count: int) -> None:
    values = np.random.default_rng(count).normal(size=count)
    for share in (0.001, 0.025, 0.1):
        assert quantiles(values, share) == pytest.approx(np.quantile(values, [share, 1 - share]))
