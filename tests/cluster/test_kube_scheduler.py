"""The extender under a kube-scheduler, and all that asks an API server under a real one.

etcd, kube-apiserver and kube-scheduler run on loopback. Nodes are objects without a kubelet, so
pods are placed and nothing runs.
"""

from __future__ import annotations

import contextlib
import json
import signal
import ssl
import subprocess
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from smartharvest.cluster.kubernetes_node import RESOURCE, KubernetesNode
from smartharvest.errors import EngineError
from smartharvest.fleet.csv_tables import read_nodes, read_table
from tests.cluster.agents import free_port, wait_until
from tests.cluster.kube import ControlPlane, control_plane, missing
from tests.commands import as_command, smartharvest_here
from tests.unit.test_helm_chart import rendered, values

client = pytest.importorskip("kubernetes.client", reason="the Kubernetes client is not installed")
config = pytest.importorskip("kubernetes.config")
yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.timeout(400),
    pytest.mark.skipif(bool(missing()), reason=missing()),
]
MANIFEST = Path(__file__).parents[2] / "packaging" / "kubernetes" / "adapter.yaml"
NAMESPACE = "default"
PATIENT = "60s"
"""Of a scheduler in tests of what an answer does: a busy machine is no reason to go without it."""


@pytest.fixture(scope="module")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    with control_plane(tmp_path_factory.mktemp("kube")) as made:
        yield made


class Cluster:
    """What tests do with the API server."""

    def __init__(self, plane: ControlPlane) -> None:
        self.plane = plane
        self.client = config.new_client_from_config(plane.kubeconfig("admin"))
        self.core = client.CoreV1Api(self.client)

    def add_node(self, name: str, lends: int | None = None, cores: int = 16) -> None:
        has = {"cpu": str(cores), "memory": f"{4 * cores}Gi", "pods": "110"}
        if lends is not None:
            has[RESOURCE] = str(lends)
        ready = {"type": "Ready", "status": "True"}
        self.core.create_node({
            "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
            "status": {"capacity": has, "allocatable": has, "conditions": [ready]},
        })  # fmt: skip

    def add_pod(
        self, name: str, cores: int = 0, elastic: int = 0, on: str | None = None, **meta: Any
    ) -> None:
        asked: dict[str, str] = {"cpu": str(cores), "memory": f"{4 * cores}Gi"} if cores else {}
        if elastic:
            asked[RESOURCE] = str(elastic)
        resources = {"requests": asked, "limits": asked}
        spec: dict[str, Any] = {
            "containers": [{"name": "c", "image": "none", "resources": resources}]
        }
        if on is not None:
            spec["nodeName"] = on
        body = {"metadata": {"name": name, **meta}, "spec": spec}
        self.core.create_namespaced_pod(NAMESPACE, body)

    def place_of(self, name: str) -> str | None:
        """The node that a pod is bound to."""
        place: str | None = self.core.read_namespaced_pod(name, NAMESPACE).spec.node_name
        return place

    def placed(self, name: str, **pod: Any) -> str:
        """The node that a new pod is bound to."""
        self.add_pod(name, **pod)
        wait_until(lambda: self.place_of(name) is not None)
        return self.place_of(name) or ""

    def why_not(self, name: str) -> str:
        """What the scheduler says of a pod that it cannot place."""
        found: list[str] = []

        def said() -> bool:
            events = self.core.list_namespaced_event(
                NAMESPACE, field_selector=f"involvedObject.name={name},reason=FailedScheduling"
            )
            found.extend(event.message for event in events.items)
            return bool(found)

        wait_until(said)
        return found[-1]

    def remove(self, name: str) -> None:
        """As a kubelet does once a pod has ended."""
        self.core.delete_namespaced_pod(name, NAMESPACE, grace_period_seconds=0)

    def clear(self) -> None:
        for pod in self.core.list_namespaced_pod(NAMESPACE).items:
            self.remove(pod.metadata.name)
        self.core.delete_collection_node()
        self.core.delete_collection_namespaced_event(NAMESPACE)


@pytest.fixture
def cluster(plane: ControlPlane) -> Iterator[Cluster]:
    made = Cluster(plane)
    try:
        yield made
    finally:
        made.clear()
        made.client.close()


