"""A pool of Ray nodes whose size is asked of Ray's autoscaler (``request_resources``).

What each node promises is the resource that ``smartharvest adapter ray`` sets. It is a driver, and
Ray ends a driver whose raylet dies, so it is a process of its own, started again when it has ended.
It reads lines of JSON (``null`` to look, a number of nodes to ask for) and answers each with one.
"""

from __future__ import annotations

import json
import select
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from typing import Any

from smartharvest.errors import ConfigError, EngineError
from smartharvest.host.process.start import start_python

_PATIENCE_S = 60.0
"""For Ray to accept a driver, or to answer one."""
_CONNECT_S = 1.0
_LONGEST_LINE = 1 << 22


class RayPool:
    """Implements autoscaler.Autoscaler for the nodes that have the resource of ``bundle``.

    ``address`` is the GCS's HOST:PORT. Each node is asked for as one ``bundle``, such as
    ``{"harvest": 1}``, which a node of the pool has once. ``resource`` is what a node promises.
    Raises ConfigError without Ray.
    """

    def __init__(self, address: str, bundle: Mapping[str, float], resource: str = "CPU") -> None:
        if not bundle or not all(amount > 0 for amount in bundle.values()):
            raise ConfigError('--bundle: name what one node has, as {"harvest": 1}')
        try:
            import ray  # noqa: F401
        except ImportError as error:
            raise ConfigError(f"{error}; pip install 'smartharvest[ray]'") from None
        self._address, self._bundle, self._resource = address, dict(bundle), resource
        self._driver: subprocess.Popen[bytes] | None = None
        self._asked: int | None = None

    def nodes(self) -> Mapping[str, int | None]:
        seen = self._talk(None)
        self._asked = seen["asked"]
        return {str(name): int(cores + 1e-6) for name, cores in seen["nodes"].items()}

    def asked(self) -> int | None:
        """As of the last look."""
        return self._asked

    def ask(self, nodes: int) -> None:
        self._talk(nodes)

    def close(self) -> None:
        if self._driver is not None:
            self._driver.kill()
            self._driver.communicate()
            self._driver = None

    def _talk(self, what: int | None) -> dict[str, Any]:
        host, _, port = self._address.rpartition(":")
        try:
            # A driver tries for a minute to reach a Ray that is not there.
            socket.create_connection((host, int(port)), _CONNECT_S).close()
        except (OSError, ValueError):
            self.close()
            raise EngineError(f"ray at {self._address}: it does not answer") from None
        if self._driver is None:
            self._driver = start_python(
                "smartharvest.serverless.ray_pool",
                *(self._address, json.dumps(self._bundle), self._resource),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        try:
            assert self._driver.stdin is not None
            self._driver.stdin.write(json.dumps(what).encode() + b"\n")
            self._driver.stdin.flush()
            answer = json.loads(self._line())
        except (OSError, ValueError):
            self.close()
            raise EngineError(f"ray at {self._address}: it does not answer") from None
        if "error" in answer:
            raise EngineError(f"ray at {self._address}: {answer['error']}")
        return dict(answer)

    def _line(self) -> bytes:
        """The next line of JSON; Ray prints lines of its own."""
        assert self._driver is not None
        output = self._driver.stdout
        assert output is not None
        until_s = time.monotonic() + _PATIENCE_S
        while (left_s := until_s - time.monotonic()) > 0:
            if select.select([output], [], [], left_s)[0]:
                line = output.readline(_LONGEST_LINE)
                if not line or line.startswith(b"{"):
                    return line
        raise OSError


def main(address: str, bundle_text: str, resource: str) -> None:
    import ray
    from ray.autoscaler.sdk import request_resources

    bundle: dict[str, float] = json.loads(bundle_text)
    ray.init(address=address, namespace="smartharvest", log_to_driver=False, logging_level="ERROR")
    for line in sys.stdin:
        asked = json.loads(line)
        try:
            if asked is not None:
                request_resources(bundles=[bundle] * asked)
                answer: dict[str, Any] = {"asked": asked}
            else:
                answer = {"nodes": _nodes(ray, bundle, resource), "asked": _requested(bundle)}
        except Exception as error:  # Ray raises many things
            text = " ".join(str(error).split())[:200]
            answer = {"error": text or type(error).__name__}
        print(json.dumps(answer), flush=True)


def _nodes(ray: Any, bundle: Mapping[str, float], resource: str) -> dict[str, float]:
    """Node's id -> what it promises, of those that can have the bundle."""
    alive = {
        node["NodeID"]
        for node in ray.nodes()
        if node["Alive"] and all(node["Resources"].get(name, 0) > 0 for name in bundle)
    }
    totals = ray._private.state.total_resources_per_node()
    return {node: totals[node].get(resource, 0.0) for node in alive if node in totals}


def _requested(bundle: Mapping[str, float]) -> int | None:
    """How often the autoscaler was asked for the bundle; None where this Ray does not say."""
    try:
        from ray._private.ray_constants import AUTOSCALER_RESOURCE_REQUEST_CHANNEL
        from ray.autoscaler.v2.sdk import get_cluster_resource_state
        from ray.autoscaler.v2.utils import is_autoscaler_v2
        from ray.experimental.internal_kv import _internal_kv_get, internal_kv_get_gcs_client
    except ImportError:
        return None
    if is_autoscaler_v2():
        state = get_cluster_resource_state(internal_kv_get_gcs_client())
        return sum(
            int(request.count)
            for constraint in state.cluster_resource_constraints
            for request in constraint.resource_requests
            if dict(request.request.resources_bundle) == bundle
        )
    data = _internal_kv_get(AUTOSCALER_RESOURCE_REQUEST_CHANNEL)
    return sum(asked == bundle for asked in json.loads(data)) if data else 0


if __name__ == "__main__":
    main(*sys.argv[1:])
