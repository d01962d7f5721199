"""The agent does not get to run for a while, as on a suspended machine: the primary has its cores
back, and the reason is counted."""

from __future__ import annotations

import os
import signal
import time

import pytest

from tests.integration.hosts import Host
from tests.integration.processes import Processes, RunningAgent
from tests.integration.test_sensor_faults import start, status

pytestmark = [pytest.mark.timing, pytest.mark.root]


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
