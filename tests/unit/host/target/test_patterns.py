"""Targets named by a pattern or a unit: which groups they stand for."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from smartharvest.errors import ConfigError
from smartharvest.host.target.spec import TargetSpec
from smartharvest.host.target.targets import expand, is_pattern, parse_target
from tests.integration.worlds import World, make_world


@pytest.fixture(params=[1, 2])
def world(tmp_path: Path, request: pytest.FixtureRequest) -> World:
    made = make_world(tmp_path, request.param)
    for path in (
        "pods/web-1", "pods/web-2", "pods/db", "system.slice/nginx.service",
        "a.slice/a-b.slice/worker@1.service", "a.slice/a-b.slice/worker@2.service",
        "user.slice/user-1.slice/nginx.service", "odd/web-3\nx",
    ):  # fmt: skip
        for mount in set(made.tree.hierarchies.values()):
            os.makedirs(os.path.join(mount, path))
    return made


def found(world: World, text: str) -> list[str]:
    return [spec.value for spec in expand(parse_target(text, "primary"), world.tree)]


def test_stars_match_within_one_level(world: World) -> None:
    assert found(world, "cgroup:pods/web-*") == ["pods/web-1", "pods/web-2"]
    assert found(world, "cgroup:*/web-?") == ["pods/web-1", "pods/web-2"]
    assert found(world, "cgroup:pods/[!w]*") == ["pods/db"]
    assert found(world, "cgroup:pods*web-1") == []
    assert found(world, "cgroup:nothing-*") == []


def test_a_pattern_may_be_absolute(world: World) -> None:
    mount = world.tree.hierarchies["cpuset"]
    assert found(world, f"cgroup:{mount}/pods/web-*") == ["pods/web-1", "pods/web-2"]
    assert found(world, "cgroup:/elsewhere/web-*") == []


def test_a_unit_is_found_below_its_slices_and_not_among_users(world: World) -> None:
    assert found(world, "systemd:nginx.service") == ["system.slice/nginx.service"]
    assert found(world, "systemd:a-b.slice") == ["a.slice/a-b.slice"]
    assert found(world, "systemd:worker@*.service") == [
        "a.slice/a-b.slice/worker@1.service",
        "a.slice/a-b.slice/worker@2.service",
    ]
    assert found(world, "systemd:gone.service") == []


def test_a_plain_target_stands_for_itself_whether_it_is_there_or_not(world: World) -> None:
    for text in ("cgroup:web", "cgroup:missing", "pid:7"):
        spec = parse_target(text, "primary")
        assert expand(spec, world.tree) == [spec]
        assert not is_pattern(spec)


def test_a_groups_name_is_taken_as_it_is(world: World) -> None:
    assert found(world, "cgroup:odd/*") == ["odd/web-3\nx"]


@pytest.mark.parametrize("text", ["systemd:", "systemd:nginx", "systemd:a/b.service"])
def test_what_can_be_no_unit_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="primary: "):
        parse_target(text, "primary")


def test_specs_are_spelled_as_they_are_parsed() -> None:
    assert str(TargetSpec("systemd", "web.slice")) == "systemd:web.slice"
