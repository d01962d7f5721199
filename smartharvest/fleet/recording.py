"""Pods that are seen to come and go, as a table of allocations. Pure.

Documents are Pods and Nodes as the Kubernetes API spells them, times in them ``datetime``. All
other times are seconds since 1970; in the tables they count from when the recording began.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import numpy as np

from smartharvest.cluster.kubernetes_api import ENDED
from smartharvest.cluster.kubernetes_node import RESOURCE
from smartharvest.errors import TraceError
from smartharvest.fleet.extender import quantity, requests_of
from smartharvest.fleet.tables import (
    EVICTABLE,
    REGULAR,
    Allocations,
    Constraints,
    Labels,
    Nodes,
    check_allocations,
    check_nodes,
)

HOST_NAME = "kubernetes.io/hostname"
"""The topology key of affinities that are recorded: those to the node."""


@dataclass(slots=True)
class _Pod:
    name: str
    node: str
    cores: float
    memory_gib: float
    start_s: float
    priority: int
    asks: Constraints
    end_s: float = math.inf


class Recording:
    """What was seen since ``began_s``; ``look`` takes what there is now."""

    def __init__(self, began_s: float) -> None:
        self._began_s = began_s
        self._pods: dict[str, _Pod] = {}
        self._here: set[str] = set()
        self._nodes: dict[str, tuple[float, float, Labels]] = {}
        self.best_effort = 0
        """Pods without a request of cores, which hold nothing and are left out."""
        self._without: set[str] = set()

    def look(
        self, now_s: float, nodes: Iterable[Mapping[str, Any]], pods: Iterable[Mapping[str, Any]]
    ) -> None:
        """Takes all nodes and pods of this moment; a pod that is missing has ended by now."""
        for node in nodes:
            has = (node.get("status") or {}).get("allocatable") or {}
            cores, memory = quantity(has.get("cpu", 0)), quantity(has.get("memory", 0)) / 2**30
            name, spec = str(node["metadata"]["name"]), node.get("spec") or {}
            if cores > 0 and (name in self._nodes or not spec.get("unschedulable")):
                self._nodes[name] = cores, memory, dict(node["metadata"].get("labels") or {})
        here: set[str] = set()
        for pod in pods:
            uid = str(pod["metadata"]["uid"])
            if self._take(uid, pod, now_s):
                here.add(uid)
        for uid in self._here - here:
            self._pods[uid].end_s = min(self._pods[uid].end_s, now_s)
        self._here = here

    def _take(self, uid: str, pod: Mapping[str, Any], now_s: float) -> bool:
        """Whether it is there and holds cores."""
        spec, status = pod.get("spec") or {}, pod.get("status") or {}
        if not spec.get("nodeName"):
            return False
        over = status.get("phase") in ENDED
        known = self._pods.get(uid)
        if known is None:
            asked = requests_of(pod)
            elastic = asked.get(RESOURCE, 0.0)
            cores = asked.get("cpu", 0.0) or elastic
            end_s = _ended_s(status, now_s) if over else math.inf
            if end_s <= self._began_s:
                return False
            if cores <= 0:
                self._without.add(uid)
                self.best_effort = len(self._without)
                return False
            meta = pod["metadata"]
            started = status.get("startTime") or meta.get("creationTimestamp")
            start_s = started.timestamp() if isinstance(started, datetime) else now_s
            known = self._pods[uid] = _Pod(
                f"{meta.get('namespace', '')}/{meta['name']}/{uid[:8]}",
                str(spec["nodeName"]),
                cores,
                asked.get("memory", 0.0) / 2**30,
                min(max(start_s, self._began_s), now_s),
                EVICTABLE if elastic > 0 or (spec.get("priority") or 0) < 0 else REGULAR,
                _asks(pod),
            )
        if over:
            known.end_s = min(known.end_s, max(known.start_s, _ended_s(status, now_s)))
        return not over

    def allocations(self, now_s: float) -> Allocations:
        """Pods of recorded nodes until ``now_s``, in the order they came.

        Of labels those are kept that an affinity asks for. Raises TraceError if there is none.
        """
        pods = sorted(
            (pod for pod in self._pods.values() if pod.node in self._nodes),
            key=lambda pod: (pod.start_s, pod.name),
        )
        asked = {key for pod in pods for key in (*pod.asks.affinity, *pod.asks.anti_affinity)}
        constraints = {}
        for row, pod in enumerate(pods):
            labels = {key: value for key, value in pod.asks.labels.items() if key in asked}
            asks = Constraints(labels, pod.asks.selector, pod.asks.affinity, pod.asks.anti_affinity)
            if asks != Constraints():
                constraints[row] = asks
        table = Allocations(
            [pod.name for pod in pods],
            _column(pod.cores for pod in pods),
            _column(pod.memory_gib for pod in pods),
            _column(pod.start_s - self._began_s for pod in pods),
            _column(pod.end_s - self._began_s for pod in pods),
            np.array([pod.priority for pod in pods], dtype=np.int64),
            now_s - self._began_s,
            constraints,
        )
        return check_allocations(table, "the recording")

    def nodes(self) -> Nodes:
        """All nodes that were ever seen and could be scheduled to. Raises TraceError without."""
        if not self._nodes:
            raise TraceError("the recording: has no nodes that can be scheduled to")
        names: Sequence[str] = sorted(self._nodes)
        cores, memory, labels = zip(*(self._nodes[name] for name in names), strict=True)
        return check_nodes(Nodes(names, _column(cores), _column(memory), labels), "the recording")


def _column(values: Iterable[float]) -> Any:
    return np.array(list(values), dtype=np.float64)


def _ended_s(status: Mapping[str, Any], now_s: float) -> float:
    """When the last container of a pod that is over ended, as far as it says."""
    ends = []
    for one in status.get("containerStatuses") or ():
        finished = ((one.get("state") or {}).get("terminated") or {}).get("finishedAt")
        if isinstance(finished, datetime):
            ends.append(finished.timestamp())
    return min(now_s, max(ends)) if ends else now_s


def _asks(pod: Mapping[str, Any]) -> Constraints:
    """Node selector, and affinities to the node that are required and name labels."""
    spec = pod.get("spec") or {}
    affinity = spec.get("affinity") or {}
    return Constraints(
        dict(pod["metadata"].get("labels") or {}),
        dict(spec.get("nodeSelector") or {}),
        _near(affinity.get("podAffinity")),
        _near(affinity.get("podAntiAffinity")),
    )


def _near(terms: Mapping[str, Any] | None) -> Labels:
    found: dict[str, str] = {}
    for term in (terms or {}).get("requiredDuringSchedulingIgnoredDuringExecution") or ():
        selector = term.get("labelSelector") or {}
        if term.get("topologyKey") == HOST_NAME and not selector.get("matchExpressions"):
            found |= selector.get("matchLabels") or {}
    return found
