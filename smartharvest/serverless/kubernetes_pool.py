"""A pool of Kubernetes nodes whose size is a scale subresource.

What each node promises is the extended resource that ``smartharvest adapter kubernetes`` sets. The
scale is that of a MachineDeployment, a MachinePool or whatever else has one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from smartharvest.cluster.kubernetes_api import (
    NOT_FOUND,
    TIMEOUT_S,
    Answered,
    configured_client,
    engine_errors,
    listed,
)
from smartharvest.cluster.kubernetes_node import RESOURCE, cores_of
from smartharvest.errors import ConfigError, EngineError

_SCALE = re.compile(
    r"(?P<group>[a-z0-9.-]+)/(?P<version>v[a-z0-9]+)/(?P<plural>[a-z0-9]+)/"
    r"(?P<namespace>[a-z0-9-]+)/(?P<name>[a-z0-9.-]+)"
)


class KubernetesPool:
    """Implements autoscaler.Autoscaler.

    ``scale`` is GROUP/VERSION/PLURAL/NAMESPACE/NAME, ``selector`` the labels of the pool's nodes.
    Raises ConfigError without a configuration of the client, or if there is no such scale.
    """

    def __init__(
        self, scale: str, selector: str, kubeconfig: str | None, resource: str = RESOURCE
    ) -> None:
        found = _SCALE.fullmatch(scale)
        if found is None:
            raise ConfigError(
                f"--scale {scale!r}: write GROUP/VERSION/PLURAL/NAMESPACE/NAME, as "
                "cluster.x-k8s.io/v1beta1/machinedeployments/default/harvest"
            )
        client = configured_client(kubeconfig)
        self._scale, self._where = scale, found.groupdict()
        self._selector, self._resource = selector, resource
        self._core, self._custom = client.CoreV1Api(), client.CustomObjectsApi()
        try:
            self.asked()
        except Answered as error:
            if error.status != NOT_FOUND:
                raise
            raise ConfigError(f"kubernetes: {scale}: not found, or without a scale") from None

    def nodes(self) -> Mapping[str, int | None]:
        """A node that is not ready or has lost the resource does not answer."""
        nodes = listed(self._core.list_node, label_selector=self._selector)
        return {node.metadata.name: self._promised(node) for node in nodes}

    def _promised(self, node: Any) -> int | None:
        conditions = node.status.conditions or ()
        ready = any(one.type == "Ready" and one.status == "True" for one in conditions)
        quantity = (node.status.allocatable or {}).get(self._resource)
        if not ready or quantity is None:
            return None
        # A node that is cordoned takes no more work.
        return 0 if node.spec.unschedulable else cores_of(quantity, f"node {node.metadata.name}")

    def asked(self) -> int | None:
        with engine_errors(self._scale):
            seen = self._custom.get_namespaced_custom_object_scale(
                **self._where, _request_timeout=TIMEOUT_S
            )
        spec = seen.get("spec") if isinstance(seen, dict) else None
        replicas = (spec or {}).get("replicas", 0)  # the API leaves a zero out
        if not isinstance(replicas, int) or replicas < 0:
            raise EngineError(f"kubernetes: {self._scale}: it has no number of replicas")
        return replicas

    def ask(self, nodes: int) -> None:
        with engine_errors(self._scale):
            self._custom.patch_namespaced_custom_object_scale(
                **self._where, body={"spec": {"replicas": nodes}}, _request_timeout=TIMEOUT_S
            )

    def close(self) -> None:
        self._core.api_client.close()
