"""``agent --plan``: what an agent would write is what it then writes; nothing is written."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from smartharvest.agent.arrangement import Arrangement
from smartharvest.agent.plan import make_plan
from smartharvest.config.settings import Settings
from smartharvest.host.journal.journal import Journal
from tests.commands import smartharvest_here
from tests.integration.supervisors import settings_for
from tests.integration.worlds import World, make_world

VERSIONS = pytest.mark.parametrize("version", [1, 2], ids=["v1", "v2"])
HERE = os.getpid()


def written(settings: Settings) -> dict[str, str]:
    """Path -> last value of what arranging the host writes."""
    found: dict[str, str] = {}

    def audit(kind: str, **details: Any) -> None:
        if kind == "write" and "tasks" not in details:
            made = details["value"] == "mkdir"
            found[details["path"]] = "new group" if made else details["value"].replace("+", "")

    with Arrangement(settings, audit=audit) as arrangement:
        arrangement.make_loop(set(), None)
        return dict(found)


@VERSIONS
@pytest.mark.parametrize(
    "more",
    [{}, {"placement": "exclusive"}, {"mechanism": "cpugroups"}, {"cpu_idle": False}],
    ids=["shared", "exclusive", "cpugroups", "without cpu.idle"],
)
def test_a_plan_names_what_the_agent_then_writes_at_its_start(
    tmp_path: Path, version: int, more: dict[str, Any]
) -> None:
    world = make_world(tmp_path, version, primary=(HERE,))
    settings = replace(settings_for(world), guardian=False, **more)
    before = world.files()
    plan = make_plan(settings)
    assert plan.refusal is None
    assert world.files() == before
    assert world.journals() == []
    planned = {change.path: change.after for change in plan.changes if change.when == "start"}
    really = written(settings)
    assert really.items() <= planned.items()
    # What a group is filled with when it is made is not in the log.
    made = [path for path, value in planned.items() if value == "new group"]
    assert {path for path in planned if os.path.dirname(path) not in made} == set(really)


@VERSIONS
def test_a_plan_shows_the_least_and_the_most_that_is_lent(tmp_path: Path, version: int) -> None:
    world = make_world(tmp_path, version, primary=(HERE,))
    plan = make_plan(settings_for(world))
    changes = {change.path: change for change in plan.changes if change.when == "lending"}
    mask = changes[world.elastic.cpus_file]
    assert (mask.before, mask.after) == ("0-7", "7 … 1-7")


def test_a_group_that_lacks_its_cpuset_is_planned_and_not_made(tmp_path: Path) -> None:
    world = make_world(tmp_path, 1, primary=(HERE,))
    os.rename(world.elastic.path, tmp_path / "aside")
    plan = make_plan(settings_for(world))
    assert plan.refusal is None
    made = [change.path for change in plan.changes if change.after == "new group"]
    assert made == [world.elastic.path]
    assert not os.path.exists(world.elastic.path)


def test_the_exit_code_says_whether_the_agent_would_start(tmp_path: Path) -> None:
    world = make_world(tmp_path, 2, primary=(HERE,))
    good = smartharvest_here("agent", "--plan", "--json", *world.arguments, *world.targets)
    assert good.code == 0
    assert json.loads(good.out)["would_start"] is True
    missing = ("--primary", "cgroup:web", "--elastic", "cgroup:nowhere")
    bad = smartharvest_here("agent", "--plan", "--json", *world.arguments, *missing)
    answer = json.loads(bad.out)
    assert (bad.code, answer["exit_code"], answer["would_start"]) == (4, 4, False)
    assert answer["refusal"] == bad.failure


def test_a_group_of_another_agent_is_found(tmp_path: Path) -> None:
    world = make_world(tmp_path, 2, primary=(HERE,))
    journal = Journal(str(world.state_dir), claims=[world.elastic.path])
    try:
        text = Path(journal.path).read_text().replace(f'"pid": {HERE},', f'"pid": {HERE + 1},')
        assert f'"pid": {HERE + 1},' in text
        Path(journal.path).write_text(text)
        outcome = smartharvest_here("agent", "--plan", *world.arguments, *world.targets)
    finally:
        journal.close()
    assert outcome.code == 8
    assert "already manages" in outcome.failure


def test_limits_that_lend_nothing_are_named(tmp_path: Path) -> None:
    world = make_world(tmp_path, 2, primary=(HERE,))
    plan = make_plan(replace(settings_for(world), max_harvest=0))
    assert any("no core to lend" in warning for warning in plan.warnings)


def test_a_configuration_is_checked_against_this_host(tmp_path: Path) -> None:
    world: World = make_world(tmp_path, 2, primary=(HERE,))
    file = tmp_path / "agent.toml"
    file.write_text(
        f'primary = ["cgroup:web"]\nelastic = "cgroup:batch"\n'
        f'cgroup_root = "{world.tree.root}"\nstate_dir = "{world.state_dir}"\n'
    )
    outcome = smartharvest_here("check-config", "--host", str(file))
    assert outcome.code == 0
    assert "cpu.idle" in outcome.out
    assert outcome.out.rstrip().endswith("put all of this back when it ends.")
    file.write_text(file.read_text().replace('"cgroup:batch"', '"cgroup:web"'))
    assert smartharvest_here("check-config", "--host", str(file)).code == 2
