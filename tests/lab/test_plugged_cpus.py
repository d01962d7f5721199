"""A CPU that the machine gets and loses through its monitor while an agent harvests inside."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest

from smartharvest.host.cpulist import parse_cpulist
from smartharvest.telemetry.client import NoAgent, ask, socket_path
from tests.integration.hosts import Host
from tests.integration.processes import Processes

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


def test_an_agent_lends_on_while_cpus_are_plugged_in_and_taken_away(
    host: Host, processes: Processes
) -> None:
    few = host.tree.online_cpus()
    web, batch = (host.make(name, filled=False) for name in ("all-web", "all-batch"))
    host.place(host.worker, batch)
    for pid in host.empty(host.web):  # left there they would be confined, when there are more CPUs
        host.place(int(pid), web)
    # A guardian has seconds to come up, of which emulated processors that tell true time take more.
    agent = processes.agent(
        *(*host.state, "--no-guardian"),
        "--primary",
        f"cgroup:{web}",
        "--elastic",
        f"cgroup:{batch}",
    )
    path = socket_path(str(host.state_dir), agent.pid)

    def lends_of(pool: frozenset[int]) -> None:
        agent.wait_until(lambda: shares(path, pool))
        agent.wait_until(lambda: batch.effective_cpus() < pool)

    def plug() -> frozenset[int]:
        """The CPUs there are now."""
        before = cpus("present")
        have("plug")
        agent.wait_until(lambda: cpus("present") > before)
        (new,) = cpus("present") - before
        (CPUS / f"cpu{new}" / "online").write_text("1")  # as udev does elsewhere
        return before | {new}

    lends_of(few)
    more = plug()
    lends_of(more)
    core = plug()
    lends_of(core)
    have("unplug")
    lends_of(more)
    assert cpus("present") == more
    # None is plugged in after that: QEMU 7.2 tells the removed one of its memory and crashes.
    outcome = agent.send(signal.SIGTERM)
    assert outcome.code == 0, outcome.err
    assert batch.effective_cpus() == more == host.tree.online_cpus()
