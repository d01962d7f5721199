"""A live Kubernetes cluster: its nodes, who runs where, and what its agents promise.

``adapter kubernetes`` publishes a node's promise as its resource ``smartharvest.io/cores``;
so the API server knows it all.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from smartharvest.cluster.kubernetes_api import ENDED, configured_client, listed
from smartharvest.cluster.kubernetes_node import RESOURCE
from smartharvest.fleet.extender import quantity, requests_of
from smartharvest.fleet.extender_view import View
from smartharvest.fleet.pollers import Poller

Document = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class LiveNode:
    """A node as the API server has it."""

    name: str
    cores: float
    memory_gib: float
    promised: float | None
    """Its ``smartharvest.io/cores``; None: no adapter publishes them."""


@dataclass(frozen=True, slots=True)
class LivePod:
    """A pod that holds its node's cores."""

    node: str
    cores: float
    memory_gib: float
    elastic_cores: float
    """Of ``smartharvest.io/cores``."""


class KubernetesCluster:
    """Asks the API server of ``kubeconfig`` (``pod``: as a pod does).

    Raises ConfigError without the client or its configuration.
    """

    def __init__(self, kubeconfig: str) -> None:
        client = configured_client(None if kubeconfig == "pod" else kubeconfig)
        self._api = client.CoreV1Api()

    def nodes(self) -> list[LiveNode]:
        """All nodes that may be scheduled to. Raises EngineError if there is no answer."""
        found = []
        for node in map(_as_in_api, listed(self._api.list_node)):
            if (node.get("spec") or {}).get("unschedulable"):
                continue
            has = (node.get("status") or {}).get("allocatable") or {}
            promised = quantity(has[RESOURCE]) if RESOURCE in has else None
            cores, memory = quantity(has.get("cpu", 0)), quantity(has.get("memory", 0)) / 2**30
            found.append(LiveNode(node["metadata"]["name"], cores, memory, promised))
        return found

    def documents(self) -> tuple[list[Document], list[Document]]:
        """All Nodes and all Pods, as the API spells them. Raises EngineError."""
        nodes = [_as_in_api(node) for node in listed(self._api.list_node)]
        return nodes, [_as_in_api(pod) for pod in listed(self._api.list_pod_for_all_namespaces)]

    def pods(self) -> list[LivePod]:
        """All pods that have a node and have not ended. Raises EngineError."""
        found = []
        for pod in map(_as_in_api, listed(self._api.list_pod_for_all_namespaces)):
            spec, status = pod.get("spec") or {}, pod.get("status") or {}
            if not spec.get("nodeName") or status.get("phase") in ENDED:
                continue
            asked = requests_of(pod)
            cores, memory = asked.get("cpu", 0.0), asked.get("memory", 0.0) / 2**30
            found.append(LivePod(spec["nodeName"], cores, memory, asked.get(RESOURCE, 0.0)))
        return found


def _as_in_api(item: Any) -> Any:
    """The client's object as the API spells it; times stay times."""
    if hasattr(item, "attribute_map"):
        return {
            key: _as_in_api(value)
            for name, key in item.attribute_map.items()
            if (value := getattr(item, name)) is not None
        }
    if isinstance(item, list):
        return [_as_in_api(one) for one in item]
    if isinstance(item, dict):
        return {key: _as_in_api(value) for key, value in item.items()}
    return item


class ClusterPoller(Poller):
    """Keeps ``view`` as the API server has it."""

    def __init__(self, view: View, cluster: KubernetesCluster, every_s: float) -> None:
        super().__init__("cluster", every_s)
        self._view, self._cluster = view, cluster

    def turn(self) -> None:
        nodes, pods = self._cluster.nodes(), self._cluster.pods()
        now_s = time.monotonic()
        self._view.keep_only({node.name for node in nodes})
        for node in nodes:
            self._view.set_size(node.name, node.cores, node.memory_gib)
            if node.promised is not None:
                count = {"now": node.promised, "guaranteed": 0, "promised": node.promised}
                self._view.hear(node.name, {"cores": count}, now_s)
        used: dict[str, tuple[float, float, float]] = {}
        for pod in pods:
            cores, memory_gib, taken = used.get(pod.node, (0.0, 0.0, 0.0))
            used[pod.node] = (
                cores + pod.cores,
                memory_gib + pod.memory_gib,
                taken + pod.elastic_cores,
            )
        self._view.set_used(used)
        self._view.renew(now_s)
