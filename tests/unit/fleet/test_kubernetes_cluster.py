"""The extender's view of a live cluster, against a double of the API server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from smartharvest.errors import ConfigError, EngineError
from smartharvest.fleet.extender_view import View
from smartharvest.fleet.kubernetes_cluster import ClusterPoller, KubernetesCluster, LivePod
from tests.kubernetes_api import ApiServer, write_kubeconfig

pytest.importorskip("kubernetes", reason="the Kubernetes client is not installed")


def node(name: str, promised: str | None = None, **spec: Any) -> dict[str, Any]:
    has = {"cpu": "15500m", "memory": "64Gi"}
    if promised is not None:
        has["smartharvest.io/cores"] = promised
    return {"metadata": {"name": name}, "spec": spec, "status": {"allocatable": has}}


def pod(name: str, on: str | None, cpu: str, phase: str = "Running") -> dict[str, Any]:
    asked = {"requests": {"cpu": cpu, "memory": "2Gi", "smartharvest.io/cores": "1"}}
    spec = {"containers": [{"name": "c", "resources": asked}]}
    return {
        "metadata": {"name": name, "uid": f"uid-{name}", "namespace": "default"},
        "spec": spec if on is None else {**spec, "nodeName": on},
        "status": {"phase": phase, "startTime": "2026-01-01T00:00:00Z"},
    }


@pytest.fixture
def kubeconfig(tmp_path: Path) -> Iterator[str]:
    server = ApiServer()
    server.nodes = [node("a", "4"), node("b"), node("away", unschedulable=True)]
    pods = (pod("web", "a", "1500m"), pod("waits", None, "1"),
            pod("over", "a", "1", "Succeeded"), pod("db", "a", "2"))  # fmt: skip
    server.pods = {one["metadata"]["name"]: one for one in pods}
    with server.serving():
        yield write_kubeconfig(tmp_path / "config", server.server_port)


def test_nodes_and_pods_are_read_page_by_page(kubeconfig: str) -> None:
    cluster = KubernetesCluster(kubeconfig)
    nodes = {one.name: one for one in cluster.nodes()}
    assert nodes.keys() == {"a", "b"}
    assert (nodes["a"].cores, nodes["a"].memory_gib) == (15.5, 64)
    assert (nodes["a"].promised, nodes["b"].promised) == (4, None)
    assert cluster.pods() == [LivePod("a", 1.5, 2, 1), LivePod("a", 2, 2, 1)]


def test_the_view_follows_the_cluster(kubeconfig: str) -> None:
    view = View(stale_s=60.0)
    view.set_size("gone", 1, 1)
    ClusterPoller(view, KubernetesCluster(kubeconfig), 1.0).turn()
    known = view.known
    assert known.at.keys() == {"a", "b"}
    assert known.cluster.free[:, known.at["a"]].tolist() == [12, 60]
    assert known.cluster.promised[known.at["a"]] == 4
    assert known.taken[known.at["a"]] == 2
    assert [bool(known.heard[known.at[name]]) for name in ("a", "b")] == [True, False]


def test_an_api_server_that_does_not_answer_is_an_engine_error(tmp_path: Path) -> None:
    cluster = KubernetesCluster(write_kubeconfig(tmp_path / "config", 1))
    cluster._api.api_client.rest_client.pool_manager.connection_pool_kw["retries"] = False
    with pytest.raises(EngineError, match="does not answer"):
        cluster.nodes()


def test_a_missing_configuration_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="--kubeconfig") as caught:
        KubernetesCluster(str(tmp_path / "none"))
    assert "\n" not in str(caught.value)
