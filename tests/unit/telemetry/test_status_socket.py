"""The socket that only tells: who may ask it, what it refuses, what it costs."""

from __future__ import annotations

import grp
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from smartharvest.errors import ConfigError, RightsError
from smartharvest.telemetry.agents import find
from smartharvest.telemetry.client import socket_of, sockets
from smartharvest.telemetry.protocol import LONGEST_REQUEST, ProtocolError
from smartharvest.telemetry.server import MOST_CLIENTS, ControlSocket
from smartharvest.telemetry.status_socket import ANSWER_LASTS_S, StatusSocket
from tests.unit.telemetry.test_server import Client, Clock

GROUP = grp.getgrgid(os.getegid()).gr_name


class Told:
    times = 0

    def __call__(self, _arguments: object) -> int:
        self.times += 1
        return self.times


@pytest.fixture
def told() -> Told:
    return Told()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def control(tmp_path: Path, told: Told, clock: Clock) -> Iterator[ControlSocket]:
    path = str(tmp_path / "agent-1.sock")
    made = ControlSocket(path, {"status": told, "pause": lambda _: "paused"}, clock)
    made.attach(StatusSocket(path, GROUP, {"status": told}, clock))
    yield made
    made.close()


@pytest.fixture
def telling(control: ControlSocket) -> ControlSocket:
    assert control._beside is not None
    return control._beside


def asked(control: ControlSocket, telling: ControlSocket, line: bytes) -> object:
    asking = Client(telling)
    asking.send(line)
    for _ in range(3):
        control.serve()
    return asking.answer()


def test_a_question_is_answered(control: ControlSocket, telling: ControlSocket) -> None:
    assert asked(control, telling, b'{"v":1,"command":"status"}\n') == 1


@pytest.mark.parametrize("command", ["pause", "resume", "evict", "restart", "x" * 3000])
def test_what_changes_anything_is_refused_in_a_line(
    control: ControlSocket, telling: ControlSocket, command: str
) -> None:
    with pytest.raises(ProtocolError, match="not answered here, only status; steer") as refused:
        asked(control, telling, b'{"v":1,"command":"%s"}\n' % command.encode())
    assert len(str(refused.value)) < 200


def test_a_question_has_no_arguments(control: ControlSocket, telling: ControlSocket) -> None:
    with pytest.raises(ProtocolError, match="no arguments"):
        asked(control, telling, b'{"v":1,"command":"status","arguments":{"a":1}}\n')


def test_asking_often_costs_no_more(
    control: ControlSocket, telling: ControlSocket, told: Told, clock: Clock
) -> None:
    for _ in range(20):
        assert asked(control, telling, b'{"v":1,"command":"status"}\n') == 1
    clock.now_s += ANSWER_LASTS_S
    assert asked(control, telling, b'{"v":1,"command":"status"}\n') == told.times == 2


def test_a_crowd_of_those_who_watch_keeps_nobody_from_steering(
    control: ControlSocket, telling: ControlSocket
) -> None:
    crowd: list[Client] = []
    for _ in range(MOST_CLIENTS + 8):
        crowd.append(Client(telling))
        control.serve()
    assert telling.clients == MOST_CLIENTS
    steering = Client(control)
    steering.send(b'{"v":1,"command":"pause"}\n')
    for _ in range(3):
        control.serve()
    assert steering.answer() == "paused"


def test_its_lines_are_shorter(control: ControlSocket, telling: ControlSocket) -> None:
    with pytest.raises(ProtocolError, match="4096 bytes"):
        asked(control, telling, b"x" * (LONGEST_REQUEST // 4))


def test_only_the_group_gets_there(control: ControlSocket, telling: ControlSocket) -> None:
    state = os.path.dirname(control.path)
    modes = {
        path: stat.S_IMODE(os.stat(path).st_mode)
        for path in (state, os.path.dirname(telling.path), telling.path, control.path)
    }
    assert list(modes.values()) == [0o711, 0o750, 0o660, 0o600]
    assert os.stat(telling.path).st_gid == os.getegid()


def test_it_goes_with_the_other(control: ControlSocket, telling: ControlSocket) -> None:
    control.close()
    assert not os.path.exists(telling.path)


def test_a_group_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="status_group: there is no group 'none-such'"):
        StatusSocket(str(tmp_path / "agent-1.sock"), "none-such", {})


def test_who_may_not_read_the_state_directory_finds_the_socket_that_tells(
    control: ControlSocket, telling: ControlSocket, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = os.path.dirname(control.path)
    listdir, access = os.listdir, os.access

    def refusing(path: str) -> list[str]:
        if path in (state, hidden):
            raise PermissionError(13, "Permission denied", path)
        return listdir(path)

    hidden, closed = "", (control.path, state)
    monkeypatch.setattr(os, "listdir", refusing)
    monkeypatch.setattr(os, "access", lambda path, how: path not in closed and access(path, how))
    assert sockets(state) == find([state]).sockets == [telling.path] == [socket_of(state, 1)]
    hidden = os.path.dirname(telling.path)
    with pytest.raises(
        RightsError, match="run as root, or as a member of the agent's status_group"
    ):
        sockets(state)
