"""Exclusive placement on a fake tree: two disjoint sets, changed in the order that is safe."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from smartharvest.agent.supervisor import Supervisor
from smartharvest.errors import ConfigError, TargetError, WriteRefused
from smartharvest.host.cpulist import parse_cpulist
from smartharvest.host.target.spec import TargetSpec
from tests.integration.processes import Processes
from tests.integration.supervisors import Change, Script, after, run_until, settings_for, watch
from tests.integration.worlds import World, make_world

pytestmark = pytest.mark.timing


def cpus(world: World, group: str) -> frozenset[int]:
    return parse_cpulist(world.mask(group))


def test_the_sets_are_disjoint_and_together_the_pool(
    tmp_path: Path, version: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = make_world(tmp_path, version)
    before = world.files()
    watch(world, monkeypatch)
    with Supervisor(settings_for(world, placement="exclusive")) as session:

        def apart(_window: object, _decision: object) -> bool:
            return (world.mask("web"), world.mask("batch")) == ("0-2", "3-7")

        run_until(session, Script(7, 3), apart)
    assert world.files() == before


def test_at_every_write_the_primary_has_its_share_and_no_core_is_nobodys(
    tmp_path: Path, version: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = make_world(tmp_path, version)
    kernel = watch(world, monkeypatch)
    states: list[tuple[frozenset[int], frozenset[int]]] = []
    kernel.before_change = lambda _change: states.append((cpus(world, "web"), cpus(world, "batch")))
    with Supervisor(settings_for(world, placement="exclusive")) as session:
        states.clear()
        run_until(session, Script(7, 2, 4, 6, 3), after(25))
    assert len(states) > 10
    for primary, elastic in states:
        assert primary >= {0, 1}  # the smallest share ever decided
        assert primary | elastic == frozenset(range(8))


def test_with_nothing_lent_the_primary_has_every_core_and_the_batch_is_frozen(
    tmp_path: Path, version: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = make_world(tmp_path, version)
    before = world.files()
    kernel = watch(world, monkeypatch)
    # By the written state, before the reading: the last change is the one to be asked about.
    seen: list[tuple[frozenset[int], frozenset[int], str]] = []

    def note(change: Change) -> None:
        seen.append((cpus(world, "web"), cpus(world, "batch"), str(change)))

    kernel.before_change = note
    with Supervisor(settings_for(world, placement="exclusive")) as session:
        assert session.capacity.elastic_min == 0
        run_until(session, Script(8, 3, total=8), after(12))
    assert world.files() == before
    freezes = [(web, change) for web, _, change in seen if "freez" in change]
    frozen = [web for web, change in freezes if "FROZEN" in change or "'1'" in change]
    assert frozen
    assert all(web == frozenset(range(8)) for web in frozen)
    thawed = [web for web, change in freezes if "THAWED" in change or "'0'" in change]
    assert thawed  # before cores are lent
    assert all(web == frozenset(range(8)) for web in thawed)


def test_a_minimum_that_the_user_chooses_is_the_batchs_for_good(
    tmp_path: Path, version: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = make_world(tmp_path, version)
    kernel = watch(world, monkeypatch)
    with Supervisor(settings_for(world, placement="exclusive", elastic_min=1)) as session:

        def all_but_one(_window: object, _decision: object) -> bool:
            return (world.mask("web"), world.mask("batch")) == ("0-6", "7")

        run_until(session, Script(7), all_but_one)
    assert not any("freez" in str(change) for change in kernel.changes)


@pytest.mark.parametrize("refused", range(12))
def test_a_refusal_anywhere_leaves_the_host_as_it_was(
    tmp_path: Path, version: int, monkeypatch: pytest.MonkeyPatch, refused: int
) -> None:
    world = make_world(tmp_path, version)
    before = world.files()
    kernel = watch(world, monkeypatch)
    kernel.refused, kernel.error = refused, errno.EINVAL
    try:
        with Supervisor(settings_for(world, placement="exclusive")) as session:
            run_until(session, Script(7, 3), after(10))
    except WriteRefused:
        pass
    assert world.files() == before


def test_groups_below_the_primary_follow_it_and_come_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = make_world(tmp_path, 1)
    world.add_group("web/high", "4-7")
    world.add_group("web/one", "7")  # has none of the smallest set
    before = world.files()
    kernel = watch(world, monkeypatch)
    checked = False

    def check(change: Change) -> None:
        nonlocal checked
        checked = checked or change[2] == "0-2"
        for child in ("web/high", "web/one"):
            assert cpus(world, child) <= cpus(world, "web")

    kernel.before_change = check
    with Supervisor(settings_for(world, placement="exclusive")) as session:
        run_until(session, Script(7, 3), after(12))
    assert checked
    assert world.files() == before


def test_a_primary_that_would_be_left_without_a_cpu_is_refused(
    tmp_path: Path, version: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = make_world(tmp_path, version)
    world.add_group("db", "6-7")
    before = world.files()
    watch(world, monkeypatch)
    both = (TargetSpec("cgroup", "web"), TargetSpec("cgroup", "db"))
    settings = settings_for(world, placement="exclusive", primary=both)
    with pytest.raises(TargetError, match=r"db: lending 7 cores would leave it no CPU"):
        Supervisor(settings).__enter__()
    assert world.files() == before


def test_processes_cannot_be_placed_exclusively(quiet_world: World, processes: Processes) -> None:
    process = TargetSpec("pid", str(processes.asleep()))
    for side in ({"primary": (process,)}, {"elastic": process}):
        with pytest.raises(ConfigError, match=r"placement: exclusive needs"):
            Supervisor(settings_for(quiet_world, placement="exclusive", **side)).__enter__()
