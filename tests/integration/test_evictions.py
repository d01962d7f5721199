"""Groups that lose their minimum after a notice, on a fake tree and on this machine."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from smartharvest.agent import group_sharing
from smartharvest.agent.supervisor import Supervisor
from smartharvest.host.cgroup.tree import Group
from tests.commands import smartharvest_here
from tests.integration.hosts import Host
from tests.integration.processes import Processes, RunningAgent, wait_until
from tests.integration.supervisors import row_of, run_steps, settings_for
from tests.integration.test_several_groups import NAMES, rows_of, several, world_of_groups
from tests.integration.worlds import World

pytestmark = pytest.mark.timing
MS = 1_000_000


class Need:
    """How many cores of the minima the primaries need, as a test says."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.cores = 0
        monkeypatch.setattr(group_sharing, "needed_cores", lambda *_: self.cores)
        monkeypatch.setattr(group_sharing, "TURN_NS", 10 * MS)


@pytest.fixture
def need(monkeypatch: pytest.MonkeyPatch) -> Need:
    return Need(monkeypatch)


@pytest.fixture
def groups_world(tmp_path: Path, version: int) -> World:
    return world_of_groups(tmp_path, version)


QUICKLY = """
import sys
from smartharvest.agent import group_sharing
from smartharvest.cli import main
group_sharing.TURN_NS = 100_000_000
main(sys.argv[1:])
"""
"""An agent whose groups have a turn ten times a second: a need stands after half a second."""


def quick_agent(processes: Processes, *arguments: str) -> RunningAgent:
    return RunningAgent(processes.start([sys.executable, "-c", QUICKLY, "agent", *arguments]))


def stopped(world: World, name: str) -> bool:
    path = world.tree.group(f"batch/{name}").freeze_file
    return path is not None and world.kernel.read(path).strip() in ("FROZEN", "1")


def notice_of(world: World, name: str) -> Path:
    return world.state_dir / "notices" / name


def test_a_group_has_a_notice_is_frozen_and_comes_back(groups_world: World, need: Need) -> None:
    before = groups_world.files()
    bounds: tuple[dict[str, Any], ...] = ({"min": 1, "notice_ns": 200 * MS}, {"min": 1}, {})
    session = Supervisor(settings_for(groups_world, **several(*bounds)))
    path = notice_of(groups_world, "analytics")
    capacity: list[Any] = []

    def lends() -> bool:
        need.cores = 1
        return True

    def noticed() -> bool:
        if not path.exists() or stopped(groups_world, "analytics"):
            return False
        capacity.append(session._reporting.describe_capacity())
        return bool(row_of(session, "analytics")["eviction"]["stage"] == "noticed")

    def evicted() -> bool:
        if not stopped(groups_world, "analytics"):
            return False
        assert float(path.read_text()) > 0
        row = row_of(session, "analytics")
        assert row["eviction"]["stage"] == "evicted"
        assert (row["cores"], row["due"]) == (0, 0)
        assert not any(stopped(groups_world, name) for name in NAMES[1:])
        need.cores = 0
        return True

    def returned() -> bool:
        return not stopped(groups_world, "analytics") and not path.exists()

    run_steps(session, lends, noticed, evicted, returned, total=6)
    told = row_of(session, "analytics")["eviction"]
    assert (told["notices"], told["evictions"], told["at_once"]) == (1, 1, 0)
    assert [row["group"] for row in capacity[-1]["eviction_notices"]] == ["analytics"]
    assert capacity[-1]["cores"]["guaranteed"] == 1, "one of the two is not to be counted on"
    assert groups_world.files() == before


def test_a_notice_is_withdrawn_when_the_need_ends(tmp_path: Path, need: Need) -> None:
    world = world_of_groups(tmp_path, 2)
    bounds: tuple[dict[str, Any], ...] = ({"min": 1, "notice_ns": 60_000 * MS}, {}, {})
    session = Supervisor(settings_for(world, **several(*bounds)))
    path = notice_of(world, "analytics")
    need.cores = 1

    def noticed() -> bool:
        if path.exists():
            need.cores = 0
        return path.exists()

    run_steps(session, noticed, lambda: not path.exists())
    told = row_of(session, "analytics")["eviction"]
    assert (told["withdrawn"], told["evictions"]) == (1, 0)


def test_a_run_that_ends_meanwhile_leaves_no_group_frozen_and_no_notice(
    groups_world: World, need: Need
) -> None:
    before = groups_world.files()
    bounds: tuple[dict[str, Any], ...] = ({"min": 1, "notice_ns": 1}, {}, {})
    need.cores = 1
    session = Supervisor(settings_for(groups_world, **several(*bounds)))
    run_steps(session, lambda: stopped(groups_world, "analytics"))
    assert groups_world.files() == before
    assert not notice_of(groups_world, "analytics").exists()


