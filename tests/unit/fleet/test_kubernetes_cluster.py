"""The extender's view of a live cluster, against a double of the API server."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from smartharvest.errors import ConfigError, EngineError
from smartharvest.fleet.extender_view import View
from smartharvest.fleet.kubernetes_cluster import ClusterPoller, KubernetesCluster

pytest.importorskip("kubernetes", reason="the Kubernetes client is not installed")

KUBECONFIG = """
apiVersion: v1
kind: Config
current-context: made
clusters: [{{name: made, cluster: {{server: "http://127.0.0.1:{port}"}}}}]
contexts: [{{name: made, context: {{cluster: made, user: made}}}}]
users: [{{name: made, user: {{}}}}]
"""


def node(name: str, promised: str | None = None, **spec: Any) -> dict[str, Any]:
    has = {"cpu": "15500m", "memory": "64Gi"}
    if promised is not None:
        has["smartharvest.io/cores"] = promised
    return {"metadata": {"name": name}, "spec": spec, "status": {"allocatable": has}}


def pod(name: str, on: str | None, cpu: str, phase: str = "Running") -> dict[str, Any]:
    asked = {"requests": {"cpu": cpu, "memory": "2Gi"}}
    spec = {"containers": [{"name": "c", "resources": asked}], "priority": 7}
    return {
        "metadata": {"name": name, "uid": f"uid-{name}", "namespace": "default"},
        "spec": spec if on is None else {**spec, "nodeName": on},
        "status": {"phase": phase, "startTime": "2026-01-01T00:00:00Z"},
    }


PAGES = {
    "/api/v1/nodes": [
        [node("a", "4"), node("b")],
        [node("away", unschedulable=True)],
    ],
    "/api/v1/pods": [
        [pod("web", "a", "1500m"), pod("waits", None, "1")],
        [pod("over", "a", "1", "Succeeded"), pod("db", "a", "2")],
    ],
}


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        page = int(parse_qs(parts.query).get("continue", ["0"])[0])
        found = PAGES[parts.path]
        more = str(page + 1) if page + 1 < len(found) else ""
        data = json.dumps({"metadata": {"continue": more}, "items": found[page]}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_args: Any) -> None:
        pass


@pytest.fixture
def kubeconfig(tmp_path: Path) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    path = tmp_path / "config"
    path.write_text(KUBECONFIG.format(port=server.server_address[1]))
    yield str(path)
    server.shutdown()
    server.server_close()
    thread.join()


def test_nodes_and_pods_are_read_page_by_page(kubeconfig: str) -> None:
    cluster = KubernetesCluster(kubeconfig)
    nodes = {one.name: one for one in cluster.nodes()}
    assert nodes.keys() == {"a", "b"}
    assert (nodes["a"].cores, nodes["a"].memory_gib) == (15.5, 64)
    assert (nodes["a"].promised, nodes["b"].promised) == (4, None)
    pods = {one.uid: one for one in cluster.pods()}
    assert pods.keys() == {"uid-web", "uid-db"}
    assert (pods["uid-web"].cores, pods["uid-web"].memory_gib) == (1.5, 2)
    assert pods["uid-web"].priority == 7


def test_the_view_follows_the_cluster(kubeconfig: str) -> None:
    view = View(stale_s=60.0)
    view.set_size("gone", 1, 1)
    ClusterPoller(view, KubernetesCluster(kubeconfig), 1.0).turn()
    known = view.known
    assert known.at.keys() == {"a", "b"}
    assert known.cluster.free[:, known.at["a"]].tolist() == [12, 60]
    assert known.cluster.promised[known.at["a"]] == 4
    assert [bool(known.heard[known.at[name]]) for name in ("a", "b")] == [True, False]


def test_an_api_server_that_does_not_answer_is_an_engine_error(tmp_path: Path) -> None:
    path = tmp_path / "config"
    path.write_text(KUBECONFIG.format(port=1))
    cluster = KubernetesCluster(str(path))
    cluster._api.api_client.rest_client.pool_manager.connection_pool_kw["retries"] = False
    with pytest.raises(EngineError, match="does not answer"):
        cluster.nodes()


def test_a_missing_configuration_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="--kubeconfig") as caught:
        KubernetesCluster(str(tmp_path / "none"))
    assert "\n" not in str(caught.value)
