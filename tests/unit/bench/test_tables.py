"""Figures as tables of Markdown."""

from __future__ import annotations

from bench.statistics import across_rounds, summarize
from bench.tables import find_rows, row_table


def value(*rounds: float) -> dict[str, object]:
    return dict(across_rounds(rounds))


def text_of(node: dict[str, object]) -> list[str]:
    return "\n".join(row_table(find_rows(node)[0])).strip().splitlines()


def test_plain_figures_of_groups_that_are_alike_are_one_table() -> None:
    node: dict[str, object] = {
        "cases": 2,
        "alone": {"p99_us": 10.0, "bursts": 3},
        "beside_others": {"p99_us": 20.5, "bursts": 4, "rescues_per_s": 1.5},
    }
    rows, used = find_rows(node)
    assert used == {"alone", "beside_others"}
    assert "\n".join(row_table(rows)).split("\n")[1:] == [
        "| | p99 us | bursts | rescues per s |",
        "|---|---|---|---|",
        "| alone | 10 | 3 |  |",
        "| beside others | 20.5 | 4 | 1.5 |",
        "",
    ]


def test_a_ratio_stands_behind_its_figure() -> None:
    floor = {"late_us": value(1.0, 3.0)}
    loop = {"late_us": value(3.0), "floor": "sleep", "ratio": {"late_us": 1.5}}
    assert text_of({"sleep": floor, "loop": loop})[2:] == [
        "| sleep | 2 (1..3) |  |",
        "| loop | 3 (3..3) ×1.5 | sleep |",
    ]


def test_groups_of_a_few_rows_are_rows_together() -> None:
    node: dict[str, object] = {
        "seconds": 2.0,
        "idle": {"agent": {"cpu": value(0.02)}, "guardian": {"cpu": value(0.01)}},
        "busy": {"agent": {"cpu": value(0.04)}, "guardian": {"cpu": value(0.03)}},
    }
    rows, used = find_rows(node)
    assert used == {"idle", "busy"}
    assert list(rows) == ["idle: agent", "idle: guardian", "busy: agent", "busy: guardian"]


def test_what_all_rows_say_alike_stands_above_them() -> None:
    node: dict[str, object] = {
        name: {"scheduled_as_asked": True, "late_us": value(late)}
        for name, late in (("one", 1.0), ("other", 2.0))
    }
    assert text_of(node)[0] == "scheduled as asked: yes."


def test_groups_that_share_too_little_are_no_table() -> None:
    assert find_rows({"one": {"a": 1}, "other": {"b": 2}, "third": {"c": 3}}) == ({}, set())


def test_a_distribution_and_a_group_with_one_are_no_rows() -> None:
    case = dict(summarize([[1000, 2000]]))
    assert find_rows({"one": case, "other": case}) == ({}, set())
    assert find_rows({"one": {"fast": case}, "other": {"fast": case}}) == ({}, set())
