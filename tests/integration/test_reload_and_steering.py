"""A running agent that is told something: SIGHUP, and commands over its socket."""

from __future__ import annotations

import json
import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from smartharvest.algorithm.learning.model_file import read_model
from smartharvest.telemetry.client import ask, socket_path
from smartharvest.telemetry.protocol import ProtocolError
from tests.commands import LONGEST_S
from tests.integration.processes import Processes
from tests.integration.worlds import EITHER, World

pytestmark = pytest.mark.timing

TWO_MINIMUM = "6-7"


def configured(world: World, path: Path, **settings: object) -> str:
    """Writes a configuration for this world and returns its path."""
    lines = {
        "primary": "cgroup:web",
        "elastic": "cgroup:batch",
        "cgroup_root": world.tree.root,
        "state_dir": str(world.state_dir),
        "policy": "fixed-buffer:1",
        "audit_log": str(path / "audit.jsonl"),
        **settings,
    }
    file = path / "agent.toml"
    file.write_text("".join(f"{key} = {json.dumps(value)}\n" for key, value in lines.items()))
    return str(file)


def audited(path: Path, kind: str) -> list[dict[str, Any]]:
    text = (path / "audit.jsonl").read_text() if (path / "audit.jsonl").exists() else ""
    records = [json.loads(line) for line in text.splitlines()]
    return [record for record in records if record["kind"] == kind]


@EITHER
def test_a_reload_takes_up_limits_while_lending_goes_on(
    quiet_world: World, processes: Processes, tmp_path: Path
) -> None:
    world = quiet_world
    before = world.files()
    agent = processes.agent("--config", configured(world, tmp_path))
    agent.wait_until(lambda: world.mask() == "1-7")
    configured(world, tmp_path, max_harvest=2)
    os.kill(agent.pid, signal.SIGHUP)
    agent.wait_until(lambda: world.mask() == "5-7")
    outcome = agent.send(signal.SIGTERM)
    assert outcome.code == 0
    assert "Reloaded: max_harvest = 2" in outcome.err
    assert world.files() == before
    assert audited(tmp_path, "reloaded")[0]["max_harvest"] == "2"
    assert len(audited(tmp_path, "started")) == 1


@EITHER
def test_a_reload_of_what_the_host_is_arranged_for_starts_anew(
    quiet_world: World, processes: Processes, tmp_path: Path
) -> None:
    world = quiet_world
    before = world.files()
    agent = processes.agent("--config", configured(world, tmp_path, policy="no-harvest"))
    agent.wait_until(lambda: world.mask() == "7")
    configured(world, tmp_path, policy="no-harvest", elastic_min=2)
    os.kill(agent.pid, signal.SIGHUP)
    agent.wait_until(lambda: world.mask() == TWO_MINIMUM)
    assert agent.send(signal.SIGTERM).code == 0
    assert world.files() == before
    assert len(audited(tmp_path, "started")) == 2


MISTAKES: tuple[dict[str, object], ...] = (
    {"max_harvest": -1},
    {"windw": "3ms"},
    {"keep_idle": 99},
    {"elastic": "cgroup:no"},
)


def refusals(path: Path) -> int:
    return len(audited(path, "reload refused")) + len(audited(path, "reloaded refused"))


@EITHER
def test_a_configuration_with_a_mistake_changes_nothing(
    quiet_world: World, processes: Processes, tmp_path: Path
) -> None:
    world = quiet_world
    before = world.files()
    agent = processes.agent("--config", configured(world, tmp_path))
    agent.wait_until(lambda: world.mask() == "1-7")
    for mistake in MISTAKES:
        refused = refusals(tmp_path)
        configured(world, tmp_path, **mistake)
        os.kill(agent.pid, signal.SIGHUP)
        agent.wait_until(lambda known=refused: refusals(tmp_path) > known)  # type: ignore[misc]
        agent.wait_until(lambda: world.mask() == "1-7")
    outcome = agent.send(signal.SIGTERM)
    assert outcome.code == 0, outcome.err
    assert outcome.err.count("the configuration in force stays") == len(MISTAKES)
    assert world.files() == before


