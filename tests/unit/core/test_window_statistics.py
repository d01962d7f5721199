"""The C core's features against numpy's."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smartharvest.core._loop import MAX_CORES, WindowStatistics


@given(st.lists(st.integers(0, MAX_CORES), min_size=1, max_size=200))
def test_features_are_numpys(samples: list[int]) -> None:
    window = WindowStatistics()
    for busy in samples:
        window.add(busy)
    expected = (
        min(samples),
        max(samples),
        np.mean(samples),
        np.std(samples),
        np.median(samples),
    )
    assert window.features() == pytest.approx(expected, rel=1e-12, abs=1e-12)


@given(st.integers(0, MAX_CORES), st.integers(1, 10_000))
def test_a_constant_window_is_exact(busy: int, polls: int) -> None:
    window = WindowStatistics()
    window.add(busy, count=polls)
    assert window.features() == (busy, busy, busy, 0.0, busy)


def test_an_empty_window_is_all_zero() -> None:
    assert WindowStatistics().features() == (0, 0, 0, 0, 0)
