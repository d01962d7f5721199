"""Where sharing cores gives the batch nothing it gets a set of its own, if that was left open."""

from __future__ import annotations

import logging
import os
import signal
from pathlib import Path

import pytest

from smartharvest.agent.lifecycle import run_agent
from smartharvest.agent.outcome import Ended, Restart
from smartharvest.agent.supervisor import Supervisor
from smartharvest.algorithm.algorithm1 import Decision
from smartharvest.algorithm.policy import Policy
from smartharvest.config.settings import Settings
from smartharvest.core.window import Window
from smartharvest.errors import TargetError
from smartharvest.host.target.spec import TargetSpec
from smartharvest.lab.demo.groups import DemoGroups, Seams
from smartharvest.mechanism.exclusive import PrimarySide
from smartharvest.placement.snapshot import HostSnapshot
from tests.integration.supervisors import Script, settings_for, watch
from tests.integration.worlds import World, make_world

pytestmark = pytest.mark.timing


class Barren(Script):
    """A policy that has found no way of sharing that gives the batch anything."""

    is_barren = True


def test_the_agent_begins_again_and_all_is_as_before_at_the_end(
    tmp_path: Path, version: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = make_world(tmp_path, version)
    before = world.files()
    kernel = watch(world, monkeypatch)
    made = []

    def make_policy(session: Supervisor, _spec: str | None = None) -> Policy:
        made.append(session.arrangement.exclusive is not None)
        return Script(7, 3) if made[-1] else Barren(7)

    def observe(_window: Window, _decision: Decision) -> None:
        if (world.mask("web"), world.mask("batch")) == ("0-2", "3-7"):
            os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr(Supervisor, "make_policy", make_policy)
    settings = settings_for(world, placement="auto", audit_log=str(tmp_path / "audit.jsonl"))
    report = run_agent(settings, lambda: settings, observe)
    assert report is not None
    assert made == [False, True]
    assert world.files() == before
    assert world.journals() == []
    # The batch is let go once, at the end.
    assert kernel.written(world.elastic.cpus_file).count("0-7") == 1
    assert kernel.written(world.elastic.idle_file or "").count("0") == 1
    told = (tmp_path / "audit.jsonl").read_text()
    assert "no way of sharing cores gave the batch anything" in told
    assert [change for change in kernel.changes if "web" in str(change)]


def test_where_that_is_refused_after_all_sharing_goes_on(
    quiet_world: World, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    before = quiet_world.files()
    made = []

    def make_policy(_session: Supervisor, _spec: str | None = None) -> Policy:
        made.append(quiet_world.mask("web"))
        return Barren(7)

    def refuse(_side: PrimarySide, _seen: HostSnapshot) -> None:
        raise TargetError("web: it would be left without a CPU")

    def observe(_window: Window, _decision: Decision) -> None:
        if len(made) == 2:
            os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr(Supervisor, "make_policy", make_policy)
    monkeypatch.setattr(PrimarySide, "arrange", refuse)
    settings = settings_for(quiet_world, placement="auto")
    with caplog.at_level(logging.WARNING):
        assert run_agent(settings, lambda: settings, observe) is not None
    assert made == ["0-7", "0-7"]
    assert "shared all the same: web: it would be left without a CPU" in caplog.text
    assert quiet_world.files() == before
    assert quiet_world.journals() == []


@pytest.mark.parametrize(
    ("asked", "ends"),
    [
        ({}, True),
        ({"dry_run": True}, False),
        ({"placement": "shared"}, False),
        ({"placement": "exclusive"}, False),
        ({"policy": "everywhere"}, False),
    ],
)
def test_only_where_it_was_left_open_and_may_help_the_arrangement_ends(
    quiet_world: World, asked: dict[str, object], ends: bool, caplog: pytest.LogCaptureFixture
) -> None:
    settings = settings_for(quiet_world, **{"placement": "auto", **asked})
    with caplog.at_level(logging.WARNING), Supervisor(settings) as session:
        outcome = session.run(Barren(7), seconds=0.2)
    if ends:
        assert isinstance(outcome, Restart)
        assert outcome.apart
        assert outcome.keeps_arranged
        assert session.left is not None
        session.left.give_back()
    else:
        assert isinstance(outcome, Ended)
    assert caplog.text.count("only the policy adaptive judges") == ("policy" in asked)


def test_where_a_primary_would_be_left_without_a_cpu_it_goes_on_and_is_not_asked_again(
    tmp_path: Path, version: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = make_world(tmp_path, version)
    world.add_group("db", "6-7")
    watch(world, monkeypatch)
    both = (TargetSpec("cgroup", "web"), TargetSpec("cgroup", "db"))
    settings = settings_for(world, placement="auto", primary=both)
    with Supervisor(settings, apart=True) as session:
        assert session.arrangement.exclusive is None
        assert isinstance(session.run(Barren(7), seconds=0.2), Ended)


class Groups(DemoGroups):
    """The demo's, of a world."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._policies = {}

    def _settings(self) -> Settings:
        return settings_for(self._world)


def test_a_run_of_the_bench_goes_on_with_the_two_apart_for_the_rest_of_its_time(
    quiet_world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = quiet_world.files()
    kernel = watch(quiet_world, monkeypatch)
    begun: list[str] = []
    waiting: list[Policy] = [Barren(7), Script(3)]
    figures = Groups(quiet_world).run_agent(
        "adaptive",
        1.5,
        lambda: begun.append("begun"),
        lambda: None,
        seams=Seams(wrap=lambda _: waiting.pop(0)),
        placement="auto",
    )
    assert begun == ["begun"]
    assert waiting == []
    assert "0-2" in kernel.written(quiet_world.tree.group("web").cpus_file)
    assert "3-7" in kernel.written(quiet_world.elastic.cpus_file)
    assert figures.harvested_cores > 0
    assert quiet_world.files() == before
