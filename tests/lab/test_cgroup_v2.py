"""What control groups of version 2 do on this kernel, and the agent with them."""

from __future__ import annotations

import os
import shutil
import signal
from pathlib import Path

import pytest

from smartharvest.host import kernels
from smartharvest.host.cgroup.tree import Group
from smartharvest.host.cpulist import format_cpulist
from smartharvest.host.journal import group_locks
from tests.commands import as_command
from tests.integration.hosts import Host, is_confined
from tests.integration.processes import Processes, RunningAgent

pytestmark = [pytest.mark.timing, pytest.mark.lab]

NOBODY = 65534


def write(group: Group, name: str, value: str) -> None:
    group.tree.files.write(f"{group.path}/{name}", value)


def read(group: Group, name: str) -> str:
    return group.tree.files.read(f"{group.path}/{name}").strip()


def run_once(host: Host, processes: Processes, *more: str) -> str:
    """An agent that confines the batch, is ended and leaves everything as it was; what it said."""
    before = host.files()
    agent = processes.agent(*host.state, *host.targets, *more)
    agent.wait_until(lambda: is_confined(host))
    outcome = agent.send(signal.SIGTERM)
    assert outcome.code == 0, outcome.err
    assert host.files() == before
    return outcome.err


def test_a_shrunken_cpuset_keeps_own_affinities_as_the_table_says(host: Host) -> None:
    everything = host.batch.effective_cpus()
    low, high = min(everything), max(everything)
    os.sched_setaffinity(host.worker, {high})
    write(host.batch, "cpuset.cpus", str(low))
    assert os.sched_getaffinity(host.worker) == {low}
    write(host.batch, "cpuset.cpus", format_cpulist(everything))
    kept = os.sched_getaffinity(host.worker) == {high}
    assert kept == kernels.has(kernels.USER_CPUS_PTR)


def test_a_mask_that_was_empty_is_left_as_what_it_meant(host: Host, processes: Processes) -> None:
    group = host.make("unsaid", filled=False)
    host.place(host.worker, group)
    agent = processes.agent(
        *host.state, "--primary", f"cgroup:{host.web}", "--elastic", f"cgroup:{group}"
    )
    everything = host.tree.online_cpus()
    agent.wait_until(lambda: group.effective_cpus() < everything)
    assert agent.send(signal.SIGTERM).code == 0
    assert group.effective_cpus() == everything
    left = read(group, "cpuset.cpus")
    try:
        write(group, "cpuset.cpus", "\n")
    except OSError:  # not while it has tasks, before Linux 7
        assert left == format_cpulist(everything)
    else:
        assert left == ""


def test_a_pinned_worker_has_its_pin_back_afterwards(host: Host, processes: Processes) -> None:
    everything = host.batch.effective_cpus()
    pin = {min(everything)}
    os.sched_setaffinity(host.worker, pin)
    before = host.files()
    agent = processes.agent(*host.state, *host.targets)
    agent.wait_until(lambda: host.batch.effective_cpus() < everything)
    assert agent.send(signal.SIGTERM).code == 0
    assert host.files() == before
    assert os.sched_getaffinity(host.worker) == pin


def test_a_group_without_tasks_of_its_own_is_confined_with_its_threaded_children(
    host: Host, processes: Processes
) -> None:
    child = Group(host.tree, f"{host.batch.relative}/vcpu0")
    os.mkdir(child.path)
    try:
        write(child, "cgroup.type", "threaded")
        write(host.batch, "cgroup.subtree_control", "+cpuset")
        write(child, "cgroup.threads", str(host.worker))
        assert host.worker in host.batch.tasks()
        run_once(host, processes)
    finally:
        write(host.batch, "cgroup.threads", str(host.worker))
        os.rmdir(child.path)


@pytest.mark.parametrize("kind", ["root", "isolated"])
def test_a_batch_that_is_a_partition_is_left_as_it_was(
    host: Host, processes: Processes, kind: str
) -> None:
    everything = host.tree.online_cpus()
    last = max(everything)
    write(host.web, "cpuset.cpus", format_cpulist(everything - {last}))
    write(host.batch, "cpuset.cpus", str(last))
    try:
        write(host.batch, "cpuset.cpus.partition", kind)
    except OSError:
        pytest.skip(f"this kernel has no {kind} partitions")
    became = read(host.batch, "cpuset.cpus.partition")
    try:
        if became != kind:
            pytest.skip(f"the kernel says: {became}")
        before = host.files()
        outcome = processes.agent(*host.state, *host.targets, "--duration", "1s").outcome()
        assert outcome.code in (0, 4, 5), outcome.err
        assert host.files() == before
        assert read(host.batch, "cpuset.cpus.partition") == kind
    finally:
        write(host.batch, "cpuset.cpus.partition", "member")


def test_a_delegated_subtree_is_managed_without_root(host: Host, processes: Processes) -> None:
    mine = host.make("mine")
    for name in ("", "/cgroup.procs", "/cgroup.threads", "/cgroup.subtree_control"):
        os.chown(f"{mine.path}{name}", NOBODY, NOBODY)
    write(mine, "cgroup.subtree_control", "+cpuset +cpu")
    groups = [Group(host.tree, f"{mine.relative}/{name}") for name in ("web", "batch")]
    directory = host.state_dir.parent / "nobody"
    directory.mkdir()
    for place in (directory, *directory.parents[:-2]):
        place.chmod(0o755)
    os.chown(directory, NOBODY, NOBODY)
    try:
        for group, pid in zip(groups, (host.spinner, host.worker), strict=True):
            os.mkdir(group.path)
            for file in ("", *os.listdir(group.path)):
                os.chown(f"{group.path}/{file}", NOBODY, NOBODY)
            host.place(pid, group)
        web, batch = groups
        write(batch, "cpuset.cpus", read(mine, "cpuset.cpus"))
        before = {name: read(batch, name) for name in ("cpuset.cpus", "cpu.idle", "cpu.weight")}
        agent = RunningAgent(
            processes.start(
                [
                    *("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"),
                    *("env", f"{group_locks.VARIABLE}={directory}"),
                    *as_command(["agent", "--state-dir", str(directory), "--no-realtime"]),
                    *("--primary", f"cgroup:{web}", "--elastic", f"cgroup:{batch}"),
                ]
            )
        )
        agent.wait_until(lambda: read(batch, "cpuset.cpus") != before["cpuset.cpus"])
        outcome = agent.send(signal.SIGTERM)
        assert outcome.code == 0, outcome.err
        assert {name: read(batch, name) for name in before} == before
    finally:
        for pid in (host.spinner, host.worker):
            host.place(pid, host.web)
        for group in groups:
            os.rmdir(group.path)
        shutil.rmtree(directory)


def test_memory_nodes_stay_as_they_are(host: Host, processes: Processes) -> None:
    nodes = Path("/sys/devices/system/node/online").read_text().strip()
    write(host.batch, "cpuset.mems", nodes[0])
    run_once(host, processes)
    assert read(host.batch, "cpuset.mems") == nodes[0]
