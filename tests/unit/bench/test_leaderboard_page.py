"""The leaderboard's page says what was reached and who fails where."""

from __future__ import annotations

from dataclasses import replace

from bench.leaderboard_page import failures, page, recommended, side_by_side
from smartharvest.lab.simulator.leaderboard import Row


def row(policy: str, workload: str, p99_change: float, seed: int = 1) -> Row:
    return Row(workload, "cpugroups", policy, seed, 2.0, 0.2, 0.5, 0.01, p99_change, 0.0, 9.0, 0)


def test_who_is_beyond_ten_percent_is_named_with_the_workload() -> None:
    rows = [row("smartharvest", "mmpp", 0.42), row("smartharvest", "two", 0.1)]
    told = failures([*rows, row("adaptive-quiet", "mmpp", 0.02)])
    assert "| cpugroups | smartharvest | mmpp +42% |" in told
    assert "two" not in told
    assert "adaptive-quiet" not in told


def test_the_page_names_the_seeds_of_each_run() -> None:
    rows = [row("smartharvest", "moses", 0.0), row("adaptive-quiet", "moses", 0.0)]
    told = page(rows, [row(one.policy, "moses", 0.0, 101) for one in rows], rows[1:])
    assert "Seeds: 1." in told
    assert "Seeds: 101." in told
    assert "goal 3: **missed**" in told


def test_adaptive_is_the_recommended_one_where_the_primary_preempts_the_batch() -> None:
    papers, quiet = row("smartharvest", "moses", 0.0), row("adaptive-quiet", "moses", 0.0)
    ours = replace(row("adaptive", "moses", 0.2), mechanism="cpu-idle")
    told = page([papers, quiet, ours], [papers, quiet, ours], [quiet, ours])
    assert "| cpu-idle | **adaptive** |" in told
    assert "- `cpu-idle`: worst P99 +20.0% (`moses`), goal at most +10 %: **missed**." in told


def test_adaptive_is_the_recommended_one_in_a_class_below_too() -> None:
    names = ("cpu-idle", "cpu-idle-7.3", "strict", "ipi", "cpugroups")
    assert [name for name in names if recommended(name) == "adaptive"] == list(names[:3])


def test_the_models_that_were_held_stand_next_to_the_older_one_as_means_over_seeds() -> None:
    def on(mechanism: str, policy: str, p99_change: float, seed: int = 1) -> Row:
        return replace(row(policy, "moses", p99_change, seed), mechanism=mechanism)

    told = side_by_side(
        [
            row("smartharvest", "mmpp", 0.0),
            on("cpu-idle", "adaptive", 0.01),
            on("cpu-idle-7.3", "everywhere", 0.5),
            on("cpu-idle-7.3", "everywhere", 0.7, seed=101),
        ]
    )
    assert told.splitlines() == [
        "| | `adaptive`, cpu-idle | `everywhere`, cpu-idle-7.3 |",
        "|---|---|---|",
        "| moses | 20%, +1% | 20%, +60% |",
    ]
