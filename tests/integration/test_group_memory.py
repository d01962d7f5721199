"""Memory that follows what is unused, on a fake tree that answers as the kernel would."""

from __future__ import annotations

import json
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from smartharvest.agent import group_memory
from smartharvest.agent.supervisor import Supervisor
from smartharvest.algorithm import memory as algorithm
from smartharvest.config.elastic_groups import MemoryBounds
from smartharvest.host.cgroup.memory import limit_file
from smartharvest.host.cgroup.tree import CgroupTree, Group
from smartharvest.host.target.spec import TargetSpec
from tests.commands import smartharvest_here
from tests.integration.hosts import Host
from tests.integration.processes import Processes, wait_until
from tests.integration.supervisors import row_of, run_steps, settings_for
from tests.integration.test_several_groups import several
from tests.integration.worlds import World, make_world
from tests.unit.host.fake_trees import make_v1_tree

pytestmark = pytest.mark.timing
MIB = 1 << 20
MACHINE = 4096
"""MiB."""
BOUNDS = MemoryBounds(256 * MIB, 2048 * MIB)
NAMES = ("analytics", "builds")


class Machine:
    """A fake tree whose memory a test sets; all in MiB."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.available, self.swap = 3000, 8192
        self.stalled_us = 0
        self.tell()

    def tell(self) -> None:
        root = Path(self.world.tree.root)
        lines = {"MemTotal": MACHINE, "MemAvailable": self.available, "SwapFree": self.swap}
        (root / ".meminfo").write_text("".join(f"{k}: {v * 1024} kB\n" for k, v in lines.items()))
        pressure = f"some avg10=0.00 total={self.stalled_us}\n"
        (root / ".pressure").write_text(pressure)
        if self.world.tree.version == 2:
            self.put("web", "memory.pressure", pressure)

    def group(self, name: str) -> Group:
        return self.world.tree.group(f"batch/{name}" if name in NAMES else name)

    def put(self, group: str, name: str, value: str) -> None:
        directory = self.group(group).directory("memory")
        Path(f"{directory}/{name}").write_text(value)

    def use(self, group: str, size: int) -> None:
        v1 = self.world.tree.version == 1
        self.put(group, "memory.usage_in_bytes" if v1 else "memory.current", str(size * MIB))

    def used(self, group: str) -> int:
        v1 = self.world.tree.version == 1
        name = "memory.usage_in_bytes" if v1 else "memory.current"
        directory = self.group(group).directory("memory")
        return int(self.world.kernel.read(f"{directory}/{name}")) // MIB

    def limit(self, group: str) -> int | None:
        """None: no limit."""
        path = limit_file(self.group(group))
        assert path is not None
        text = self.world.kernel.read(path).strip()
        return None if text == "max" or int(text) > 1 << 60 else int(text) // MIB


def make_machine(tmp_path: Path, version: int) -> Machine:
    if version == 1:
        make_v1_tree(tmp_path / "v1")
        (tmp_path / "v1" / "memory").mkdir()
        for file in ("tasks", "cgroup.procs"):
            (tmp_path / "v1" / "memory" / file).write_text("")
        world = World(CgroupTree.discover(str(tmp_path / "v1")), tmp_path / "state")
        for path in ("web", "batch"):
            world.add_group(path)
    else:
        world = make_world(tmp_path, 2)
        for directory in (world.tree.root, world.elastic.path):
            world.kernel.write(f"{directory}/cgroup.subtree_control", "+cpuset +cpu +memory")
    for name in NAMES:
        world.add_group(f"batch/{name}")
    return Machine(world)


@pytest.fixture
def machine(tmp_path: Path, version: int) -> Machine:
    return make_machine(tmp_path, version)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(group_memory, "TURN_NS", 20_000_000)
    monkeypatch.setattr(group_memory, "FOLLOW_NS", 5_000_000)
    monkeypatch.setattr(algorithm, "RISE_SHARE", 1.0)


def bounded(**more: Any) -> dict[str, Any]:
    return several({"memory": BOUNDS}, {}, names=NAMES) | more


def test_a_limit_follows_what_is_unused_and_every_file_is_as_before(machine: Machine) -> None:
    before = machine.world.files()
    session = Supervisor(settings_for(machine.world, **bounded()))

    def much() -> bool:
        if machine.limit("analytics") != 2048:
            return False
        machine.available = 300
        machine.tell()
        return True

    def little() -> bool:
        if machine.limit("analytics") != 256:
            return False
        row = row_of(session, "analytics")["memory"]
        assert (row["min_bytes"], row["max_bytes"]) == (256 * MIB, 2048 * MIB)
        assert row["limit_bytes"] == 256 * MIB
        assert row_of(session, "builds")["memory"] is None
        told = {one["name"]: one for one in session._reporting.describe_capacity()["groups"]}
        sizes = {"now_bytes": 256 * MIB, "guaranteed_bytes": 256 * MIB, "most_bytes": 2048 * MIB}
        assert told["analytics"]["memory"] == sizes
        assert told["builds"]["memory"] is None
        machine.available = 3000
        machine.tell()
        return True

    run_steps(session, much, little)
    assert machine.limit("builds") is None
    assert machine.world.files() == before


def test_what_a_group_holds_beyond_its_limit_is_taken_in_small_steps(tmp_path: Path) -> None:
    machine = make_machine(tmp_path, 2)
    session = Supervisor(settings_for(machine.world, **bounded()))
    machine.use("analytics", 1500)
    limits: list[int | None] = []

    def much() -> bool:
        if machine.limit("analytics") != 2048:
            return False
        machine.available = 0
        machine.tell()
        return True

    def taken() -> bool:
        limit, used = machine.limit("analytics"), machine.used("analytics")
        limits.append(limit)
        if (limit, used) != (256, 256):
            return False
        row = row_of(session, "analytics")["memory"]
        return row["taken_back_bytes"] == (1500 - 256) * MIB and not row["taking_back"]

    run_steps(session, much, taken)
    reached = [limit for limit in limits if limit is not None]
    assert reached == sorted(reached, reverse=True)


def test_memory_that_the_kernel_does_not_find_leaves_the_limit_where_it_is(tmp_path: Path) -> None:
    machine = make_machine(tmp_path, 2)
    machine.use("analytics", 1000)
    machine.put("analytics", "memory.stat", f"unevictable {1000 * MIB}\n")
    machine.available = 0
    machine.tell()
    session = Supervisor(settings_for(machine.world, **bounded()))

    def asked() -> bool:
        limit = machine.limit("analytics")
        refused = session._groups.memories._limits["analytics"].reclaimer.refusals
        return limit is not None and 1000 <= limit < 1020 and refused > 0

    run_steps(session, asked)


def test_a_limit_does_not_follow_a_group_that_grows_beyond_it(tmp_path: Path) -> None:
    machine = make_machine(tmp_path, 2)
    machine.swap = 0  # so it may have no more than its minimum
    machine.tell()
    session = Supervisor(settings_for(machine.world, **bounded()))
    looks = 0

    def at_its_minimum() -> bool:
        if machine.limit("analytics") != 256:
            return False
        machine.put("analytics", "memory.stat", f"unevictable {600 * MIB}\n")
        machine.use("analytics", 600)
        return True

    def stays() -> bool:
        nonlocal looks
        assert machine.limit("analytics") == 256
        looks += row_of(session, "analytics")["memory"]["taking_back"]
        refused = session._groups.memories._limits["analytics"].reclaimer.refusals
        return looks >= 5 and refused > 0

    run_steps(session, at_its_minimum, stays)


def test_a_primary_that_stands_still_has_all_but_the_minima(machine: Machine) -> None:
    session = Supervisor(settings_for(machine.world, **bounded()))

    def stall() -> bool:
        if machine.limit("analytics") != 2048:
            return False
        machine.stalled_us += 10_000_000
        machine.tell()
        return True

    def back() -> bool:
        if machine.limit("analytics") != 256:
            return False
        return "stood still" in row_of(session, "analytics")["memory"]["why"]

    run_steps(session, stall, back)


def test_without_swap_only_what_no_primary_may_claim_is_lent(tmp_path: Path) -> None:
    machine = make_machine(tmp_path, 2)
    machine.swap = 0
    machine.tell()
    session = Supervisor(settings_for(machine.world, **bounded()))

    def bounded_by_none() -> bool:
        if machine.limit("analytics") != 256:
            return False
        assert "swap" in row_of(session, "analytics")["memory"]["why"]
        machine.put("web", "memory.max", str(1024 * MIB))
        return True

    def allocated() -> bool:
        # 4096 less 1024 allocated, 1096 of others and a sixteenth for whatever comes.
        return 1650 <= (machine.limit("analytics") or 0) <= 1720

    run_steps(session, bounded_by_none, allocated)


def test_an_owner_s_own_limit_is_never_exceeded_nor_another_s_overwritten(
    machine: Machine,
) -> None:
    path = limit_file(machine.group("analytics"))
    assert path is not None
    machine.world.kernel.write(path, str(1024 * MIB))
    session = Supervisor(settings_for(machine.world, **bounded()))

    def owner_s() -> bool:
        if row_of(session, "analytics")["memory"]["limit_bytes"] != 1024 * MIB:
            return False
        machine.world.kernel.write(path, str(700 * MIB))
        return True

    def left_alone() -> bool:
        trouble = row_of(session, "analytics")["memory"]["trouble"]
        return trouble is not None and "another process wrote" in trouble

    run_steps(session, owner_s, left_alone)
    assert machine.limit("analytics") == 700


def test_a_group_that_is_made_again_has_its_own_original(tmp_path: Path) -> None:
    machine = make_machine(tmp_path, 2)
    session = Supervisor(settings_for(machine.world, **bounded()))
    path = limit_file(machine.group("analytics"))
    assert path is not None

    def made_again() -> bool:
        if machine.limit("analytics") != 2048:
            return False
        with machine.world.kernel.at_rest():
            Path(path).parent.rename(tmp_path / "gone")  # or the new one has its inode
            machine.world.kernel._mkdir(str(Path(path).parent))
            Path(path).write_text(f"{1024 * MIB}\n")
        machine.available = 0
        machine.tell()
        return True

    run_steps(session, made_again, lambda: machine.limit("analytics") == 256)
    assert machine.limit("analytics") == 1024


CONFIG = """
primary = ["cgroup:web"]
cgroup_root = "{root}"
state_dir = "{state}"

