"""Which mechanism a target gets, and which settings none can follow."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest

from smartharvest.config.settings import MechanismName, Settings
from smartharvest.errors import ConfigError
from smartharvest.host.cgroup.tree import CgroupTree
from smartharvest.host.journal.journal import Journal
from smartharvest.host.journal.writer import HostWriter
from smartharvest.host.process import tasks
from smartharvest.host.target.base import Target
from smartharvest.host.target.spec import TargetSpec
from smartharvest.host.target.targets import resolve_target
from smartharvest.mechanism.base import Mechanism
from smartharvest.mechanism.choice import MECHANISMS, make_mechanism, needs_of
from smartharvest.placement.capacity import Capacity
from smartharvest.placement.snapshot import HostSnapshot
from tests.unit.host.fake_trees import make_group, make_v1_tree

SURVEY = HostSnapshot(Capacity((0, 1), 0, (1, 0), (2,), 1, 1, keep_idle=1), (), (), ())


@pytest.fixture
def tree(tmp_path: Path) -> CgroupTree:
    found = make_v1_tree(tmp_path / "tree")
    make_group(found, "batch", "0-3")
    return found


@pytest.fixture
def writer(tree: CgroupTree, tmp_path: Path) -> Iterator[HostWriter]:
    journal = Journal(str(tmp_path / "state"))
    yield HostWriter(tree.files, journal)
    journal.release()


@pytest.fixture
def batch(tree: CgroupTree) -> Target:
    return resolve_target(TargetSpec("cgroup", "batch"), tree)


@pytest.fixture
def process(tree: CgroupTree) -> Target:
    return resolve_target(TargetSpec("pid", str(os.getpid())), tree)


def test_the_settings_know_every_mechanism() -> None:
    assert set(get_args(MechanismName)) == set(MECHANISMS)


def test_a_survey_is_told_what_the_mechanism_needs_before_there_is_one() -> None:
    needs = {name: needs_of(Settings(mechanism=name)) for name in get_args(MechanismName)}
    assert [name for name, need in needs.items() if need.most_sets is not None] == ["cpugroups"]
    assert [name for name, need in needs.items() if need.groups_below] == ["affinity"]


def test_without_a_target_or_a_writer_nothing_is_changed(
    tree: CgroupTree, batch: Target, writer: HostWriter
) -> None:
    before = tree.files.read(tree.group("batch").cpus_file)
    made: tuple[Mechanism, ...] = (
        make_mechanism(Settings(), tree, None, writer),
        make_mechanism(replace(Settings(), park="freeze"), tree, batch, None),
    )
    for mechanism in made:
        assert type(mechanism) is Mechanism
        mechanism.arrange(SURVEY)
        mechanism.freeze()
        assert mechanism.preempts
        assert (mechanism.idle_file, mechanism.files(SURVEY)) == (None, [])
        actuator = mechanism.make_actuator(SURVEY)
        actuator.assign(1)
        assert actuator.writes == 0
    assert tree.files.read(tree.group("batch").cpus_file) == before
    assert not tree.group("batch").freeze_file or writer.restore() == []


def test_only_a_shared_placement_lets_the_primary_preempt(tree: CgroupTree) -> None:
    assert not make_mechanism(replace(Settings(), placement="exclusive"), tree, None, None).preempts


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"mechanism": "cpugroups", "placement": "exclusive"}, "cannot place exclusively"),
        ({"mechanism": "cpugroups", "park": "freeze"}, "cannot freeze"),
        ({"mechanism": "affinity"}, "needs a real host"),
    ],
)
def test_what_a_groups_mechanism_cannot_do_is_refused(
    settings: dict[str, str],
    message: str,
    tree: CgroupTree,
    batch: Target,
    writer: HostWriter,
) -> None:
    with pytest.raises(ConfigError, match=message):
        make_mechanism(replace(Settings(), **settings), tree, batch, writer)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "value"), [("order", "dynamic"), ("park", "freeze"), ("mechanism", "cpugroups")]
)
def test_what_only_a_group_can_do_is_refused_for_a_process(
    name: str, value: str, tree: CgroupTree, process: Target, writer: HostWriter
) -> None:
    settings = replace(Settings(), **{name: value})  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="needs an elastic group, not a process"):
        make_mechanism(settings, tree, process, writer)


def test_a_process_is_moved_by_the_affinity_of_its_threads(
    tree: CgroupTree, process: Target, writer: HostWriter
) -> None:
    mechanism = make_mechanism(Settings(), tree, process, writer)
    assert (mechanism.name, mechanism.preempts, mechanism.idle_file) == ("affinity", False, None)
    assert mechanism.minimum_cpus(SURVEY) == (1,)
    assert mechanism.given_cpus(SURVEY) == [(1,), (1,)]
    assert not mechanism.moves_threads  # not before it is arranged
    mechanism.close()


def test_a_member_that_ends_while_the_actuator_is_made_is_left_out(
    tree: CgroupTree, process: Target, writer: HostWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    mechanism = make_mechanism(Settings(), tree, process, writer)
    mechanism.arrange(SURVEY)
    nobody, asked = 2**22 + 1, iter([True])  # above PID_MAX_LIMIT
    monkeypatch.setattr(mechanism, "members", lambda: [nobody])
    monkeypatch.setattr(tasks, "alive", lambda pid: pid != nobody or next(asked, False))
    assert mechanism.make_actuator(SURVEY).writes == 0
    mechanism.close()


def test_a_group_is_frozen_and_thawed(tree: CgroupTree, batch: Target, writer: HostWriter) -> None:
    mechanism = make_mechanism(replace(Settings(), cpu_idle=False), tree, batch, writer)
    freezer = tree.group("batch").freeze_file
    assert freezer is not None
    mechanism.freeze()
    assert tree.files.read(freezer) == "FROZEN\n"
    mechanism.thaw()
    assert tree.files.read(freezer) == "THAWED\n"
