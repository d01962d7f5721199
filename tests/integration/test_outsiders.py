"""Somebody else tampers with the sensor of an agent that lends: with what a kernel lets him."""

from __future__ import annotations

import contextlib
import os
import platform
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.hosts import Host
from tests.integration.outsiders import detach_links, disable_perf_events
from tests.integration.processes import Processes, need_bpf
from tests.integration.test_sensor_faults import start, status

pytestmark = [pytest.mark.timing, pytest.mark.root]


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
    assert "the sensor lost sight of one: it starts again" in outcome.err


@pytest.mark.skipif(platform.machine() != "x86_64", reason="knows the system call by its number")
def test_nobody_can_detach_the_program_from_outside(host: Host, processes: Processes) -> None:
    need_bpf()
    agent = start(host, processes, "--sensor", "bpf")
    agent.wait_until(lambda: status(host, agent)["busy"]["peak"] == 1)
    # The kernel knows no detaching of links to tracepoints: they go with their last descriptor.
    assert detach_links(agent.pid) == {"ENOTSUP"}
    windows = status(host, agent)["loop"]["windows"]
    agent.wait_until(lambda: status(host, agent)["loop"]["windows"] > windows + 20)
    # A window in which somebody else had its CPU has none.
    agent.wait_until(lambda: status(host, agent)["busy"]["peak"] == 1)
    outcome = agent.send(signal.SIGTERM)
    assert outcome.code == 0, outcome.err


def test_a_perf_ring_that_ran_over_gives_everything_back_until_all_is_known_again(
    host: Host, processes: Processes, tmp_path: Path
) -> None:
    freezer = host.tree.hierarchies.get("freezer")
    if host.tree.version != 1 or freezer is None or shutil.which("gcc") is None:
        pytest.skip("needs gcc, and the v1 freezer, which stops single threads")
    switches = tmp_path / "switches"
    source = Path(__file__).with_name("switches.c")
    subprocess.run(["gcc", "-O1", "-pthread", "-o", switches, source], check=True)
    os.kill(host.spinner, signal.SIGSTOP)
    agent = start(host, processes, "--sensor", "perf", "--no-guardian")
    agent.wait_until(lambda: status(host, agent)["harvested"]["now"] > 0)
    before = status(host, agent)["sensor"]["overruns"]
    with frozen(f"{freezer}/smartharvest-test-{agent.pid}", loop_of(agent.pid)):
        subprocess.run([switches, "60000"], check=True)
    agent.wait_until(lambda: status(host, agent)["sensor"]["overruns"] > before)
    agent.wait_until(lambda: status(host, agent)["harvested"]["now"] > 0)
    outcome = agent.send(signal.SIGTERM)
    assert outcome.code == 0, outcome.err


def loop_of(pid: int) -> str:
    (loop,) = (
        task.name
        for task in Path(f"/proc/{pid}/task").iterdir()
        if (task / "comm").read_text() == "sh-loop\n"
    )
    return loop


@contextlib.contextmanager
def frozen(directory: str, tid: str) -> Iterator[None]:
    """One thread stands still, in a group of its own that is made and removed."""
    cage = Path(directory)
    cage.mkdir()
    try:
        (cage / "tasks").write_text(tid)
        (cage / "freezer.state").write_text("FROZEN")
        yield
    finally:
        (cage / "freezer.state").write_text("THAWED")
        if os.path.exists(f"/proc/{tid}"):
            (cage.parent / "tasks").write_text(tid)
        cage.rmdir()