class Extender:
    """``smartharvest fleet extender`` as a process, and what it has the scheduler configured to."""

    def __init__(self, plane: ControlPlane, *arguments: str, tls: bool = False) -> None:
        listen = f"127.0.0.1:{free_port()}"
        sign = plane.certificates
        context = None
        if tls:
            arguments += ("--cert", sign.cert("server"), "--key", sign.key("server"),
                          "--client-ca", sign.cert("ca"))  # fmt: skip
            context = ssl.create_default_context(cafile=sign.cert("ca"))
            context.load_cert_chain(sign.cert("scheduler"), sign.key("scheduler"))
        self._open = urllib.request.build_opener(urllib.request.HTTPSHandler(context=context)).open
        self.command = ("fleet", "extender", *arguments, "--listen", listen)
        printed = smartharvest_here(*self.command, "--scheduler-configuration")
        [self.settings] = json.loads(printed.out)["extenders"]
        self.url = self.settings["urlPrefix"]
        if tls:
            self.settings["tlsConfig"] |= {
                "certFile": sign.cert("scheduler"), "keyFile": sign.key("scheduler")
            }  # fmt: skip
        self.process: subprocess.Popen[bytes] | None = None

    def start(self, nodes: int) -> None:
        """Returns when it knows of so many nodes."""
        self.process = subprocess.Popen(as_command(self.command), stderr=subprocess.DEVNULL)
        wait_until(lambda: self._known() == nodes)

    def stop(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()

    def best(self, pod: dict[str, str], names: list[str]) -> set[str]:
        """The nodes that get the highest score for a pod with these requests."""
        containers = [{"resources": {"requests": pod}}]
        body = {"Pod": {"spec": {"containers": containers}}, "NodeNames": names}
        with self._open(f"{self.url}/prioritize", json.dumps(body).encode(), 60) as answer:
            scores = {one["Host"]: one["Score"] for one in json.load(answer)}
        return {name for name, score in scores.items() if score == max(scores.values())}

    def _known(self) -> int:
        assert self.process is not None
        assert self.process.poll() is None, "it ended"
        try:
            with self._open(f"{self.url}/healthz", None, 10) as answer:
                return int(json.load(answer)["nodes"])
        except OSError:
            return -1


@contextlib.contextmanager
def extender(
    plane: ControlPlane, nodes: int, *arguments: str, tls: bool = False
) -> Iterator[Extender]:
    made = Extender(plane, *arguments, tls=tls)
    try:
        made.start(nodes)
        yield made
    finally:
        made.stop()


def live(plane: ControlPlane) -> tuple[str, ...]:
    """The extender asks the API server with the scheduler's own rights."""
    return ("--kubeconfig", plane.kubeconfig("scheduler"), "--every", "200ms")


def add_one_half_full_of_four(cluster: Cluster) -> list[str]:
    names = ["half", "x", "y", "z"]
    for name in names:
        cluster.add_node(name)
    cluster.add_pod("there", cores=8, on="half")
    return names


def test_without_an_extender_pods_are_spread(plane: ControlPlane, cluster: Cluster) -> None:
    add_one_half_full_of_four(cluster)
    with plane.scheduler([]):
        assert "half" not in {cluster.placed(f"web-{n}", cores=1) for n in range(3)}


@pytest.mark.parametrize("form", ["names", "whole nodes", "names over TLS", "whole nodes over TLS"])
def test_regular_pods_land_where_the_score_says(
    plane: ControlPlane, cluster: Cluster, form: str
) -> None:
    names = add_one_half_full_of_four(cluster)
    tls = form.endswith("TLS")
    arguments = (*live(plane), "--place", "best-fit")
    with extender(plane, len(names), *arguments, tls=tls) as ours:
        wait_until(lambda: ours.best({"cpu": "1"}, names) == {"half"})
        settings = {
            **ours.settings, "nodeCacheCapable": form.startswith("names"), "httpTimeout": PATIENT
        }  # fmt: skip
        with plane.scheduler([settings]):
            assert {cluster.placed(f"web-{n}", cores=1) for n in range(3)} == {"half"}
            assert "Skipping extender" not in plane.log("kube-scheduler")


def test_elastic_pods_land_where_most_is_promised_and_not_taken(
    plane: ControlPlane, cluster: Cluster
) -> None:
    lent = {"a": 3, "b": 8, "c": 5}
    for name, cores in lent.items():
        cluster.add_node(name, lends=cores)
    with (
        extender(plane, len(lent), *live(plane)) as ours,
        plane.scheduler([{**ours.settings, "httpTimeout": PATIENT}]),
    ):
        for number, expected in enumerate(["b", "b", "c", "b"]):
            wait_until(lambda at=expected: ours.best({RESOURCE: "2"}, list(lent)) == {at})  # type: ignore[misc]
            assert cluster.placed(f"batch-{number}", elastic=2) == expected


@pytest.fixture
def pages() -> Iterator[tuple[str, dict[str, int]]]:
    """Agents' pages with what each node promises of the 8 cores that it has now."""
    promised: dict[str, int] = {}

    class Page(Quiet):
        def do_GET(self) -> None:
            cores = {"now": 8, "promised": promised[self.path.split("/")[1]], "guaranteed": 0}
            self.answer(200, json.dumps({"cores": {**cores, "most": 8}, "groups": []}).encode())

    with serving(Page) as url:
        yield f"{url}/{{node}}/capacity", promised


class Quiet(BaseHTTPRequestHandler):
    def log_message(self, *_: Any) -> None: ...

    def answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@contextlib.contextmanager
def serving(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    server.block_on_close = False
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def test_a_node_that_promises_less_is_not_used_and_the_pod_says_why(
    plane: ControlPlane, cluster: Cluster, pages: tuple[str, dict[str, int]], tmp_path: Path
) -> None:
    url, promised = pages
    promised |= {"a": 2, "b": 6}
    for name in promised:
        cluster.add_node(name, lends=8)
    table = tmp_path / "nodes.csv"
    table.write_text("id,cores,memory\na,16,64\nb,16,64\n")
    must: dict[str, Any] = {"annotations": {"smartharvest.io/promised": "true"}}
    arguments = ("--nodes", str(table), "--capacity", url, "--every", "200ms", "--stale", "10min")
    with extender(plane, 2, *arguments) as ours:
        wait_until(lambda: ours.best({RESOURCE: "1"}, ["a", "b"]) == {"b"})
        # Without its scores the filter alone decides.
        settings = {**ours.settings, "prioritizeVerb": "", "httpTimeout": PATIENT}
        with plane.scheduler([settings]):
            assert cluster.placed("sure", elastic=4, **must) == "b"
            cluster.add_pod("surer", elastic=7, **must)
            why = cluster.why_not("surer")
            assert "promises 2 harvested cores of 7" in why
            assert cluster.place_of("surer") is None
            assert cluster.placed("any", elastic=7) == "a"


@contextlib.contextmanager
def made_extender(answer: Callable[[str, dict[str, Any]], tuple[int, bytes]]) -> Iterator[str]:
    """An extender's address; ``answer``: verb and ExtenderArgs -> status and body."""

    class Wrong(Quiet):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            self.answer(*answer(self.path.rpartition("/")[2], json.loads(body)))

    with serving(Wrong) as url:
        yield url


WRONG: dict[str, Callable[[str, dict[str, Any]], tuple[int, bytes]]] = {
    "an error": lambda _verb, _args: (500, b"{}"),
    "no JSON": lambda _verb, _args: (200, b"<html>"),
    "another document": lambda _verb, _args: (200, b'"x"'),
    "an error in words": lambda _verb, _args: (200, b'{"Error": "not now"}'),
    "nodes that were not asked for": lambda verb, _args: (
        200,
        b'{"NodeNames": ["else"]}' if verb == "filter" else b'[{"Host": "else", "Score": 10}]',
    ),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_answer_blocks_nobody(plane: ControlPlane, cluster: Cluster, wrong: str) -> None:
    cluster.add_node("a")
    ours = Extender(plane, "--nodes", "1x16c64g").settings
    with made_extender(WRONG[wrong]) as url, plane.scheduler([{**ours, "urlPrefix": url}]):
        assert cluster.placed("web", cores=1) == "a"
        assert "Skipping extender" in plane.log("kube-scheduler")


def test_one_that_may_not_be_ignored_blocks(plane: ControlPlane, cluster: Cluster) -> None:
    cluster.add_node("a")
    ours = Extender(plane, "--nodes", "1x16c64g").settings
    with plane.scheduler([{**ours, "ignorable": False}]):
        cluster.add_pod("web", cores=1)
        assert "connection refused" in cluster.why_not("web")
        assert cluster.place_of("web") is None


def test_a_dead_and_a_frozen_extender_block_nobody_and_count_again_later(
    plane: ControlPlane, cluster: Cluster
) -> None:
    names = add_one_half_full_of_four(cluster)
    with extender(plane, len(names), *live(plane), "--place", "best-fit") as ours:
        wait_until(lambda: ours.best({"cpu": "1"}, names) == {"half"})
        with plane.scheduler([ours.settings]):
            assert ours.process is not None
            ours.process.send_signal(signal.SIGSTOP)
            assert cluster.placed("frozen", cores=1) != "half"
            ours.stop()
            assert cluster.placed("dead", cores=1) != "half"
            ours.start(len(names))
            wait_until(lambda: ours.best({"cpu": "1"}, names) == {"half"})
            tries = iter(range(1000))
            # One at least is answered within the time limit, even on a busy machine.
            wait_until(lambda: cluster.placed(f"back-{next(tries)}", cores=1) == "half")


def test_what_runs_is_recorded(cluster: Cluster, tmp_path: Path) -> None:
    cluster.add_node("a", lends=4)
    cluster.add_node("b", cores=8)
    cluster.add_pod("web", cores=2, on="a")
    cluster.add_pod("batch", elastic=3, on="a")
    cluster.add_pod("small", on="b")
    rights = {"apiGroups": [""], "resources": ["nodes", "pods"], "verbs": ["list"]}
    pods, nodes = tmp_path / "pods.csv", tmp_path / "nodes.csv"
    with user_with(cluster, "recorder", [rights]) as kubeconfig:
        recording = subprocess.Popen(
            as_command(
                ("fleet", "record", "--kubeconfig", kubeconfig, "--out", str(pods),
                 "--nodes-out", str(nodes), "--every", "200ms", "--save", "200ms")
            ),
            stdout=subprocess.PIPE,
            text=True,
        )  # fmt: skip
        try:
            wait_until(lambda: pods.exists() and len(read_table(str(pods))) == 2)
            cluster.core.patch_namespaced_pod_status(
                "web", NAMESPACE, {"status": {"phase": "Succeeded"}}
            )
            cluster.add_pod("late", cores=1, on="b")
            wait_until(lambda: len(read_table(str(pods))) == 3)
            recording.send_signal(signal.SIGINT)
            said, _ = recording.communicate(timeout=60)
        finally:
            recording.kill()
            recording.wait()
    assert recording.returncode == 0
    assert "3 pods" in said
    assert "without a request of cores and left out: 1 pod" in said
    table = read_table(str(pods))
    by_name = {name.split("/")[1]: row for row, name in enumerate(table.ids)}
    assert {name: table.cores[row] for name, row in by_name.items()} == {
        "web": 2, "batch": 3, "late": 1
    }  # fmt: skip
    assert table.memory_gib[by_name["web"]] == 8
    assert table.end_s[by_name["web"]] < table.until_s
    assert read_nodes(str(nodes)).cores.tolist() == [16, 8]


@contextlib.contextmanager
def user_with(cluster: Cluster, name: str, rules: list[dict[str, Any]]) -> Iterator[str]:
    """The kubeconfig of a service account with these rights in the cluster, and no others."""
    rights = client.RbacAuthorizationV1Api(cluster.client)
    namespace = f"of-{name}"
    cluster.core.create_namespace({"metadata": {"name": namespace}})
    cluster.core.create_namespaced_service_account(namespace, {"metadata": {"name": name}})
    rights.create_cluster_role({"metadata": {"name": name}, "rules": rules})
    rights.create_cluster_role_binding({
        "metadata": {"name": name},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name},
        "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": namespace}],
    })  # fmt: skip
    asked = {"spec": {"audiences": [], "expirationSeconds": 3600}}
    answer = cluster.core.create_namespaced_service_account_token(name, namespace, asked)
    try:
        yield cluster.plane.kubeconfig(name, answer.status.token)
    finally:
        rights.delete_cluster_role_binding(name)
        rights.delete_cluster_role(name)


