"""A guest that follows cores and memory, behind sockets that answer as QEMU and its agent do."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from smartharvest.cluster.follow import Adapter, FollowSettings, leave
from smartharvest.cluster.qemu_guest import LEAST, OVERHEAD, QemuGuest
from smartharvest.cluster.reconcile import Hysteresis
from smartharvest.errors import ConfigError, EngineError

GIB = 1 << 30
EAGER = FollowSettings(Hysteresis(grow_after_s=0, grace_s=0), interval_s=0.01)


class Guest:
    """Four vCPUs, of which the first stays, and a balloon; one client at a time."""

    def __init__(self, directory: Path) -> None:
        self.monitor, self.agent = str(directory / "qmp"), str(directory / "qga")
        self.memory: int | None = 4 * GIB
        self.online = {0, 1, 2, 3}
        self.asked: list[str] = []
        self.refuses: set[str] = set()
        self.stale = b""
        """What the agent still has to say to somebody who left."""
        self._listeners = [self._listen(self.monitor, True), self._listen(self.agent, False)]

    def _listen(self, path: str, greets: bool) -> socket.socket:
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(path)
        listener.listen(1)
        threading.Thread(target=self._serve, args=(listener, greets), daemon=True).start()
        return listener

    def _serve(self, listener: socket.socket, greets: bool) -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection, connection.makefile("rwb") as lines:
                lines.write(b'{"QMP": {}}\n' if greets else self.stale)
                lines.flush()
                for line in lines:
                    lines.write(json.dumps(self._answer(json.loads(line))).encode() + b"\n")
                    lines.flush()

    def _answer(self, request: dict[str, Any]) -> dict[str, Any]:
        command, arguments = request["execute"], request.get("arguments", {})
        self.asked.append(command)
        if command in self.refuses:
            return {"error": {"desc": "not now"}}
        match command:
            case "qmp_capabilities":
                return {"return": {}}
            case "guest-sync":
                return {"return": arguments["id"]}
            case "query-balloon" if self.memory is None:
                return {"error": {"desc": "No balloon device has been activated"}}
            case "query-balloon":
                return {"return": {"actual": self.memory}}
            case "balloon":
                self.memory = arguments["value"]
                return {"return": {}}
            case "guest-get-vcpus":
                listed = [
                    {"logical-id": n, "online": n in self.online, "can-offline": n > 0}
                    for n in range(4)
                ]
                return {"return": listed}
            case "guest-set-vcpus":
                for one in arguments["vcpus"]:
                    change = self.online.add if one["online"] else self.online.discard
                    change(one["logical-id"])
                return {"return": len(arguments["vcpus"])}
        return {"error": {"desc": "no such command"}}

    def close(self) -> None:
        for listener in self._listeners:
            listener.shutdown(socket.SHUT_RDWR)
            listener.close()


@pytest.fixture
def guest(tmp_path: Path) -> Iterator[Guest]:
    made = Guest(tmp_path)
    yield made
    made.close()


def document(cores: int, memory: int | None) -> dict[str, Any]:
    bounds = None if memory is None else {"now_bytes": memory, "guaranteed_bytes": GIB}
    told = {"now": cores, "promised": cores, "guaranteed": 1}
    return {"cores": told, "memory": bounds}


def test_a_guest_has_the_vcpus_and_the_memory_of_its_group_and_at_the_end_what_it_had(
    guest: Guest,
) -> None:
    offers = iter([document(2, 2 * GIB), document(3, 3 * GIB)])
    engine = QemuGuest(guest.monitor, guest.agent)
    adapter = Adapter(lambda: next(offers), engine, EAGER, guaranteed=1)
    adapter.turn()
    assert (guest.online, guest.memory) == ({0, 1}, 2 * GIB - OVERHEAD)
    adapter.turn()
    assert (guest.online, guest.memory) == ({0, 1, 2}, 3 * GIB - OVERHEAD)
    leave(engine, 1, 0.0)
    assert (guest.online, guest.memory) == ({0, 1, 2, 3}, 4 * GIB)


def test_who_follows_a_killed_adapter_gives_back_what_the_guest_had_before_it(guest: Guest) -> None:
    killed = QemuGuest(guest.monitor, guest.agent)
    killed.advertise(1)
    killed.hold(GIB)
    leave(QemuGuest(guest.monitor, guest.agent, killed.before), 1, 0.0)
    assert (guest.online, guest.memory) == ({0, 1, 2, 3}, 4 * GIB)


def test_it_never_has_less_than_a_vcpu_and_a_little_memory_nor_more_than_before(
    guest: Guest,
) -> None:
    engine = QemuGuest(guest.monitor, guest.agent)
    engine.advertise(0)
    engine.hold(0)
    assert (guest.online, guest.memory) == ({0}, LEAST)
    assert engine.verify() == 0
    engine.advertise(64)
    engine.hold(64 * GIB)
    assert (guest.online, guest.memory) == ({0, 1, 2, 3}, 4 * GIB)


def test_a_vcpu_that_the_guest_takes_back_itself_is_put_offline_again(guest: Guest) -> None:
    engine = QemuGuest(guest.monitor, guest.agent)
    engine.advertise(1)
    guest.online.add(3)
    assert engine.verify() is None


def test_a_little_more_or_less_memory_asks_nothing_of_the_guest(guest: Guest) -> None:
    engine = QemuGuest(guest.monitor, guest.agent)
    engine.hold(2 * GIB)
    guest.asked.clear()
    engine.hold(2 * GIB + (1 << 20))
    assert guest.asked == []


def test_without_an_agent_only_memory_follows(guest: Guest) -> None:
    engine = QemuGuest(guest.monitor, None)
    engine.advertise(1)
    engine.hold(2 * GIB)
    assert engine.verify() == 1
    assert (guest.online, guest.memory) == ({0, 1, 2, 3}, 2 * GIB - OVERHEAD)


def test_without_a_balloon_only_vcpus_follow_and_without_both_there_is_nothing_to_do(
    guest: Guest,
) -> None:
    guest.memory = None
    engine = QemuGuest(guest.monitor, guest.agent)
    engine.advertise(2)
    engine.hold(GIB)
    assert (guest.online, guest.memory) == ({0, 1}, None)
    with pytest.raises(ConfigError, match="has no balloon"):
        QemuGuest(guest.monitor, None)


def test_answers_to_somebody_before_are_passed_over(guest: Guest) -> None:
    guest.stale = b'{"return": []}\n{"error": {"desc": "of another"}}\n'
    QemuGuest(guest.monitor, guest.agent).advertise(2)
    assert guest.online == {0, 1}


@pytest.mark.parametrize(
    ("command", "act"),
    [
        ("guest-set-vcpus", lambda engine: engine.advertise(1)),
        ("balloon", lambda engine: engine.hold(GIB)),
        ("query-balloon", lambda engine: engine.read()),
    ],
)
def test_a_refusal_is_the_engines(
    guest: Guest, command: str, act: Callable[[QemuGuest], object]
) -> None:
    engine = QemuGuest(guest.monitor, guest.agent)
    guest.refuses = {command}
    with pytest.raises(EngineError, match="not now"):
        act(engine)
    engine.close()  # says so, and leaves it


def test_memory_falls_to_what_is_guaranteed_when_the_agent_no_longer_answers(guest: Guest) -> None:
    offers = iter([document(2, 3 * GIB), {}])
    engine = QemuGuest(guest.monitor, guest.agent)
    adapter = Adapter(lambda: next(offers), engine, EAGER, guaranteed=1)
    adapter.turn()
    adapter.turn()
    assert (guest.online, guest.memory) == ({0}, GIB - OVERHEAD)
