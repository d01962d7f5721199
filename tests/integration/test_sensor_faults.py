"""What takes a sensor's sight while the agent runs: it is right afterwards or says that it is not,
and the primary has its cores meanwhile."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from smartharvest.agent.supervisor import Supervisor
from smartharvest.algorithm.algorithm1 import Decision
from smartharvest.config.settings import Settings
from smartharvest.core.window import Window
from smartharvest.errors import SensorError
from smartharvest.host.cpulist import parse_cpulist
from smartharvest.host.target.targets import parse_target
from smartharvest.telemetry.client import ask_patiently, socket_path
from tests.integration.hosts import Host, is_confined
from tests.integration.processes import Processes, RunningAgent, need_bpf
from tests.integration.supervisors import Script, run_until

pytestmark = [pytest.mark.timing, pytest.mark.root]


def settings_of(host: Host, **more: object) -> Settings:
    values: dict[str, object] = {
        "primary": (parse_target(f"cgroup:{host.web}", "primary"),),
        "elastic": parse_target(f"cgroup:{host.batch}", "elastic"),
        "state_dir": str(host.state_dir),
        "elastic_min": 0,
        **more,
    }
    return Settings(**values)  # type: ignore[arg-type]


def attached_programs() -> list[int]:
    """Descriptors of this process that keep a program attached to a tracepoint."""
    found = []
    for name in os.listdir("/proc/self/fdinfo"):
        try:
            text = Path(f"/proc/self/fdinfo/{name}").read_text()
        except OSError:
            continue
        if re.search(r"^link_type:\s*(raw_tracepoint|tracing)", text, re.MULTILINE):
            found.append(int(name))
    return found


def detach(descriptors: list[int]) -> None:
    """What the kernel does when somebody else removes the programs; the numbers stay in use."""
    nothing = os.open("/dev/null", os.O_RDWR)
    for fd in descriptors:
        os.dup2(nothing, fd)
    os.close(nothing)


class Story:
    """Notes what a session does, and interferes once it lends."""

    def __init__(self, session: Supervisor, interfere: Callable[[], None]) -> None:
        self._session = session
        self._interfere = interfere
        self.sensors: list[str] = []
        self.lent_by: dict[str, int] = {}
        self.interfered = False

    def note(self, _window: Window, decision: Decision) -> bool:
        built = self._session.arrangement.built
        assert built is not None
        name = built.sensing.name
        if name not in self.sensors:
            self.sensors.append(name)
        self.lent_by[name] = self.lent_by.get(name, 0) + (decision.harvest_cores > 0)
        if self.lent_by[name] >= 3 and not self.interfered:
            self.interfered = True
            self._interfere()
        return self.interfered and len(self.sensors) > 1 and self.lent_by[name] >= 3


def test_a_program_that_is_detached_is_noticed_and_the_next_sensor_takes_over(
    host: Host, caplog: pytest.LogCaptureFixture
) -> None:
    need_bpf()
    os.kill(host.spinner, signal.SIGSTOP)  # an idle primary has something to lend
    before = host.files()
    detached: list[int] = []

    def interfere() -> None:
        detached.extend(attached_programs())
        detach(detached)

    with Supervisor(settings_of(host, guardian=False)) as session:
        story = Story(session, interfere)
        total = session.capacity.total
        report = run_until(session, Script(total - 1, total=total), story.note)
        assert session.failed_sensors == {"bpf"}
    assert detached
    assert story.sensors[0] == "bpf"
    assert report.sensor == story.sensors[1] != "bpf"
    assert "Sensor bpf has failed" in caplog.text
    assert host.files() == before


def test_a_sensor_that_was_asked_for_is_not_replaced(host: Host) -> None:
    need_bpf()
    os.kill(host.spinner, signal.SIGSTOP)
    before = host.files()
    with Supervisor(settings_of(host, sensor="bpf", guardian=False)) as session:
        story = Story(session, lambda: detach(attached_programs()))
        total = session.capacity.total
        with pytest.raises(SensorError, match="sensor bpf: has been detached"):
            run_until(session, Script(total - 1, total=total), story.note)
        assert parse_cpulist(host.tree.files.read(host.batch.cpus_file)) == frozenset(
            session.capacity.elastic_cpus(0)
        )
    assert host.files() == before


def status(host: Host, agent: RunningAgent) -> dict[str, Any]:
    seen = ask_patiently(socket_path(str(host.state_dir), agent.pid), "status", {})
    assert isinstance(seen, dict)
    return seen


def start(host: Host, processes: Processes, *more: str) -> RunningAgent:
    agent = processes.agent(*host.state, *host.targets, "--elastic-min", "0", *more)
    agent.wait_until(lambda: is_confined(host))
    agent.wait_until(lambda: os.path.exists(socket_path(str(host.state_dir), agent.pid)))
    return agent


@pytest.fixture
def churn(host: Host, processes: Processes, tmp_path: Path) -> None:
    """Ten thousand processes a second in the primary group, one after the other."""
    program = tmp_path / "churn"
    source = Path(__file__).with_name("churn.c")
    try:
        subprocess.run(["gcc", "-O1", "-o", str(program), str(source)], check=True)
    except FileNotFoundError:
        pytest.skip("needs gcc")
    os.kill(host.spinner, signal.SIGSTOP)
    host.charge(host.web)
    host.place(processes.start([str(program), "10000"]).pid, host.web)


@pytest.mark.parametrize("sensor", ["bpf", "perf"])
@pytest.mark.usefixtures("churn")
def test_short_lived_tasks_are_seen_by_sensors_of_every_switch(
    host: Host, processes: Processes, sensor: str
) -> None:
    need_bpf()
    before = host.files()
    agent = start(host, processes, "--sensor", sensor)
    agent.wait_until(lambda: status(host, agent)["sensor"]["checks"] >= 2)
    seen = status(host, agent)
    assert seen["sensor"]["blind_checks"] == 0
    assert seen["busy"]["mean"] > 0.1
    assert agent.send(signal.SIGTERM).code == 0
    assert _masks(host.files()) == _masks(before)


@pytest.mark.usefixtures("churn")
def test_a_sensor_that_misses_short_lived_tasks_says_so_and_lends_nothing(
    host: Host, processes: Processes
) -> None:
    agent = start(host, processes, "--sensor", "proc")

    def says_so() -> bool:
        seen = status(host, agent)
        if seen["sensor"]["blind_checks"] == 0:  # quick enough to see them, so far
            return bool(seen["sensor"]["checks"] >= 2 and seen["busy"]["mean"] > 0.1)
        # The reason told is the first of several there may be.
        return seen["harvested"]["now"] == 0 and bool(seen["safeguards"]["lends_nothing_because"])

    agent.wait_until(says_so)
    assert agent.send(signal.SIGTERM).code == 0


def _masks(files: dict[str, bytes]) -> dict[str, bytes]:
    """Without the lists of tasks, which short-lived ones change."""
    return {path: text for path, text in files.items() if path.endswith(("cpus", "idle", "shares"))}


@pytest.mark.parametrize("sensor", ["bpf", "perf", "proc"])
def test_a_primary_group_that_is_removed_and_made_again_is_seen_again(
    host: Host, processes: Processes, sensor: str
) -> None:
    if sensor == "bpf":
        need_bpf()
    agent = start(host, processes, "--sensor", sensor)
    agent.wait_until(lambda: status(host, agent)["busy"]["peak"] == 1)
    windows = status(host, agent)["loop"]["windows"]
    host.make_again(host.web)
    agent.wait_until(lambda: status(host, agent)["loop"]["windows"] > windows + 50)
    agent.wait_until(lambda: status(host, agent)["busy"]["peak"] == 1)
    outcome = agent.send(signal.SIGTERM)
    assert outcome.code == 0, outcome.err


def test_a_primary_group_that_is_removed_for_good_ends_the_agent(
    host: Host, processes: Processes
) -> None:
    agent = start(host, processes)
    batch = host.batch.cpus_file
    host.empty(host.web)
    for controller in ("cpuset", "cpu", "freezer"):
        directory = host.web.directory(controller)
        if directory and os.path.exists(directory):
            os.rmdir(directory)
    outcome = agent.outcome()
    assert outcome.code == 6
    assert f"cgroup:{host.web}: is gone" in outcome.err.splitlines()[-1]
    assert parse_cpulist(host.tree.files.read(batch)) == host.tree.online_cpus()
