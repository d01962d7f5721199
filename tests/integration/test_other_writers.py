"""Somebody else writes the groups of an agent."""

from __future__ import annotations

import os
import signal
import subprocess

import pytest

from smartharvest.agent.session import Session
from smartharvest.algorithm.algorithm1 import Decision
from smartharvest.core.window import Window
from smartharvest.host.foreign.writes import ForeignWrite
from tests.integration.hosts import Host
from tests.integration.sessions import Script, run_until
from tests.integration.test_sensor_faults import settings_of

pytestmark = pytest.mark.root


def test_an_agent_steps_aside_for_a_shell_that_writes_the_elastic_mask(host: Host) -> None:
    os.kill(host.spinner, signal.SIGSTOP)
    path, written = host.batch.cpus_file, False

    def interfere(_window: Window, decision: Decision) -> bool:
        nonlocal written
        if not written and decision.harvest_cores:
            subprocess.run(["sh", "-c", f"echo 0 > {path}"], check=True)
            written = True
        return False

    session = Session(settings_of(host, guardian=False))
    total = len(host.tree.online_cpus())
    told = f"{path}: .* somebody else writes this group"
    with pytest.raises(ForeignWrite, match=told), session:
        run_until(session, Script(total - 1, total=total), interfere)
    assert host.tree.files.read(path).strip() == "0"
