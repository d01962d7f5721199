"""A live Kubernetes cluster: its nodes, who runs where, and what its agents promise.

``adapter kubernetes`` publishes a node's promise as its resource ``smartharvest.io/cores``;
so the API server knows it all.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from smartharvest.cluster.kubernetes_node import RESOURCE
from smartharvest.errors import ConfigError, EngineError
from smartharvest.fleet.extender import quantity, requests_of
from smartharvest.fleet.extender_view import View
from smartharvest.fleet.pollers import Poller

_TIMEOUT_S = 10.0
_PAGE = 500
_ENDED = ("Succeeded", "Failed")


@dataclass(frozen=True, slots=True)
class LiveNode:
    """A node as the API server has it."""

    name: str
    cores: float
    memory_gib: float
    promised: float | None
    """Of ``smartharvest.io/cores``; None: no adapter publishes any."""


@dataclass(frozen=True, slots=True)
class LivePod:
    """A pod that holds its node's cores."""

    uid: str
    node: str
    cores: float
    memory_gib: float
    started_s: float
    """Seconds since 1970."""
    priority: int
    """Of its priority class; negative: everything else goes first."""


class KubernetesCluster:
    """Asks the API server of ``kubeconfig`` (``pod``: as a pod does).

    Raises ConfigError without the client or its configuration.
    """

    def __init__(self, kubeconfig: str) -> None:
        try:
            from kubernetes import client, config
        except ImportError:
            raise ConfigError(
                "--kubeconfig: the Kubernetes client is missing; pip install 'smartharvest[fleet]'"
            ) from None
        try:
            if kubeconfig == "pod":
                config.load_incluster_config()
            else:
                config.load_kube_config(kubeconfig)
        except (config.ConfigException, OSError) as error:
            raise ConfigError(f"--kubeconfig: {error}") from None
        self._client = client
        self._api = client.CoreV1Api()

    def nodes(self) -> list[LiveNode]:
        """All nodes that may be scheduled to. Raises EngineError if there is no answer."""
        found = []
        for node in self._all(self._api.list_node):
            if (node.get("spec") or {}).get("unschedulable"):
                continue
            has = (node.get("status") or {}).get("allocatable") or {}
            promised = quantity(has[RESOURCE]) if RESOURCE in has else None
            cores, memory = quantity(has.get("cpu", 0)), quantity(has.get("memory", 0)) / 2**30
            found.append(LiveNode(node["metadata"]["name"], cores, memory, promised))
        return found

    def pods(self) -> list[LivePod]:
        """All pods that have a node and have not ended. Raises EngineError."""
        found = []
        for pod in self._all(self._api.list_pod_for_all_namespaces):
            spec, status = pod.get("spec") or {}, pod.get("status") or {}
            if not spec.get("nodeName") or status.get("phase") in _ENDED:
                continue
            asked = requests_of(pod)
            started = status.get("startTime") or pod["metadata"].get("creationTimestamp")
            found.append(
                LivePod(
                    pod["metadata"]["uid"],
                    spec["nodeName"],
                    asked.get("cpu", 0.0),
                    asked.get("memory", 0.0) / 2**30,
                    started.timestamp() if started is not None else time.time(),
                    int(spec.get("priority") or 0),
                )
            )
        return found

    def _all(self, listing: Any) -> Iterator[dict[str, Any]]:
        """Page by page, keys as in the API."""
        from urllib3.exceptions import HTTPError

        page = None
        try:
            while page != "":
                more: dict[str, str] = {"_continue": page} if page else {}
                answer = listing(limit=_PAGE, _request_timeout=_TIMEOUT_S, **more)
                for item in answer.items:
                    yield _as_in_api(item)
                page = answer.metadata._continue or ""
        except (self._client.ApiException, HTTPError, OSError) as error:
            why = " ".join(str(getattr(error, "reason", None) or error).split())[:200]
            raise EngineError(f"the API server does not answer: {why}") from None


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
        used: dict[str, tuple[float, float]] = {}
        for pod in pods:
            cores, memory_gib = used.get(pod.node, (0.0, 0.0))
            used[pod.node] = cores + pod.cores, memory_gib + pod.memory_gib
        self._view.set_used(used)
        self._view.renew(now_s)
