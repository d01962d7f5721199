"""Somebody else tampers with the sensor of an agent that lends: with what a kernel lets him."""

from __future__ import annotations

import os
import platform
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.integration.hosts import Host, is_confined
from tests.integration.outsiders import detach_links, disable_perf_events
from tests.integration.processes import Processes
from tests.integration.test_sensor_faults import need_bpf, start, status

pytestmark = pytest.mark.root


def test_a_perf_sensor_whose_events_are_switched_off_starts_anew_and_lends_again(
    host: Host, processes: Processes
) -> None:
    os.kill(host.spinner, signal.SIGSTOP)
    agent = start(host, processes, "--sensor", "perf")
    agent.wait_until(lambda: status(host, agent)["harvested"]["now"] > 0)
    assert disable_perf_events(agent.pid) > 0
    # It is as silent as a machine where nobody runs, until the samples are missed.
    os.kill(host.spinner, signal.SIGCONT)
    agent.wait_until(lambda: status(host, agent)["busy"]["peak"] == 1)
    os.kill(host.spinner, signal.SIGSTOP)
    agent.wait_until(lambda: status(host, agent)["harvested"]["now"] > 0)
    outcome = agent.send(signal.SIGTERM)
    assert outcome.code == 0, outcome.err
    assert "the sensor lost sight of one: it starts anew" in outcome.err


@pytest.mark.skipif(platform.machine() != "x86_64", reason="knows the system call by its number")
def test_nobody_can_detach_the_program_from_outside(host: Host, processes: Processes) -> None:
    need_bpf()
    agent = start(host, processes, "--sensor", "bpf")
    agent.wait_until(lambda: status(host, agent)["busy"]["peak"] == 1)
    # The kernel knows no detaching of links to tracepoints: they go with their last descriptor.
    assert detach_links(agent.pid) == {"EOPNOTSUPP"}
    windows = status(host, agent)["loop"]["windows"]
    agent.wait_until(lambda: status(host, agent)["loop"]["windows"] > windows + 20)
    assert status(host, agent)["busy"]["peak"] == 1
    outcome = agent.send(signal.SIGTERM)
    assert outcome.code == 0, outcome.err


def test_a_perf_ring_that_ran_over_gives_everything_back_until_all_is_known_again(
    host: Host, processes: Processes, tmp_path: Path
) -> None:
    freezer = host.tree.hierarchies.get("freezer") if host.tree.version == 1 else None
    compiler = shutil.which("gcc")
    if freezer is None or compiler is None:
        pytest.skip("needs gcc, and the v1 freezer, which stops single threads")
    switches = tmp_path / "switches"
    source = Path(__file__).with_name("switches.c")
    subprocess.run([compiler, "-O1", "-o", switches, source], check=True)
    os.kill(host.spinner, signal.SIGSTOP)
    agent = start(host, processes, "--sensor", "perf", "--no-guardian")
    agent.wait_until(lambda: status(host, agent)["harvested"]["now"] > 0)
    before = status(host, agent)["sensor"]
    cage = host.make("cage", ("freezer",))
    (loop,) = (
        tid.name
        for tid in Path(f"/proc/{agent.pid}/task").iterdir()
        if (tid / "comm").read_text() == "sh-loop\n"
    )
    directory = cage.directory("freezer")
    assert directory is not None
    Path(directory, "tasks").write_text(loop)
    Path(directory, "freezer.state").write_text("FROZEN")
    subprocess.run([switches, "60000"], check=True)
    Path(directory, "freezer.state").write_text("THAWED")
    agent.wait_until(lambda: status(host, agent)["sensor"]["overruns"] > before["overruns"])
    agent.wait_until(lambda: status(host, agent)["harvested"]["now"] > 0)
    Path(freezer, "tasks").write_text(loop)
    time.sleep(0)
    assert is_confined(host)
    outcome = agent.send(signal.SIGTERM)
    assert outcome.code == 0, outcome.err