@pytest.fixture
def steered(quiet_world: World, processes: Processes, tmp_path: Path) -> Any:
    """(world, ask) of an agent that lends all it may."""
    agent = processes.agent("--config", configured(quiet_world, tmp_path), "--elastic-min", "1")
    agent.wait_until(lambda: quiet_world.mask() == "1-7")
    path = socket_path(str(quiet_world.state_dir), agent.pid)

    def tell(command: str, **arguments: object) -> Any:
        return ask(path, command, arguments)

    return quiet_world, tell, agent


@EITHER
def test_pause_takes_back_and_resume_lends_again(steered: Any, tmp_path: Path) -> None:
    world, tell, agent = steered
    assert tell("pause") == {"paused": True}
    agent.wait_until(lambda: world.mask() == "7")
    assert tell("status")["safeguards"]["lends_nothing_because"] == "paused by the operator"
    tell("resume")
    agent.wait_until(lambda: world.mask() == "1-7")
    agent.wait_until(lambda: bool(audited(tmp_path, "paused") and audited(tmp_path, "resumed")))


def test_evict_freezes_even_the_minimum_and_the_end_thaws(steered: Any) -> None:
    world, tell, agent = steered
    frozen = {1: "FROZEN", 2: "1"}[world.tree.version]
    assert tell("evict") == {"paused": True, "evicted": True}
    agent.wait_until(lambda: world.kernel.read(world.elastic.freeze_file).strip() == frozen)
    agent.wait_until(lambda: world.mask() == "7")
    assert agent.send(signal.SIGTERM).code == 0
    assert world.kernel.read(world.elastic.freeze_file).strip() != frozen


@EITHER
def test_policy_and_limits_are_set_at_run_time(steered: Any) -> None:
    world, tell, agent = steered
    (note,) = tell("set-limit", max_harvest=99)["notes"]
    assert note.startswith("max_harvest: 99 is more than this host can lend; at most 6 cores are")
    assert tell("set-limit", max_harvest=3) == {"changed": ["max_harvest"], "restarts": False}
    agent.wait_until(lambda: world.mask() == "4-7")
    tell("set-policy", policy="no-harvest")
    agent.wait_until(lambda: world.mask() == "7")
    assert tell("status")["policy"]["name"] == "no-harvest"


@EITHER
def test_a_reload_keeps_what_was_set_by_hand_until_it_is_reset(
    steered: Any, tmp_path: Path
) -> None:
    world, tell, agent = steered
    tell("set-limit", max_harvest=3)
    assert tell("status")["overrides"] == {"max_harvest": 3}
    configured(world, tmp_path, max_harvest=2, keep_idle=0)
    assert tell("reload") == {"changed": ["keep_idle"], "restarts": False, "kept": ["max_harvest"]}
    agent.wait_until(lambda: world.mask() == "4-7")
    configured(world, tmp_path, max_harvest=2, keep_idle=0, elastic_min=2)
    with pytest.raises(ProtocolError, match="unknown argument 'max_harvest'"):
        tell("set-limit", reset=True, max_harvest=3)
    assert tell("set-limit", reset=True) == {"changed": ["max_harvest"], "restarts": False}
    agent.wait_until(lambda: world.mask() == "5-7")  # the minimum stays until a reload
    assert tell("status")["overrides"] == {}
    assert tell("set-limit", reset=True)["changed"] == []


@EITHER
def test_what_was_learned_stays_when_the_policy_changes(
    quiet_world: World, processes: Processes, tmp_path: Path
) -> None:
    file = configured(quiet_world, tmp_path, policy="smartharvest", model=str(tmp_path / "kept"))
    agent = processes.agent("--config", file)
    path = socket_path(str(quiet_world.state_dir), agent.pid)

    def lessons() -> int:
        count: int = ask(path, "status", {})["policy"]["lessons"]
        return count

    agent.wait_until(lambda: os.path.exists(path))
    for policy in ("fixed-buffer:1", "smartharvest"):
        agent.wait_until(lambda: lessons() > 0)
        ask(path, "set-policy", {"policy": policy})
    before = lessons()
    agent.wait_until(lambda: lessons() > before + 3)
    assert agent.send(signal.SIGTERM).code == 0
    _, kept, _ = read_model(str(tmp_path / "kept"))
    assert kept > before + 3


