"""``smartharvest serverless simulate``, as it is typed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.commands import smartharvest_here
from tests.unit.serverless.test_sources import INV, MEM, RUN

KEYS = {
    *("invocations", "latency_s", "slowdown", "cold_start_share", "failed_share"),
    *("workers_per_function", "throughput_rps", "cores_used", "cost"),
}
SHORT = ("serverless", "simulate", "--minutes", "1", "--rps", "5")


@pytest.fixture
def prefix(tmp_path: Path) -> str:
    for part, text in (("inv", INV), ("run", RUN), ("mem", MEM)):
        (tmp_path / f"two_{part}.csv").write_text(text)
    return str(tmp_path / "two")


@pytest.mark.parametrize("balancer", ["mws", "jsq", "vanilla", "p2c"])
@pytest.mark.parametrize("churn", ["dedicated", "normal", "active"])
def test_the_json_has_the_figures(balancer: str, churn: str) -> None:
    outcome = smartharvest_here(*SHORT, "--balancer", balancer, "--churn", churn, "--json")
    document = json.loads(outcome.out)
    assert outcome.code == 0
    assert document.keys() >= KEYS
    assert document["invocations"] == 300
    assert {"p50", "p99"} <= document["latency_s"].keys()
    assert {"p50", "p99"} <= document["slowdown"].keys()


@pytest.mark.parametrize("strategy", ["no-failures", "bounded-failures", "live-and-let-die"])
def test_every_strategy_runs_on_files(strategy: str, prefix: str) -> None:
    outcome = smartharvest_here(
        "serverless", "simulate", "--functions", prefix, "--workers", "4x8", "--minutes", "3",
        "--strategy", strategy, "--json",
    )  # fmt: skip
    assert json.loads(outcome.out)["invocations"] == 75


def test_the_same_seed_gives_the_same_bytes() -> None:
    first, second, other = (
        smartharvest_here(*SHORT, "--churn", "active", "--seed", seed, "--json").out
        for seed in ("7", "7", "8")
    )
    assert first == second != other


def test_without_flags_it_runs_and_says_so_in_words() -> None:
    outcome = smartharvest_here("serverless", "simulate")
    assert outcome.code == 0
    assert "workers per function" in outcome.out


def test_a_record_of_cores_is_played(tmp_path: Path) -> None:
    path = tmp_path / "cores.csv"
    path.write_text("seconds,worker,cores\n0,a,8\n0,b,8\n30,a,evicted\n")
    outcome = smartharvest_here(*SHORT, "--churn", str(path), "--json")
    assert json.loads(outcome.out)["evictions"] == 1


@pytest.mark.parametrize(
    ("code", "flags"),
    [
        (2, ("--functions", "nowhere/nothing")),
        (2, ("--churn", "stormy")),
        (2, ("--workers", "0x8")),
        (2, ("--workers", "many")),
        (2, ("--rps", "-1")),
        (2, ("--rps", "0")),
        (2, ("--rps", "nan")),
        (2, ("--rps", "1e8")),
        (2, ("--minutes", "-1")),
        (2, ("--minutes", "inf")),
        (2, ("--seed", "-1")),
        (2, ("--balancer", "best")),
        (2, ("--strategy", "hope")),
        (2, ("--budget", "2", "--strategy", "bounded-failures")),
        (2, ("--retries", "-1")),
        (2, ("--idempotent-share", "2")),
        (2, ("--cold-start", "-1")),
        (2, ("--cold-cost", "-1")),
        (2, ("--cold-cost", "4", "--balancer", "vanilla")),
        (2, ("--keep-alive", "-1")),
        (2, ("--report-every", "0")),
        (2, ("--notice", "nan")),
        (2, ("--controllers", "0")),
        (2, ("--regular-workers", "99")),
        (2, ("--regular-workers", "0", "--strategy", "no-failures")),
        (2, ("--regular-workers", "20")),
        (2, ("--workers", "1x8", "--strategy", "no-failures")),
        (2, ("--workers", "20x8x0.1")),
        (2, ("--workers", "10000x8", "--functions", "FILE")),
        (11, ("--churn", "FILE")),
        (11, ("--churn", "/")),
    ],
)
def test_bad_input_is_one_line_and_an_exit_code(
    code: int, flags: tuple[str, ...], tmp_path: Path
) -> None:
    path = tmp_path / "bad.toml"
    path.write_text("nothing")
    arguments = [str(path) if flag == "FILE" else flag for flag in flags]
    outcome = smartharvest_here(*SHORT, *arguments)
    assert outcome.code == code
    assert outcome.failure
    assert outcome.out == ""


@pytest.mark.parametrize("part", ["inv", "run", "mem"])
def test_a_missing_file_of_the_three_is_one_line(prefix: str, part: str) -> None:
    Path(f"{prefix}_{part}.csv").unlink()
    outcome = smartharvest_here(*SHORT, "--functions", prefix)
    assert outcome.code == 11
    assert f"two_{part}.csv" in outcome.failure
