"""The scale subresource, against a double of the API server."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from smartharvest.errors import ConfigError, EngineError
from smartharvest.serverless.kubernetes_pool import KubernetesPool

pytest.importorskip("kubernetes", reason="the Kubernetes client is not installed")

SCALE = "cluster.x-k8s.io/v1beta1/machinedeployments/default/harvest"
PATH = "/apis/cluster.x-k8s.io/v1beta1/namespaces/default/machinedeployments/harvest/scale"
KUBECONFIG = """
apiVersion: v1
kind: Config
current-context: made
clusters: [{{name: made, cluster: {{server: "http://127.0.0.1:{port}"}}}}]
contexts: [{{name: made, context: {{cluster: made, user: made}}}}]
users: [{{name: made, user: {{}}}}]
"""


def node(
    name: str, cores: str | None, *, ready: str = "True", cordoned: bool = False
) -> dict[str, Any]:
    return {
        "metadata": {"name": name},
        "spec": {"unschedulable": True} if cordoned else {},
        "status": {
            "allocatable": {"smartharvest.io/cores": cores} if cores is not None else {},
            "conditions": [{"type": "Ready", "status": ready}],
        },
    }


class ApiServer(ThreadingHTTPServer):
    """One MachineDeployment, and nodes in pages of two."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.spec: dict[str, Any] = {"replicas": 3}
        self.nodes: list[dict[str, Any]] = []
        self.selectors: set[str] = set()
        self.broken = False


class _Handler(BaseHTTPRequestHandler):
    server: ApiServer

    def log_message(self, *_: Any) -> None: ...

    def do_GET(self) -> None:
        path, _, query = self.path.partition("?")
        if self.server.broken:
            self._answer(500, {"reason": "Broken"})
        elif path == PATH:
            self._answer(200, {"kind": "Scale", "spec": self.server.spec})
        elif path == "/api/v1/nodes":
            asked = dict(part.split("=", 1) for part in query.split("&"))
            self.server.selectors.add(asked["labelSelector"])
            first = int(asked.get("continue", 0))
            more = str(first + 2) if first + 2 < len(self.server.nodes) else ""
            page = self.server.nodes[first : first + 2]
            self._answer(200, {"metadata": {"continue": more}, "items": page})
        else:
            self._answer(404, {"reason": "NotFound"})

    def do_PATCH(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path != PATH or "merge-patch+json" not in self.headers["Content-Type"]:
            self._answer(415, {"reason": "UnsupportedMediaType"})
        else:
            self.server.spec.update(body["spec"])
            self._answer(200, {"kind": "Scale", "spec": self.server.spec})

    def _answer(self, code: int, body: dict[str, Any]) -> None:
        data = json.dumps(body).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


@pytest.fixture
def server() -> Iterator[ApiServer]:
    made = ApiServer()
    thread = threading.Thread(target=made.serve_forever, args=(0.02,))
    thread.start()
    yield made
    made.shutdown()
    thread.join()
    made.server_close()


@pytest.fixture
def kubeconfig(server: ApiServer, tmp_path: Path) -> str:
    path = tmp_path / "kubeconfig"
    path.write_text(KUBECONFIG.format(port=server.server_port))
    return str(path)


def test_the_scale_is_read_and_set(server: ApiServer, kubeconfig: str) -> None:
    pool = KubernetesPool(SCALE, "pool=harvest", kubeconfig)
    assert pool.asked() == 3
    pool.ask(5)
    assert server.spec == {"replicas": 5}
    assert pool.asked() == 5
    server.spec.clear()  # as the API writes a zero
    assert pool.asked() == 0
    server.broken = True
    with pytest.raises(EngineError, match="500"):
        pool.asked()
    pool.close()


def test_promises_are_read_page_by_page_and_a_node_that_is_not_ready_has_none(
    server: ApiServer, kubeconfig: str
) -> None:
    server.nodes = [
        node("n1", "3"),
        node("n2", "4", ready="Unknown"),
        node("n3", None),
        node("n4", "2", cordoned=True),
        node("n5", "0"),
    ]
    pool = KubernetesPool(SCALE, "pool=harvest", kubeconfig)
    assert pool.nodes() == {"n1": 3, "n2": None, "n3": None, "n4": 0, "n5": 0}
    assert server.selectors == {"pool%3Dharvest"}
    pool.close()


def test_a_scale_that_is_written_wrongly_or_does_not_exist_is_refused(kubeconfig: str) -> None:
    with pytest.raises(ConfigError, match="write GROUP/VERSION/PLURAL/NAMESPACE/NAME"):
        KubernetesPool("machinedeployments/harvest", "a=b", kubeconfig)
    with pytest.raises(ConfigError, match="not found, or without a scale"):
        KubernetesPool("apps/v1/deployments/default/web", "a=b", kubeconfig)
