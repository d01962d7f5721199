"""Domains of a real libvirt daemon as targets: plugged, pinned, moved and started again."""

from __future__ import annotations

import signal
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from smartharvest.fleet.overload import Report, Vm
from smartharvest.fleet.reports import as_line
from smartharvest.host.cgroup.tree import CgroupTree, Group
from smartharvest.host.cpulist import format_cpulist, parse_cpulist
from smartharvest.host.process import tasks
from smartharvest.host.target.libvirt_domains import PLACES
from smartharvest.telemetry.client import ask, socket_path
from tests.commands import smartharvest_here
from tests.integration.hosts import Host
from tests.integration.libvirt_daemon import Daemon, missing
from tests.integration.processes import Processes, times_without_primaries

pytestmark = [
    pytest.mark.timing,
    pytest.mark.root,
    pytest.mark.slow,
    pytest.mark.skipif(bool(missing()), reason=f"needs {', '.join(missing())}"),
]


@pytest.fixture(scope="module")
def daemons(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Daemon, Daemon]]:
    """Two hosts, as far as libvirt knows, on one kernel."""
    directory = tmp_path_factory.mktemp("libvirt")
    here = Daemon(directory / "here", directory / "cache", "here")
    there = Daemon(directory / "there", directory / "cache", "there")
    try:
        yield here, there
    finally:
        here.end()
        there.end()


@pytest.fixture
def daemon(daemons: tuple[Daemon, Daemon], monkeypatch: pytest.MonkeyPatch) -> Iterator[Daemon]:
    """The one that agents ask."""
    here, there = daemons
    monkeypatch.setenv("LIBVIRT_DEFAULT_URI", here.uri)
    yield here
    for one in (here, there):
        for name in one.running():
            one.virsh("destroy", name)


def vcpu_groups(tree: CgroupTree) -> dict[str, Group]:
    """The groups below the one domain that runs, by their names."""
    found = {}
    for place in PLACES:
        for directory in Path(tree.hierarchies["cpuset"], place).glob("*qemu*/**/"):
            group = tree.group(str(directory))
            if directory.name == "emulator" or directory.name.startswith("vcpu"):
                found[directory.name] = group
    return found


def cpus(tree: CgroupTree) -> dict[str, str]:
    return {name: tree.files.read(one.cpus_file).strip() for name, one in vcpu_groups(tree).items()}


def test_an_elastic_domain_keeps_its_pins_and_a_plugged_vcpu_is_taken_along(
    daemon: Daemon, host: Host, processes: Processes
) -> None:
    everything = host.tree.online_cpus()
    first, last = str(min(everything)), str(max(everything))
    daemon.create("web", f"<cputune><vcpupin vcpu='0' cpuset='{last}'/></cputune>")
    before = cpus(host.tree)
    assert before == {"emulator": before["emulator"], "vcpu0": last, "vcpu1": before["vcpu1"]}
    agent = processes.agent(
        *host.state, "--primary", f"cgroup:{host.web}", "--elastic", "libvirt:web",
        "--policy", "no-harvest",
    )  # fmt: skip

    def all_are_confined() -> bool:
        masks = [parse_cpulist(mask) for mask in cpus(host.tree).values()]
        return all(mask < everything for mask in masks)

    agent.wait_until(all_are_confined)
    daemon.virsh("setvcpus", "web", "3", "--live")
    assert "vcpu2" in cpus(host.tree)
    agent.wait_until(all_are_confined)
    outcome = agent.send(signal.SIGTERM)
    assert outcome.code == 0, outcome.err
    assert cpus(host.tree) == before | {"vcpu2": format_cpulist(everything)}
    (plugged,) = vcpu_groups(host.tree)["vcpu2"].tasks()
    assert tasks.affinity(plugged) == everything
    assert daemon.virsh("vcpupin", "web", "1", first) is not None  # libvirt may write as before


