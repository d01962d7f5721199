from __future__ import annotations

import json
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smartharvest.lab.demo.bench import AgentFigures
from smartharvest.lab.demo.figures import (
    NO_AGENT,
    Slice,
    idle_ticks,
    percentile,
    summarize,
    summarize_all,
)
from smartharvest.lab.demo.phases import PHASES, Phase

LENDING = Phase("fixed-buffer:1", "fixed-buffer:1", "lent")
UNCONFINED = Phase("cpu-idle", None, "everywhere")


def make_slice(
    latencies_us: Sequence[int] = (100,), elapsed_s: float = 1.0, agent: AgentFigures = NO_AGENT
) -> Slice:
    return Slice(
        elapsed_s=elapsed_s,
        latencies_ns=[us * 1000 for us in latencies_us],
        left_out=0,
        idle_core_s=1.5 * elapsed_s,
        elastic_cpu_s=0.25 * elapsed_s,
        batch_units=round(900 * elapsed_s),
        agent=agent,
    )


@pytest.mark.parametrize(
    ("share", "value"), [(0.0, 1), (0.07, 7), (0.5, 50), (0.99, 99), (0.999, 100), (1.0, 100)]
)
def test_percentiles_of_one_to_a_hundred_are_by_nearest_rank(share: float, value: int) -> None:
    assert percentile(range(1, 101), share) == value


def test_a_percentile_of_nothing_is_an_error() -> None:
    with pytest.raises(ValueError, match="no values"):
        percentile([], 0.5)


@given(st.lists(st.integers(), min_size=1), st.floats(0, 1), st.floats(0, 1))
def test_percentiles_are_measured_values_and_grow_with_the_share(
    values: list[int], one: float, other: float
) -> None:
    values.sort()
    low, high = percentile(values, min(one, other)), percentile(values, max(one, other))
    assert low in values
    assert low <= high


def test_idle_ticks_add_idle_and_iowait_of_the_named_cpus_only() -> None:
    proc_stat = (
        "cpu  9 9 9 9000 900 0 0 0 0 0\n"
        "cpu0 9 9 9 100 20 0 0 0 0 0\n"
        "cpu1 9 9 9 3000 400 0 0 0 0 0\n"
        "cpu10 9 9 9 50000 6000 0 0 0 0 0\n"
        "intr 5 6 7 8 9\n\n"
    )
    assert idle_ticks(proc_stat, [0, 10]) == 100 + 20 + 50000 + 6000


def test_latencies_are_pooled_over_rounds_before_percentiles() -> None:
    slices = [make_slice(range(1, 51)), make_slice(range(51, 101))]
    figures = summarize(LENDING, slices, 66.0)
    assert figures["latency_us"] == {"p50": 50.0, "p99": 99.0, "p999": 100.0}
    assert figures["p99_rounds"] == [50.0, 100.0]
    assert figures["p99_change"] == 0.5
    assert figures["requests"] == 100


def test_cores_and_work_are_averaged_over_time_and_events_are_counted() -> None:
    slices = [
        make_slice(elapsed_s=1.0, agent=AgentFigures(1.0, 3, 1, 0.1)),
        make_slice(elapsed_s=3.0, agent=AgentFigures(0.2, 4, 0, 0.5)),
    ]
    figures = summarize(LENDING, slices, 100.0)
    assert figures["harvested_cores"] == 0.4
    assert figures["agent_cpu"] == 0.15
    assert figures["idle_cores"] == 1.5
    assert figures["elastic_cpu"] == 0.25
    assert figures["batch_work"] == 900.0
    assert figures["safeguards"] == {"short": 7, "long": 1}


def test_unconfined_batch_work_has_no_harvested_cores() -> None:
    assert summarize(UNCONFINED, [make_slice()], 100.0)["harvested_cores"] is None


def test_changes_are_relative_to_no_harvest_whatever_the_order_of_measuring() -> None:
    slices = {phase.name: [make_slice([200])] for phase in reversed(PHASES)}
    slices["no-harvest"] = [make_slice([100])]
    figures = summarize_all(slices)
    assert [one["name"] for one in figures] == [phase.name for phase in PHASES]
    assert [one["p99_change"] for one in figures] == [0.0, *[1.0] * (len(PHASES) - 1)]
    json.dumps(figures, allow_nan=False)