def shipped() -> list[dict[str, Any]]:
    return list(yaml.safe_load_all(MANIFEST.read_text()))


def test_the_adapter_does_its_work_with_the_shipped_role_and_can_do_no_more(
    cluster: Cluster,
) -> None:
    (role,) = (one for one in shipped() if one["kind"] == "ClusterRole")
    cluster.add_node("n1")
    cluster.add_node("n2")
    with user_with(cluster, "adapter", role["rules"]) as kubeconfig:
        node = KubernetesNode("n1", kubeconfig)
        assert node.verify() is None
        node.advertise(4)
        assert node.verify() == 4
        cluster.add_pod("older", elastic=2, on="n1")
        time.sleep(1.1)  # times of objects have whole seconds
        cluster.add_pod("younger", elastic=2, on="n1")
        cluster.add_pod("elsewhere", elastic=2, on="n2")
        assert node.in_use() == 4
        node.shed(2, grace_s=0.0)
        ending = {
            pod.metadata.name
            for pod in cluster.core.list_namespaced_pod(NAMESPACE).items
            if pod.metadata.deletion_timestamp is not None
        }
        assert ending == {"younger"}
        assert node.verify() == 2
        with config_of(kubeconfig) as asked:
            for forbidden in (asked.list_node, asked.list_secret_for_all_namespaces):
                with pytest.raises(client.ApiException, match="Forbidden"):
                    forbidden()
        node.close()


