"""A Ray node whose CPUs, or a resource of its own, follow the lent cores.

Ray has no public way to change a live node's resources (``ray.experimental.set_resource`` is gone:
ray-project/ray#31664), so this uses a private call of its GCS client, tested with Ray 2.60. Ray
does not preempt: to shed, the youngest worker with a task is ended, and Ray runs the task again
(``max_retries``, 3 unless the task says otherwise). Workers of actors go last. Meanwhile
ray_gate.py keeps the node from giving out cores, so that no other task takes a freed core at once.
"""

from __future__ import annotations

import contextlib
import math
import socket
import time
from collections.abc import Iterator
from importlib import import_module
from typing import Any

from smartharvest.cluster.ray_gate import Gate
from smartharvest.errors import ConfigError, EngineError

TRIED = "2.60"
_PATIENCE_S = 2.0
"""For a raylet to notice that a worker has ended."""
_CONNECT_S = 1.0
_POLL_S = 0.01
_IDLE = ("ray::IDLE", "ray::DashboardAgent", "ray::RuntimeEnvAgent")


class RayNode:
    """Implements engine.Engine for the node with that id (hex) or name, or this host's only one.

    ``address`` is the GCS's HOST:PORT. Raises ConfigError if Ray is missing or unable,
    EngineError if nothing answers there.
    """

    def __init__(self, address: str, node: str | None, resource: str = "CPU") -> None:
        try:
            import psutil
            from ray import __version__
            from ray._private.state import GlobalState

            compiled = import_module("ray._raylet")
        except ImportError as error:
            raise ConfigError(
                f"adapter ray: {error}; pip install 'smartharvest[ray]' for Ray {TRIED}"
            ) from None
        self._psutil = psutil
        self._address = address
        self._resource = resource
        self._total = math.inf
        """The last answer of the raylet itself: the GCS's is older."""
        self._gate: Gate | None = None
        self._compiled, self._make_state, self._version = compiled, GlobalState, __version__
        self._wanted = node
        self.node_id = ""
        self._lost = True
        with self._asking():
            pass

    def _connect(self) -> None:
        create = self._compiled.GcsClientOptions.create
        self._gcs = self._compiled.GcsClient(address=self._address)
        if not hasattr(self._gcs, "resize_raylet_resource_instances"):  # it delegates
            raise ConfigError(
                f"adapter ray: Ray {self._version} cannot resize a live node; use Ray {TRIED}"
            )
        self._state = self._make_state()
        self._state._initialize_global_state(
            create(self._address, None, allow_cluster_id_nil=True, fetch_cluster_id_if_nil=False)
        )
        nodes = [node for node in self._state.node_table() if node["Alive"]]
        self.node_id, self._raylet_socket = _choose(nodes, self._wanted, self._address)
        self._total = math.inf
        self._lost = False

    @contextlib.contextmanager
    def _asking(self, what: str = "ray") -> Iterator[None]:
        """Connects again after an error: a restarted Ray has other nodes.

        Ray raises many things, RpcError and ValueError among them. If the GCS is gone its client
        tries for a minute and then ends this process: so check first whether the port answers.
        """
        try:
            host, _, port = self._address.rpartition(":")
            socket.create_connection((host, int(port)), _CONNECT_S).close()
            if self._lost:
                self._connect()
            yield
        except EngineError:
            self._lose()
            raise
        except ConfigError as error:
            self._lose()
            if not self.node_id:
                raise
            raise EngineError(str(error)) from None  # from a Ray that is still starting
        except Exception as error:
            self._lose()
            text = " ".join(str(error).split())[:200]
            raise EngineError(
                f"{what} at {self._address}: {text or type(error).__name__}"
            ) from error

    def _lose(self) -> None:
        self._lost = True
        if self._gate is not None:
            self._gate.close()
            self._gate = None

    def advertise(self, cores: int) -> None:
        self._resize(cores)

    def in_use(self) -> int:
        with self._asking():
            total = self._of_node(self._state.total_resources_per_node())
            available = self._of_node(self._state.available_resources_per_node())
        used = total.get(self._resource, 0.0) - available.get(self._resource, 0.0)
        return math.ceil(min(used, self._total) - 1e-6)

    def shed(self, cores: int, grace_s: float) -> None:
        given = self._resize(cores)
        if self._gate is None:
            self._gate = Gate(self._address, self.node_id)
        if grace_s > 0 or given <= cores:  # the gate is ready when it is needed
            return
        workers = self._busy_workers()
        if not workers:  # the next turn finds those that are starting
            return
        try:
            with self._gate.shut(*self._all_of_it()):
                for worker in workers:
                    with contextlib.suppress(self._psutil.Error):
                        worker.kill()
                    given = self._wait_below(given, cores)
                    if given <= cores:
                        break
        except EngineError:
            self._lose()
            raise

    def _all_of_it(self) -> tuple[int, float, dict[str, float]]:
        """(gates, CPUs, resources): as many as may run, each asking for the whole node."""
        with self._asking():
            total = self._of_node(self._state.total_resources_per_node())
        cpus = total.get("CPU", 0.0) if self._resource != "CPU" else self._total
        resources = {} if self._resource == "CPU" else {self._resource: self._total}
        return math.ceil(self._total), cpus, resources

    def _wait_below(self, given: float, cores: int) -> float:
        """What is given out, once that is less than ``given`` or ``_PATIENCE_S`` has passed."""
        until_s = time.monotonic() + _PATIENCE_S
        while (left := self._resize(cores)) >= given and time.monotonic() < until_s:
            time.sleep(_POLL_S)
        return left

    def _resize(self, cores: int) -> float:
        """The node's new total: ``cores``, or more if more are given out."""
        with self._asking("ray: resize"):
            totals = self._gcs.resize_raylet_resource_instances(
                self.node_id, {self._resource: float(cores)}
            )
        self._total = float(totals.get(self._resource, 0.0))
        return self._total

    def verify(self) -> int | None:
        with self._asking():
            total = self._of_node(self._state.total_resources_per_node())
        return round(total.get(self._resource, 0.0))

    def close(self) -> None:
        if self._gate is not None:
            self._gate.close()
        self._state.disconnect()

    def _of_node(self, table: dict[str, dict[str, float]]) -> dict[str, float]:
        if self.node_id not in table:
            raise EngineError(f"ray: node {self.node_id} is gone")
        return table[self.node_id]

    def _busy_workers(self) -> list[Any]:
        """This node's workers with work: tasks before actors, youngest first."""
        with self._asking():
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


def _choose(nodes: list[dict[str, Any]], wanted: str | None, address: str) -> tuple[str, str]:
    """(id, socket of its raylet) of the chosen node."""
    here = [
        node
        for node in nodes
        if wanted in (node["NodeID"], node["NodeName"])
        or (wanted is None and node["NodeManagerHostname"] == socket.gethostname())
    ]
    if len(here) != 1:
        known = ", ".join(node["NodeID"] for node in nodes)
        raise ConfigError(
            f"adapter ray: {len(here)} live nodes at {address} are "
            f"{wanted or 'on this host'}; choose one with --node: {known}"
        )
    return str(here[0]["NodeID"]), str(here[0]["RayletSocketName"])
