"""The agent does not get to run, as on a suspended machine or without a CPU: the primary has its
cores meanwhile, and the reason is counted."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from smartharvest.host.cpulist import parse_cpulist
from tests.integration.hosts import Host
from tests.integration.processes import Processes, RunningAgent
from tests.integration.test_sensor_faults import start, status

pytestmark = pytest.mark.root


def lends(host: Host, agent: RunningAgent) -> bool:
    return bool(status(host, agent)["harvested"]["now"] > 0)


def give_backs(host: Host, agent: RunningAgent) -> dict[str, int]:
    return dict(status(host, agent)["safeguards"]["give_backs"])


def test_an_agent_that_was_stopped_for_a_moment_takes_a_window_for_stale(
    host: Host, processes: Processes
) -> None:
    os.kill(host.spinner, signal.SIGSTOP)
    # To a program time that a suspended machine skips looks the same as time it was stopped.
    agent = start(host, processes, "--sensor", "proc", "--no-guardian")
    agent.wait_until(lambda: lends(host, agent))
    before = give_backs(host, agent)["stale window"]
    os.kill(agent.pid, signal.SIGSTOP)
    time.sleep(0.06)
    os.kill(agent.pid, signal.SIGCONT)
    agent.wait_until(lambda: give_backs(host, agent)["stale window"] > before)
    agent.wait_until(lambda: lends(host, agent))
    outcome = agent.send(signal.SIGTERM)
    assert outcome.code == 0, outcome.err


def test_an_agent_that_gets_no_cpu_loses_its_cores_and_is_not_killed(
    host: Host, processes: Processes
) -> None:
    cage = host.make("cage", ("cpu",))
    directory = cage.directory("cpu")
    if directory is None or not os.path.exists(f"{directory}/cpu.cfs_quota_us"):
        pytest.skip("needs the v1 cpu controller with quotas")
    os.kill(host.spinner, signal.SIGSTOP)
    agent = start(host, processes, "--sensor", "proc", "--no-realtime", "--no-rescue")
    agent.wait_until(lambda: lends(host, agent))
    before = parse_cpulist(host.tree.files.read(host.batch.cpus_file))
    Path(directory, "cpu.cfs_period_us").write_text("1000000")
    for tid in os.listdir(f"/proc/{agent.pid}/task"):
        Path(directory, "tasks").write_text(tid)
    Path(directory, "cpu.cfs_quota_us").write_text("1000")  # a millisecond of each second
    agent.wait_until(lambda: parse_cpulist(host.tree.files.read(host.batch.cpus_file)) < before)
    time.sleep(1.2)  # longer than a hang is borne
    Path(directory, "cpu.cfs_quota_us").write_text("-1")
    agent.wait_until(lambda: lends(host, agent))
    counts = give_backs(host, agent)
    assert counts["silent loop"] + counts["stale window"] > 0
    outcome = agent.send(signal.SIGTERM)
    assert outcome.code == 0, outcome.err
    assert "has hung" not in outcome.err
