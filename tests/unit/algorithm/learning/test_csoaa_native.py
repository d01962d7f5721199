"""The learner in C against Vowpal Wabbit, which is its oracle: every score, bit for bit."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smartharvest.algorithm.learning.base import Features
from smartharvest.algorithm.learning.costs import COSTS, Costs, cost_table
from smartharvest.algorithm.learning.csoaa_native import NativeCsoaa
from smartharvest.algorithm.learning.csoaa_vw import VwCsoaa
from smartharvest.core._learner import Csoaa
from tests.unit.algorithm.learning.made_windows import Windows, random_windows, walking_windows

CLASSES = (2, 11, 13, 30, 41, 64, 256)
MAKERS = {"random": random_windows, "walking": walking_windows}


class OracleCsoaa(VwCsoaa):
    """VW, telling every class's score before a lesson changes it."""

    def replay(self, windows: Windows) -> tuple[Costs, list[int]]:
        classes = len(self._costs)
        scores = np.empty((len(windows[1]), classes), dtype=np.float32)
        decisions = []
        for row, (features, label) in enumerate(zip(*(part.tolist() for part in windows),
                                                    strict=True)):  # fmt: skip
            example = self._lessons[label]
            self._fill(example, features)
            self._vw.learn(example)
            partial = example.get_costsensitive_partial_prediction
            scores[row] = [partial(index) for index in range(classes)]
            decisions.append(example.get_costsensitive_prediction())
        return scores, decisions


def check_parity(costs: Costs, windows: Windows) -> None:
    theirs, their_decisions = OracleCsoaa(costs).replay(windows)
    ours = np.empty_like(theirs)
    our_decisions = np.empty(len(windows[1]), dtype=np.uint32)
    NativeCsoaa(costs).replay(*windows, ours, our_decisions)
    assert np.array_equal(ours.view(np.uint32), theirs.view(np.uint32))
    assert our_decisions.tolist() == their_decisions
    assert len(set(their_decisions)) > 1


@pytest.mark.parametrize("made", MAKERS)
@pytest.mark.parametrize("classes", CLASSES)
def test_every_score_and_decision_is_vws(classes: int, made: str) -> None:
    """Together 48,000 windows; the slow test goes on to a million."""
    count = 4_000 if classes <= 41 else 2_000
    cost = {2: "symmetric", 30: "hinged"}.get(classes, "skewed")
    check_parity(cost_table(COSTS[cost], classes - 1), MAKERS[made](classes - 1, count, classes))


@pytest.mark.slow
@pytest.mark.parametrize("made", MAKERS)
@pytest.mark.parametrize("cost", COSTS)
@pytest.mark.parametrize("classes", CLASSES)
def test_every_score_stays_vws_over_many_windows(classes: int, cost: str, made: str) -> None:
    check_parity(cost_table(COSTS[cost], classes - 1), MAKERS[made](classes - 1, 25_000, 7))


finite = st.just(0.0) | st.floats(2**-30, 1e6, width=32)
"""A nanosecond of a busy core in the longest window is far above the least of these; below 1e-19
squares underflow, each learner's in a way of its own."""


@given(st.data())
def test_any_features_and_any_costs_give_vws_scores(data: st.DataObject) -> None:
    classes = data.draw(st.integers(1, 12))
    # Quarters: VW reads costs as text, and misrounds most others.
    quarters = st.integers(-4000, 4000).map(lambda n: n / 4)
    row = st.lists(quarters, min_size=classes, max_size=classes)
    costs = np.array(data.draw(st.lists(row, min_size=classes, max_size=classes)), dtype=np.float32)
    vw, native = VwCsoaa(costs), NativeCsoaa(costs)
    features = st.tuples(finite, finite, finite, finite, finite)
    lesson = st.tuples(features, st.integers(0, classes - 1))
    for seen, label in data.draw(st.lists(lesson, min_size=1, max_size=20)):
        assert bits(native, seen) == bits(vw, seen)
        native.learn(seen, label)
        vw.learn(seen, label)
    assert native.weights() == vw.weights()


def bits(learner: VwCsoaa | NativeCsoaa, features: Features) -> list[int]:
    scores = np.array(learner.scores(features), dtype=np.float32)
    return [int(bits) for bits in scores.view(np.uint32)]


@pytest.mark.parametrize("make", [VwCsoaa, NativeCsoaa])
@pytest.mark.parametrize("classes", CLASSES)
def test_every_feature_of_every_class_has_a_weight_of_its_own(
    classes: int, make: Callable[[Costs], VwCsoaa | NativeCsoaa]
) -> None:
    costs = np.zeros((classes, classes), dtype=np.float32)
    costs[:, classes - 1] = 5
    learner = make(costs)
    learner.learn((1.0, 2.0, 1.5, 0.5, 1.0), 0)
    *others, last = learner.weights()
    assert all(weight != 0 for weight in last)
    assert all(weight == 0 for other in others for weight in other)


def test_what_it_cannot_be_given_is_refused() -> None:
    costs = cost_table(COSTS["skewed"], 3)
    learner = NativeCsoaa(costs)
    with pytest.raises(IndexError):
        learner.learn((0.0, 1.0, 0.5, 0.5, 0.0), 4)
    with pytest.raises(ValueError, match="5 features, not 2"):
        learner.predict((0.0, 1.0))
    with pytest.raises(ValueError, match="not a learning rate"):
        Csoaa(costs, -0.1)
    with pytest.raises(ValueError, match="one row and one column"):
        Csoaa(costs[:2], 0.1)
