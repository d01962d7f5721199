"""A Kubernetes node with an extended resource that follows the lent cores.

The count is in the node's capacity *and* allocatable; a kubelet that restarts sets extended
resources to zero (kubernetes/kubernetes#73948), so it is read back in every turn. Pods that ask for
the resource are counted by their requests; above the capacity the youngest are ended, each once the
Eviction API (a dry run) says that its disruption budget allows it; controllers start them again
elsewhere. Those that may not be ended are passed over. Two adapters that ask at the same moment may
both be allowed the last one of a budget.
"""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

from smartharvest.cluster.kubernetes_api import (
    ENDED,
    NOT_FOUND,
    TIMEOUT_S,
    Answered,
    configured_client,
    engine_errors,
    listed,
)
from smartharvest.cluster.refusals import Refusals, Refused, Work
from smartharvest.errors import ConfigError, EngineError

RESOURCE = "smartharvest.io/cores"
_MOST_CORES = 1 << 20
_TOO_MANY_REQUESTS = 429
_CONFLICT = 409


class KubernetesNode:
    """Implements engine.Engine for the node ``name``.

    Configured by ``kubeconfig``, or like a pod. Raises ConfigError without either, or if the node
    does not exist, EngineError if the API server does not answer.
    """

    def __init__(self, name: str, kubeconfig: str | None, resource: str = RESOURCE) -> None:
        self._client = configured_client(kubeconfig)
        self._name, self._resource = name, resource
        self._refusals = Refusals("pod", "evicted")
        self._api = self._client.CoreV1Api()
        try:
            self._node()
        except Answered as error:
            if error.status != NOT_FOUND:
                raise
            raise ConfigError(f"kubernetes: there is no node {name}") from None

    def advertise(self, cores: int) -> None:
        count = {self._resource: str(cores)}
        with engine_errors():
            self._api.patch_node_status(
                self._name,
                {"status": {"capacity": count, "allocatable": count}},
                _request_timeout=TIMEOUT_S,
            )

    def in_use(self) -> int:
        return sum(cores for cores, _ in self._pods())

    def shed(self, cores: int, grace_s: float) -> None:
        """Evicted pods have their own grace (``terminationGracePeriodSeconds``).

        Pods that are ending count as ended.
        """
        # The count goes below what is given out only now: a kubelet that starts in between would
        # refuse pods it has. With more room the next pod would take the place of an evicted one.
        if self.verify() != cores:
            self.advertise(cores)
        if grace_s > 0:
            return
        found = sorted(self._pods(), key=lambda pod: pod[1].metadata.creation_timestamp)
        staying = [pod for pod in found if pod[1].metadata.deletion_timestamp is None]
        excess = sum(pod[0] for pod in staying) - cores
        pods = {
            f"pod {p.metadata.namespace}/{p.metadata.name}": (n, p) for n, p in reversed(staying)
        }
        works = [Work(name, asked) for name, (asked, _) in pods.items()]
        self._refusals.end(works, excess, lambda work: self._end(pods[work.name][1].metadata))

    def verify(self) -> int | None:
        status = self._node().status
        found = [(amounts or {}).get(self._resource) for amounts in
                (status.capacity, status.allocatable)]  # fmt: skip
        if found[0] is None or found[0] != found[1]:
            return None
        return cores_of(found[0], f"node {self._name}")

    def close(self) -> None:
        self._api.api_client.close()

    def _node(self) -> Any:
        with engine_errors():
            return self._api.read_node(self._name, _request_timeout=TIMEOUT_S)

    def _pods(self) -> list[tuple[int, Any]]:
        """(requested cores, pod) of each pod of the node that has some."""
        pods = listed(
            self._api.list_pod_for_all_namespaces, field_selector=f"spec.nodeName={self._name}"
        )
        asked = [(self._asked(pod), pod) for pod in pods if pod.status.phase not in ENDED]
        return [(cores, pod) for cores, pod in asked if cores]

    def _asked(self, pod: Any) -> int:
        """Requests equal limits for an extended resource; init containers run one by one."""

        def of(container: Any) -> int:
            amounts = container.resources and container.resources.requests
            return cores_of((amounts or {}).get(self._resource, "0"), "a pod")

        starting = [of(container) for container in pod.spec.init_containers or ()]
        return max([sum(map(of, pod.spec.containers)), *starting])

    def _end(self, pod: Any) -> None:
        """Deletes it if its eviction would be allowed. Raises Refused if not.

        An admission policy can tell the node of a pod that is deleted, not of one that is evicted.
        """
        client, namespace, name = self._client, pod.namespace, pod.name
        eviction = client.V1Eviction(metadata=client.V1ObjectMeta(namespace=namespace, name=name))
        this_one = client.V1DeleteOptions(preconditions=client.V1Preconditions(uid=pod.uid))
        try:
            with engine_errors(f"pod {namespace}/{name}"):
                self._api.create_namespaced_pod_eviction(
                    name, namespace, eviction, dry_run="All", _request_timeout=TIMEOUT_S
                )
                self._api.delete_namespaced_pod(
                    name,
                    namespace,
                    body=this_one,
                    _preload_content=False,  # the answer is a pod or a status
                    _request_timeout=TIMEOUT_S,
                )
        except Answered as error:
            if error.status in (NOT_FOUND, _CONFLICT):  # it is gone, or another has its name by now
                return
            if error.status == _TOO_MANY_REQUESTS:
                raise Refused("may not be evicted now (disruption budget)") from None
            raise Refused(str(error)) from None


def cores_of(quantity: str, what: str) -> int:
    """The whole cores of a quantity such as ``3`` or ``1k``. Raises EngineError for no number."""
    from kubernetes.utils.quantity import parse_quantity

    try:
        amount: Decimal = parse_quantity(quantity)
        if 0 <= amount <= _MOST_CORES:
            return math.ceil(amount)
    except (ValueError, ArithmeticError):
        pass
    raise EngineError(f"kubernetes: {what}: {str(quantity)[:40]!r} is no number of cores")
