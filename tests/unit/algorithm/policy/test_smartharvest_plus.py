from __future__ import annotations

import dataclasses

from smartharvest.algorithm.policy import make_policy
from smartharvest.algorithm.policy.smartharvest_plus import SmartHarvestPlus
from tests.unit.algorithm.policy.test_smartharvest import Notebook
from tests.unit.algorithm.policy.windows import window

TOTAL = 10
FIRST, SECOND = window([1, 1, 2]), window([2, 2, 4, 2])


def test_the_peak_of_demand_is_learned_even_from_an_exhausted_window() -> None:
    notebook = Notebook()
    policy = SmartHarvestPlus(TOTAL, notebook)
    assert policy.learn(FIRST) is None
    waited = dataclasses.replace(SECOND, demand_max=7, exhausted=True)
    assert policy.learn(waited) == 7
    assert notebook.taught == [(FIRST.features, 7)]


def test_the_prediction_is_the_fewest_cores_and_demand_adds_to_it() -> None:
    policy = SmartHarvestPlus(TOTAL, Notebook())
    policy.learn(FIRST)
    policy.learn(SECOND)
    assert policy.predict(SECOND) == 5
    assert (policy.buffer, policy.quiet_ns) == (1, 250_000)


def test_the_primary_has_the_total_until_the_first_lesson_and_after_a_stale_window() -> None:
    policy = SmartHarvestPlus(TOTAL, Notebook())
    assert policy.predict(FIRST) == TOTAL
    policy.learn(FIRST)
    policy.learn(SECOND)
    stale = dataclasses.replace(SECOND, stale=True)
    assert policy.learn(stale) is None
    assert policy.predict(stale) == TOTAL
    assert policy.learn(FIRST) is None  # there is no window before it


def test_it_learns_with_the_learner_it_is_told() -> None:
    policy = make_policy("smartharvest+", total=TOTAL, learner="native")
    assert type(policy.learner).__name__ == "NativeCsoaa"  # type: ignore[attr-defined]
