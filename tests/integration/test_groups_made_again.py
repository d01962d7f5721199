"""Elastic groups that are removed and made again, or change by a reload, while cores are lent."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from smartharvest.agent.arrangement import Arrangement
from smartharvest.agent.supervisor import Supervisor
from smartharvest.algorithm.guarantee import Guarantee
from smartharvest.algorithm.worth import Worth
from smartharvest.config.elastic_groups import ElasticGroup
from smartharvest.host.cpulist import parse_cpulist
from smartharvest.host.target.spec import TargetSpec
from smartharvest.placement.snapshot import HostSnapshot
from tests.integration.supervisors import Script, run_until, settings_for
from tests.integration.test_several_groups import NAMES, effective, several, world_of_groups
from tests.integration.worlds import World

pytestmark = pytest.mark.timing


def make_again(world: World, name: str, away: Path) -> None:
    """Another group by the same name; the old one goes where it keeps its inode."""
    group = world.tree.group(f"batch/{name}")
    with world.kernel.at_rest():
        Path(group.path).rename(away)
        world.kernel._mkdir(group.path)


def value(world: World, name: str, file: str) -> str:
    return world.kernel.read(f"{world.tree.group(f'batch/{name}').path}/{file}").strip()


def test_a_group_that_is_made_again_gets_its_weight_and_is_left_as_it_was_made(
    tmp_path: Path,
) -> None:
    world = world_of_groups(tmp_path, 2)
    made: list[str] = []
    bounds: list[dict[str, Any]] = [{"weight": 2.0}, {}, {}]
    session = Supervisor(settings_for(world, **several(*bounds), share="weight"))

    def done() -> bool:
        has = [value(world, "builds", file) for file in ("cpu.weight", "cpuset.cpus")]
        if has[0] != "100" and has[1] not in ("", "0-7"):
            if made:
                return True
            make_again(world, "builds", tmp_path / "away")
            made.append("again")
        return False

    with session:
        run_until(session, Script(2), lambda _w, _d: done())
    found = [value(world, "builds", file) for file in ("cpu.weight", "cpuset.cpus")]
    assert found == ["100", ""]


def test_a_group_that_is_made_again_while_it_is_frozen_runs_at_the_end(
    tmp_path: Path, version: int
) -> None:
    world = world_of_groups(tmp_path, version)
    session = Supervisor(settings_for(world, **several()))
    steps: list[str] = []

    def frozen() -> bool:
        path = world.tree.group("batch/builds").freeze_file
        return path is not None and world.kernel.read(path).strip() in ("FROZEN", "1")

    def done() -> bool:
        if not steps:
            session._groups.hold("builds", "evicted")
            assert frozen()
            freezer = world.tree.group("batch/builds").freezer_path
            assert freezer is not None
            with world.kernel.at_rest():
                Path(freezer).rename(tmp_path / "away")
                world.kernel._mkdir(freezer)
            steps.append("made again")
            assert not frozen()
            session._groups.hold("builds", "evicted")
        return frozen()

    with session:
        run_until(session, Script(2), lambda _w, _d: done())
    assert steps
    assert not frozen()


def test_a_reload_does_not_give_a_group_without_work_cores_for_a_moment(tmp_path: Path) -> None:
    world = world_of_groups(tmp_path, 2)
    names = (*NAMES, "late")
    world.add_group("batch/late")
    new = settings_for(world, **several({}, {}, {}, {}, names=names))
    session = Supervisor(settings_for(world, **several()), load=lambda: new)
    seen: list[dict[str, str]] = []

    def masks() -> dict[str, str]:
        return {name: value(world, name, "cpuset.cpus") for name in NAMES}

    def done() -> bool:
        if not seen:
            for member in session._groups._members:
                idle = 0 if member.share.name == "etl" else None
                member.demands.extend([idle] * 5)
                member.share = replace(member.share, demand=idle)
            session._groups._divide()
            seen.append(masks())
            session._groups.take_up(new)
            seen.append(masks())
        return True

    with session:
        run_until(session, Script(2), lambda _w, _d: done())
    before, after = ({name: parse_cpulist(text) for name, text in one.items()} for one in seen)
    assert after["etl"] == before["etl"]
    assert len(after["analytics"] | after["builds"]) == 6, "the rest is the new one's"


def test_a_reload_goes_on_with_what_is_known_of_each_group(tmp_path: Path) -> None:
    world = world_of_groups(tmp_path, 2)
    for name in ("late", "elsewhere"):
        world.add_group(f"batch/{name}")
    half = Guarantee(equal_share=0.5)
    bounds: list[dict[str, Any]] = [{"guarantee": half}, {}, {}]
    more: list[dict[str, Any]] = [{"guarantee": half, "max": 6}, {}, {}, {}]
    old = settings_for(world, **several(*bounds), share="throughput")
    new = settings_for(world, **several(*more, names=(*NAMES, "late")), share="throughput")
    moved = ElasticGroup("builds", TargetSpec("cgroup", "batch/elsewhere"))
    elsewhere = (new.elastic_groups[0], moved, *new.elastic_groups[2:])
    done: list[bool] = []

    def look(session: Supervisor) -> bool:
        groups = session._groups
        analytics, builds, *_ = groups._members
        assert analytics.keeper is not None
        analytics.keeper.floor, analytics.keeper.violations = 2.5, 3
        groups._worth = Worth(NAMES, 6.0)
        groups._worth.weights |= {"analytics": 4.0, "builds": 1.0, "etl": 1.0}
        seen = analytics.seen
        groups.take_up(new)
        assert (analytics.keeper.floor, analytics.keeper.violations) == (2.5, 3)
        assert analytics.seen is seen, "its last second counts"
        assert analytics.share.max == 6
        weights = [member.share.weight for member in groups._members]
        assert weights == pytest.approx([3.0, 0.75, 0.75, 1.5])
        groups.hold("builds", "evicted")
        groups.take_up(replace(new, elastic_groups=elsewhere))
        assert (builds.target, builds.group) == ("cgroup:batch/elsewhere", builds.group)
        assert value(world, "builds", "cgroup.freeze") == "0"
        groups.holds.turn()
        assert value(world, "elsewhere", "cgroup.freeze") == "1"
        assert value(world, "builds", "cpuset.cpus") == "0-7", "it is nobody's now"
        done.append(True)
        return True

    session = Supervisor(old)
    with session:
        run_until(session, Script(2), lambda _w, _d: bool(done) or look(session))


def test_a_group_that_goes_amid_a_division_ends_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = world_of_groups(tmp_path, 1)
    session = Supervisor(settings_for(world, **several()))
    rearrange, gone = Arrangement.rearrange, list[str]()

    def and_one_goes(self: Arrangement, seen: HostSnapshot) -> None:
        path = world.tree.group("batch/builds").path
        if not gone:
            gone.append(path)
            with world.kernel.at_rest():
                Path(path).rename(tmp_path / "away")
        rearrange(self, seen)

    def done() -> bool:
        if not gone and world.mask() == "2-7":
            monkeypatch.setattr(Arrangement, "rearrange", and_one_goes)
            session._groups._divide()
            session._take_up_division()
        others = [effective(world, name) for name in ("analytics", "etl")]
        return bool(gone) and frozenset().union(*others) == parse_cpulist("2-7")

    with session:
        run_until(session, Script(2), lambda _w, _d: done())
        Path(tmp_path / "away").rename(gone[0])