@EITHER
def test_what_a_policy_learns_is_kept_that_was_set_at_run_time(
    quiet_world: World, processes: Processes, tmp_path: Path
) -> None:
    file = configured(quiet_world, tmp_path, model=str(tmp_path / "kept"))
    agent = processes.agent("--config", file)
    path = socket_path(str(quiet_world.state_dir), agent.pid)
    agent.wait_until(lambda: os.path.exists(path))
    ask(path, "set-policy", {"policy": "smartharvest"})
    agent.wait_until(lambda: ask(path, "status", {})["policy"]["lessons"] > 3)
    assert agent.send(signal.SIGTERM).code == 0
    _, kept, _ = read_model(str(tmp_path / "kept"))
    assert kept > 3


@pytest.fixture
def manager(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as end:
        end.bind(f"{tmp_path}/notify")
        end.settimeout(LONGEST_S)
        monkeypatch.setenv("NOTIFY_SOCKET", f"{tmp_path}/notify")
        yield end


@EITHER
@pytest.mark.parametrize(
    "change", [{"max_harvest": 2}, {"max_harvest": -1}, {"elastic_min": 2}],
    ids=["live", "refused", "restarting"],
)  # fmt: skip
def test_the_service_manager_hears_of_a_reload_and_of_its_end(
    quiet_world: World,
    processes: Processes,
    tmp_path: Path,
    manager: socket.socket,
    change: dict[str, object],
) -> None:
    agent = processes.agent("--config", configured(quiet_world, tmp_path))
    assert heard(manager)[0].startswith(b"READY=1")
    configured(quiet_world, tmp_path, **change)
    os.kill(agent.pid, signal.SIGHUP)
    assert heard(manager)[0].startswith(b"RELOADING=1\nMONOTONIC_USEC=")
    assert heard(manager)[0].startswith(b"READY=1")
    assert agent.send(signal.SIGTERM).code == 0


def heard(manager: socket.socket) -> tuple[bytes, list[bytes]]:
    """The next message that is no sign of progress, and those signs before it."""
    signs: list[bytes] = []
    while (message := manager.recv(4096)).startswith((b"EXTEND_TIMEOUT_USEC=", b"WATCHDOG=1")):
        signs.append(message)
    return message, signs


@EITHER
def test_a_reload_that_restores_and_arranges_feeds_the_watchdog_meanwhile(
    quiet_world: World,
    processes: Processes,
    tmp_path: Path,
    manager: socket.socket,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("WATCHDOG_USEC", "60000000")
    agent = processes.agent("--config", configured(quiet_world, tmp_path))
    heard(manager)
    configured(quiet_world, tmp_path, elastic_min=2)
    os.kill(agent.pid, signal.SIGHUP)
    assert heard(manager)[0].startswith(b"RELOADING=1\n")
    ready, signs = heard(manager)
    assert ready.startswith(b"READY=1")
    assert any(b"\nWATCHDOG=1" in sign for sign in signs)
    assert agent.send(signal.SIGTERM).code == 0


@EITHER
def test_what_cannot_be_is_refused_and_changes_nothing(steered: Any) -> None:
    world, tell, agent = steered
    wrong: tuple[tuple[str, dict[str, object], str], ...] = (
        ("set-policy", {"policy": "magic"}, "policy: 'magic' is unknown"),
        ("set-policy", {}, "nothing to set"),
        ("set-limit", {"window": "3ms"}, "unknown argument 'window'"),
        ("set-limit", {"keep_idle": 99}, "keep_idle: 99 is not possible"),
        ("pause", {"for": "ever"}, "unknown argument 'for'"),
    )
    for command, arguments, words in wrong:
        with pytest.raises(ProtocolError, match=words):
            tell(command, **arguments)
        agent.wait_until(lambda: world.mask() == "1-7")
