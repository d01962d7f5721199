"""The cost functions of figures 3 and 12, worked by hand for a primary of ten cores."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smartharvest.algorithm.learning.costs import COSTS, cost_table

HAND_WORKED = {
    "skewed": [13, 12, 11, 0, 1, 2, 3, 4, 5, 6, 7],
    "symmetric": [3, 2, 1, 0, 1, 2, 3, 4, 5, 6, 7],
    "hinged": [13, 12, 11, 0, 0, 0, 0, 0, 0, 0, 0],
}


@pytest.mark.parametrize("name", COSTS)
def test_costs_of_a_peak_of_three_of_ten_cores(name: str) -> None:
    costs = COSTS[name](3, 10)
    assert costs.tolist() == HAND_WORKED[name]
    assert costs.dtype == np.float32


@pytest.mark.parametrize("name", COSTS)
@given(st.data())
def test_the_label_costs_nothing_and_no_class_less(name: str, data: st.DataObject) -> None:
    total = data.draw(st.integers(0, 70))
    label = data.draw(st.integers(0, total))
    costs = COSTS[name](label, total)
    assert costs.shape == (total + 1,)
    assert costs[label] == 0 == costs.min()


@pytest.mark.parametrize("name", ["skewed", "hinged"])
@given(st.data())
def test_every_underprediction_costs_more_than_any_overprediction(
    name: str, data: st.DataObject
) -> None:
    total = data.draw(st.integers(1, 70))
    label = data.draw(st.integers(1, total))
    costs = COSTS[name](label, total)
    assert costs[:label].min() > costs[label:].max()


def test_a_row_of_the_table_is_a_labels_costs() -> None:
    table = cost_table(COSTS["skewed"], 10)
    assert table.shape == (11, 11)
    assert table[3].tolist() == HAND_WORKED["skewed"]
