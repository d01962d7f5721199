"""QEMU's monitor as others may answer in its place."""

from __future__ import annotations

import json
import os
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from smartharvest.errors import TargetError
from smartharvest.host.target.qmp import LARGEST_ANSWER, Peer, VirtualCpus, read_vcpus

GREETING = b'{"QMP": {"version": {}, "capabilities": []}}\r\n'
EVENT = b'{"event": "RTC_CHANGE", "data": {"offset": 0}}\r\n'
Answers = dict[str, bytes]


def vcpus(*threads: object) -> bytes:
    return json.dumps({"return": [{"cpu-index": 0, "thread-id": tid} for tid in threads]}).encode()


GOOD: Answers = {
    "greeting": GREETING,
    "qmp_capabilities": b'{"return": {}}',
    "query-cpus-fast": EVENT + vcpus(11, 12),
    "query-status": b'{"return": {"status": "running", "running": true}}',
}


@pytest.fixture
def monitor(tmp_path: Path) -> Iterator[Callable[[Answers], str]]:
    path = str(tmp_path / "qmp")
    listener = socket.socket(socket.AF_UNIX)
    served: list[threading.Thread] = []

    def serve(answers: Answers) -> None:
        connection, _ = listener.accept()
        with connection, connection.makefile("rwb") as lines:
            try:
                lines.write(answers["greeting"])
                lines.flush()
                for line in lines:
                    lines.write(answers[json.loads(line)["execute"]] + b"\r\n")
                    lines.flush()
            except (OSError, KeyError, ValueError):
                return

    def start(answers: Answers) -> str:
        listener.bind(path)
        listener.listen(1)
        served.append(threading.Thread(target=serve, args=(answers,), daemon=True))
        served[0].start()
        return path

    yield start
    listener.close()
    for thread in served:
        thread.join(5)


def test_the_threads_of_the_vcpus_are_told(monitor: Callable[[Answers], str]) -> None:
    here = Peer(os.getpid(), os.geteuid())
    assert read_vcpus(monitor(GOOD), timeout_s=20) == VirtualCpus((11, 12), True, here)


def test_emulated_vcpus_may_take_turns_on_one_thread(monitor: Callable[[Answers], str]) -> None:
    path = monitor(GOOD | {"query-cpus-fast": vcpus(11, 11)})
    assert read_vcpus(path, timeout_s=20).threads == (11,)


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"greeting": b'{"hello": 1}\n'}, "does not greet"),
        ({"greeting": b"not json\n"}, "is no QMP monitor"),
        ({"greeting": b"[1]\n"}, "no object"),
        ({"greeting": b"[" * 100_000 + b"\n"}, "is no QMP monitor"),
        ({"greeting": b"\xff\xfe\n"}, "is no QMP monitor"),
        ({"greeting": b"x" * (LARGEST_ANSWER + 1)}, "more than"),
        ({"query-cpus-fast": EVENT * 100_000}, "more than"),
        ({"query-cpus-fast": b'{"error": {"desc": "no such command"}}'}, "no such command"),
        ({"query-cpus-fast": b'{"error": 3}'}, "query-cpus-fast: None"),
        ({"query-cpus-fast": b'{"return": {}}'}, "tells no threads"),
        ({"query-cpus-fast": b'{"return": [3, null]}'}, "tells no threads"),
        ({"query-cpus-fast": vcpus()}, "tells no threads"),
        ({"query-cpus-fast": vcpus(-1)}, "tells no threads"),
        ({"query-cpus-fast": vcpus("11")}, "tells no threads"),
        ({"query-cpus-fast": vcpus(1 << 40)}, "tells no threads"),
    ],
)
def test_what_no_qemu_says_is_refused(
    monitor: Callable[[Answers], str], changed: Answers, told: str
) -> None:
    path = monitor(GOOD | changed)
    with pytest.raises(TargetError, match=told) as refused:
        read_vcpus(path, timeout_s=20)
    assert str(refused.value).startswith(path)
    assert len(str(refused.value)) < 500


def test_a_monitor_that_is_busy_with_another_client_is_not_waited_for(tmp_path: Path) -> None:
    path = str(tmp_path / "qmp")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen(1)
        with pytest.raises(TargetError, match="serves one client at a time"):
            read_vcpus(path, timeout_s=0.01)


def test_a_socket_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(TargetError, match="No such file"):
        read_vcpus(str(tmp_path / "qmp"))
