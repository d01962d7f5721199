"""Request routers of Ray Serve that know the cores, the load and the notices of nodes.

Named in ``RequestRouterConfig(request_router_class="smartharvest.serverless.ray_router:…")``;
replicas are classes with ``smartharvest.serverless.node_report.HarvestedReplica``. Ray's interface
is alpha and pickles this module by value: it is thin, and all that decides is in routing.py.
"""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable
from typing import Any

import ray

from smartharvest.serverless.balancers.min_worker_set import MinWorkerSet
from smartharvest.serverless.balancers.shortest_queue import ShortestQueue
from smartharvest.serverless.ray_interface import changed, require_interface
from smartharvest.serverless.routing import ITSELF, Balancer, Nodes, Replica
from smartharvest.serverless.view import CAREFUL, Caution

try:
    from ray.serve._private.request_router import pow_2_router
    from ray.serve.request_router import PendingRequest, ReplicaID, RequestRouter, RunningReplica
except ImportError as error:
    raise changed(ray.__version__, str(error)) from None
require_interface(ray.__version__, RequestRouter, RunningReplica, pow_2_router)
_log = logging.getLogger("ray.serve")
COLD_COST = 4.0
"""How many invocations take as long as loading a model."""


class _HarvestRouter(pow_2_router.PowerOfTwoChoicesRequestRouter):  # type: ignore[misc]
    """Routes as Ray's default router does while nothing is known of the nodes."""

    def initialize_state(
        self, fresh_s: float = CAREFUL.fresh_s, lost_s: float = CAREFUL.lost_s, **kwargs: Any
    ) -> None:
        """Takes ``request_router_kwargs``: how old reports may be, and the balancer's settings."""
        caution = Caution(fresh_s, lost_s)
        try:
            balancer = self._make_balancer(caution, **kwargs)
        except TypeError as error:
            raise ValueError(f"smartharvest: request_router_kwargs: {error}") from None
        self._nodes = Nodes(balancer, caution)
        self._blind: str | None = None

    def _make_balancer(self, caution: Caution, **kwargs: Any) -> Balancer:
        raise NotImplementedError

    async def choose_replicas(
        self,
        candidate_replicas: list[RunningReplica],
        pending_request: PendingRequest | None = None,
    ) -> list[list[RunningReplica]]:
        now_s = time.monotonic()
        ranks: list[list[RunningReplica]] | None = None
        why = self._nodes.blind(now_s)
        if why is None:
            model = ITSELF
            if pending_request is not None:
                model = pending_request.metadata.multiplexed_model_id
                pending_request.routing_context.should_backoff = True
            ranks = self._nodes.choose(model, now_s)
            if ranks is None:
                why = "each node is to be evicted"
        if (why is None) != (self._blind is None):
            self._say(why)
        if ranks is not None:
            return ranks
        found: list[list[RunningReplica]] = await super().choose_replicas(
            candidate_replicas, pending_request
        )
        return found

    def _say(self, why: str | None) -> None:
        """Only when it begins and when it ends: the reason may change each second."""
        self._blind = why
        if why is None:
            _log.info("smartharvest: %s follows its nodes' cores again", self._deployment_id)
        else:
            _log.warning(
                "smartharvest: %s does not know its nodes' cores: %s; routing as Ray does",
                self._deployment_id,
                why,
            )

    def update_replicas(self, replicas: list[RunningReplica]) -> None:
        super().update_replicas(replicas)
        self._update(replicas)

    def on_replica_actor_died(self, replica_id: ReplicaID) -> None:
        super().on_replica_actor_died(replica_id)
        self._update(list(self.curr_replicas.values()))

    def _update(self, replicas: list[RunningReplica]) -> None:
        cache = self.replica_queue_len_cache
        lengths = {one.replica_id: cache.get(one.replica_id) for one in replicas}
        made = [
            Replica(
                one.replica_id,
                one,
                one.node_id or str(one.replica_id),
                one.routing_stats or {},
                one.multiplexed_model_ids,
                one.max_ongoing_requests,
            )
            for one in replicas
        ]
        known = {one: length for one, length in lengths.items() if length is not None}
        self._nodes.update(made, known, time.monotonic())

    def on_send_request(self, replica_id: ReplicaID) -> None:
        super().on_send_request(replica_id)
        self._nodes.sent(replica_id)

    def on_new_queue_len_info(self, replica_id: ReplicaID, num_ongoing_requests: int) -> None:
        super().on_new_queue_len_info(replica_id, num_ongoing_requests)
        self._nodes.counted(replica_id, num_ongoing_requests)

    def decrement_queue_len_cache(self, replica_id: ReplicaID) -> None:
        super().decrement_queue_len_cache(replica_id)
        self._nodes.ended(replica_id)


class MinWorkerSetRouter(_HarvestRouter):
    """Keeps a function on few nodes; takes the settings of MinWorkerSet."""

    def _make_balancer(
        self, caution: Caution, cold_cost: float = COLD_COST, **kwargs: Any
    ) -> Balancer:
        return MinWorkerSet(caution=caution, cold_cost=cold_cost, **kwargs)


class ShortestQueueRouter(_HarvestRouter):
    """Takes the node with the fewest requests a core; ``cold_cost`` as in ShortestQueue."""

    def _make_balancer(
        self, caution: Caution, cold_cost: float = COLD_COST, **kwargs: Any
    ) -> Balancer:
        below: Callable[[int], int] = random.randrange
        return ShortestQueue(below, caution, cold_cost, **kwargs)
