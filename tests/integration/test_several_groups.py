"""Several elastic groups below one, on a fake tree that answers as the kernel would."""

from __future__ import annotations

import errno
import json
import re
import signal
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from smartharvest.agent import supervisor
from smartharvest.agent.group_sharing import GroupSharing
from smartharvest.agent.supervisor import Supervisor
from smartharvest.config.elastic_groups import ElasticGroup, common_parent
from smartharvest.core.window import Window
from smartharvest.errors import TargetError, WriteRefused
from smartharvest.host.cgroup.tree import Group
from smartharvest.host.cpulist import parse_cpulist
from smartharvest.host.process.instructions import Counter
from smartharvest.host.target.spec import TargetSpec
from smartharvest.mechanism.divided import MANY_IN_V1, DividedMechanism
from smartharvest.placement.snapshot import HostSnapshot
from tests.commands import smartharvest_here
from tests.integration.processes import Processes, wait_until
from tests.integration.supervisors import Script, run_until, settings_for, watch
from tests.integration.worlds import World, make_world

pytestmark = pytest.mark.timing
NAMES = ("analytics", "builds", "etl")


def several(*bounds: dict[str, Any], names: tuple[str, ...] = NAMES) -> dict[str, Any]:
    """Settings for groups of these names."""
    groups = tuple(
        ElasticGroup(name, TargetSpec("cgroup", f"batch/{name}"), **more)
        for name, more in zip(names, bounds or ({},) * len(names), strict=True)
    )
    return {"elastic": common_parent(groups), "elastic_groups": groups}


def world_of_groups(tmp_path: Path, version: int) -> World:
    world = make_world(tmp_path, version)
    if version == 2:
        world.kernel.write(f"{world.elastic.path}/cgroup.subtree_control", "+cpuset +cpu")
    for name in NAMES:
        world.add_group(f"batch/{name}")
    return world


@pytest.fixture
def groups_world(tmp_path: Path, version: int) -> World:
    return world_of_groups(tmp_path, version)


def effective(world: World, name: str) -> frozenset[int]:
    return world.tree.group(f"batch/{name}").effective_cpus()


def shares(world: World, names: tuple[str, ...] = NAMES) -> list[int]:
    return [len(effective(world, name)) for name in names]


def lend(world: World, cores: int, until: Any, total: int = 7, **settings: Any) -> Supervisor:
    """A session that lends so many cores until ``until`` holds at the end of a window."""
    session = Supervisor(settings_for(world, **settings))
    with session:
        run_until(session, Script(total - cores, total=total), lambda _w, _d: until())
    return session


def test_each_group_has_its_part_of_what_is_lent(groups_world: World) -> None:
    before = groups_world.files()

    def divided() -> bool:
        if groups_world.mask() != "2-7" or shares(groups_world) != [2, 2, 2]:
            return False
        parts = [effective(groups_world, name) for name in NAMES]
        assert frozenset().union(*parts) == parse_cpulist("2-7")
        return True

    lend(groups_world, 5, divided, **several())
    assert groups_world.files() == before


@pytest.mark.parametrize(
    ("share", "bounds", "expected"),
    [
        ("weight", ({"weight": 3.0}, {"weight": 2.0}, {}), [3, 2, 1]),
        ("fair", ({"max": 1}, {}, {}), [1, 3, 2]),
        ("fair", ({"min": 4}, {}, {}), [4, 1, 1]),
    ],
)
def test_bounds_and_weights_hold_at_every_number_of_cores(
    groups_world: World, share: str, bounds: Any, expected: list[int]
) -> None:
    promised = sum(one.get("min", 0) for one in bounds)
    least = promised or 1
    settings = several(*bounds) | {"share": share}
    total = 8 - least
    lend(groups_world, 6 - least, lambda: shares(groups_world) == expected, total=total, **settings)


