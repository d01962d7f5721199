"""A double of Kubernetes' API server that enforces what it enforces; its lists have short pages."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

RESOURCE = "smartharvest.io/cores"
SCALE = "cluster.x-k8s.io/v1beta1/machinedeployments/default/harvest"
_SCALE_PATH = "/apis/cluster.x-k8s.io/v1beta1/namespaces/default/machinedeployments/harvest/scale"
_POD_PATH = "/api/v1/namespaces/batch/pods/"
_PAGE = 2
_KUBECONFIG = """
apiVersion: v1
kind: Config
current-context: made
clusters: [{{name: made, cluster: {{server: "http://127.0.0.1:{port}"}}}}]
contexts: [{{name: made, context: {{cluster: made, user: made}}}}]
users: [{{name: made, user: {{}}}}]
"""


def write_kubeconfig(path: Path, port: int) -> str:
    """The path of a configuration of the client."""
    path.write_text(_KUBECONFIG.format(port=port))
    return str(path)


class ApiServer(ThreadingHTTPServer):
    """The node n1, which an adapter changes, a list of nodes, pods, and one MachineDeployment."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.status: dict[str, dict[str, str]] = {"capacity": {}, "allocatable": {}}
        """Of n1."""
        self.nodes: list[dict[str, Any]] = []
        self.pods: dict[str, dict[str, Any]] = {}
        self.budgets: set[str] = set()
        """Pods whose disruption budget is used up."""
        self.replicas: int | None = None
        """Pods of one core that a controller and a scheduler keep running where there is room."""
        self.listed_wrongly: list[dict[str, Any]] = []
        """Pods that the list has although they are of another node."""
        self.scale: dict[str, Any] = {"replicas": 3}
        self.selectors: set[str] = set()
        """Of labels, by which nodes were listed."""
        self.broken = False
        self._made = 0

    @contextmanager
    def serving(self) -> Iterator[ApiServer]:
        thread = threading.Thread(target=self.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield self
        finally:
            self.shutdown()
            self.server_close()
            thread.join()

    def add_pod(
        self, name: str, cores: int, created: int, phase: str = "Running", node: str = "n1"
    ) -> None:
        asked = {RESOURCE: str(cores)} if cores else {}
        self.pods[name] = {
            "metadata": {
                "name": name,
                "namespace": "batch",
                "uid": f"uid-{name}",
                "creationTimestamp": f"2026-01-01T00:00:{created:02}Z",
            },
            "spec": {
                "nodeName": node,
                "containers": [{"name": "c", "resources": {"requests": asked, "limits": asked}}],
            },
            "status": {"phase": phase},
        }

    def settle(self) -> None:
        """What controller, scheduler and kubelet would do by now."""
        if self.replicas is None:
            return
        for name in [n for n, pod in self.pods.items() if "deletionTimestamp" in pod["metadata"]]:
            del self.pods[name]
        room = int(self.status["allocatable"].get(RESOURCE, 0)) - len(self.pods)
        for _ in range(min(room, self.replicas - len(self.pods))):
            self._made += 1
            self.add_pod(f"r{self._made}", 1, created=min(59, self._made))


class Handler(BaseHTTPRequestHandler):
    server: ApiServer

    def log_message(self, *_: Any) -> None: ...

    def do_GET(self) -> None:
        server = self.server
        server.settle()
        parts = urlsplit(self.path)
        query = {key: values[0] for key, values in parse_qs(parts.query).items()}
        if server.broken:
            self._answer(500, {"reason": "Broken"})
        elif parts.path == "/api/v1/nodes/n1":
            self._answer(200, {"metadata": {"name": "n1"}, "status": server.status})
        elif parts.path == "/api/v1/nodes":
            server.selectors |= {query["labelSelector"]} if "labelSelector" in query else set()
            self._answer_page(server.nodes, query)
        elif parts.path == "/api/v1/pods":
            pods = list(server.pods.values())
            if "fieldSelector" in query:
                node = query["fieldSelector"].removeprefix("spec.nodeName=")
                pods = [pod for pod in pods if pod["spec"].get("nodeName") == node]
            self._answer_page(pods + server.listed_wrongly, query)
        elif parts.path == _SCALE_PATH:
            self._answer(200, {"kind": "Scale", "spec": server.scale})
        else:
            self._answer(404, {"reason": "NotFound"})

    def do_PATCH(self) -> None:
        body = self._body()
        scale = self.path == _SCALE_PATH
        if ("merge-patch+json" if scale else "patch+json") not in self.headers["Content-Type"]:
            self._answer(415, {"reason": "UnsupportedMediaType"})
        elif scale:
            self.server.scale.update(body["spec"])
            self._answer(200, {"kind": "Scale", "spec": self.server.scale})
        elif self.path != "/api/v1/nodes/n1/status":
            self._answer(404, {"reason": "NotFound"})
        elif not all(
            re.fullmatch(r"\d+", count)
            for part in body["status"].values()
            for count in part.values()
        ):
            self._answer(422, {"reason": "Invalid"})  # extended resources are whole numbers
        else:
            for part, counts in body["status"].items():
                self.server.status[part].update(counts)
            self._answer(200, {"metadata": {"name": "n1"}, "status": self.server.status})

    def do_POST(self) -> None:
        """Evictions: the policy allows dry runs."""
        self._body()
        path, _, query = self.path.partition("?")
        name = path.removeprefix(_POD_PATH).removesuffix("/eviction")
        if path != f"{_POD_PATH}{name}/eviction" or name not in self.server.pods:
            self._answer(404, {"reason": "NotFound"})
        elif query != "dryRun=All":
            self._answer(403, {"reason": "Forbidden"})
        elif name in self.server.budgets:
            self._answer(429, {"reason": "TooManyRequests"})
        else:
            self._answer(201, {"status": "Success"})

    def do_DELETE(self) -> None:
        """The policy allows pods of this node that ask for cores."""
        wanted = self._body()["preconditions"]["uid"]
        found = re.fullmatch(f"{_POD_PATH}([^/]+)", self.path)
        pod = self.server.pods.get(found[1] if found else "")
        if pod is None:
            self._answer(404, {"reason": "NotFound"})
        elif pod["metadata"]["uid"] != wanted:
            self._answer(409, {"reason": "Conflict"})
        elif pod["spec"]["nodeName"] != "n1" or not pod["spec"]["containers"][0]["resources"]:
            self._answer(403, {"reason": "Forbidden"})
        else:
            pod["metadata"]["deletionTimestamp"] = "2026-01-01T00:01:00Z"
            self._answer(200, {"status": "Success"})

    def _body(self) -> Any:
        return json.loads(self.rfile.read(int(self.headers["Content-Length"])))

    def _answer_page(self, items: Sequence[dict[str, Any]], query: dict[str, str]) -> None:
        """``continue`` is where the page begins."""
        first = int(query.get("continue", 0))
        after = first + min(_PAGE, int(query["limit"]))
        more = str(after) if after < len(items) else ""
        self._answer(200, {"metadata": {"continue": more}, "items": items[first:after]})

    def _answer(self, code: int, document: dict[str, Any]) -> None:
        text = json.dumps(document).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)
