"""A CPU that the machine gets and loses through its monitor while an agent harvests inside."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest

from smartharvest.host.cpulist import parse_cpulist
from smartharvest.telemetry.client import ask, socket_path
from tests.integration.hosts import Host
from tests.integration.processes import Processes, RunningAgent

CPUS = Path("/sys/devices/system/cpu")


def cpus(name: str) -> frozenset[int]:
    return parse_cpulist((CPUS / name).read_text())


pytestmark = [
    pytest.mark.lab,
    pytest.mark.skipif(cpus("possible") <= cpus("present"), reason="needs a place for a CPU"),
]


def have(what: str) -> None:
    """Has the lab change this machine from outside."""
    Path("/dev/ttyS1").write_text(json.dumps({"machine": what}) + "\n")


def wait_for_pool(agent: RunningAgent, path: str, pool: frozenset[int]) -> None:
    agent.wait_until(
        lambda: (
            os.path.exists(path)
            and parse_cpulist(ask(path, "status", {}, timeout_s=30)["cores"]["pool"]) == pool
        )
    )


def test_an_agent_lends_on_while_cpus_are_plugged_in_and_taken_away(
    host: Host, processes: Processes
) -> None:
    few = host.tree.online_cpus()
    web, batch = (host.make(name, filled=False) for name in ("all-web", "all-batch"))
    host.place(host.worker, batch)
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
        wait_for_pool(agent, path, pool)
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
    assert plug() == core
    lends_of(core)
    outcome = agent.send(signal.SIGTERM)
    assert outcome.code == 0, outcome.err
    assert batch.effective_cpus() == core == host.tree.online_cpus()