@contextlib.contextmanager
def config_of(kubeconfig: str) -> Iterator[Any]:
    made = config.new_client_from_config(kubeconfig)
    try:
        yield client.CoreV1Api(made)
    finally:
        made.close()


def test_a_disruption_budget_holds(cluster: Cluster) -> None:
    cluster.add_node("n1", lends=2)
    cluster.add_pod("guarded", elastic=2, on="n1", labels={"app": "guarded"})
    body = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "all"},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "guarded"}}},
    }
    if not served(cluster, body):  # before 1.21
        body["apiVersion"] = "policy/v1beta1"
    apply(cluster, body, NAMESPACE, dry=False)
    # A pod that does not run yet may always be evicted.
    cluster.core.patch_namespaced_pod_status("guarded", NAMESPACE, {"status": {"phase": "Running"}})
    node = KubernetesNode("n1", cluster.plane.kubeconfig("admin"))
    with pytest.raises(EngineError, match="pod default/guarded: may not be evicted now"):
        node.shed(0, grace_s=0.0)
    assert cluster.place_of("guarded") == "n1"
    node.close()


def apply(cluster: Cluster, document: dict[str, Any], namespace: str, dry: bool = True) -> Any:
    """Applies on the server's side, which refuses fields that it does not know."""
    from kubernetes.dynamic import DynamicClient

    dynamic = DynamicClient(cluster.client)
    resource = dynamic.resources.get(api_version=document["apiVersion"], kind=document["kind"])
    more = {"dry_run": "All"} if dry else {}
    if resource.namespaced:
        more["namespace"] = document["metadata"].get("namespace", namespace)
    return dynamic.server_side_apply(resource, document, field_manager="test", **more)


