"""A Ray node whose CPUs, or a resource of its own, follow the harvest.

Ray has no public way to change a live node's resources (``ray.experimental.set_resource`` is gone:
ray-project/ray#31664), so this rests on a private call of its GCS client, tried with Ray 2.60. Ray
does not preempt: to shed, the youngest worker that runs a task is ended, and Ray runs the task
again on its own (``max_retries``, 3 unless the task says otherwise). Workers of actors go last.
"""

from __future__ import annotations

import contextlib
import math
import socket
import time
from collections.abc import Iterator
from importlib import import_module
from typing import Any

from smartharvest.errors import ConfigError, EngineError

TRIED = "2.60"
_SETTLING_S = 2.0
"""Until Ray's view has caught up with a worker's end: who looks sooner ends one more for the same
core, and a task that is ended too often is lost."""
_IDLE = ("ray::IDLE", "ray::DashboardAgent", "ray::RuntimeEnvAgent")


class RayNode:
    """Implements engine.Engine for the node ``node_id`` (hex), or this host's only one.

    ``address`` is the GCS's HOST:PORT. Raises ConfigError if Ray is missing or cannot do it,
    EngineError if nobody answers there.
    """

    def __init__(self, address: str, node_id: str | None, resource: str = "CPU") -> None:
        try:
            import psutil
            from ray import __version__
            from ray._private.state import GlobalState

            compiled = import_module("ray._raylet")
        except ImportError as error:
            raise ConfigError(
                f"adapter ray: {error}; pip install 'smartharvest[ray]' beside Ray {TRIED}"
            ) from None
        self._psutil = psutil
        self._resource = resource
        self._ended: dict[int, float] = {}
        with _telling(f"ray at {address}"):
            self._gcs = compiled.GcsClient(address=address)
        if not hasattr(self._gcs, "resize_raylet_resource_instances"):  # it delegates
            raise ConfigError(
                f"adapter ray: Ray {__version__} cannot resize a live node; use Ray {TRIED}"
            )
        with _telling(f"ray at {address}"):
            self._state = GlobalState()
            self._state._initialize_global_state(
                compiled.GcsClientOptions.create(
                    address, None, allow_cluster_id_nil=True, fetch_cluster_id_if_nil=False
                )
            )
            nodes = [node for node in self._state.node_table() if node["Alive"]]
        self.node_id, self._raylet_socket = _choose(nodes, node_id, address)

    def advertise(self, cores: int) -> None:
        with _telling("ray: resize"):
            self._gcs.resize_raylet_resource_instances(self.node_id, {self._resource: float(cores)})

    def in_use(self) -> int:
        with _telling("ray"):
            total = self._of_node(self._state.total_resources_per_node())
            available = self._of_node(self._state.available_resources_per_node())
        used = total.get(self._resource, 0.0) - available.get(self._resource, 0.0)
        return math.ceil(used - 1e-6)

    def shed(self, cores: int, grace_s: float) -> None:
        if grace_s > 0:
            return
        now_s = time.monotonic()
        self._ended = {pid: s for pid, s in self._ended.items() if now_s - s < _SETTLING_S}
        excess = self.in_use() - cores - len(self._ended)
        for worker in self._busy_workers()[: max(0, excess)]:
            with contextlib.suppress(self._psutil.Error):
                worker.kill()
                self._ended[worker.pid] = now_s

    def verify(self) -> int | None:
        with _telling("ray"):
            total = self._of_node(self._state.total_resources_per_node())
        return round(total.get(self._resource, 0.0))

    def close(self) -> None:
        self._state.disconnect()

    def _of_node(self, table: dict[str, dict[str, float]]) -> dict[str, float]:
        if self.node_id not in table:
            raise EngineError(f"ray: node {self.node_id} is gone")
        return table[self.node_id]

    def _busy_workers(self) -> list[Any]:
        """This node's workers with work: tasks before actors, youngest first."""
        with _telling("ray"):
            actors = {info.get("Pid") for info in self._state.actor_table(None).values()}
        found = []
        for process in self._psutil.process_iter(["pid", "ppid", "cmdline", "create_time"]):
            title = " ".join(process.info["cmdline"] or ())
            if not title.startswith("ray::") or title.startswith(_IDLE):
                continue
            with contextlib.suppress(self._psutil.Error):
                parent = " ".join(self._psutil.Process(process.info["ppid"]).cmdline())
                if self._raylet_socket in parent:
                    found.append(process)
        return sorted(found, key=lambda p: (p.pid in actors, -p.info["create_time"]))


def _choose(nodes: list[dict[str, Any]], node_id: str | None, address: str) -> tuple[str, str]:
    """(id, socket of its raylet) of the node meant."""
    here = [
        node
        for node in nodes
        if node["NodeID"] == node_id
        or (node_id is None and node["NodeManagerHostname"] == socket.gethostname())
    ]
    if len(here) != 1:
        known = ", ".join(node["NodeID"] for node in nodes)
        raise ConfigError(
            f"adapter ray: {len(here)} live nodes at {address} are "
            f"{node_id or 'on this host'}; choose one with --node: {known}"
        )
    return str(here[0]["NodeID"]), str(here[0]["RayletSocketName"])


@contextlib.contextmanager
def _telling(what: str) -> Iterator[None]:
    """Ray raises many things, RpcError and ValueError among them."""
    try:
        yield
    except EngineError:
        raise
    except Exception as error:
        text = " ".join(str(error).split())[:200]
        raise EngineError(f"{what}: {text or type(error).__name__}") from error
