"""Primaries that are named by a pattern."""

from __future__ import annotations

from pathlib import Path

import pytest

from smartharvest.errors import TargetError
from smartharvest.host.target.spec import TargetSpec
from smartharvest.host.target.targets import resolve_target
from smartharvest.placement.target_set import TargetSet
from tests.unit.host.fake_trees import make_group, make_v2_tree


@pytest.fixture
def targets(tmp_path: Path) -> TargetSet:
    """Of a unit whose slice hands no cpuset controller down."""
    tree = make_v2_tree(tmp_path)
    make_group(tree, "system.slice")
    make_group(tree, "system.slice/web.service")
    pattern = TargetSpec("systemd", "web.service")
    return TargetSet(tree, [pattern], lambda spec: resolve_target(spec, tree))


def test_a_group_that_is_there_and_unusable_is_not_called_missing(
    targets: TargetSet, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(TargetError) as raised:
        targets.find_primaries()
    assert str(raised.value) == (
        "systemd:web.service: matches nothing that could be a primary; "
        "cgroup:system.slice/web.service is left out, see above"
    )
    assert "has no cpuset.cpus; write +cpuset into" in caplog.text


def test_what_a_unit_stands_for_is_known_by_the_name_that_was_asked_for(tmp_path: Path) -> None:
    tree = make_v2_tree(tmp_path)
    make_group(tree, "web", cpus="0-1")
    make_group(tree, "api-1", cpus="0-1")
    patterns = [TargetSpec("cgroup", "web"), TargetSpec("cgroup", "api-*")]
    targets = TargetSet(tree, patterns, lambda spec: resolve_target(spec, tree))
    targets.find_primaries()
    asked = {targets.asked_as(str(target.spec)) for target in targets.primaries}
    assert asked == {"cgroup:web", "cgroup:api-*"}
    assert targets.asked_as("cgroup:other") == "cgroup:other"
