"""A planned restart on this machine's own groups and processes."""

from __future__ import annotations

import os
import signal

import pytest

from smartharvest.host.cpulist import parse_cpulist
from smartharvest.host.process import tasks
from smartharvest.telemetry.client import ask_patiently, socket_path
from tests.integration.hosts import Host, is_confined
from tests.integration.processes import Processes, RunningAgent
from tests.integration.test_handing_over import children_of

pytestmark = [pytest.mark.timing, pytest.mark.root]
BUFFER = ("--policy", "fixed-buffer:1", "--elastic-min", "0")


def lends(host: Host, agent: RunningAgent) -> bool:
    path = socket_path(str(host.state_dir), agent.pid)
    return bool(ask_patiently(path, "status", {})["harvested"]["now"] > 0)


def restart(host: Host, processes: Processes, agent: RunningAgent, arranged: object) -> None:
    """Restarts it; what ``arranged`` tells holds all the time."""
    assert callable(arranged)
    started, guardians = tasks.start_time(agent.pid), children_of(agent.pid)
    asked = processes.start_command("restart", *host.state)

    def restarted() -> bool:
        assert arranged()
        return asked.poll() is not None

    agent.wait_until(restarted)
    assert asked.returncode == 0, asked.communicate()
    assert tasks.start_time(agent.pid) == started
    agent.wait_until(lambda: children_of(agent.pid).isdisjoint(guardians))


def test_a_group_stays_arranged_through_a_restart(host: Host, processes: Processes) -> None:
    os.kill(host.spinner, signal.SIGSTOP)
    before, idle_file = host.files(), host.batch.idle_file
    agent = processes.agent(*host.state, *host.targets, *BUFFER)
    agent.wait_until(lambda: is_confined(host))

    def arranged() -> bool:
        mask = parse_cpulist(host.tree.files.read(host.batch.cpus_file))
        idle = idle_file is None or host.tree.files.read(idle_file).strip() == "1"
        return mask < host.tree.online_cpus() and idle

    restart(host, processes, agent, arranged)
    agent.wait_until(lambda: lends(host, agent))
    outcome = agent.send(signal.SIGTERM)
    assert outcome.code == 0, outcome.err
    assert host.files() == before


def test_a_process_stays_confined_through_a_restart(host: Host, processes: Processes) -> None:
    os.kill(host.spinner, signal.SIGSTOP)
    # A successor has ten seconds: few beside a spinner where processors are emulated.
    worker = processes.asleep()
    everywhere = os.sched_getaffinity(worker)
    targets = ("--primary", f"pid:{host.spinner}", "--elastic", f"pid:{worker}")
    agent = processes.agent(*host.state, *targets, *BUFFER, "--sensor", "proc")

    def confined() -> bool:
        return os.sched_getaffinity(worker) < everywhere

    agent.wait_until(confined)
    restart(host, processes, agent, confined)
    agent.wait_until(lambda: lends(host, agent))
    outcome = agent.send(signal.SIGTERM)
    assert outcome.code == 0, outcome.err
    assert os.sched_getaffinity(worker) == everywhere
