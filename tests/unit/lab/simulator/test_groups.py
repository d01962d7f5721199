"""Several elastic groups on a simulated server."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from smartharvest.config.elastic_groups import ElasticGroup
from smartharvest.errors import ConfigError
from smartharvest.host.target.spec import TargetSpec
from smartharvest.lab.simulator.groups import SharedCores
from tests.commands import smartharvest_here


def group(name: str, **bounds: Any) -> ElasticGroup:
    return ElasticGroup(name, TargetSpec("cgroup", f"batch/{name}"), **bounds)


def test_groups_have_what_they_are_due_whatever_is_lent() -> None:
    groups = [group("heavy", weight=2.0), group("light"), group("other")]
    shared = SharedCores(groups, "weight", 8)
    for turn in range(100):
        shared.turn((1.0, 3.5, 5.0)[turn % 3])
    shared._last_ns = 100_000_000_000
    rows = shared.describe()
    assert sum(row["mean_cores"] for row in rows) == pytest.approx(9.5 / 3, rel=0.01)
    for row in rows:
        assert row["mean_cores"] == pytest.approx(row["due"], rel=0.03)


def test_minima_come_on_top_of_what_is_lent() -> None:
    shared = SharedCores([group("kept", min=2), group("other")], "fair", 8)
    for _ in range(10):
        shared.turn(0.0)
    shared._last_ns = 10_000_000_000
    assert [row["mean_cores"] for row in shared.describe()] == [2, 0]


def test_throughput_is_nothing_that_a_simulation_has() -> None:
    with pytest.raises(ConfigError, match="a simulation has none"):
        SharedCores([group("a")], "throughput", 8)


def tables(path: Path, head: str = "") -> str:
    text = "".join(
        f'[[elastic]]\nname = "{name}"\ntarget = "cgroup:batch/{name}"\n{more}\n'
        for name, more in (("capped", "max = 1"), ("other", ""))
    )
    path.write_text(head + text)
    return str(path)


def test_a_simulation_says_what_each_group_of_a_configuration_would_have(tmp_path: Path) -> None:
    words = ("simulate", "--seconds", "20", "--policy", "fixed-buffer:2", "--seed", "1", "--seed",
             "2", "--groups", tables(tmp_path / "agent.toml"))  # fmt: skip
    outcome = smartharvest_here(*words, "--json")
    assert outcome.code == 0, outcome.err
    found = json.loads(outcome.out)
    capped, other = found["elastic"]
    assert (capped["name"], capped["max"]) == ("capped", 1)
    assert 0 < capped["mean_cores"] <= 1
    together = capped["mean_cores"] + other["mean_cores"]
    assert together == pytest.approx(found["harvested_cores"], rel=0.1)
    assert "capped: " in smartharvest_here(*words).out


def test_a_bound_has_no_groups(tmp_path: Path) -> None:
    words = ("simulate", "--seconds", "1", "--groups", tables(tmp_path / "agent.toml"))
    outcome = smartharvest_here(*words, "--policy", "instant")
    assert "instant is a bound" in outcome.err
