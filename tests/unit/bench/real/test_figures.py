"""From slices to figures and their confidence."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from bench.real import bootstrap
from bench.real.bootstrap import BLOCK_NS, histograms, paired_ratio
from bench.real.figures import (
    NOT_PROTECTED,
    PROTECTED,
    UNCLEAR,
    Slice,
    against,
    kept_share,
    summarize,
    verdict,
    without_disturbed,
    without_standstills,
)
from bench.subject import Figures


@pytest.fixture(autouse=True)
def _fewer_resamples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bootstrap, "RESAMPLES", 100)


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


def made_rounds(factor: float = 1.0, first_seed: int = 1) -> list[Slice]:
    return [made_slice(factor, seed) for seed in range(first_seed, first_seed + 4)]


def p99(figures: Figures) -> dict[str, Any]:
    found = figures["p99"]
    assert isinstance(found, dict)
    return found


def test_unanswered_requests_are_counted_and_have_no_latency() -> None:
    one = made_slice(unanswered=10)
    figures = summarize([one], shape=(1.0,), batch_unit=0.0)
    assert figures["unanswered"] == 10
    assert histograms(one.arrival_ns, one.latency_ns).sum() == 3990


def test_requests_are_counted_by_blocks_of_their_arrival() -> None:
    arrivals = np.array([0, 1, BLOCK_NS, 5 * BLOCK_NS])
    assert histograms(arrivals, np.full(4, 50_000)).sum(axis=1).tolist() == [2, 1, 1]


def test_equal_cases_have_an_interval_around_no_change() -> None:
    figures = against(made_rounds(), made_rounds(first_seed=11), seed=1)
    low, high = p99(figures)["interval"]
    assert 0.8 < low < 1.0 < high < 1.25


def test_a_case_twice_as_slow_has_an_interval_around_two() -> None:
    figures = against(made_rounds(2.0), made_rounds(first_seed=11), seed=1)
    low, high = p99(figures)["interval"]
    assert 1.6 < low < 2.0 < high < 2.4
    assert verdict(p99(figures)) == NOT_PROTECTED


def test_rounds_that_differ_make_the_interval_wide() -> None:
    calm = made_rounds()
    mixed = [*calm[:2], made_slice(3.0, seed=3), made_slice(3.0, seed=4)]
    steady = against(made_rounds(first_seed=11), calm, seed=1)
    shaky = against(mixed, calm, seed=1)

    def width(figures: Figures) -> float:
        low, high = p99(figures)["interval"]
        return float(high - low)

    assert width(shaky) > 3 * width(steady)


def test_noise_that_both_sides_share_in_a_round_cancels() -> None:
    noisy = [made_slice(factor, seed) for seed, factor in enumerate((1.0, 8.0, 1.0, 8.0))]
    counts = [histograms(one.arrival_ns, one.latency_ns) for one in noisy]
    _, low, high = paired_ratio(counts, counts, 99.0, seed=1)
    assert 0.75 < low < 1.0 < high < 1.35


def stalled(one: Slice) -> Slice:
    latency = one.latency_ns.copy()
    latency[one.arrival_ns // BLOCK_NS == 7] += 50_000_000
    return dataclasses.replace(one, latency_ns=latency)


def test_one_stalled_round_moves_the_pooled_p99_and_not_the_median_rounds() -> None:
    calm = [made_slice(seed=seed) for seed in range(1, 8)]
    figures = against([stalled(calm[0]), *calm[1:]], calm, seed=1)
    assert 0.9 < p99(figures)["ratio"] < 1.1
    many = against([*map(stalled, calm)], calm, seed=1)
    pooled = many["pooled_p99"]
    assert isinstance(pooled, dict)
    assert pooled["ratio"] > 10
    assert p99(many)["ratio"] > 10


def test_what_was_disturbed_is_left_out_of_the_latencies_and_of_nothing_else() -> None:
    one = dataclasses.replace(stalled(made_slice()), disturbed=np.array([7]))
    clean = without_disturbed(one)
    assert clean.latency_ns.max() < 10_000_000
    assert clean.batch_units == one.batch_units
    assert clean.seconds == one.seconds
    assert kept_share([clean], [one]) == pytest.approx(39 / 40, rel=0.01)


def test_where_the_machine_stood_still_is_left_out_whoever_had_it() -> None:
    one = dataclasses.replace(stalled(made_slice()), stood_still=np.array([7]))
    assert without_disturbed(one).latency_ns.max() > 10_000_000
    assert without_standstills(one).latency_ns.max() < 10_000_000


def test_a_baseline_of_two_slices_a_round_is_taken_together() -> None:
    twice = [made_slice(factor, seed) for seed in range(4) for factor in (1.0, 3.0)]
    figures = against(made_rounds(), twice, seed=1)
    assert 0.3 < p99(figures)["ratio"] < 0.6


def test_rounds_of_few_requests_are_taken_together() -> None:
    few = Slice(np.arange(10) * BLOCK_NS, np.full(10, 50_000), 1.0, 0, 0.0, None)
    figures = against([few], [few], seed=1)
    assert figures["p99"] == figures["pooled_p99"]


@pytest.mark.parametrize(
    ("interval", "judged"),
    [
        ((0.8, 1.09), PROTECTED),
        ((1.12, 3.0), NOT_PROTECTED),
        ((0.9, 1.3), UNCLEAR),
    ],
)
def test_a_verdict_needs_the_whole_interval(interval: tuple[float, float], judged: str) -> None:
    assert verdict({"ratio": 1.0, "interval": list(interval)}) == judged


def test_work_and_cores_are_a_second() -> None:
    figures = summarize([made_slice(), made_slice(seed=4)], shape=(1.0,), batch_unit=20.0)
    assert figures["batch_work"] == 10.0
    assert figures["batch_work_cores"] == 0.5
    assert figures["batch_cores"] == 0.5
    assert figures["harvested_cores"] is None
    assert figures["requests"] == 8000
    assert figures["p99_steps_us"] == []


def test_each_step_of_the_load_has_its_own_p99() -> None:
    arrivals = np.arange(4000) * 1_000_000
    latency = np.where(arrivals < 2_000_000_000, 100_000, 300_000)
    one = Slice(arrivals, latency, 4.0, 0, 0.0, None)
    assert summarize([one], shape=(1.0, 2.0), batch_unit=0.0)["p99_steps_us"] == [100.0, 300.0]


def test_a_row_has_the_median_of_what_loads_took_before_its_slices() -> None:
    slices = [dataclasses.replace(made_slice(), load_ns=ns) for ns in (20.0, 150.0, 25.0)]
    assert summarize(slices, shape=(1.0,), batch_unit=0.0)["load_ns"] == 25.0
