"""What a Kubernetes scheduler extender answers: ``filter`` and ``prioritize``. Pure.

The documents are those of k8s.io/kube-scheduler/extender/v1. Go reads keys in any case and writes
them as they are spelled there; so does this. A node that nothing is known of is never filtered out,
and gets the middle score: silence blocks nobody.

A pod that requests ``smartharvest.io/cores`` is elastic: it goes where most is promised beyond what
it and those already there ask for. Its annotation ``smartharvest.io/promised: "true"`` filters out
nodes that have less of their promise left. All other pods are regular: a score of placement.py
ranks the nodes for them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smartharvest.cluster.kubernetes_node import RESOURCE
from smartharvest.fleet.placement import Cluster, Way
from smartharvest.fleet.tables import Floats

HIGHEST = 10
"""extender/v1's MaxExtenderPriority."""
MIDDLE = HIGHEST // 2
MUST_BE_PROMISED = "smartharvest.io/promised"
_SMALL = ("n", "u", "m", "", "k", "M", "G", "T", "P", "E")
_SUFFIXES = {
    **{suffix: Decimal(1000) ** n for n, suffix in enumerate(_SMALL, -3)},
    **{f"{suffix}i": Decimal(1024) ** n for n, suffix in enumerate("KMGTPE", 1)},
}
_MOST_NODES = 20_000
_LONGEST_QUANTITY = 64


class BadRequest(ValueError):
    """The body is no ExtenderArgs; the message is for the scheduler's log."""


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of the cluster at one moment; rows as in ``cluster``."""

    at: Mapping[str, int]
    """Node -> row."""
    cluster: Cluster
    sized: NDArray[np.bool_]
    """(n) whether the node's size is known."""
    heard: NDArray[np.bool_]
    """(n) whether its agent's promise is known and fresh."""
    taken: Floats
    """(n) cores that elastic pods there request of the promise."""


NOTHING_KNOWN = Known(
    {},
    Cluster(np.zeros((2, 1)), np.zeros((2, 1)), *(np.zeros(1) for _ in range(4))),
    np.zeros(1, dtype=bool),
    np.zeros(1, dtype=bool),
    np.zeros(1),
)


@dataclass(frozen=True, slots=True)
class WholeNode:
    """A Node object that the scheduler sent, not parsed beyond its name."""

    name: str
    document: Any
    """What an answer has in its place."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One request of the scheduler."""

    names: Sequence[str]
    cores: float
    memory_gib: float
    elastic_cores: float
    """Of ``smartharvest.io/cores``; above 0 for an elastic pod."""
    must_be_promised: bool
    nodes: Sequence[WholeNode] | None
    """If the scheduler sent them rather than names."""


def quantity(text: Any) -> float:
    """A Kubernetes quantity (``500m``, ``2``, ``1.5Gi``) as a number; 0 for anything else."""
    word = str(text).strip()[:_LONGEST_QUANTITY]
    digits = word.rstrip("numkMGTPEi")
    try:
        value = float(Decimal(digits) * _SUFFIXES[word[len(digits) :]])
    except (KeyError, ValueError, ArithmeticError):
        return 0.0
    return value if math.isfinite(value) and value >= 0 else 0.0


def requests_of(pod: Mapping[str, Any]) -> dict[str, float]:
    """What a pod asks for, by resource, as kube-scheduler counts.

    The sum of its containers and of the sidecars (init containers that are always restarted), or an
    init container with the sidecars before it, whichever is more; what the pod itself requests in
    place of that; and its overhead. Memory is in bytes.
    """
    spec = _mapping(pod.get("spec"))
    sidecars: dict[str, float] = {}
    most: dict[str, float] = {}
    for container in _sequence(spec.get("initContainers")):
        is_sidecar = _mapping(container).get("restartPolicy") == "Always"
        for name, amount in _requests(container).items():
            with_it = sidecars.get(name, 0.0) + amount
            most[name] = max(most.get(name, 0.0), with_it)
            if is_sidecar:
                sidecars[name] = with_it
    total = dict(sidecars)
    for container in _sequence(spec.get("containers")):
        for name, amount in _requests(container).items():
            total[name] = total.get(name, 0.0) + amount
    for name, amount in most.items():
        total[name] = max(total.get(name, 0.0), amount)
    total |= _requests(spec)
    for name, text in _mapping(spec.get("overhead")).items():
        total[str(name)] = total.get(str(name), 0.0) + quantity(text)
    return total


