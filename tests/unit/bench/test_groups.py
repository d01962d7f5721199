"""The figures of several elastic groups, from what was read of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bench.groups import many
from bench.groups.figures import off, pair, ratio_of, shares, since
from bench.groups.simulated import measure_division


def look(seconds: float, **due: float) -> dict[str, dict[str, Any]]:
    """After so many seconds, with each group having had exactly what it was due."""
    return {
        name: {"due": cores, "core_seconds": cores * seconds, "cpu_seconds": None,
               "due_core_seconds": cores * seconds, "throughput": None, "throughput_by": None}
        for name, cores in due.items()
    }  # fmt: skip


def test_a_group_that_had_what_it_was_due_is_off_by_nothing() -> None:
    found = shares([look(1, a=2.0, b=1.0), look(11, a=2.0, b=1.0)])
    assert found["had_core_s"] == {"a": 20.0, "b": 10.0}
    assert found["off_by_had"] == 0
    assert found["off_by_used"] is None


def test_what_is_used_is_held_against_what_was_due_in_each_second() -> None:
    first, second = look(0, a=1.0, b=1.0), look(10, a=1.0, b=1.0)
    for looks, used in ((first, {"a": 0.0, "b": 0.0}), (second, {"a": 8.0, "b": 2.0})):
        for name, seconds in used.items():
            looks[name] |= {"cpu_seconds": seconds, "due_core_seconds": seconds}
    assert shares([first, second])["off_by_used"] == 0


def test_the_largest_difference_counts() -> None:
    assert off({"a": 1.0, "b": 1.0, "c": 0.0}, {"a": 1.0, "b": 1.0, "c": 1.0}) == 0.3333
    assert off({"a": 0.0}, {"a": 1.0}) is None


def test_a_histogram_is_of_what_came_since() -> None:
    before = {"bounds_ns": [1000, 2000, 4000], "counts": [5, 5, 5], "count": 5, "sum_ns": 5000}
    now = {"bounds_ns": [1000, 2000, 4000], "counts": [5, 104, 105], "count": 105, "sum_ns": 205000}
    found = since(before, now)
    assert (found["count"], found["mean_us"]) == (100, 2.0)
    assert (found["median_us"], found["p99_us"]) == (2.0, 2.0)
    assert since(now, now) == {"count": 0.0}
    assert since({}, now)["count"] == 105


@pytest.mark.parametrize(
    ("one", "three", "ratio", "spread"),
    [([2.0, 4.0], [3.0, 4.0], 1.167, [1.0, 1.5]), ([], [], None, None)],
)
def test_rounds_make_a_ratio_and_its_spread(
    one: list[float], three: list[float], ratio: float | None, spread: list[float] | None
) -> None:
    assert ratio_of(one, three) == {"ratio": ratio, "spread": spread}


def test_work_of_a_pair_counts_by_what_each_did_with_equal_shares() -> None:
    fair = [{"a": 100.0, "b": 10.0, "used": 20.0}, {"a": 100.0, "b": 10.0, "used": 20.0}]
    more = [{"a": 150.0, "b": 8.0, "used": 20.0}, {"a": 150.0, "b": 8.0, "used": 10.0}]
    found = pair({"fair": fair, "throughput": more}, ("a", "b"))
    assert found["work"] == {"ratio": 1.15, "spread": [1.15, 1.15]}
    assert found["work_per_core_second"]["spread"] == [1.15, 2.3]


def test_a_division_of_many_groups_has_a_cost() -> None:
    found = measure_division()
    assert (found["groups"], found["cpus"]) == (64, 256)
    assert found["divide_ms"] > 0


@pytest.mark.parametrize(("version", "shared"), [(1, 5), (2, 1)])
def test_writes_of_a_taking_back_from_many_groups_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: int, shared: int
) -> None:
    monkeypatch.setattr(many, "MANY", 4)
    monkeypatch.setattr(many, "CPUS", 8)
    found = [many.taken_back(*many.made_actuator(tmp_path, version, case))[1]
             for case in ("one", "time")]  # fmt: skip
    assert set(found[0]) == {1}
    assert max(found[1]) == shared


def test_groups_that_own_none_of_what_is_lent_cost_few_writes_in_v1(tmp_path: Path) -> None:
    writes = many.taken_back(*many.made_actuator(tmp_path, 1, "whole"))[1]
    assert set(writes[: -many.MANY]) == {2}, "the group above, and the owner"
    assert sum(writes) / len(writes) < 4