def test_a_reload_without_the_notice_thaws_the_group(tmp_path: Path, need: Need) -> None:
    world = world_of_groups(tmp_path, 2)
    new = settings_for(world, **several({"min": 1}, {}, {}))
    old = settings_for(world, **several({"min": 1, "notice_ns": 1}, {}, {}))
    session = Supervisor(old, load=lambda: new)
    need.cores = 1

    def evicted() -> bool:
        if stopped(world, "analytics"):
            session.ask_reload()
            return True
        return False

    run_steps(session, evicted, lambda: not stopped(world, "analytics"))


def test_a_dry_run_says_whom_it_would_evict_and_freezes_nobody(tmp_path: Path, need: Need) -> None:
    world = world_of_groups(tmp_path, 2)
    before = world.files()
    bounds: tuple[dict[str, Any], ...] = ({"min": 1, "notice_ns": 1}, {}, {})
    session = Supervisor(settings_for(world, dry_run=True, **several(*bounds)))
    need.cores = 1
    run_steps(session, lambda: row_of(session, "analytics")["eviction"]["stage"] == "evicted")
    assert world.files() == before
    assert not notice_of(world, "analytics").exists()


def toml(path: Path, *groups: str) -> str:
    tables = (
        f'[[elastic]]\nname = "{os.path.basename(one)}"\ntarget = "{one}"\n' for one in groups
    )
    text = "\n".join(tables).replace("\n\n", '\nmin = 1\nnotice = "100ms"\n\n', 1)
    path.write_text(text)
    return str(path)


def test_a_group_that_a_killed_agent_has_frozen_is_thawed(
    tmp_path: Path, processes: Processes
) -> None:
    world = world_of_groups(tmp_path, 2)
    # One core beyond the minimum, which one spinning task fills.
    world.kernel.write(world.tree.group("web").cpus_file, "0-1")
    world.kernel.write(f"{world.tree.group('web').path}/cgroup.procs", str(processes.spinning()))
    before = world.files()
    audit = tmp_path / "audit.jsonl"
    config = toml(tmp_path / "agent.toml", "cgroup:batch/analytics", "cgroup:batch/builds")
    agent = quick_agent(
        processes, *world.arguments, "--primary", "cgroup:web", "--policy", "fixed-buffer:1",
        "--config", config, "--audit-log", str(audit), "--no-guardian",
    )  # fmt: skip
    agent.wait_until(lambda: stopped(world, "analytics"))
    assert rows_of(world)[0]["eviction"]["stage"] == "evicted"
    assert notice_of(world, "analytics").exists()
    wait_until(lambda: "group evicted" in audit.read_text())
    kinds = [json.loads(line)["kind"] for line in audit.read_text().splitlines()]
    assert kinds.index("eviction notice") < kinds.index("group evicted")
    agent.send(signal.SIGKILL)
    assert smartharvest_here("restore", *world.arguments).code == 0
    assert world.files() == before
    assert not notice_of(world, "analytics").exists()


def state_of(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def agent_that_evicts(
    host: Host, processes: Processes, tmp_path: Path, how: str
) -> tuple[RunningAgent, Group, int]:
    """One on this machine whose primary fills all cores but the minimum of a group of one task."""
    above = host.make("shared")
    if host.tree.version == 2:
        host.tree.files.write(f"{above.path}/cgroup.subtree_control", "+cpuset +cpu")
    one, two = host.make("shared/one"), host.make("shared/two")
    worker = host.place(processes.spinning(), one)
    for _ in range(len(host.tree.online_cpus()) - 1):
        host.place(processes.spinning(), host.web)
    config = tmp_path / "agent.toml"
    toml(config, f"cgroup:{one}", f"cgroup:{two}")
    config.write_text(config.read_text().replace("notice", f'on_eviction = "{how}"\nnotice'))
    agent = quick_agent(
        processes, *host.state, "--primary", f"cgroup:{host.web}", "--config", str(config),
        "--sensor", "proc", "--lend-shared", "--policy", "fixed-buffer:1", "--long-term", "off",
    )  # fmt: skip
    return agent, one, worker


@pytest.mark.root
def test_a_frozen_group_on_this_machine_runs_again_after_a_kill(
    host: Host, processes: Processes, tmp_path: Path
) -> None:
    agent, one, worker = agent_that_evicts(host, processes, tmp_path, "freeze")
    freeze_file = one.freeze_file
    assert freeze_file is not None
    read = host.tree.files.read
    agent.wait_until(lambda: read(freeze_file).strip() in ("FROZEN", "1"))
    assert state_of(worker) in "DSR", "it lives"
    agent.send(signal.SIGKILL)
    wait_until(lambda: read(freeze_file).strip() in ("THAWED", "0"))
    wait_until(lambda: state_of(worker) == "R")


@pytest.mark.root
@pytest.mark.slow
def test_a_group_that_is_to_be_ended_is_killed_after_its_notice(
    host: Host, processes: Processes, tmp_path: Path
) -> None:
    agent, one, worker = agent_that_evicts(host, processes, tmp_path, "end")
    agent.wait_until(lambda: state_of(worker) == "Z")
    assert not [tid for tid in one.tasks() if tid != worker]
    assert agent.send(signal.SIGTERM).code == 0
