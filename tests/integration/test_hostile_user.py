"""What a user without rights does while an agent of root's runs is refused, or harmless.

The agent goes on as before. Another attempt is another function with ``@attempt``.
"""

from __future__ import annotations

import contextlib
import grp
import json
import os
import shutil
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from smartharvest.host.process import tasks
from smartharvest.host.target import guests
from smartharvest.host.target.spec import TargetSpec
from smartharvest.telemetry.client import ask, socket_path
from smartharvest.telemetry.protocol import ProtocolError
from tests.integration.intruder import GID, UID, as_nobody, nobody_keeps
from tests.integration.intrusions import Attempt, Scene, made_scene
from tests.integration.processes import Processes, wait_until

pytestmark = pytest.mark.timing

ATTEMPTS: dict[str, Attempt] = {}


def attempt(function: Attempt) -> Attempt:
    """One more that is made."""
    ATTEMPTS[function.__name__] = function
    return function


def _state_socket(scene: Scene) -> str:
    assert scene.agent is not None
    return socket_path(str(scene.world.state_dir), scene.agent.pid)


def _telling_socket(scene: Scene) -> str:
    assert scene.agent is not None
    return socket_path(str(scene.world.state_dir / "status"), scene.agent.pid)


@attempt
def steers_it(scene: Scene) -> None:
    for command in ("pause", "evict", "set-limit", "restart", "status"):
        assert as_nobody(lambda: ask(_state_socket(scene), command, {})) == "RightsError"  # noqa: B023


@attempt
def steers_it_by_the_socket_that_tells(scene: Scene) -> None:
    for command in ("pause", "evict", "reload", "restart"):
        said = as_nobody(lambda: ask(_telling_socket(scene), command, {}))  # noqa: B023
        assert said == ProtocolError.__name__
    assert as_nobody(lambda: ask(_telling_socket(scene), "status", {})["pid"]) == scene.agent.pid  # type: ignore[union-attr]


@attempt
def reads_its_journal(scene: Scene) -> None:
    state = scene.world.state_dir
    assert as_nobody(lambda: os.listdir(state)) == "PermissionError"
    for name in os.listdir(state):
        path = state / name
        assert as_nobody(lambda: os.open(path, os.O_RDWR)) in (  # noqa: B023
            *("PermissionError", "IsADirectoryError", "OSError"),
        )


@attempt
def crowds_the_socket_that_tells(scene: Scene) -> None:
    path = _telling_socket(scene)

    def crowd() -> list[socket.socket]:
        made = []
        for number in range(40):
            connection = socket.socket(socket.AF_UNIX)
            connection.settimeout(0.2)
            with contextlib.suppress(OSError):
                connection.connect(path)
                connection.send((b"[" * 4000, b"x" * 70_000, b'{"v":1', b"\n" * 500)[number % 4])
            made.append(connection)
        return made

    with nobody_keeps(crowd):
        for _ in range(3):
            assert ask(_state_socket(scene), "status", {})["pid"] > 0


@attempt
def floods_the_socket_that_tells(scene: Scene) -> None:
    path, line = _telling_socket(scene), b'{"v":1,"command":"status"}\n'

    def flood() -> list[socket.socket]:
        made = []
        for _ in range(12):
            connection = socket.socket(socket.AF_UNIX)
            connection.connect(path)
            connection.setblocking(False)
            with contextlib.suppress(OSError):
                connection.send(line * 1000)  # and never reads an answer
            made.append(connection)
        return made

    with nobody_keeps(flood):
        before = ask(_state_socket(scene), "status", {})["agent"]["cpu_seconds"]
        time.sleep(1.0)
        assert ask(_state_socket(scene), "status", {})["agent"]["cpu_seconds"] < before + 1.0


@attempt
def kills_the_guardian_and_the_agent(scene: Scene) -> None:
    assert scene.agent is not None
    pid = scene.agent.pid
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    for one in (pid, *map(int, children)):
        for number in (signal.SIGKILL, signal.SIGSTOP, signal.SIGINT):
            assert as_nobody(lambda: os.kill(one, number)) == "PermissionError"  # noqa: B023