[[elastic]]
name = "analytics"
target = "cgroup:batch/analytics"
memory = {{ min = "256MiB", max = "{most}" }}
"""


def config(machine: Machine, most: str = "2GiB") -> Path:
    path = machine.world.state_dir.parent / "agent.toml"
    root, state = machine.world.tree.root, machine.world.state_dir
    path.write_text(CONFIG.format(root=root, state=state, most=most))
    return path


def agent_with(processes: Processes, machine: Machine) -> Any:
    agent = processes.agent("--config", str(config(machine)))
    wait_until(lambda: machine.limit("analytics") is not None)
    return agent


def test_a_killed_agent_s_limit_is_put_back_by_the_guardian(
    processes: Processes, machine: Machine
) -> None:
    agent = agent_with(processes, machine)
    agent.send(signal.SIGKILL)
    wait_until(lambda: machine.limit("analytics") is None)


@pytest.mark.root
def test_a_limit_on_this_host_is_put_back_whatever_ends_the_agent(
    host: Host, processes: Processes, tmp_path: Path
) -> None:
    batch = host.make("bounded", ("cpuset", "cpu", "freezer", "memory"))
    path = limit_file(batch)
    if path is None:
        pytest.skip("the root group gives its children no memory controller")
    file = tmp_path / "agent.toml"
    targets = f'primary = ["cgroup:{host.web}"]\nstate_dir = "{host.state_dir}"\n'
    text = CONFIG[CONFIG.index("[[") :].format(most="64MiB").replace("256MiB", "32MiB")
    file.write_text(targets + text.replace("cgroup:batch/analytics", f"cgroup:{batch}"))
    before = Path(path).read_text()
    for how in (signal.SIGTERM, signal.SIGKILL):
        agent = processes.agent("--config", str(file))
        agent.wait_until(lambda: Path(path).read_text() != before)
        agent.send(how)
        wait_until(lambda: Path(path).read_text() == before)


def test_a_plan_shows_the_limits_and_refuses_what_the_machine_cannot_keep(
    machine: Machine,
) -> None:
    path = config(machine)
    plan = json.loads(smartharvest_here("agent", "--plan", "--json", "--config", str(path)).out)
    assert plan["would_start"], plan["refusal"]
    path_of_limit = limit_file(machine.group("analytics"))
    (change,) = [one for one in plan["changes"] if one["path"] == path_of_limit]
    assert change["after"] == f"{256 * MIB} … {2048 * MIB}"
    path.write_text(path.read_text().replace("256MiB", "5GiB").replace("2GiB", "6GiB"))
    told = smartharvest_here("agent", "--plan", "--config", str(path))
    assert told.code == 2
    assert "minima of memory add up to 5GiB" in told.failure


def test_a_group_without_the_controller_is_refused_in_one_line(tmp_path: Path) -> None:
    machine = make_machine(tmp_path, 2)
    machine.world.kernel.write(f"{machine.world.elastic.path}/cgroup.subtree_control", "-memory")
    told = smartharvest_here("agent", "--plan", "--config", str(config(machine)))
    assert told.code == 4
    assert "has no memory controller; echo +memory >" in told.failure


def test_a_dry_run_tells_and_writes_nothing(tmp_path: Path) -> None:
    machine = make_machine(tmp_path, 2)
    session = Supervisor(settings_for(machine.world, **bounded(dry_run=True)))

    def told() -> bool:
        return bool(row_of(session, "analytics")["memory"]["limit_bytes"] == 2048 * MIB)

    before = machine.world.files()
    run_steps(session, told)
    assert machine.world.files() == before


def test_a_group_that_a_reload_points_elsewhere_has_its_limit_back_at_once(
    machine: Machine,
) -> None:
    machine.world.add_group("batch/elsewhere")
    settings = settings_for(machine.world, **bounded())
    first, *rest = settings.elastic_groups
    elsewhere = replace(first, target=TargetSpec("cgroup", "batch/elsewhere"))
    session = Supervisor(settings)

    def pointed() -> bool:
        if machine.limit("analytics") != 2048:
            return False
        memories = session._groups.memories
        memories.take_up(replace(settings, elastic_groups=(elsewhere, *rest)))
        assert machine.limit("analytics") is None
        return True

    run_steps(session, pointed, lambda: machine.limit("batch/elsewhere") == 2048)
    assert machine.limit("batch/elsewhere") is None