def served(cluster: Cluster, document: dict[str, Any]) -> bool:
    from kubernetes.dynamic import DynamicClient
    from kubernetes.dynamic.exceptions import ResourceNotFoundError

    try:
        DynamicClient(cluster.client).resources.get(
            api_version=document["apiVersion"], kind=document["kind"]
        )
    except ResourceNotFoundError:
        return False
    return True


def chart() -> list[dict[str, Any]]:
    return [rendered(name, values()) for name in ("configmap.yaml", "daemonset.yaml")]


@pytest.mark.parametrize("documents", [shipped, chart])
def test_the_api_server_takes_what_is_shipped(
    cluster: Cluster, documents: Callable[[], list[dict[str, Any]]]
) -> None:
    with contextlib.suppress(client.ApiException):  # it is there
        cluster.core.create_namespace({"metadata": {"name": "smartharvest"}})
    taken = set()
    for document in documents():
        if served(cluster, document):
            apply(cluster, document, "smartharvest")
            taken.add(document["kind"])
        else:  # before 1.30
            assert document["kind"].startswith("ValidatingAdmissionPolicy")
    assert "DaemonSet" in taken


def test_the_api_server_refuses_what_is_misspelled(cluster: Cluster) -> None:
    _, daemons = chart()
    daemons["metadata"]["namespace"] = NAMESPACE
    daemons["spec"]["template"]["spec"]["hostPid"] = True
    with pytest.raises(client.ApiException):
        apply(cluster, daemons, NAMESPACE)
