"""``smartharvest status`` beside agents on fake trees."""

from __future__ import annotations

import json
import os
import signal
import socket
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest

from smartharvest.cli.status import format_map, format_waits
from smartharvest.host.journal.journal import Journal
from smartharvest.telemetry import client
from smartharvest.telemetry.client import ask, sockets
from tests.commands import as_command, smartharvest_here
from tests.integration.processes import Processes, RunningAgent
from tests.integration.worlds import World

SECTIONS = {
    *("version", "pid", "seconds", "primary", "elastic", "cores", "sensor", "policy"),
    *("harvested", "busy", "demand", "decision", "safeguards", "waits", "births", "loop"),
    *("agent", "overrides", "warnings"),
}
"""What others may rely on."""


SCHEMA = Path(__file__).parents[2] / "docs" / "reference" / "status.schema.json"
TYPES: dict[str, Any] = {
    "object": dict, "array": list, "string": str, "integer": int, "number": (int, float),
    "null": type(None), "boolean": bool,
}  # fmt: skip


def check(value: Any, schema: dict[str, Any], named: dict[str, Any]) -> None:
    """Fails unless ``value`` is what ``schema`` says, by the few words that ours uses."""
    if "$ref" in schema:
        schema = named[schema["$ref"].removeprefix("#/$defs/")]
    if "enum" in schema:
        assert value in schema["enum"], (value, schema)
        return
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    assert any(isinstance(value, TYPES[kind]) for kind in kinds), (value, schema)
    if value is None:
        return
    for name in schema.get("required", ()):
        assert name in value, name
    for name, below in schema.get("properties", {}).items():
        if name in value:
            check(value[name], below, named)
    for item in value if "items" in schema else ():
        check(item, schema["items"], named)


@pytest.fixture
def version() -> int:
    return 2  # the socket knows nothing of groups


def started(world: World, processes: Processes, *more: str) -> RunningAgent:
    agent = processes.agent(*world.arguments, *world.targets, *more)
    agent.wait_until(lambda: any(f"agent-{agent.pid}." in path for path in _sockets(world)))
    return agent


def _sockets(world: World) -> list[str]:
    return sockets(str(world.state_dir))


def _status(world: World, code: int = 0) -> list[dict[str, Any]]:
    outcome = smartharvest_here("status", "--json", "--state-dir", str(world.state_dir))
    assert outcome.code == code, outcome
    agents = json.loads(outcome.out)["agents"]
    assert isinstance(agents, list)
    return agents


@pytest.mark.timing
def test_a_running_agent_tells_its_state(world: World, processes: Processes) -> None:
    agent = started(world, processes, "--policy", "fixed-buffer:2", "--long-term-period", "20ms")
    (path,) = _sockets(world)
    assert stat.S_IMODE(Path(path).stat().st_mode) == 0o600

    def has_judged() -> bool:
        seen = ask(path, "status", {})
        return seen["decision"] is not None and seen["waits"]["period"] is not None

    agent.wait_until(has_judged)
    (seen,) = _status(world)
    assert seen.keys() >= SECTIONS
    schema = json.loads(SCHEMA.read_text())
    assert SECTIONS - {"births"} <= set(schema["$defs"]["agent"]["required"])
    check({"agents": [seen], "silent": [], "orphans": []}, schema, schema["$defs"])
    assert seen["pid"] == agent.pid
    assert seen["primary"] == ["cgroup:web"]
    assert [row["name"] for row in seen["elastic"]] == ["cgroup:batch"]
    assert seen["sensor"]["name"] == "proc"
    assert seen["policy"]["name"] == "fixed-buffer:2"
    assert 0 <= seen["harvested"]["now"] <= seen["cores"]["total"]
    assert seen["loop"]["windows"] >= seen["decision"]["seq"] > 0
    assert seen["waits"]["period"]["source"] == "schedstat"
    assert seen["agent"]["rss_bytes"] > 1_000_000
    outcome = smartharvest_here("status", "--state-dir", str(world.state_dir))
    assert f"agent {agent.pid}, " in outcome.out
    assert "sensor      proc (" in outcome.out
    assert agent.send(signal.SIGTERM).code == 0
    assert world.journals() == []


