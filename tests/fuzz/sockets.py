"""Targets behind a socket: QEMU's monitor, an agent and its clients, in both directions."""

from __future__ import annotations

import json
import socket
import threading
from functools import cache
from typing import Any
from unittest import mock

from smartharvest.agent.admin import REQUESTS, parse_request
from smartharvest.cluster import source
from smartharvest.cluster.qemu_guest import QemuGuest
from smartharvest.cluster.source import NoCapacity
from smartharvest.config.settings import Settings
from smartharvest.errors import (
    ConfigError,
    EngineError,
    RightsError,
    SmartHarvestError,
    TargetError,
)
from smartharvest.host.target.qmp import read_vcpus
from smartharvest.telemetry import protocol
from smartharvest.telemetry.client import NoAgent, ask
from smartharvest.telemetry.protocol import ProtocolError
from smartharvest.telemetry.server import ControlSocket
from tests.fuzz.target import Target, check_message, scratch, split


class _Mouth:
    """Says what it is told to whoever connects, and hangs up."""

    def __init__(self, name: str, port: bool = False) -> None:
        self._said = b""
        if port:
            self._listener = socket.create_server(("127.0.0.1", 0))
            self.where = f"http://127.0.0.1:{self._listener.getsockname()[1]}/capacity"
        else:
            self.where = f"{scratch()}/{name}"
            self._listener = socket.socket(socket.AF_UNIX)
            self._listener.bind(self.where)
            self._listener.listen(8)
        threading.Thread(target=self._serve, daemon=True).start()

    def says(self, data: bytes) -> str:
        self._said = data
        return self.where

    def _serve(self) -> None:
        while True:
            connection, _ = self._listener.accept()
            with connection:
                try:
                    connection.settimeout(1.0)
                    connection.sendall(self._said)
                    connection.shutdown(socket.SHUT_WR)
                    while connection.recv(1 << 16):
                        pass
                except OSError:
                    continue


@cache
def _mouth(name: str, port: bool = False) -> _Mouth:
    return _Mouth(name, port)


def _qmp(data: bytes) -> None:
    found = read_vcpus(_mouth("qmp").says(data), timeout_s=5.0)
    assert found.threads


def _guest(data: bytes) -> None:
    """What a guest and its monitor say of its memory and vCPUs: the guest is trusted by nobody."""
    of_monitor, of_agent = split(data)
    with mock.patch("secrets.randbits", return_value=_SYNCHRONIZED):
        QemuGuest(_mouth("monitor").says(of_monitor), _mouth("guest-agent").says(of_agent))


def _answer(data: bytes) -> None:
    ask(_mouth("agent-1.sock").says(data), "status", {}, timeout_s=5.0)


def _capacity(data: bytes) -> None:
    """What an adapter takes from an agent's page."""
    with mock.patch.object(source, "TIMEOUT_S", 5.0):
        found = source.from_http(_mouth("http", port=True).says(data))()
    for name in ("now", "guaranteed", "promised"):
        assert 0 <= found["cores"][name] <= 1 << 20, found["cores"][name]


def _request(data: bytes) -> None:
    """A line of a client, and what the agent makes of its command's arguments."""
    request = protocol.parse_request(data)
    if request.command in REQUESTS:
        parse_request(request.command, request.arguments, Settings(), {}, load=Settings)


def _status(arguments: Any) -> Any:
    return {"echo": dict(arguments)}


def _served(data: bytes) -> None:
    """Any bytes to a listening agent: each line it answers is JSON, and it goes on."""
    path = f"{scratch()}/served.sock"
    server = ControlSocket(path, {"status": _status})
    try:
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(path)
            server.serve()
            client.setblocking(False)
            left, said = data, b""
            for _ in range(400):
                try:
                    if left:
                        left = left[client.send(left) :]
                    else:
                        client.shutdown(socket.SHUT_WR)
                except BlockingIOError:
                    pass
                except OSError:  # it has hung up
                    break
                server.serve()
                try:
                    said += (more := client.recv(1 << 20))
                    if not more:
                        break
                except BlockingIOError:
                    continue
                except OSError:
                    break
        for line in said.splitlines():
            answer = json.loads(line)
            assert answer["ok"] in (True, False)
            check_message(str(answer.get("error", "")))
        server.serve()
    finally:
        server.close()


_GREETING = b'{"QMP": {"version": {}, "capabilities": []}}\r\n'
_MONITOR = (
    _GREETING + b'{"return": {}}\n{"event": "RTC_CHANGE", "data": {"offset": 0}}\n'
    b'{"return": [{"cpu-index": 0, "thread-id": 11}, {"cpu-index": 1, "thread-id": 12}]}\n'
    b'{"return": {"status": "running", "running": true}}\n'
)
_SYNCHRONIZED = 7
_BALLOON = _GREETING + b'{"return": {}}\n{"return": {"actual": 1073741824}}\n'
_GUEST_AGENT = (
    b'{"return": 7}\n{"return": [{"logical-id": 0, "online": true, "can-offline": false},'
    b' {"logical-id": 1, "online": true}]}\n'
)
_CAPACITY = b'{"cores": {"now": 3, "guaranteed": 1, "promised": 2}}'
_SET = json.dumps(
    {"v": 1, "command": "set-limit", "arguments": {"max_harvest": 3, "keep_idle": 1}}
).encode()

TARGETS = (
    Target("qmp", _qmp, (TargetError,), (_MONITOR, _GREETING + b'{"error": {"desc": "no"}}\n')),
    Target(
        "guest", _guest, (ConfigError, EngineError),
        (_GREETING + b'{"error": {"desc": "no balloon"}}\n\xff\xff' + _GUEST_AGENT,
         _BALLOON + b"\xff\xff" + _GUEST_AGENT),
    ),
    Target(
        "answer", _answer, (NoAgent, ProtocolError, RightsError, TimeoutError),
        (b'{"v":1,"ok":true,"result":{"a":1}}\n', b'{"v":1,"ok":false,"error":"no"}\n'),
    ),
    Target(
        "capacity", _capacity, (NoCapacity,),
        (b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(_CAPACITY) + _CAPACITY,
         b"HTTP/1.0 200 OK\r\n\r\n" + _CAPACITY,
         b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n[1,2]\r\n0\r\n\r\n",
         b"HTTP/1.1 302 Found\r\nLocation: nowhere:\r\n\r\n"),
    ),
    Target(
        "request", _request, (ProtocolError, SmartHarvestError),
        (_SET, b'{"v":1,"command":"set-policy","arguments":{"policy":"prev-peak:4"}}',
         b'{"v":1,"command":"set-limit","arguments":{"reset":true}}',
         b'{"v":1,"command":"status","arguments":{}}'),
    ),
    Target("served", _served, (), (_SET + b"\n", b'{"v":1,"command":"status"}\n' * 3)),
)  # fmt: skip
