"""What two sockets with three cores of two threads each show, and fewer CPUs cannot."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from smartharvest.host.cpulist import parse_cpulist
from smartharvest.host.topology import read_topology
from tests.integration.hosts import Host, is_confined
from tests.integration.processes import Processes

pytestmark = [
    pytest.mark.timing,
    pytest.mark.lab,
    pytest.mark.skipif((os.cpu_count() or 0) < 12, reason="needs 12 CPUs"),
]
CPUS = Path("/sys/devices/system/cpu")


def test_whole_cores_of_one_node_are_lent_before_the_other_s(host: Host) -> None:
    topology = read_topology(host.tree.online_cpus())
    order = topology.lend_order(host.tree.online_cpus())
    assert [len(core) for core in order] == [2] * 6
    for core in order:
        files = [CPUS / f"cpu{cpu}" / "topology" / "thread_siblings_list" for cpu in core]
        assert {parse_cpulist(file.read_text()) for file in files} == {core}
    nodes = [topology.node[min(core)] for core in order]
    assert nodes == sorted(nodes, reverse=True)
    assert set(nodes) == {0, 1}


def test_the_batch_gets_whole_cores(host: Host, processes: Processes) -> None:
    cores = read_topology(host.tree.online_cpus()).cores(host.tree.online_cpus())
    agent = processes.agent(*host.state, *host.targets, "--policy", "fixed-buffer:2")
    seen: set[frozenset[int]] = set()

    def several_were_lent() -> bool:
        cpus = host.batch.effective_cpus()
        seen.add(cpus)
        return 2 <= len(cpus) < 12

    agent.wait_until(several_were_lent)
    assert agent.send(signal.SIGTERM).code == 0
    for cpus in seen:
        assert all(core <= cpus or core.isdisjoint(cpus) for core in cores), sorted(cpus)


def test_a_cpu_that_goes_and_comes_back_leaves_nothing_behind(
    host: Host, processes: Processes
) -> None:
    before = host.files()
    last = max(host.tree.online_cpus())
    switch = CPUS / f"cpu{last}" / "online"
    agent = processes.agent(*host.state, *host.targets)
    agent.wait_until(lambda: is_confined(host))
    try:
        switch.write_text("0")
        agent.wait_until(lambda: last not in host.batch.effective_cpus())
    finally:
        switch.write_text("1")
    agent.wait_until(lambda: is_confined(host))
    outcome = agent.send(signal.SIGTERM)
    assert outcome.code == 0, outcome.err
    assert host.files() == before
    assert last in host.batch.effective_cpus()
