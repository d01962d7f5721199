"""The YARN adapter against a double of the ResourceManager, over HTTP."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from smartharvest.cluster.yarn_node import YarnNode
from smartharvest.errors import ConfigError, EngineError

NODE = "n7.example.org:45454"
PATH = f"/ws/v1/cluster/nodes/{NODE.replace(':', '%3A')}"


class MadeResourceManager:
    """One node; as the real one it ignores a call that changes nothing, and kills at a timeout."""

    def __init__(self) -> None:
        self.total, self.used, self.memory = 4, 0, 8192
        self.timeouts: list[int] = []
        self.answer: bytes | None = None

    def show(self) -> bytes:
        if self.answer is not None:
            return self.answer
        node = {"usedVirtualCores": self.used, "availableVirtualCores": self.total - self.used,
                "usedMemoryMB": 1024, "availMemoryMB": self.memory - 1024}  # fmt: skip
        return json.dumps({"node": node}).encode()

    def set(self, body: Any) -> None:
        resource, timeout_ms = body["resource"], body["overCommitTimeout"]
        if (resource["vCores"], resource["memory"]) == (self.total, self.memory):
            return
        self.total, self.memory = resource["vCores"], resource["memory"]
        self.timeouts.append(timeout_ms)
        if timeout_ms == 0:
            self.used = min(self.used, self.total)


@contextlib.contextmanager
def made_manager() -> Iterator[tuple[MadeResourceManager, str]]:
    """And the address of its page."""
    made = MadeResourceManager()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer(200 if self.path == PATH else 404, made.show())

        def do_POST(self) -> None:
            made.set(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self._answer(200 if self.path == f"{PATH}/resource" else 404, b"{}")

        def log_message(self, *_: object) -> None:
            """Nothing."""

        def _answer(self, code: int, body: bytes) -> None:
            self.send_response(code)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield made, f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def manager() -> Iterator[tuple[MadeResourceManager, str]]:
    with made_manager() as made:
        yield made


def test_the_cores_follow_and_the_memory_stays(manager: tuple[MadeResourceManager, str]) -> None:
    made, page = manager
    node = YarnNode(page, NODE)
    node.advertise(7)
    assert (node.verify(), node.in_use(), made.memory) == (7, 0, 8192)
    assert made.timeouts == [-1]  # containers above it go on


def test_the_resource_manager_ends_the_work_above_after_the_grace(
    manager: tuple[MadeResourceManager, str],
) -> None:
    made, page = manager
    made.used = 4
    node = YarnNode(page, NODE)
    node.shed(1, grace_s=2.5)
    node.shed(1, grace_s=1.0)
    assert made.timeouts == [2500]
    assert (node.verify(), node.in_use()) == (1, 4)
    node.shed(1, grace_s=0.0)
    assert (node.verify(), node.in_use()) == (1, 1)


@pytest.mark.parametrize(
    "answer",
    [b"", b"[]", b"{", b'{"node": {}}', b'{"node": {"usedVirtualCores": "4"}}',
     b'{"node": {"usedVirtualCores": -4, "availableVirtualCores": 4, "usedMemoryMB": 0,'
     b' "availMemoryMB": 0}}', b"[" * 100_000],
    ids=["nothing", "list", "torn", "empty", "text", "negative", "deep"],
)  # fmt: skip
def test_what_is_no_node_is_an_error_in_one_line(
    manager: tuple[MadeResourceManager, str], answer: bytes
) -> None:
    made, page = manager
    made.answer = answer
    with pytest.raises(EngineError) as raised:
        YarnNode(page, NODE)
    assert "\n" not in str(raised.value)


def test_a_node_that_is_not_there_and_a_name_that_is_none_are_named(
    manager: tuple[MadeResourceManager, str],
) -> None:
    _, page = manager
    with pytest.raises(EngineError, match="404"):
        YarnNode(page, "other:1")
    with pytest.raises(ConfigError, match="--node"):
        YarnNode(page, "../../etc")
