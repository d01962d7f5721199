"""What became of Harvest VMs: survivors, deaths, and those of whom it is not known."""

from __future__ import annotations

import math

import numpy as np
import pytest

from smartharvest.errors import TraceError
from smartharvest.fleet.promises.cohorts import Size, cohorts
from smartharvest.fleet.promises.life_table import kaplan_meier, period_survival
from smartharvest.fleet.promises.occupancy import occupancy
from tests.unit.fleet.promise_cases import allocations, nodes, of_free


def test_a_step_knows_the_least_that_was_free_within_it_and_the_mean() -> None:
    # 6 cores for half an hour in the middle of hour 10, and 4 from hour 20 on.
    table = allocations((6, 10.25, 10.75), (4, 20, math.inf))
    seen = occupancy(table, nodes(1), 3600.0)
    assert seen.steps == 96
    assert seen.free_cores[10, 0] == 8
    assert seen.least_cores[[9, 10, 11], 0].tolist() == [8, 2, 8]
    assert seen.harvested[10, 0] == pytest.approx(5.0)
    assert seen.free_cores[[19, 20], 0].tolist() == [8, 4]
    assert seen.vms[[9, 20]].tolist() == [0, 1]


def test_a_trace_of_a_few_hours_is_refused() -> None:
    with pytest.raises(TraceError, match="lasts 5"):
        occupancy(allocations((1, 0, 1), days=5 / 24), nodes(1))


def test_survivors_are_those_whose_minimum_was_free_all_the_time() -> None:
    started = cohorts(of_free([8, 8, 8, 8], [8, 2, 8, 8], [1, 1, 8, 8]), Size(4))
    survival, cores = started.outcome(2)
    assert survival[:3].tolist() == [0.5, 1.0, 1.0]
    assert cores[0] == pytest.approx((8 + 8 + 8) / 3)  # three hours were lived
    assert np.isnan(survival[3])


def test_who_lives_when_the_trace_ends_is_no_death() -> None:
    started = cohorts(of_free([8.0] * 10, [8.0] * 5 + [0.0] * 5), Size(4))
    survival, _ = started.outcome(6)
    assert np.isnan(survival[5:]).all()  # nobody knows yet
    assert survival[:5].tolist() == [0.5] * 5
    lives = started.lives()
    assert list(zip(lives.lived, lives.died, strict=True)) == [(10, False), (5, True)]
    lived, died = lives.known_at(4)
    assert (lived.tolist(), died.tolist()) == ([4, 4], [False, False])


def test_an_empty_cohort_has_no_survival_rate() -> None:
    survival, cores = cohorts(of_free([1] * 5), Size(4)).outcome(1)
    assert np.isnan(survival).all()
    assert np.isnan(cores).all()


def test_kaplan_meier_counts_the_censored_as_long_as_they_were_seen() -> None:
    # The example of a textbook: deaths at 6 (3 of 21), 7 (1 of 17), 10 (1 of 15).
    lived = np.array(
        [6, 6, 6, 6, 7, 9, 10, 10, 11, 13, 16, 17, 19, 20, 22, 23, 25, 32, 32, 34, 35.0]
    )
    died = np.isin(np.arange(21), [0, 1, 2, 4, 6, 9, 10, 14, 15])
    survival, low, high = kaplan_meier(lived, died, 12)
    assert survival == pytest.approx(0.7529, abs=1e-4)
    assert (high - low) / 2 == pytest.approx(1.96 * 0.0963, abs=1e-3)
    left_out = np.mean(lived[died] >= 12)
    assert survival > left_out
    assert kaplan_meier(lived[:0], died[:0], 5) == (1.0, 0.0, 1.0)


def test_a_life_table_of_a_period_tells_of_evictions_at_once() -> None:
    calm = [8.0] * 60
    seen = of_free(*([calm] * 3 + [calm[:50] + [0.0] * 2 + [8.0] * 8]))
    started = cohorts(seen, Size(4))
    now = period_survival(started, [20], 10)[20]
    assert now[49] == 1.0
    assert now[51] < 1.0  # cohorts of the last 20 steps are not over
    assert now[51] > 0.5
