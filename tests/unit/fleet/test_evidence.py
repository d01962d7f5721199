"""How many known errors say something of now, and what follows from few."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from smartharvest.fleet.promises.blend import blended, share
from smartharvest.fleet.promises.evidence import FEWEST, alike, busyness, counted, independent
from smartharvest.fleet.promises.intervals import Forecasts, intervals, score
from tests.unit.fleet.promise_cases import of_free


def test_a_time_counts_by_its_share_of_how_busy_it_is_now() -> None:
    assert alike(np.array([1.0, 2.0, 4.0, 8.0]), 4.0) == pytest.approx(0.25 + 0.5 + 1 + 1)
    assert alike(np.array([1.0, 2.0]), 0.0) == 2.0


def test_busyness_is_of_the_week_before_and_not_of_the_step_itself() -> None:
    arrivals = np.zeros(400)
    arrivals[200] = 168.0
    busy = busyness(replace(of_free([8.0] * 400), arrivals=arrivals))
    assert busy[200] == 0.0
    assert busy[201] == busy[368] == pytest.approx(1.0)
    assert busy[369] == 0.0


def test_independent_errors_are_horizons_that_are_over() -> None:
    steady, known = np.ones(100), np.ones(100, dtype=bool)
    found = independent(steady, known, 10)
    assert found[9] == 0.0
    assert found[19] == 1.0
    assert found[99] == pytest.approx(9.0)
    known[:50] = False
    assert independent(steady, known, 10)[99] == pytest.approx(4.0)
    quieter = np.where(np.arange(100) < 90, 0.1, 1.0)
    assert independent(quieter, np.ones(100, dtype=bool), 10)[99] == pytest.approx(0.9)


def test_clusters_to_which_nothing_happens_together_add_up() -> None:
    errors = [np.random.default_rng(seed).normal(0, 1, 2000) for seed in range(6)]
    assert counted(errors, 2000) > 0.4  # means of six differ by chance, too
    gaps = [np.where(np.arange(2000) % 6 == number, np.nan, one)
            for number, one in enumerate(errors)]  # fmt: skip
    assert counted(gaps, 2000) > 0.4


def test_clusters_to_which_the_same_happens_are_one() -> None:
    errors = np.random.default_rng(1).normal(0, 1, 500)
    assert counted([errors] * 4, 500) == pytest.approx(1 / 4)
    half = [errors + np.random.default_rng(seed).normal(0, 1, 500) for seed in range(2, 6)]
    assert counted(half, 500) == pytest.approx(1 / (1 + 3 * 0.5), rel=0.2)


@pytest.mark.parametrize("how", ["elsewhere", "wider"])
def test_clusters_that_differ_count_as_one_error_each(how: str) -> None:
    chance = np.random.default_rng(1)
    kinds = [(10.0 * n, 0.1) if how == "elsewhere" else (0.0, 10.0**n) for n in range(5)]
    errors = [chance.normal(mean, deviation, 400) for mean, deviation in kinds]
    share = counted(errors, 400.0)
    assert 5 * 400 * share == pytest.approx(5, rel=0.05) if how == "elsewhere" else share < 0.1


def test_clusters_of_other_times_say_nothing_of_each_other() -> None:
    early, late = np.ones(100), np.ones(100)
    early[50:], late[:50] = np.nan, np.nan
    assert counted([early, late], 10) == pytest.approx(1 / 2)
    assert counted([early], 10) == 1.0


def test_too_few_independent_errors_promise_nothing_and_are_scored_apart() -> None:
    outcome = np.clip(np.random.default_rng(4).normal(0.5, 0.02, 400), 0, 1)
    evidence = np.where(np.arange(400) < 300, FEWEST - 0.5, 100.0)
    one = Forecasts(np.full(400, 0.5), outcome, 1, 1.0, evidence)
    lower, upper = intervals(one, [one], 200, 100)
    assert set(lower[200:300]) == {0.0}
    assert set(upper[200:300]) == {1.0}
    assert (upper - lower)[300:].max() < 0.2
    found = score(one.said, lower, upper, outcome, evidence < FEWEST)
    assert found is not None
    assert found.declined == pytest.approx(0.5)
    assert found.promised_outcomes == 100
    assert found.promised_width is not None
    assert found.promised_width < 0.2 < found.width
    nothing = score(one.said, lower, upper, outcome, np.ones(400, dtype=bool))
    assert nothing is not None
    assert nothing.promised_coverage is None


def test_the_forest_counts_as_far_as_its_errors_are_smaller_and_known() -> None:
    assert share(0.1, 0.4, 1e6, 1.0) == pytest.approx(1.0, abs=1e-3)
    assert share(0.4, 0.1, 1e6, 1.0) == pytest.approx(0.0, abs=1e-3)
    assert share(0.1, 0.1, 39.0, 1.0) == pytest.approx(0.25)
    assert share(0.1, 0.4, 0.0, 1.0) == 0.0


@pytest.mark.parametrize(("better", "expected"), [("forest", 0.5), ("newest", 0.9)])
def test_a_blend_comes_near_to_the_better_forecast_once_that_is_known(
    better: str, expected: float
) -> None:
    outcome = np.full(4000, expected)
    forest, newest = np.full(4000, 0.5), np.full(4000, 0.9)
    said = blended(forest, newest, outcome, 5, 1.0)
    assert said[4] == 0.9  # nothing is known: persistence
    assert said[-1] == pytest.approx(expected, abs=0.03), better


def test_a_blend_says_nothing_where_the_forest_does_not_and_never_looks_ahead() -> None:
    chance = np.random.default_rng(5)
    forest, newest, outcome = chance.random((3, 200))
    forest[:50] = np.nan
    said = blended(forest, newest, outcome, 10, 1.0)
    assert np.isnan(said[:50]).all()
    outcome[140:] = 0.0
    np.testing.assert_array_equal(blended(forest, newest, outcome, 10, 1.0)[:150], said[:150])
