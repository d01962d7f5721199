from __future__ import annotations

import numpy as np
import pytest

from bench import freshness, give_back
from smartharvest.errors import SensorError


def test_a_sight_belongs_to_the_last_start_even_if_it_came_a_little_before_the_note() -> None:
    started = np.array([1_000_000, 2_000_000])
    seen = np.array([1_000_300, 1_999_500, 5_000_000])
    assert freshness.delays(started, seen).tolist() == [300, -500]


def test_a_sight_before_any_start_is_left_out() -> None:
    assert freshness.delays(np.array([1_000_000]), np.array([500_000])).tolist() == []


def test_freshness_needs_a_thread_that_ran() -> None:
    with pytest.raises(SensorError):
        freshness.delays(np.array([], dtype=np.int64), np.array([1]))


def test_a_reaction_ends_with_the_first_write_after_the_wake_up() -> None:
    woke = np.array([1_000, 20_000_000, 40_000_000, 90_000_000])
    returned = np.array([61_000, 20_055_000, 20_090_000, 70_000_000])
    assert give_back.reactions(woke, returned).tolist() == [60_000, 55_000]
