"""A pool of Kubernetes nodes whose size is a scale subresource.

What each node promises is the extended resource that ``smartharvest adapter kubernetes`` sets. The
scale is that of a MachineDeployment, a MachinePool or whatever else has one.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping
from typing import Any

from smartharvest.cluster.kubernetes_node import RESOURCE, cores_of
from smartharvest.errors import ConfigError, EngineError

_TIMEOUT_S = 10.0
_PAGE = 500
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
        try:
            from kubernetes import client, config
        except ImportError:
            raise ConfigError(
                "the Kubernetes client is missing; pip install 'smartharvest[kubernetes]'"
            ) from None
        self._client, self._scale, self._where = client, scale, found.groupdict()
        self._selector, self._resource = selector, resource
        try:
            if kubeconfig is None:
                config.load_incluster_config()
            else:
                config.load_kube_config(kubeconfig)
        except (config.ConfigException, OSError) as error:
            raise ConfigError(
                f"kubernetes: {error}; give --kubeconfig FILE, or run it as a pod"
            ) from None
        self._core, self._custom = client.CoreV1Api(), client.CustomObjectsApi()
        try:
            self.asked()
        except _NoScale as error:
            raise ConfigError(str(error)) from None

    def nodes(self) -> Mapping[str, int | None]:
        """A node that is not ready or has lost the resource does not answer."""
        found: dict[str, int | None] = {}
        more: str | None = None
        while True:
            with self._engine_errors("nodes"):
                page = self._core.list_node(
                    label_selector=self._selector,
                    limit=_PAGE,
                    _request_timeout=_TIMEOUT_S,
                    **({"_continue": more} if more else {}),
                )
            found.update((node.metadata.name, self._promised(node)) for node in page.items)
            more = getattr(page.metadata, "_continue", None)
            if not more:
                return found

    def _promised(self, node: Any) -> int | None:
        conditions = node.status.conditions or ()
        ready = any(one.type == "Ready" and one.status == "True" for one in conditions)
        quantity = (node.status.allocatable or {}).get(self._resource)
        if not ready or quantity is None:
            return None
        # A node that is cordoned takes no more work.
        return 0 if node.spec.unschedulable else cores_of(quantity, f"node {node.metadata.name}")

    def asked(self) -> int | None:
        with self._engine_errors(self._scale):
            seen = self._custom.get_namespaced_custom_object_scale(
                **self._where, _request_timeout=_TIMEOUT_S
            )
        spec = seen.get("spec") if isinstance(seen, dict) else None
        replicas = (spec or {}).get("replicas", 0)  # the API leaves a zero out
        if not isinstance(replicas, int) or replicas < 0:
            raise EngineError(f"kubernetes: {self._scale}: it has no number of replicas")
        return replicas

    def ask(self, nodes: int) -> None:
        with self._engine_errors(self._scale):
            self._custom.patch_namespaced_custom_object_scale(
                **self._where, body={"spec": {"replicas": nodes}}, _request_timeout=_TIMEOUT_S
            )

    def close(self) -> None:
        self._core.api_client.close()

    @contextlib.contextmanager
    def _engine_errors(self, what: str) -> Iterator[None]:
        from urllib3.exceptions import HTTPError

        try:
            yield
        except self._client.ApiException as error:
            if error.status == 404:
                raise _NoScale(f"kubernetes: {what}: not found, or without a scale") from None
            reason = " ".join(f"{error.status} {error.reason}".split())[:200]
            raise EngineError(f"kubernetes: {what}: {reason}") from None
        except (HTTPError, OSError) as error:
            raise EngineError(
                f"kubernetes: {what} does not answer: {type(error).__name__}"
            ) from None


class _NoScale(EngineError):
    """There is nothing of that name."""
