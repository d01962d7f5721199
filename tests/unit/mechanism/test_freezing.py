"""Who freezes an elastic group: the loop, the operator, or a policy."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from smartharvest.config.settings import Settings
from smartharvest.host.cgroup.tree import CgroupTree
from smartharvest.host.journal.journal import Journal
from smartharvest.host.journal.writer import HostWriter
from smartharvest.host.target.spec import TargetSpec
from smartharvest.host.target.targets import resolve_target
from smartharvest.mechanism.cpuset import CpusetMechanism
from tests.unit.host.fake_trees import make_group, make_v2_tree

Make = Callable[..., CpusetMechanism]


class World:
    def __init__(self, tree: CgroupTree, journal: Journal) -> None:
        self.tree, self.journal = tree, journal
        self.writer = HostWriter(tree.files, journal)

    def make(self, **settings: Any) -> CpusetMechanism:
        target = resolve_target(TargetSpec("cgroup", "batch"), self.tree)
        assert target.group is not None
        return CpusetMechanism(Settings(**settings), self.tree, target, target.group, self.writer)

    @property
    def frozen(self) -> bool:
        file = self.tree.group("batch").freeze_file
        assert file is not None
        return self.tree.files.read(file).strip() == "1"


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    tree = make_v2_tree(tmp_path / "tree")
    make_group(tree, "batch", "0-3")
    journal = Journal(str(tmp_path / "state"))
    yield World(tree, journal)
    journal.release()


def test_a_policy_freezes_and_thaws(world: World) -> None:
    mechanism = world.make()
    for frozen in (True, True, False, True):
        mechanism.keep_frozen(frozen)
        assert world.frozen is mechanism.frozen is frozen


def test_frozen_for_one_reason_it_stays_so_when_another_ends(world: World) -> None:
    mechanism = world.make()
    mechanism.keep_frozen(True)
    mechanism.freeze()
    mechanism.thaw()
    assert world.frozen
    mechanism.freeze()
    mechanism.keep_frozen(False)
    assert world.frozen
    mechanism.thaw()
    assert not world.frozen


@pytest.mark.parametrize(
    ("settings", "may"),
    [
        ({}, True),
        ({"elastic_min": 1}, False),  # promised
        ({"elastic_min": 0}, False),
        ({"park": "idle"}, False),
        ({"park": "freeze"}, False),  # the loop does
        ({"placement": "exclusive"}, False),  # they do not meet
    ],
)
def test_a_policy_may_freeze_unless_the_user_has_said_what_is_left(
    world: World, settings: dict[str, Any], may: bool
) -> None:
    assert world.make(**settings).may_freeze is may


def test_what_an_earlier_session_has_left_frozen_is_thawed(world: World) -> None:
    world.make().keep_frozen(True)
    world.make().thaw_left(world.journal)
    assert not world.frozen


def test_what_somebody_else_has_frozen_stays_so(world: World) -> None:
    file = world.tree.group("batch").freeze_file
    assert file is not None
    world.tree.files.write(file, "1")
    world.make().thaw_left(world.journal)
    assert world.frozen