def test_minima_are_there_when_all_is_taken_back(groups_world: World) -> None:
    seen: set[str] = set()

    def done() -> bool:
        seen.add(groups_world.mask())
        return "2-7" in seen and groups_world.mask() == "5-7" and shares(groups_world)[:2] == [2, 1]

    session = Supervisor(settings_for(groups_world, **several({"min": 2}, {"min": 1}, {})))
    with session:
        run_until(session, Script(2, 2, 5, 5, total=5), lambda _w, _d: done())


def test_a_taking_back_is_one_write_in_v2(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world = world_of_groups(tmp_path, 2)
    kernel = watch(world, monkeypatch)
    seen: list[int] = []

    def done(window: Window) -> bool:
        seen.append(window.primary_cores)
        return seen.count(2) > 3 and seen.count(7) > 3

    with Supervisor(settings_for(world, **several())) as session:
        run_until(session, Script(2, 7), lambda window, _d: done(window))
    for name in NAMES:
        written = kernel.written(world.tree.group(f"batch/{name}").cpus_file)
        assert len(written) == 2, "its own set, and what it had"


def test_many_groups_on_v1_are_warned_of(
    tmp_path: Path, version: int, caplog: pytest.LogCaptureFixture
) -> None:
    world = world_of_groups(tmp_path, version)
    names = tuple(f"g{number}" for number in range(MANY_IN_V1 + 1))
    for name in names:
        world.add_group(f"batch/{name}")
    with Supervisor(settings_for(world, **several(*({},) * len(names), names=names))):
        pass
    assert ("17 elastic groups on cgroup v1" in caplog.text) == (version == 1)


def parts(world: World, names: tuple[str, ...]) -> dict[str, frozenset[int]]:
    """The CPUs of each group, if they are all of CPUs 2-7 at one moment; else nothing."""
    found = {name: effective(world, name) for name in names}
    together = sorted(cpu for cpus in found.values() for cpu in cpus)
    return found if together == [2, 3, 4, 5, 6, 7] and world.mask() == "2-7" else {}


def test_a_group_that_appears_moves_nobody_elses_cores(groups_world: World) -> None:
    names = (*NAMES, "late")
    had: dict[str, frozenset[int]] = {}
    has: dict[str, frozenset[int]] = {}

    def done() -> bool:
        if not had:
            had.update(parts(groups_world, NAMES))
            if had:
                groups_world.add_group("batch/late", "7")  # a v1 parent may have no more
            return False
        has.update(parts(groups_world, names))
        return bool(has)

    lend(groups_world, 5, done, **several({}, {}, {}, {}, names=names))
    assert all(has[name] <= had[name] for name in NAMES)
    assert len(has["late"]) in (1, 2)


def test_a_reload_that_adds_a_group_takes_it_up_while_it_lends(groups_world: World) -> None:
    names = (*NAMES, "late")
    groups_world.add_group("batch/late")
    new = settings_for(groups_world, **several({}, {}, {}, {}, names=names))
    session = Supervisor(settings_for(groups_world, **several()), load=lambda: new)
    had: dict[str, frozenset[int]] = {}
    has: dict[str, frozenset[int]] = {}

    def done() -> bool:
        if not had:
            had.update(parts(groups_world, NAMES))
            if had:
                session.ask_reload()
            return False
        has.update(parts(groups_world, names))
        return bool(has)

    with session:
        run_until(session, Script(2), lambda _w, _d: done())
        assert session.settings.elastic_groups == new.elastic_groups
    assert all(has[name] <= had[name] for name in NAMES)
    assert len(has["late"]) in (1, 2)


def test_groups_that_a_reload_may_not_give_their_cores_leave_the_others_as_they_were(
    groups_world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    groups_world.add_group("batch/late")
    old = settings_for(groups_world, **several())
    new = settings_for(groups_world, **several({}, {}, {}, {}, names=(*NAMES, "late")))
    session = Supervisor(old, load=lambda: new)
    make_room, refused = DividedMechanism.make_room, list[str]()

    def refuse(self: DividedMechanism, snapshot: HostSnapshot) -> None:
        if "late" in self.groups:
            refused.append("late")
            raise WriteRefused("late/cpuset.cpus", "2-3", errno.EACCES)
        make_room(self, snapshot)

    monkeypatch.setattr(DividedMechanism, "make_room", refuse)

    def done() -> bool:
        if parts(groups_world, NAMES):
            if refused:
                return True
            session.ask_reload()
        return False

    with session:
        run_until(session, Script(2), lambda _w, _d: done())
        assert session.settings.elastic_groups == old.elastic_groups


def test_tasks_of_nobody_below_the_common_group_are_refused(
    tmp_path: Path, version: int, processes: Processes
) -> None:
    world = world_of_groups(tmp_path, version)
    world.add_group("batch/stranger", tids=(processes.asleep(),))
    before = world.files()
    settings = settings_for(world, **several())
    with pytest.raises(TargetError, match="is none of the elastic groups"), Supervisor(settings):
        pass
    assert world.files() == before


def toml_of_groups(path: Path) -> str:
    tables = (f'[[elastic]]\nname = "{name}"\ntarget = "cgroup:batch/{name}"\n' for name in NAMES)
    path.write_text("\n".join(tables))
    return str(path)


@pytest.mark.parametrize("guarded", [True, False], ids=["guardian", "restore"])
def test_what_a_killed_agent_has_left_is_restored_in_all_groups(
    groups_world: World, processes: Processes, tmp_path: Path, guarded: bool
) -> None:
    before = groups_world.files()
    agent = processes.agent(
        *groups_world.arguments, "--primary", "cgroup:web", "--policy", "fixed-buffer:1",
        "--config", toml_of_groups(tmp_path / "agent.toml"), "--elastic-min", "3",
        "--guardian" if guarded else "--no-guardian",
    )  # fmt: skip
    agent.wait_until(lambda: shares(groups_world) == [3, 2, 2])
    agent.send(signal.SIGKILL)
    if guarded:
        wait_until(lambda: groups_world.files() == before)
    else:
        assert groups_world.files() != before
        assert smartharvest_here("restore", *groups_world.arguments).code == 0
    assert groups_world.files() == before


def rows_of(world: World) -> list[dict[str, Any]]:
    """What ``status`` has of each group, once its agent answers."""
    rows: list[dict[str, Any]] = []

    def answers() -> bool:
        outcome = smartharvest_here("status", "--json", "--state-dir", str(world.state_dir))
        rows[:] = [row for one in json.loads(outcome.out)["agents"] for row in one["elastic"]]
        return bool(rows)

    wait_until(answers)
    return rows


def test_flags_name_several_groups_and_status_tells_of_each(
    tmp_path: Path, processes: Processes
) -> None:
    world = world_of_groups(tmp_path, 2)
    flags = [part for name in NAMES for part in ("--elastic", f"cgroup:batch/{name}")]
    agent = processes.agent(
        *world.arguments, "--primary", "cgroup:web", "--policy", "fixed-buffer:1", *flags
    )
    agent.wait_until(lambda: shares(world) == [3, 2, 2])
    wait_until(lambda: [row["cores"] for row in rows_of(world)] == [3, 2, 2])
    assert [row["name"] for row in rows_of(world)] == list(NAMES)
    refused = smartharvest_here("run", "--elastic", *world.arguments, "--", "true")
    assert "several groups are managed (cgroup:batch/analytics, " in refused.err
    said = smartharvest_here("status", "--state-dir", str(world.state_dir)).out
    assert "lends to analytics, builds, etl" in said
    assert re.search(r"^    builds +\d cores? of \d\.\d due, ", said, re.MULTILINE)


def test_the_status_has_a_row_for_each_group(groups_world: World) -> None:
    found: list[dict[str, Any]] = []
    session = Supervisor(settings_for(groups_world, **several({"min": 1}, {"max": 4}, {})))

    def done() -> bool:
        if groups_world.mask() != "2-7":
            return False
        found[:] = session._reporting.describe()["elastic"]
        return bool(sum(row["cores"] for row in found) == 6)

    with session:
        run_until(session, Script(2), lambda _w, _d: done())
    assert [row["name"] for row in found] == list(NAMES)
    assert [(row["min"], row["max"]) for row in found] == [(1, None), (0, 4), (0, None)]
    assert [row["due"] for row in found] == pytest.approx([2, 2, 2], abs=1e-6)


def test_a_group_that_does_not_exist_is_due_nothing_and_the_others_what_is_left(
    tmp_path: Path,
) -> None:
    world = world_of_groups(tmp_path, 2)
    found: list[dict[str, Any]] = []
    names = (*NAMES, "late")
    session = Supervisor(settings_for(world, **several({}, {}, {}, {"min": 1}, names=names)))

    def seen(dues: list[float]) -> bool:
        found[:] = session._reporting.describe()["elastic"]
        return [round(row["due"], 3) for row in found] == dues

    def done() -> bool:
        late = Path(world.tree.group("batch/late").path)
        if seen([2, 2, 2, 0]) and not late.exists():
            world.add_group("batch/late")
        return late.exists() and seen([1.5, 1.5, 1.5, 1.5])

    with session:
        run_until(session, Script(2), lambda _w, _d: done(), longest_s=30.0)


class FakeInstructions(Counter):
    """A counter that goes on by as much at each reading."""

    def __init__(self, path: str) -> None:
        self.path, self.count, self.closed = path, 0, False

    def read(self) -> float:
        self.count += 10**9
        return self.count

    def close(self) -> None:
        self.closed = True


@pytest.mark.parametrize(("share", "by"), [("throughput", "instructions"), ("fair", None)])
def test_instructions_are_the_throughput_where_they_decide_and_the_machine_counts_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, share: str, by: str | None
) -> None:
    world, made = world_of_groups(tmp_path, 2), list[FakeInstructions]()

    def open_counter(group: Group) -> FakeInstructions:
        made.append(FakeInstructions(group.path))
        return made[-1]

    monkeypatch.setattr(
        supervisor, "GroupSharing", partial(GroupSharing, open_counter=open_counter)
    )
    session = Supervisor(settings_for(world, **several(), share=share))
    found: list[dict[str, Any]] = []

    def done() -> bool:
        found[:] = session._reporting.describe()["elastic"]
        looked = all(row["core_seconds"] > 0 for row in found)
        return looked and (by is None or all(row["throughput"] for row in found))

    with session:
        run_until(session, Script(2), lambda _w, _d: done(), longest_s=30.0)
    assert {row["throughput_by"] for row in found} == {by}
    paths = {world.tree.group(f"batch/{name}").path for name in NAMES}
    assert {one.path for one in made} == (set() if by is None else paths)
    assert all(one.closed for one in made)


def test_a_dry_run_says_what_each_group_would_have(tmp_path: Path) -> None:
    world = world_of_groups(tmp_path, 2)
    before = world.files()
    found: list[dict[str, Any]] = []
    session = Supervisor(settings_for(world, dry_run=True, **several({"min": 1}, {}, {})))

    def done() -> bool:
        found[:] = session._reporting.describe()["elastic"]
        return bool(sum(row["cores"] for row in found) == 6)

    with session:
        run_until(session, Script(2), lambda _w, _d: done())
    assert [row["cores"] for row in found] == [2, 2, 2]
    assert world.files() == before


def by_cpuset(world: World) -> None:
    world.kernel.write(world.tree.group("web").cpus_file, "0-3")


def by_quota(world: World) -> None:
    set_quota(world, 4)


@pytest.mark.parametrize(
    ("leave_four", "setting"), [(by_cpuset, "unallocated"), (by_quota, "unallocated_by_quota")]
)
def test_what_no_primary_may_use_is_lent_without_any_prediction(
    tmp_path: Path, version: int, leave_four: Callable[[World], None], setting: str
) -> None:
    world = world_of_groups(tmp_path, version)
    leave_four(world)
    seen: list[str] = []

    def done() -> bool:
        seen.append(world.mask())
        return {"4-7", "2-7"} <= set(seen)

    session = Supervisor(settings_for(world, **(several() | {setting: True})))
    with session:
        run_until(session, Script(2, 4, total=4), lambda _w, _d: done())
    assert set(seen) <= {"4-7", "2-7"}


def test_a_quota_that_grows_takes_back_what_it_left_over(
    tmp_path: Path, version: int, processes: Processes
) -> None:
    world = world_of_groups(tmp_path, version)
    set_quota(world, 4)
    agent = processes.agent(
        *world.arguments, "--primary", "cgroup:web", "--policy", "no-harvest",
        "--unallocated-by-quota", "--config", toml_of_groups(tmp_path / "agent.toml"),
    )  # fmt: skip
    agent.wait_until(lambda: world.mask() == "4-7")
    set_quota(world, 8)
    agent.wait_until(lambda: world.mask() == "7")


def set_quota(world: World, cores: int) -> None:
    """Of the primary."""
    directory = world.tree.group("web").directory("cpu")
    if world.tree.version == 2:
        world.kernel.write(f"{directory}/cpu.max", f"{cores * 100_000} 100000\n")
    else:
        world.kernel.write(f"{directory}/cpu.cfs_quota_us", f"{cores * 100_000}\n")


def test_a_violated_guarantee_has_more_cores_within_two_turns(
    tmp_path: Path, processes: Processes
) -> None:
    world, page = world_of_groups(tmp_path, 2), tmp_path / "beats"
    page.write_bytes(bytes(4096))
    config = tmp_path / "agent.toml"
    config.write_text(
        Path(toml_of_groups(config)).read_text() + f'guarantee = "4/s"\nheartbeats = "{page}"\n'
    )
    agent = processes.agent(
        *world.arguments, "--primary", "cgroup:web", "--policy", "fixed-buffer:1",
        "--config", str(config), "--audit-log", str(tmp_path / "audit.jsonl"),
    )  # fmt: skip
    agent.wait_until(lambda: shares(world)[2] in (5, 7))  # it never beats
    row = rows_of(world)[2]
    assert (row["throughput"], row["throughput_by"]) == (0, "heartbeats")
    assert (row["guarantee"], row["guarantee_met"]) == ("4/s", False)
    assert row["guarantee_violations"] == 1

    def audited() -> list[str]:
        records = map(json.loads, (tmp_path / "audit.jsonl").read_text().splitlines())
        return [one["group"] for one in records if one["kind"] == "guarantee violated"]

    wait_until(lambda: audited() == ["etl"])


def test_the_guarantee_of_a_group_without_work_rests_and_holds_once_it_has_some(
    tmp_path: Path, processes: Processes
) -> None:
    world, page = world_of_groups(tmp_path, 2), tmp_path / "beats"
    page.write_bytes(bytes(4096))
    usage = Path(world.tree.group("batch/etl").path, "cpu.stat")
    usage.write_text("usage_usec 0\n")
    config = tmp_path / "agent.toml"
    config.write_text(
        Path(toml_of_groups(config)).read_text() + f'guarantee = "4/s"\nheartbeats = "{page}"\n'
    )
    agent = processes.agent(
        *world.arguments, "--primary", "cgroup:web", "--policy", "fixed-buffer:1",
        "--config", str(config),
    )  # fmt: skip
    agent.wait_until(lambda: rows_of(world)[2]["core_seconds"] > 0)
    looks = []
    for _ in range(5):
        time.sleep(1)
        looks.append(rows_of(world)[2])
    assert {row["guarantee_met"] for row in looks} == {None}
    assert max(row["cores"] for row in looks) < 4

    def works_and_never_beats() -> bool:
        usage.write_text(f"usage_usec {time.monotonic_ns() // 1000}\n")
        return shares(world)[2] in (5, 7)

    agent.wait_until(works_and_never_beats)
    smartharvest_here("pause", "--group", "etl", "--state-dir", str(world.state_dir))
    agent.wait_until(lambda: rows_of(world)[2]["cores"] == 0)
    assert rows_of(world)[2]["guarantee_met"] is None


def test_a_group_that_the_kernel_gives_less_than_it_is_due_gets_a_larger_weight(
    tmp_path: Path,
) -> None:
    world = world_of_groups(tmp_path, 2)
    groups = [world.tree.group(f"batch/{name}") for name in NAMES]
    began_s = looked_s = time.monotonic()

    def has_more() -> bool:
        """The kernel gives the first a fifth of what the others get, while they share 7 cores."""
        nonlocal looked_s
        if time.monotonic() - looked_s < 0.3:  # the agent has windows to answer
            return False
        looked_s = time.monotonic()
        for group, cores in zip(groups, (0.6, 3.2, 3.2), strict=True):
            used_us = int(1e6 * cores * (looked_s - began_s))
            Path(group.path, "cpu.stat").write_text(f"usage_usec {used_us}\n")
        weight, *others = (int(world.kernel.read(f"{one.path}/cpu.weight")) for one in groups)
        return weight > 1.5 * max(others)

    session = Supervisor(settings_for(world, **several()))
    with session:
        run_until(session, Script(0), lambda _w, _d: has_more(), longest_s=30.0)


def test_the_cores_of_a_paused_group_go_to_the_others_and_come_back(
    tmp_path: Path, version: int, processes: Processes
) -> None:
    world = world_of_groups(tmp_path, version)
    agent = processes.agent(
        *world.arguments, "--primary", "cgroup:web", "--policy", "fixed-buffer:1",
        "--config", toml_of_groups(tmp_path / "agent.toml"),
        "--audit-log", str(tmp_path / "audit.jsonl"),
    )  # fmt: skip
    agent.wait_until(lambda: sum(row["cores"] for row in rows_of(world)) == 7)
    said = smartharvest_here("pause", "--group", "etl", "--state-dir", str(world.state_dir))
    assert "paused: etl, until smartharvest resume" in said.out

    def others_have_all() -> bool:
        *others, paused = rows_of(world)
        return bool(sum(row["cores"] for row in others) == 7 and paused["cores"] == 0)

    agent.wait_until(others_have_all)
    row = rows_of(world)[2]
    assert (row["held"], row["pauses"], row["due"]) == ("paused", 1, 0)
    smartharvest_here("resume", "--group", "etl", "--state-dir", str(world.state_dir))
    agent.wait_until(lambda: rows_of(world)[2]["cores"] > 0)
    assert rows_of(world)[2]["held"] is None
    kinds = [json.loads(line)["kind"] for line in (tmp_path / "audit.jsonl").open()]
    assert kinds.index("group paused by the operator") < kinds.index(
        "group resumed by the operator"
    )


def test_an_evicted_group_is_frozen_until_resume_and_thawed_at_the_end(
    tmp_path: Path, version: int, processes: Processes
) -> None:
    world = world_of_groups(tmp_path, version)
    before = world.files()
    agent = processes.agent(
        *world.arguments, "--primary", "cgroup:web", "--policy", "fixed-buffer:1",
        "--config", toml_of_groups(tmp_path / "agent.toml"),
    )  # fmt: skip
    place = world.tree.group("batch/builds")

    def frozen() -> bool:
        path = place.freeze_file
        return path is not None and world.kernel.read(path).strip() in ("FROZEN", "1")

    agent.wait_until(lambda: sum(row["cores"] for row in rows_of(world)) == 7)
    smartharvest_here("evict", "--group", "builds", "--state-dir", str(world.state_dir))
    assert frozen()
    agent.wait_until(lambda: [row["held"] for row in rows_of(world)] == [None, "evicted", None])
    smartharvest_here("resume", "--state-dir", str(world.state_dir))
    assert not frozen()
    smartharvest_here("evict", "--group", "builds", "--state-dir", str(world.state_dir))
    said = smartharvest_here("evict", "--group", "nobody", "--state-dir", str(world.state_dir))
    assert "no elastic group 'nobody'; its groups are analytics, builds, etl" in said.err
    agent.send(signal.SIGTERM)
    assert world.files() == before
