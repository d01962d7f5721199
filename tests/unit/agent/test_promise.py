from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smartharvest.agent.promise import (
    HISTORY_STEPS,
    LEAST_JUDGED,
    STEP_NS,
    HarvestMonitor,
    explain_capacity,
)


def wandering(seconds: int, seed: int) -> list[float]:
    """Capacity that moves between 0 and 8 cores, with sudden dips."""
    source, level, found = random.Random(seed), 4.0, []
    for _ in range(seconds):
        level = min(8.0, max(0.0, level + source.gauss(0, 0.2)))
        found.append(level if source.random() > 0.01 else 0.5 * level)
    return found


@given(st.lists(st.floats(1, 12), max_size=120), st.integers(1, 20), st.floats(0.5, 0.99))
def test_a_promise_is_never_below_the_minimum_nor_above_what_is_there(
    levels: list[float], hold_s: int, probability: float
) -> None:
    monitor = HarvestMonitor(1, hold_s, probability)
    for level in levels:
        monitor.take_step(level)
        assert 1 <= monitor.promised <= max(1, level + 1e-6)


@pytest.mark.parametrize("probability", [0.8, 0.95])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_about_as_many_promises_are_kept_as_were_asked_for(probability: float, seed: int) -> None:
    monitor = HarvestMonitor(0, 10, probability)
    for level in wandering(6000, seed):
        monitor.take_step(level)
    calibration = monitor.describe(0, 0, 8)["calibration"]
    assert calibration["promises"] > 1500
    assert calibration["kept"] >= probability - 0.03
    assert calibration["persistence_kept"] < calibration["kept"]


def test_what_little_cores_did_says_nothing_of_many() -> None:
    """Three hours of steady little, and every ten minutes a spell of much that is gone in a
    moment: only then a promise can be broken."""
    source = random.Random(5)
    monitor = HarvestMonitor(0, 30, 0.9)
    for _ in range(18):
        little, much = 500, 100
        for _ in range(little):
            monitor.take_step(1.0)
        falls = 0
        for _ in range(much):
            falls = falls - 1 if falls else 8 * (source.random() < 0.03)
            monitor.take_step(2.0 if falls else 8.0)
    calibration = monitor.describe(0, 0, 8)["calibration"]
    assert monitor.promised >= 1
    assert calibration["kept"] >= 0.9


def test_constant_capacity_is_promised_whole_once_enough_was_seen() -> None:
    monitor = HarvestMonitor(0, 5, 0.9)
    promised = []
    for _ in range(LEAST_JUDGED + 10):
        monitor.take_step(3.0)
        promised.append(monitor.promised)
    assert promised[0] == 0
    assert promised[-1] == 3


def test_memory_is_bounded() -> None:
    monitor = HarvestMonitor(0, 60, 0.9)
    for level in wandering(HISTORY_STEPS + 500, 4):
        monitor.take_step(level)
    assert len(monitor._forecasts) == len(monitor._shortfalls) == HISTORY_STEPS
    assert len(monitor._unjudged) <= 61
    assert len(monitor._lowest) <= 60


def test_a_second_is_averaged_from_what_the_loop_has_counted() -> None:
    monitor = HarvestMonitor(1, 1, 0.5)
    core_ns = 0
    for tick in range(4 * (LEAST_JUDGED + 5)):
        monitor.observe(tick * STEP_NS // 4, core_ns)
        core_ns += 3 * STEP_NS // 4 if tick % 2 else STEP_NS // 4
    assert monitor.describe(0, 0, 8)["forecast"] == pytest.approx(1 + 2.0)
    assert monitor.promised == 3


def test_a_count_that_begins_anew_is_no_shrinking() -> None:
    monitor = HarvestMonitor(0, 1, 0.5)
    for second in range(LEAST_JUDGED + 5):
        monitor.observe(second * STEP_NS, second * 2 * STEP_NS)
    before = monitor.promised
    monitor.observe(100 * STEP_NS, 0)
    monitor.observe(101 * STEP_NS, 2 * STEP_NS)
    assert monitor.promised == before == 2


def test_what_is_withdrawn_is_not_promised_and_a_notice_tells_of_it_for_a_while() -> None:
    monitor = HarvestMonitor(1, 2, 0.5)
    now_ns = 0
    for second in range(LEAST_JUDGED + 5):
        now_ns = second * STEP_NS
        monitor.observe(now_ns, second * 2 * STEP_NS)
    assert monitor.describe(now_ns, 2, 4)["shrink_notice"] is None
    monitor.observe(now_ns + 1000, 0, "paused by the operator")
    seen = monitor.describe(now_ns + STEP_NS, 0, 4)
    assert seen["cores"] == {"now": 1, "guaranteed": 1, "promised": 1, "most": 5}
    assert (seen["shrink_notice"]["from"], seen["shrink_notice"]["to"]) == (3, 1)
    assert "paused by the operator" in "\n".join(explain_capacity(seen))
    assert monitor.describe(now_ns + 3 * STEP_NS, 0, 4)["shrink_notice"] is None


def test_the_explanation_names_the_number_and_its_reasons() -> None:
    monitor = HarvestMonitor(0, 5, 0.9)
    assert "yet" in explain_capacity(monitor.describe(0, 0, 4))[1]
    for level in wandering(500, 5):
        monitor.take_step(level)
    text = "\n".join(explain_capacity(monitor.describe(0, 3, 8)))
    assert f"promised for 5 s: {monitor.promised} cores" in text
    assert "were kept (asked for: 90.0%)" in text
    assert "promise what is there" in text


def test_the_explanation_has_the_memory_of_a_group_with_bounds() -> None:
    mib = 1 << 20
    sizes = {"now_bytes": None, "guaranteed_bytes": 256 * mib, "most_bytes": 2048 * mib}
    group = {"name": "etl", "memory": sizes}
    seen = HarvestMonitor(0, 5, 0.9).describe(0, 0, 4) | {"groups": [group]}
    text = "\n".join(explain_capacity(seen))
    assert "memory of etl: ? now (256 MiB guaranteed, 2048 MiB at most)" in text
    assert "memory" not in "\n".join(explain_capacity(seen | {"groups": [{"name": "etl"}]}))


@pytest.mark.parametrize(("hold_s", "probability"), [(0, 0.5), (1, 0.0), (1, 1.0)])
def test_impossible_promises_are_refused(hold_s: int, probability: float) -> None:
    with pytest.raises(ValueError, match="hold_s"):
        HarvestMonitor(0, hold_s, probability)
