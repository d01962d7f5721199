"""A CPU that the machine gets and loses through its monitor while an agent harvests inside."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from smartharvest.host.cgroup.tree import Group
from smartharvest.host.cpulist import format_cpulist, parse_cpulist
from smartharvest.telemetry.client import NoAgent, ask, socket_path
from tests.integration.hosts import Host
from tests.integration.processes import Processes, RunningAgent

CPUS = Path("/sys/devices/system/cpu")


def cpus(name: str) -> frozenset[int]:
    return parse_cpulist((CPUS / name).read_text())


pytestmark = [
    pytest.mark.timing,
    pytest.mark.lab,
    pytest.mark.skipif(cpus("possible") <= cpus("present"), reason="needs a place for a CPU"),
]


def have(what: str) -> None:
    """Has the lab change this machine from outside."""
    Path("/dev/ttyS1").write_text(json.dumps({"machine": what}) + "\n")


def shares(path: str, pool: frozenset[int]) -> bool:
    """Whether the agent at ``path`` shares just these CPUs."""
    try:
        cores = ask(path, "status", {}, timeout_s=30)["cores"]
    except (NoAgent, TimeoutError):  # between what it did with other CPUs and with these
        return False
    return parse_cpulist(cores["pool"]) == pool


class Machine:
    """What comes and goes while ``agent`` lends to ``batch``."""

    def __init__(self, host: Host, batch: Group, agent: RunningAgent) -> None:
        self._batch, self._agent = batch, agent
        self._path = socket_path(str(host.state_dir), agent.pid)

    def lends_of(self, pool: frozenset[int]) -> None:
        self._agent.wait_until(lambda: shares(self._path, pool))
        self._agent.wait_until(lambda: self._batch.effective_cpus() < pool)

    def have_cores(self, *names: str) -> None:
        """Waits until each group of these names has some, by whole cores or by time."""

        def have_some() -> bool:
            try:
                rows = ask(self._path, "status", {}, timeout_s=30)["elastic"]
            except (NoAgent, TimeoutError):
                return False
            return [row["name"] for row in rows if row["cores"] > 0] == list(names)

        self._agent.wait_until(have_some)

    def ends(self) -> None:
        outcome = self._agent.send(signal.SIGTERM)
        assert outcome.code == 0, outcome.err

    def plug(self) -> frozenset[int]:
        """The CPUs there are now."""
        before = cpus("present")
        have("plug")
        self._agent.wait_until(lambda: cpus("present") > before)
        (new,) = cpus("present") - before
        (CPUS / f"cpu{new}" / "online").write_text("1")  # as udev does elsewhere
        return before | {new}


def start(
    host: Host,
    processes: Processes,
    name: str,
    batch: Group,
    elastic: tuple[Group, ...],
    *more: str,
) -> Machine:
    """An agent that lends to ``elastic``, in or below ``batch``, what a primary leaves."""
    web = host.make(f"{name}-web", filled=False)
    for pid in host.empty(host.web):  # left there they would be confined, when there are more CPUs
        host.place(int(pid), web)
    # A guardian has seconds to come up, of which emulated processors that tell true time take more.
    named = [part for one in elastic for part in ("--elastic", f"cgroup:{one}")]
    agent = processes.agent(
        *host.state, "--no-guardian", "--primary", f"cgroup:{web}", *named, *more
    )
    return Machine(host, batch, agent)


def test_an_agent_lends_on_while_a_cpu_is_plugged_in(host: Host, processes: Processes) -> None:
    few = host.tree.online_cpus()
    batch = host.make("all-batch", filled=False)
    host.place(host.worker, batch)
    machine = start(host, processes, "all", batch, (batch,))
    machine.lends_of(few)
    more = machine.plug()
    machine.lends_of(more)
    machine.ends()
    assert batch.effective_cpus() == more == host.tree.online_cpus()


@pytest.mark.flaky(reruns=0)  # none is plugged in after one was taken away
def test_several_groups_go_on_while_a_cpu_is_plugged_in_and_one_is_taken_away(
    host: Host, processes: Processes
) -> None:
    few = host.tree.online_cpus()
    above = host.make("each-batch", filled=False)
    host.tree.files.write(f"{above.path}/cgroup.subtree_control", "+cpuset +cpu")
    one, two = (host.make(f"each-batch/{name}", filled=False) for name in ("one", "two"))
    host.place(host.worker, one)
    host.place(processes.busy(), two)
    lends = ("--policy", "fixed-buffer:1", "--long-term", "off")
    machine = start(host, processes, "each", above, (one, two), *lends)
    machine.lends_of(few)
    more = machine.plug()
    machine.lends_of(more)
    machine.have_cores("one", "two")
    have("unplug")
    machine.lends_of(few)
    machine.have_cores("one", "two")
    assert cpus("present") == few
    # QEMU 7.2 would tell the removed one of its memory, and crash.
    machine.ends()
    assert host.tree.online_cpus() == few
    assert [format_cpulist(group.effective_cpus()) for group in (above, one, two)] == (
        [format_cpulist(few)] * 3
    )