def test_a_primary_domain_may_end_start_again_and_move_away_and_back(
    daemons: tuple[Daemon, Daemon],
    daemon: Daemon,
    host: Host,
    processes: Processes,
    tmp_path: Path,
) -> None:
    there, audit_log = daemons[1], tmp_path / "audit.jsonl"
    identity = str(uuid.uuid4())
    for _ in range(4):  # so that ids, and with them the groups, differ
        there.create("other")
        there.virsh("destroy", "other")
    daemon.create("web", identity=identity)
    agent = processes.agent(
        *host.state, "--primary", "libvirt:web", "--elastic", f"cgroup:{host.batch}",
        "--policy", "fixed-buffer:1", "--lend-shared", "--audit-log", str(audit_log),
    )  # fmt: skip
    path = socket_path(str(host.state_dir), agent.pid)

    def lends() -> bool:
        return bool(ask(path, "status", {})["harvested"]["now"])

    agent.wait_until(lambda: Path(path).exists())
    agent.wait_until(lends)
    daemon.virsh("destroy", "web")
    agent.wait_until(lambda: times_without_primaries(audit_log) == 1)
    daemon.create("web", identity=identity)
    agent.wait_until(lends)
    daemon.virsh("resume", "web")
    move = ("migrate", "web", there.uri, "tcp://127.0.0.1", "--live", "--p2p", "--unsafe")
    daemon.virsh(*move)
    agent.wait_until(lambda: times_without_primaries(audit_log) == 2)
    back = ("migrate", "web", daemon.uri, "tcp://127.0.0.1", "--live", "--p2p", "--unsafe")
    there.virsh(*back)
    agent.wait_until(lends)
    outcome = agent.send(signal.SIGTERM)
    assert outcome.code == 0, outcome.err
    assert outcome.err.count("nothing is lent until one appears") == 2


def test_a_domain_is_lent_from_while_the_daemon_starts_anew(
    daemon: Daemon, host: Host, processes: Processes
) -> None:
    daemon.create("web")
    agent = processes.agent(
        *host.state, "--primary", "libvirt:web", "--elastic", f"cgroup:{host.batch}",
        "--policy", "fixed-buffer:1", "--lend-shared",
    )  # fmt: skip
    path = socket_path(str(host.state_dir), agent.pid)
    agent.wait_until(lambda: Path(path).exists())

    def lends() -> bool:
        return bool(ask(path, "status", {})["harvested"]["now"])

    agent.wait_until(lends)
    daemon.restart()
    daemon.virsh("destroy", "web")
    agent.wait_until(lambda: not lends())
    outcome = agent.send(signal.SIGTERM)
    assert outcome.code == 0, outcome.err


def test_overload_moves_a_running_domain_to_the_node_that_was_chosen(
    daemons: tuple[Daemon, Daemon], daemon: Daemon, tmp_path: Path
) -> None:
    there = daemons[1]
    daemon.create("web")
    daemon.virsh("resume", "web")
    now_s = time.time()
    web = Vm("web", 2, 1, used_cores=1.9)
    rows = [
        *(Report(now_s - 20 + 10 * n, "here", 2, 8, 1.9, vms=[web]) for n in range(3)),
        Report(now_s, "there", 4, 8, 0.1),
    ]
    reports = tmp_path / "reports.jsonl"
    reports.write_text("".join(map(as_line, rows)))
    command = (
        "fleet", "overload", "--reports", str(reports), "--node", "here", "--place", "worst-fit",
        "--libvirt", daemon.uri, "--apply", "--move-to", there.uri.replace("there", "{node}"),
        "--move-over", "tcp://127.0.0.1",
    )  # fmt: skip
    late = smartharvest_here(*command, "--move-within", "1ms")
    assert late.code == 12, late
    assert "was not moved to" in late.failure
    assert (daemon.running(), there.running()) == (["web"], [])
    outcome = smartharvest_here(*command)
    assert outcome.code == 0, outcome.failure
    assert "done: move web to there on here" in outcome.out
    assert (daemon.running(), there.running()) == ([], ["web"])