@pytest.mark.timing
def test_watching_goes_on_until_it_is_interrupted(world: World, processes: Processes) -> None:
    agent = started(world, processes)
    watch = ("status", "--watch", "--json", "--every", "0.1", "--state-dir", str(world.state_dir))
    # A shell's `&` has its children ignore SIGINT.
    command = ["env", "--default-signal=INT", *as_command(watch)]
    watching = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert watching.stdout is not None
    for _ in range(3):
        (seen,) = json.loads(watching.stdout.readline())["agents"]
        assert seen["pid"] == agent.pid
    watching.send_signal(signal.SIGINT)
    assert watching.wait(30) == 0
    watching.stdout.close()


def test_the_screen_shows_what_runs_on_each_cpu_and_what_is_lent() -> None:
    runs = {"primary": "0", "idle": "1-2", "elastic": "3"}
    text = format_map({"pool": "0-3", "elastic_cpus": "2-3", "runs": runs})
    assert text.startswith("P · ·^ E^  (P primary")


@pytest.mark.timing
def test_waits_are_in_the_unit_people_think_in() -> None:
    period = {"long_waits": 1, "dispatches": 2, "blamed": 0, "source": "sensor", "p99_us": 26738.7}
    assert format_waits({"unreadable": None, "period": period}).endswith("; p99 26.7 ms")


def test_all_agents_are_listed_and_those_that_ended_are_not(
    world: World, processes: Processes
) -> None:
    world.add_group("web2")
    world.add_group("batch2")
    first = started(world, processes)
    second = processes.agent(
        *world.arguments,
        *("--primary", "cgroup:web2", "--elastic", "cgroup:batch2", "--no-guardian"),
    )
    second.wait_until(lambda: len(_sockets(world)) == 2)
    assert {seen["pid"] for seen in _status(world)} == {first.pid, second.pid}
    first.send(signal.SIGTERM)
    assert [seen["pid"] for seen in _status(world)] == [second.pid]
    second.send(signal.SIGKILL)
    assert len(_sockets(world)) == 1
    assert _status(world, code=4) == []
    assert smartharvest_here("restore", *world.arguments).code == 0
    assert world.journals() == []
    assert _status(world, code=3) == []


@pytest.mark.timing
def test_an_agent_works_on_while_somebody_holds_its_socket(
    world: World, processes: Processes
) -> None:
    agent = started(world, processes)
    (path,) = _sockets(world)
    held = [socket.socket(socket.AF_UNIX) for _ in range(8)]
    for connection in held:
        connection.connect(path)
        connection.send(b"\xff{[")
    before = ask(path, "status", {})["loop"]["windows"]
    agent.wait_until(lambda: ask(path, "status", {})["loop"]["windows"] > before + 3)
    assert agent.send(signal.SIGTERM).code == 0
    for connection in held:
        connection.close()


def test_without_agents_there_is_nothing_to_tell(tmp_path: Path) -> None:
    for directory in (tmp_path, tmp_path / "missing"):
        outcome = smartharvest_here("status", "--state-dir", str(directory))
        assert outcome.code == 3
        assert outcome.out == f"No agent is running (state directory {directory})\n"


def test_an_agent_that_is_being_replaced_is_not_taken_for_dead(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "PATIENCE_S", 0.0)
    journal = Journal(str(tmp_path))
    where = f"{tmp_path}/agent-{os.getpid()}.sock"
    told = smartharvest_here("status", "--state-dir", str(tmp_path))
    assert told.out == f"{where}: its agent is starting, ending or being replaced; ask again\n"
    refused = smartharvest_here("pause", "--state-dir", str(tmp_path))
    assert refused.failure == f"{where}: its agent is starting, ending or being replaced; try again"
    journal.close()
