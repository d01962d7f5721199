"""Shadow mode: decides as the agent does, and writes nothing at all."""

from __future__ import annotations

import json

import pytest

from smartharvest.agent.dry_run import DryRunFigures
from smartharvest.algorithm.algorithm1 import Decision
from smartharvest.core.window import Window
from tests.commands import smartharvest_here
from tests.integration.processes import Processes
from tests.integration.worlds import EITHER, World


def window(primary_cores: int, demand: int, exhausted: bool = False) -> Window:
    return Window(
        seq=1, start_ns=0, end_ns=25, polls=5, busy_min=0, busy_max=min(demand, primary_cores),
        busy_mean=1.0, busy_std=0.0, busy_median=1.0, busy_last=1, demand_max=demand,
        primary_cores=primary_cores, exhausted=exhausted,
    )  # fmt: skip


def decision(primary: int, harvest: int, *, shared: bool = False) -> Decision:
    return Decision(
        seq=1, primary_cores=primary, harvest_cores=harvest, safe_cores=4, buffer=0,
        reason="predicted", label=None, label_kind="demand", busy_peak=1, demand_peak=1,
        shared=shared,
    )  # fmt: skip


@pytest.mark.timing
def test_a_dry_run_writes_nothing_and_tells_what_would_have_been_lent(world: World) -> None:
    before = world.files()
    outcome = smartharvest_here(
        "agent", *world.arguments, *world.targets, "--dry-run", "--policy", "fixed-buffer:1",
        "--duration", "500ms", "--json",
    )  # fmt: skip
    assert outcome.code == 0, outcome.err
    report = json.loads(outcome.out)
    assert report["harvested_cores"] > 4
    assert report["shadow"]["lending"] > 0
    assert world.files() == before
    assert world.journals() == []


def test_a_dry_run_needs_no_elastic_group(quiet_world: World) -> None:
    outcome = smartharvest_here(
        "agent", *quiet_world.arguments, "--primary", "cgroup:web", "--dry-run",
        "--duration", "200ms",
    )  # fmt: skip
    assert outcome.code == 0, outcome.err
    assert "dry run: " in outcome.out.splitlines()[-1]


@EITHER
@pytest.mark.timing
def test_a_dry_run_runs_beside_an_agent(world: World, processes: Processes) -> None:
    agent = processes.agent(*world.arguments, *world.targets, "--policy", "fixed-buffer:1")
    agent.wait_until(lambda: world.mask() == "2-7")
    outcome = smartharvest_here(
        "agent", *world.arguments, *world.targets, "--dry-run", "--duration", "200ms"
    )
    assert outcome.code == 0, outcome.err
    assert world.idle() == "1"


def test_windows_in_which_too_much_would_have_been_lent_are_counted() -> None:
    figures = DryRunFigures()
    figures.observe(window(4, 1), decision(4, 0))  # nothing lent
    figures.observe(window(2, 1), decision(2, 2))  # one core unused
    figures.observe(window(2, 4, exhausted=True), decision(4, 0))  # two cores missing
    assert (figures.windows, figures.lending, figures.short) == (3, 2, 1)
    assert (figures.most_missing, figures.unused_core_windows) == (2, 4)
    assert figures.describe() == (
        "dry run: 2 of 3 windows would have lent something; 1 of them (50.00%) too much for a "
        "moment; at worst 2 cores missing; 1.33 cores on average were neither used nor lent"
    )


def test_it_says_that_what_sharing_costs_is_not_among_the_figures() -> None:
    figures = DryRunFigures()
    figures.observe(window(0, 1), decision(0, 4, shared=True))
    figures.observe(window(4, 1), decision(2, 2))
    assert figures.shared == 1
    assert figures.describe().endswith(
        "; in 1 of them CPUs would have been shared, and what that costs no rehearsal shows"
    )