def _requests(container: Any) -> dict[str, float]:
    resources = _mapping(_mapping(container).get("resources"))
    return {str(name): quantity(text) for name, text in _mapping(resources.get("requests")).items()}


def parse(body: Any) -> Asked:
    """ExtenderArgs as decoded from JSON; its nodes are documents or WholeNodes.

    Raises BadRequest for anything else.
    """
    if not isinstance(body, Mapping):
        raise BadRequest("the body is no ExtenderArgs: a JSON object is expected")
    args = {str(key).lower(): value for key, value in body.items()}
    nodes = None
    names = args.get("nodenames")
    if names is None:
        listed = {str(k).lower(): v for k, v in _mapping(args.get("nodes")).items()}
        nodes = listed.get("items")
        if not isinstance(nodes, list):
            raise BadRequest("the body is no ExtenderArgs: it has neither NodeNames nor Nodes")
        nodes = [node if isinstance(node, WholeNode) else _whole(node) for node in nodes]
        names = [node.name for node in nodes]
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise BadRequest("the body is no ExtenderArgs: a node has no name")
    if len(names) > _MOST_NODES:
        raise BadRequest(f"at most {_MOST_NODES} nodes are ranked at once")
    pod = _mapping(args.get("pod"))
    asked = requests_of(pod)
    annotations = _mapping(_mapping(pod.get("metadata")).get("annotations"))
    return Asked(
        names,
        asked.get("cpu", 0.0),
        asked.get("memory", 0.0) / 2**30,
        asked.get(RESOURCE, 0.0),
        str(annotations.get(MUST_BE_PROMISED)).lower() == "true",
        nodes,
    )


def _whole(node: Any) -> WholeNode:
    return WholeNode(_mapping(_mapping(node).get("metadata")).get("name"), node)  # type: ignore[arg-type]


def filtered(asked: Asked, known: Known) -> dict[str, Any]:
    """ExtenderFilterResult: which nodes are left, and why the others are not."""
    failed = {}
    if asked.must_be_promised and asked.elastic_cores > 0:
        for name in asked.names:
            row = known.at.get(name)
            if row is None or not known.heard[row]:
                continue
            left = max(0.0, known.cluster.promised[row] - known.taken[row])
            if left < asked.elastic_cores:
                failed[name] = f"promises {left:g} harvested cores of {asked.elastic_cores:g}"
    left = [name not in failed for name in asked.names]
    result: dict[str, Any] = {"FailedNodes": failed, "Error": ""}
    if asked.nodes is None:
        result["NodeNames"] = [name for name, stays in zip(asked.names, left, strict=True) if stays]
    else:
        items = [node.document for node, stays in zip(asked.nodes, left, strict=True) if stays]
        result["Nodes"] = {"items": items}
    return result


def prioritized(asked: Asked, known: Known, way: Way) -> list[dict[str, Any]]:
    """HostPriorityList: every node with 0 to HIGHEST, the best with HIGHEST, the worst with 0."""
    rows = np.array([known.at.get(name, -1) for name in asked.names], dtype=np.int64)
    elastic = asked.elastic_cores > 0
    there = rows >= 0
    there[there] = (known.heard if elastic else known.sized)[rows[there]]
    points = np.full(len(rows), MIDDLE, dtype=np.int64)
    if there.any():
        cluster = _part(known.cluster, rows[there])
        if elastic:
            scores = cluster.promised - known.taken[rows[there]] - asked.elastic_cores
        else:
            scores = way.score(np.array([asked.cores, asked.memory_gib]), cluster)
        points[there] = _points(scores)
    return [
        {"Host": name, "Score": score}
        for name, score in zip(asked.names, points.tolist(), strict=True)
    ]


def _points(scores: Floats) -> NDArray[np.int64]:
    lowest, highest = scores.min(), scores.max()
    if not highest > lowest:
        return np.full(len(scores), MIDDLE, dtype=np.int64)
    return np.asarray(np.rint(HIGHEST * (scores - lowest) / (highest - lowest)), dtype=np.int64)


def _part(cluster: Cluster, rows: NDArray[np.int64]) -> Cluster:
    return Cluster(
        cluster.capacity[:, rows],
        cluster.free[:, rows],
        cluster.lent[rows],
        cluster.minimum[rows],
        cluster.promised[rows],
        cluster.age_s[rows],
    )


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _sequence(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else ()
