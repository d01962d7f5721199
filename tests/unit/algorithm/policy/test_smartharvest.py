"""Lines 12-19 of Algorithm 1 on hand-made windows, with a learner that writes down its lessons."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from smartharvest.algorithm.learning.base import Features
from smartharvest.algorithm.learning.options import LearningOptions
from smartharvest.algorithm.policy import make_policy
from smartharvest.algorithm.policy.smartharvest import SmartHarvest
from smartharvest.algorithm.safeguard import ConservativeSafeguard
from tests.unit.algorithm.policy.windows import window

TOTAL = 10

FIRST = window([1, 2, 3, 2])
SECOND = window([2, 4, 2, 2], primary_cores=6)
BROKEN = window([3, 5], primary_cores=5, exhausted=True)
THIRD = window([6, 7, 7, 6])

FIRST_FEATURES = (1.0, 3.0, 2.0, 0.5**0.5, 2.0)
SECOND_FEATURES = (2.0, 4.0, 2.5, 0.75**0.5, 2.0)
BROKEN_FEATURES = (3.0, 5.0, 4.0, 1.0, 4.0)


class Notebook:
    """Predicts 5 whatever it is asked."""

    def __init__(self) -> None:
        self.taught: list[tuple[Features, int]] = []
        self.questions: list[Features] = []

    @property
    def lessons(self) -> int:
        return len(self.taught)

    def learn(self, features: Features, label: int) -> None:
        self.taught.append((features, label))

    def predict(self, features: Features) -> int:
        self.questions.append(features)
        return 5


def smartharvest(**options: Any) -> tuple[SmartHarvest, Notebook]:
    notebook = Notebook()
    return (
        SmartHarvest(
            TOTAL,
            notebook,
            ConservativeSafeguard(TOTAL),
            LearningOptions(**options),
        ),
        notebook,
    )


def test_a_windows_peak_is_learned_from_the_features_before_it() -> None:
    policy, notebook = smartharvest()
    assert policy.learn(FIRST) is None
    policy.predict(FIRST)
    assert policy.learn(SECOND) == 4
    assert notebook.taught == [(FIRST_FEATURES, 4)]


def test_the_prediction_is_asked_for_with_the_windows_own_features() -> None:
    policy, notebook = smartharvest()
    for one in (FIRST, SECOND):
        policy.learn(one)
        cores = policy.predict(one)
    assert cores == 5
    assert notebook.questions == [SECOND_FEATURES]


def test_the_primary_has_the_total_until_the_first_lesson() -> None:
    policy, notebook = smartharvest()
    policy.learn(FIRST)
    assert policy.predict(FIRST) == TOTAL
    assert notebook.questions == []


def after_a_broken_window(**options: Any) -> tuple[list[int | None], list[tuple[Features, int]]]:
    policy, notebook = smartharvest(**options)
    policy.predict(FIRST)
    labels = [policy.learn(BROKEN), policy.learn(THIRD)]
    return labels, notebook.taught


def test_a_broken_window_is_no_lesson_and_the_features_before_it_stay() -> None:
    labels, lessons = after_a_broken_window()
    assert labels == [None, 7]
    assert lessons == [(FIRST_FEATURES, 7)]


def test_the_partial_windows_features_can_be_taken_instead() -> None:
    labels, lessons = after_a_broken_window(features_after_exhaustion="broken")
    assert labels == [None, 7]
    assert lessons == [(BROKEN_FEATURES, 7)]


def test_the_lower_bound_of_a_broken_window_can_be_learned() -> None:
    labels, lessons = after_a_broken_window(exhausted_windows="trained")
    assert labels == [5, 7]
    assert lessons == [(FIRST_FEATURES, 5), (FIRST_FEATURES, 7)]


@pytest.mark.parametrize(("label", "learned"), [("busy", 4), ("demand", 9)])
def test_the_label_is_the_peak_of_use_or_of_demand(label: str, learned: int) -> None:
    policy, _ = smartharvest(label=label)
    policy.learn(FIRST)
    policy.predict(FIRST)
    assert policy.learn(replace(SECOND, demand_max=9)) == learned


def test_both_other_choices_together() -> None:
    labels, lessons = after_a_broken_window(
        features_after_exhaustion="broken", exhausted_windows="trained"
    )
    assert labels == [5, 7]
    assert lessons == [(FIRST_FEATURES, 5), (BROKEN_FEATURES, 7)]


def test_a_broken_first_window_teaches_nothing() -> None:
    policy, notebook = smartharvest(exhausted_windows="trained")
    assert policy.learn(BROKEN) is None
    assert notebook.taught == []


def test_with_nothing_lent_even_a_full_peak_is_a_label() -> None:
    policy, notebook = smartharvest()
    policy.predict(FIRST)
    assert policy.learn(window([9, 10], primary_cores=TOTAL)) == TOTAL
    assert notebook.taught == [(FIRST_FEATURES, TOTAL)]


def test_a_peak_above_the_total_is_learned_as_the_total() -> None:
    policy, _ = smartharvest()
    policy.predict(FIRST)
    assert policy.learn(window([12], primary_cores=TOTAL)) == TOTAL


def test_a_window_in_which_the_loop_rested_is_no_lesson_and_neither_is_the_next() -> None:
    policy, notebook = smartharvest()
    policy.predict(FIRST)
    rested = replace(window([8]), rested=True)
    assert policy.learn(rested) is None
    policy.predict(rested)
    assert policy.learn(SECOND) is None
    policy.predict(SECOND)
    assert policy.learn(THIRD) == 7
    assert notebook.taught == [(SECOND_FEATURES, 7)]


def test_a_stale_window_is_no_lesson_and_neither_is_the_next() -> None:
    policy, notebook = smartharvest()
    policy.predict(FIRST)
    stale = window([8], stale=True)
    assert policy.learn(stale) is None
    assert policy.predict(stale) == TOTAL
    assert policy.learn(SECOND) is None
    policy.predict(SECOND)
    assert policy.learn(THIRD) == 7
    assert notebook.taught == [(SECOND_FEATURES, 7)]


def test_a_regular_load_is_learned_and_its_idle_cores_are_lent() -> None:
    policy = make_policy("smartharvest", total=TOTAL)
    for _ in range(100):
        for one in (FIRST, THIRD):
            policy.learn(one)
            cores = policy.predict(one)
            expected = 7 if one is FIRST else 3
    assert cores == expected == 3
