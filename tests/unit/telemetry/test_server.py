"""The agent's socket: who may ask, and what clients that misbehave can do to it."""

from __future__ import annotations

import contextlib
import os
import socket
import stat
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from smartharvest.errors import ConfigError
from smartharvest.telemetry import server
from smartharvest.telemetry.protocol import (
    LONGEST_REQUEST,
    ProtocolError,
    format_request,
    parse_answer,
)
from smartharvest.telemetry.server import MOST_CLIENTS, SILENCE_S, ControlSocket


class Clock:
    now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


def refuse(_arguments: Mapping[str, Any]) -> None:
    raise ConfigError("policy: 'magic' is unknown")


def break_down(_arguments: Mapping[str, Any]) -> None:
    raise RuntimeError("a bug")


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def control(tmp_path: Path, clock: Clock) -> Iterator[ControlSocket]:
    commands: dict[str, Callable[[Mapping[str, Any]], Any]] = {
        "echo": dict,
        "refuse": refuse,
        "break": break_down,
        "much": lambda _: "x" * 2_000_000,
    }
    made = ControlSocket(str(tmp_path / "agent-1.sock"), commands, clock)
    yield made
    made.close()


class Client:
    def __init__(self, control: ControlSocket) -> None:
        self._control = control
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.setblocking(False)
        self.socket.connect(control.path)
        self._received = b""

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    def answer(self, turns: int = 1000) -> Any:
        """Lets the server have its turns until a whole line has come."""
        for _ in range(turns):
            line, newline, rest = self._received.partition(b"\n")
            if newline:
                self._received = rest
                return parse_answer(line)
            self._control.serve()
            self._receive()
        raise AssertionError(f"no answer, only {self._received[:100]!r}")

    def is_cut_off(self) -> bool:
        self._control.serve()
        try:
            return self.socket.recv(1 << 20) == b""
        except BlockingIOError:
            return False
        except ConnectionResetError:
            return True

    def _receive(self) -> None:
        with contextlib.suppress(BlockingIOError):
            self._received += self.socket.recv(1 << 20)


@pytest.fixture
def client(control: ControlSocket) -> Iterator[Client]:
    made = Client(control)
    yield made
    made.socket.close()


def test_a_request_is_answered(client: Client) -> None:
    client.send(format_request("echo", {"a": 1}))
    assert client.answer() == {"a": 1}


def test_several_requests_come_in_pieces_and_all_at_once(client: Client) -> None:
    lines = b"".join(format_request("echo", {"n": n}) for n in range(3))
    client.send(lines[:5])
    client.send(lines[5:])
    assert [client.answer() for _ in range(3)] == [{"n": 0}, {"n": 1}, {"n": 2}]


def test_an_answer_larger_than_the_socket_arrives_whole(client: Client) -> None:
    client.send(format_request("much", {}))
    assert client.answer() == "x" * 2_000_000


@pytest.mark.parametrize(
    ("sent", "told"),
    [
        (format_request("stats", {}), "unknown command 'stats'; known are break, echo, much, ref"),
        (format_request("refuse", {}), "policy: 'magic' is unknown"),
        (format_request("break", {}), "unexpected RuntimeError: a bug"),
        (b"GET / HTTP/1.1\r\n", "the line is no JSON"),
        (b"\0\0\0\n", "the line is no JSON"),
        (b'{"v": 2, "command": "echo"}\n', "version 2 is unknown; this is 1"),
    ],
)
def test_what_cannot_be_answered_is_told_and_the_connection_goes_on(
    client: Client, sent: bytes, told: str
) -> None:
    client.send(sent)
    with pytest.raises(ProtocolError) as refused:
        client.answer()
    assert str(refused.value).startswith(told)
    client.send(format_request("echo", {}))
    assert client.answer() == {}


def test_a_line_without_end_is_cut_off(control: ControlSocket, client: Client) -> None:
    for _ in range(LONGEST_REQUEST // 4096):
        client.send(b"x" * 4096)
        control.serve()
    assert not client.is_cut_off()
    client.send(b"x")
    with pytest.raises(ProtocolError, match=f"may have {LONGEST_REQUEST} bytes"):
        client.answer()
    assert control.clients == 0


def test_only_the_owner_and_root_may_ask(
    control: ControlSocket, monkeypatch: pytest.MonkeyPatch
) -> None:
    mode = os.stat(control.path).st_mode
    assert stat.S_ISSOCK(mode)
    assert stat.S_IMODE(mode) == 0o600

    class Stranger:
        size = server._CREDENTIALS.size

        def unpack(self, _raw: bytes) -> tuple[int, int, int]:
            return 1, 12345, 12345

    monkeypatch.setattr(server, "_CREDENTIALS", Stranger())
    client = Client(control)
    with pytest.raises(ProtocolError, match="only root and the user of the agent may send"):
        client.answer()
    assert client.is_cut_off()
    assert control.clients == 0


def test_more_clients_than_there_may_be_are_sent_away(control: ControlSocket) -> None:
    clients = []
    for _ in range(MOST_CLIENTS):
        clients.append(Client(control))
        control.serve()
    with pytest.raises(ProtocolError, match="too many connections"):
        Client(control).answer()
    clients.pop().socket.close()
    control.serve()
    late = Client(control)
    late.send(format_request("echo", {}))
    assert late.answer() == {}


def test_who_is_silent_for_long_is_sent_away(control: ControlSocket, clock: Clock) -> None:
    silent, greedy, busy = (Client(control) for _ in range(3))
    for _ in range(3):
        control.serve()
    greedy.send(format_request("much", {}))  # and reads nothing of it
    for _ in range(10):
        control.serve()
    clock.now_s += SILENCE_S
    busy.send(format_request("echo", {}))
    assert busy.answer() == {}
    clock.now_s += 0.001
    control.serve()
    assert control.clients == 1
    assert silent.is_cut_off()


def test_who_goes_away_in_the_middle_leaves_nothing(control: ControlSocket) -> None:
    for sent in (b"", b'{"v"', format_request("much", {})):
        client = Client(control)
        control.serve()
        client.send(sent)
        client.socket.close()
        for _ in range(3):
            control.serve()
    assert control.clients == 0


def test_a_path_may_be_long_and_a_socket_left_there_is_replaced(tmp_path: Path) -> None:
    directory = tmp_path / ("d" * 100) / ("e" * 100)
    directory.mkdir(parents=True)
    path = directory / "agent-1.sock"
    path.write_text("left by another")
    control = ControlSocket(str(path), {})
    assert path.is_socket()
    control.close()
    assert list(directory.iterdir()) == []


def test_where_there_is_no_directory_there_is_no_socket(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        ControlSocket(str(tmp_path / "missing" / "agent-1.sock"), {})
