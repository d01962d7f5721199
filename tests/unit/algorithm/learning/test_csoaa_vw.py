from __future__ import annotations

import random

import pytest

from bench.learning import ReuseCsoaa, TextCsoaa, random_window
from smartharvest.algorithm.learning.base import Features
from smartharvest.algorithm.learning.costs import COSTS, cost_table
from smartharvest.algorithm.learning.csoaa_vw import VwCsoaa

IDLE: Features = (0.0, 1.0, 0.25, 0.5, 0.0)
BUSY: Features = (4.0, 8.0, 6.0, 1.0, 6.0)


@pytest.mark.parametrize("cost", COSTS)
@pytest.mark.parametrize(("total", "count"), [(1, 500), (10, 3000), (64, 500)])
def test_decisions_are_those_of_plain_text_examples(cost: str, total: int, count: int) -> None:
    check_parity(cost, total, count)


@pytest.mark.slow
@pytest.mark.parametrize("total", [1, 10, 40])
def test_decisions_stay_those_of_text_over_many_windows(total: int) -> None:
    check_parity("skewed", total, 100_000)


def check_parity(cost: str, total: int, count: int) -> None:
    costs = cost_table(COSTS[cost], total)
    fast, plain = VwCsoaa(costs), TextCsoaa(costs)
    rng = random.Random(total)
    decisions = []
    for _ in range(count):
        features, peak = random_window(rng, total)
        decisions.append((fast.predict(features), plain.predict(features)))
        fast.learn(features, peak)
        plain.learn(features, peak)
    assert all(ours == theirs for ours, theirs in decisions)
    assert len({ours for ours, _ in decisions}) > 1


def test_decisions_are_those_of_one_example_set_up_anew_each_time() -> None:
    costs = cost_table(COSTS["skewed"], 10)
    fast, reuse = VwCsoaa(costs), ReuseCsoaa(costs)
    rng = random.Random(3)
    for _ in range(2000):
        features, peak = random_window(rng, 10)
        assert fast.predict(features) == reuse.predict(features)
        fast.learn(features, peak)
        reuse.learn(features, peak)


def test_it_learns_which_peak_follows_which_window() -> None:
    learner = VwCsoaa(cost_table(COSTS["skewed"], 10))
    for _ in range(200):
        learner.learn(IDLE, 1)
        learner.learn(BUSY, 9)
    assert learner.predict(IDLE) == 1
    assert learner.predict(BUSY) == 9


def test_a_shift_is_followed_as_fast_after_many_windows_as_after_few() -> None:
    def lessons_until_followed(windows_before: int) -> int:
        learner = VwCsoaa(cost_table(COSTS["skewed"], 10))
        for _ in range(windows_before):
            learner.learn(IDLE, 2)
        lessons = 0
        while learner.predict(IDLE) != 8:
            learner.learn(IDLE, 8)
            lessons += 1
        return lessons

    assert lessons_until_followed(2000) == lessons_until_followed(50)


def test_predicting_changes_nothing() -> None:
    costs = cost_table(COSTS["skewed"], 10)
    asked, unasked = VwCsoaa(costs), VwCsoaa(costs)
    rng = random.Random(7)
    for _ in range(300):
        features, peak = random_window(rng, 10)
        asked.learn(features, peak)
        unasked.learn(features, peak)
        for _ in range(3):
            asked.predict(random_window(rng, 10)[0])
    probes = [random_window(rng, 10)[0] for _ in range(200)]
    assert [asked.predict(p) for p in probes] == [unasked.predict(p) for p in probes]


def test_with_nothing_to_lend_there_is_one_class() -> None:
    learner = VwCsoaa(cost_table(COSTS["skewed"], 0))
    learner.learn(IDLE, 0)
    assert learner.predict(BUSY) == 0
