"""What the open-loop generator is given."""

from __future__ import annotations

import numpy as np
import pytest

from bench.real.traffic import (
    encode_requests,
    etc_key_sizes,
    etc_value_sizes,
    poisson_arrivals,
    with_quiet_gaps,
    zipf_ranks,
)


def test_arrivals_ascend_and_follow_each_steps_rate() -> None:
    arrivals = poisson_arrivals([(10.0, 100.0), (10.0, 1000.0)], np.random.default_rng(1))
    assert (np.diff(arrivals) >= 0).all()
    assert arrivals[0] >= 0
    assert arrivals[-1] < 20e9
    early = int((arrivals < 10e9).sum())
    assert abs(early - 1000) < 150
    assert abs(arrivals.size - early - 10_000) < 500


def test_equal_seeds_draw_equal_traffic() -> None:
    one, same, other = (
        poisson_arrivals([(1.0, 500.0)], np.random.default_rng(seed)) for seed in (7, 7, 8)
    )
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)


def test_a_request_is_its_length_and_its_bytes() -> None:
    assert encode_requests([b"ab", b""]) == b"\x02\0\0\0ab\0\0\0\0"


def test_sizes_are_those_of_the_etc_pool() -> None:
    rng = np.random.default_rng(1)
    keys, values = etc_key_sizes(200_000, rng), etc_value_sizes(200_000, rng)
    # Means of the two distributions: mu + sigma (gamma(1 - k) - 1) / k, and sigma / (1 - k).
    assert abs(keys.mean() - 36) < 1
    assert abs(values.mean() - 329) < 15
    assert keys.min() >= 8
    assert keys.max() <= 250


def test_low_ranks_are_popular() -> None:
    ranks = zipf_ranks(100_000, 1000, 1.0, np.random.default_rng(1))
    counts = np.bincount(ranks, minlength=1000)
    assert counts[0] > 5 * counts[9] > counts[99]


def test_gaps_leave_the_length_of_every_step_and_about_half_of_its_requests() -> None:
    pieces = with_quiet_gaps([(20.0, 100.0), (10.0, 300.0)], np.random.default_rng(1))
    assert [rate for _, rate in pieces[:3]] == [100.0, 0.0, 100.0]
    assert sum(seconds for seconds, _ in pieces) == pytest.approx(30.0)
    on_s = {rate: sum(s for s, own in pieces if own == rate) for rate in (100.0, 300.0)}
    assert 8.0 < on_s[100.0] < 13.0
    assert 4.0 < on_s[300.0] < 7.5
