"""Where the batch does not give way, lent cores are taken out of the primary's cpuset."""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path

import pytest

from smartharvest.agent.arrangement import Arrangement
from smartharvest.agent.supervisor import Supervisor
from smartharvest.algorithm.algorithm1 import Decision
from smartharvest.core.window import Window
from smartharvest.host.preemption import Preemption
from smartharvest.host.target.spec import TargetSpec
from tests.integration.supervisors import Script, after, handed_over, run_until, settings_for, watch
from tests.integration.worlds import World, make_world

pytestmark = pytest.mark.timing


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel on which the batch keeps its CPU."""
    _seen(monkeypatch, gives_way=False)


def _seen(monkeypatch: pytest.MonkeyPatch, *, gives_way: bool | None) -> None:
    def try_kernel(arrangement: Arrangement) -> None:
        arrangement.preemption = Preemption("confinement", "as made up", gives_way=gives_way)

    monkeypatch.setattr(Arrangement, "_try_kernel", try_kernel)


def _masks(world: World) -> tuple[str, str]:
    return world.mask("web"), world.mask("batch")


@pytest.mark.usefixtures("kept")
def test_the_two_have_no_core_in_common_and_all_is_as_before_at_the_end(
    tmp_path: Path, version: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = make_world(tmp_path, version)
    before = world.files()
    watch(world, monkeypatch)
    with Supervisor(settings_for(world, placement="auto")) as session:
        assert session.arrangement.preemption.gives_way is False
        run_until(session, Script(7, 3), lambda *_: _masks(world) == ("0-2", "3-7"))
        assert session.settings.placement == "auto"  # a reload compares it with the file's
    assert world.files() == before


@pytest.mark.parametrize("gives_way", [True, None])
def test_where_it_gives_way_or_nobody_knows_the_primarys_cpuset_is_not_written(
    tmp_path: Path, version: int, monkeypatch: pytest.MonkeyPatch, gives_way: bool | None
) -> None:
    world = make_world(tmp_path, version)
    _seen(monkeypatch, gives_way=gives_way)
    kernel = watch(world, monkeypatch)
    with Supervisor(settings_for(world, placement="auto")) as session:
        run_until(session, Script(7, 3), after(10))
    assert not [change for change in kernel.changes if "web" in str(change)]


@pytest.mark.usefixtures("kept")
def test_who_says_shared_keeps_it(
    tmp_path: Path, version: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = make_world(tmp_path, version)
    kernel = watch(world, monkeypatch)
    with Supervisor(settings_for(world, placement="shared")) as session:
        run_until(session, Script(7, 3), after(10))
    assert not [change for change in kernel.changes if "web" in str(change)]


@pytest.mark.usefixtures("kept")
def test_where_a_primary_would_be_left_without_a_cpu_it_is_shared_all_the_same(
    tmp_path: Path,
    version: int,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    world = make_world(tmp_path, version)
    world.add_group("db", "6-7")
    before = world.files()
    watch(world, monkeypatch)
    both = (TargetSpec("cgroup", "web"), TargetSpec("cgroup", "db"))
    with (
        caplog.at_level(logging.WARNING),
        Supervisor(settings_for(world, placement="auto", primary=both)) as session,
    ):
        assert session.arrangement.exclusive is None
        run_until(session, Script(7, 3), after(10))
    assert "Placement: shared all the same: " in caplog.text
    assert "/db: lending 7 cores would leave it no CPU" in caplog.text
    assert world.files() == before


def _lends(window: Window, _decision: Decision) -> bool:
    return window.primary_cores == 3


@pytest.mark.usefixtures("kept")
def test_a_successor_goes_on_with_the_same_sets(
    quiet_world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = quiet_world.files()
    kernel = watch(quiet_world, monkeypatch)
    settings = settings_for(quiet_world, placement="auto", guardian=True)

    first = handed_over(settings, _lends)
    written = len(kernel.changes)
    with Supervisor(settings, first.left) as second:
        assert second.arrangement.exclusive is not None
        assert kernel.changes[written:] == []
        run_until(second, Script(3), _lends)
    assert quiet_world.files() == before
    assert quiet_world.journals() == []


@pytest.mark.usefixtures("kept")
def test_a_successor_that_arranges_anew_sees_for_itself(
    quiet_world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = quiet_world.files()
    settings = settings_for(quiet_world, placement="auto", guardian=True)
    first = handed_over(settings, _lends)
    _seen(monkeypatch, gives_way=True)
    with Supervisor(replace(settings, cpu_idle=False), first.left) as second:
        assert second.arrangement.exclusive is None
    assert quiet_world.files() == before
    assert quiet_world.journals() == []
