"""The page of functions is what its figures say."""

from __future__ import annotations

import json
from pathlib import Path

from bench.serverless.claims import rps_of, table
from bench.serverless.experiments import STEPS, most, rates
from bench.serverless.page import page
from smartharvest.serverless.simulator.mix import built_in_mix
from smartharvest.serverless.simulator.pool import parse_workers

ROOT = Path(__file__).parents[3]


def test_the_page_is_what_the_figures_say() -> None:
    document = json.loads((ROOT / "bench/results/serverless.json").read_text())
    written = (ROOT / "docs/research/serverless.md").read_text()
    assert page(document, "serverless") == written, "python -m bench.serverless --again renews it"


def test_rates_keep_that_share_of_the_cores_busy() -> None:
    workload = built_in_mix(0.5)
    per_s = workload.per_minute.sum() / 60
    whole = rates(workload, parse_workers("20x8"))[STEPS.index(1.0)]
    assert abs(whole / per_s * workload.demand_cores().sum() - 160) < 1


def test_the_highest_rate_within_a_bound_counts() -> None:
    rows = [{"rps": rps, "p99": p99} for rps, p99 in ((1, 9.0), (2, 3.0), (3, 4.0), (4, 8.0))]
    assert most(rows, "p99", 4.0) == 3
    assert most(rows, "p99", 1.0) == 0
    assert rps_of(0.0) == "never"


def test_tables_are_markdown() -> None:
    assert list(table(("a", "b"), [("1", "2")])) == ["| a | b |", "|---|---|", "| 1 | 2 |", ""]
