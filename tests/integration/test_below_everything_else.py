"""The elastic group's weight on a fake tree: where it counts, and what older kernels have."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from smartharvest.agent.supervisor import Supervisor
from smartharvest.config.settings import Settings
from smartharvest.host.cgroup.tree import Group
from smartharvest.host.target.spec import TargetSpec
from tests.integration.processes import Processes
from tests.integration.supervisors import settings_for
from tests.integration.worlds import World, make_world


def idle(group: Group) -> str:
    assert group.idle_file is not None
    return group.tree.files.read(group.idle_file).strip()


def nested(world: World, elastic: int) -> Settings:
    """The primary in web.slice/site, the elastic side in batch.slice/job."""
    for name in ("web.slice", "batch.slice"):
        group = world.add_group(name)
        if world.tree.version == 2:
            world.kernel.write(f"{group.path}/cgroup.subtree_control", "+cpuset +cpu")
    world.add_group("web.slice/site")
    world.add_group("batch.slice/job", "0-7", (elastic,))
    return settings_for(
        world,
        primary=(TargetSpec("cgroup", "web.slice/site"),),
        elastic=TargetSpec("cgroup", "batch.slice/job"),
    )


def test_idle_stands_where_the_subtrees_part(
    tmp_path: Path, version: int, processes: Processes
) -> None:
    world = make_world(tmp_path, version)
    settings = nested(world, processes.asleep())
    before = world.files()
    with Supervisor(settings):
        assert idle(world.tree.group("batch.slice")) == "1"
        assert idle(world.tree.group("batch.slice/job")) == "1"
        assert idle(world.tree.group("web.slice")) == "0"
    assert world.files() == before


def test_a_slice_that_holds_others_is_left_alone(
    tmp_path: Path, processes: Processes, caplog: pytest.LogCaptureFixture
) -> None:
    world = make_world(tmp_path, 1)
    settings = nested(world, processes.asleep())
    stranger = processes.asleep()
    world.add_group("batch.slice/other", "0-7", (stranger,))
    with Supervisor(settings):
        assert idle(world.tree.group("batch.slice")) == "0"
        assert idle(world.tree.group("batch.slice/job")) == "1"
    assert f"also holds task {stranger}" in caplog.text


def test_before_5_15_the_smallest_weight_takes_its_place(
    tmp_path: Path, version: int, processes: Processes
) -> None:
    world = make_world(tmp_path, version, elastic=(processes.asleep(),))
    for group in (world.elastic, world.tree.group("web")):
        assert group.idle_file is not None
        os.unlink(group.idle_file)
    weight_file = world.elastic.weight_file
    assert weight_file is not None
    before = world.files()
    with Supervisor(settings_for(world)):
        assert world.kernel.read(weight_file).strip() == {1: "2", 2: "1"}[version]
    assert world.files() == before
