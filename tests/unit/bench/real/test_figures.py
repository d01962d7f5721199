"""From slices to figures and their confidence."""

from __future__ import annotations

import numpy as np

from bench.real.figures import Slice, blocks, bootstrap_change, summarize


def made_slice(factor: float = 1.0, seed: int = 1, unanswered: int = 0) -> Slice:
    rng = np.random.default_rng(seed)
    arrivals = np.sort(rng.integers(0, 4_000_000_000, 4000))
    latency = (rng.exponential(100_000 * factor, 4000)).astype(np.int64)
    latency[:unanswered] = -1
    return Slice(
        arrival_ns=arrivals,
        latency_ns=latency,
        seconds=4.0,
        batch_units=40,
        batch_core_s=2.0,
        harvested_cores=None,
    )


def test_unanswered_requests_are_counted_and_have_no_latency() -> None:
    figures = summarize([made_slice(unanswered=10)], [made_slice()], seed=1)
    assert figures["unanswered"] == 10
    assert min(np.concatenate(blocks([made_slice(unanswered=10)]))) >= 0


def test_equal_cases_have_an_interval_around_no_change() -> None:
    own, other = blocks([made_slice(seed=2)]), blocks([made_slice(seed=3)])
    low, high = bootstrap_change(own, other, 99.0, seed=1)
    assert low < 0 < high


def test_a_case_twice_as_slow_has_an_interval_far_from_no_change() -> None:
    own, other = blocks([made_slice(2.0, seed=2)]), blocks([made_slice(seed=3)])
    low, high = bootstrap_change(own, other, 99.0, seed=1)
    assert 0.5 < low < 1.0 < high


def test_work_and_cores_are_a_second() -> None:
    figures = summarize([made_slice(), made_slice(seed=4)], [made_slice()], seed=1)
    assert figures["batch_work"] == 10.0
    assert figures["batch_cores"] == 0.5
    assert figures["harvested_cores"] is None
    assert figures["requests"] == 8000


def test_the_baseline_has_no_change() -> None:
    baseline = [made_slice()]
    assert "p99_change" not in summarize(baseline, baseline, seed=1)
