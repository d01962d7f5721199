"""What speaks of elastic groups calls each by its name: commands about an agent with several."""

from __future__ import annotations

import json
import os
import re
import signal
from pathlib import Path

import pytest

from tests.commands import smartharvest, smartharvest_here
from tests.integration.processes import Processes, RunningAgent, wait_until
from tests.integration.test_several_groups import (
    NAMES,
    rows_of,
    shares,
    toml_of_groups,
    world_of_groups,
)
from tests.integration.worlds import World

pytestmark = pytest.mark.timing


@pytest.fixture
def world(tmp_path: Path) -> World:
    return world_of_groups(tmp_path, 2)


def agent_of(world: World, processes: Processes, config: str, *more: str) -> RunningAgent:
    agent = processes.agent(
        *world.arguments, "--primary", "cgroup:web", "--policy", "fixed-buffer:1",
        "--config", config, *more,
    )  # fmt: skip
    agent.wait_until(lambda: sum(shares(world)) == 7)
    return agent


def test_a_plan_has_each_group_with_its_bounds(world: World, tmp_path: Path) -> None:
    config = toml_of_groups(tmp_path / "agent.toml")
    plan = ("agent", "--plan", *world.arguments, "--primary", "cgroup:web", "--config", config)
    seen = json.loads(smartharvest_here(*plan, "--json").out)["found"]
    assert [row["name"] for row in seen["groups"]] == list(NAMES)
    assert seen["share"] == "fair"
    assert sum(row["most_cores"] for row in seen["groups"]) > 0
    assert all(row["exists"] for row in seen["groups"])
    text = smartharvest_here(*plan).out
    assert "group       builds (cgroup:batch/builds): minimum 0, maximum all there are; " in text


def test_promises_adapters_and_run_know_the_groups_of_an_agent(
    world: World, tmp_path: Path, processes: Processes
) -> None:
    agent = agent_of(world, processes, toml_of_groups(tmp_path / "agent.toml"))
    said = smartharvest_here("explain", "--capacity", *world.arguments[2:]).out
    for name in NAMES:
        assert re.search(rf"^for {name}: \d cores \(0 guaranteed; ", said, re.MULTILINE)
    wait_until(lambda: all(row["promised"] is not None for row in rows_of(world)))
    slurm = ("adapter", "slurm", "--node", "n", "--partition", "p", "--state-dir")
    refused = smartharvest_here(*slurm, str(world.state_dir))
    assert refused.code == 2
    assert "choose one with --group: analytics, builds, etl" in refused.err
    refused = smartharvest_here(*slurm, str(world.state_dir), "--group", "x")
    assert "no elastic group 'x'; it has analytics, builds, etl" in refused.err
    outcome = smartharvest(
        "run", "--group", "builds", *world.arguments, "--", "sh", "-c", "echo $$"
    )
    procs = Path(world.tree.group("batch/builds").path, "cgroup.procs").read_text()
    assert (outcome.code, procs) == (0, outcome.out)
    refused = smartharvest_here("run", "--group", "x", *world.arguments, "--", "true")
    assert "'x' is no elastic group; there are analytics, builds, etl" in refused.err
    assert agent.send(signal.SIGTERM).code == 0


def test_the_end_of_a_run_and_its_audit_log_have_the_groups(
    world: World, tmp_path: Path, processes: Processes
) -> None:
    audit = str(tmp_path / "audit.jsonl")
    config = toml_of_groups(tmp_path / "agent.toml")
    agent = agent_of(world, processes, config, "--audit-log", audit)
    counts = ("core_seconds", "due_core_seconds")
    wait_until(lambda: all(row[key] > 0 for row in rows_of(world) for key in counts))
    outcome = agent.send(signal.SIGTERM)
    assert outcome.code == 0
    told = smartharvest_here("explain", audit).out
    assert "lends to analytics and builds and etl (share fair) on CPUs" in told
    day = json.loads(smartharvest_here("report", audit, "--json").out)
    assert day["elastic"] == "analytics, builds, etl"
    assert {name for name, group in day["groups"].items() if group["had_core_hours"]} == set(NAMES)
    for name in NAMES:
        assert f"\n{name} had " in outcome.out
    assert os.path.exists(audit)