@attempt
def starts_agents_of_its_own(scene: Scene) -> None:
    """It cannot write the groups; its locks are its own."""

    def lock() -> list[int]:
        from smartharvest.host.journal.group_locks import lock_groups

        root = scene.world.tree.root
        own = str(scene.open / "own")
        os.mkdir(own, 0o700)
        return lock_groups([f"{root}/web", f"{root}/batch"], root, frozenset(), own)

    as_nobody(lock)
    assert ask(_state_socket(scene), "resume", {})["paused"] is False


def _words(pid: str) -> bytes:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    return b""


@attempt
def calls_a_process_a_machine(scene: Scene) -> None:
    program = scene.open / "qemu-system-x86_64"
    name = "intruded"

    def run() -> None:
        shutil.copy("/bin/sh", program)
        subprocess.Popen([program, "-c", "sleep 60; :", "-name", name], close_fds=False)

    def is_there() -> bool:
        return any(
            tasks.name(int(one)) == "qemu-system-x86" and _words(one)  # which come after the name
            for one in os.listdir("/proc")
            if one.isdigit()
        )

    with nobody_keeps(run) as parent:
        wait_until(is_there)
        try:
            assert guests.find(TargetSpec("qemu", name)) == []
            named = guests.find(TargetSpec("qemu", f"{name},user={UID}"))
            assert len(named) == 1  # what the operator asks for
        finally:
            children = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
            for child in children:
                os.kill(int(child), signal.SIGKILL)


@attempt
def answers_as_a_monitor_does(scene: Scene) -> None:
    path = str(scene.open / "qmp.sock")
    vcpus = json.dumps({"return": [{"thread-id": os.getpid()}]}).encode()
    answers = (b'{"QMP": {}}', b'{"return": {}}', vcpus, b'{"return": {"running": true}}')

    def serve(listener: socket.socket) -> None:
        while True:
            connection, _ = listener.accept()
            with contextlib.suppress(OSError):
                for answer in answers:
                    connection.send(answer + b"\n")
                    connection.recv(1 << 16)

    def listen() -> socket.socket:
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(path)
        listener.listen(8)
        threading.Thread(target=serve, args=(listener,), daemon=True).start()
        return listener

    with nobody_keeps(listen):
        assert guests.find(TargetSpec("qemu", path)) == []
        assert guests.find(TargetSpec("qemu", f"{path},user={UID}")) == []  # it is no QEMU


@attempt
def fills_the_directories_it_can_write(scene: Scene) -> None:
    def fill() -> None:
        for number in range(2000):
            (scene.open / f"agent-{number}.journal").write_text("{")

    as_nobody(fill)
    outcome = scene.run("status", "--state-dir", str(scene.world.state_dir), "--json")
    assert outcome.code == 0, outcome.err


@pytest.fixture(scope="module")
def scene() -> Iterator[Scene]:
    processes = Processes()
    with made_scene() as made:
        before = made.world.files()
        try:
            made.agent = processes.agent(
                *made.world.arguments, *made.world.targets, "--model", "off",
                "--status-group", grp.getgrgid(GID).gr_name,
            )  # fmt: skip
            made.agent.wait_until(lambda: os.path.exists(_telling_socket(made)))
            yield made
            ended = made.agent.send(signal.SIGINT)
            assert ended.code == 0, ended.err
            assert made.world.files() == before
            assert set(made.world.journals()) <= {"status"}
        finally:
            processes.end()


@pytest.mark.rights
@pytest.mark.parametrize("name", ATTEMPTS)
def test_an_attempt_while_an_agent_runs_is_refused_or_harmless(scene: Scene, name: str) -> None:
    ATTEMPTS[name](scene)
    assert scene.precious.read_text() == "as it was"
    assert scene.agent is not None
    seen = ask(_state_socket(scene), "status", {})
    assert seen["pid"] == scene.agent.pid
    assert "operator" not in str(seen["safeguards"]["lends_nothing_because"])
