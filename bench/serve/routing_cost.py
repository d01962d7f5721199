"""``python -m bench.serve.routing_cost``: what choosing a replica costs, per request.

Ray's own machinery, without a cluster: each router chooses among replicas that exist on paper, in
turns, and the count of what is under way changes as with real requests. Prints a line of JSON: of
each router the mean CPU time of a request, in which others on the machine do not count, and median
and P99 of the wall-clock time, in which they do; and how much more than Ray's default each has, as
the median over rounds of the difference within a round.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import time
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import click

ROUTERS = {
    "ray": "ray.serve._private.request_router:PowerOfTwoChoicesRequestRouter",
    "mws": "smartharvest.serverless.ray_router:MinWorkerSetRouter",
    "jsq": "smartharvest.serverless.ray_router:ShortestQueueRouter",
}
UNDER_WAY = 60
"""Requests that are running at any time."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Of one request's routing, in microseconds."""

    cpu: float
    wall: float
    wall_p99: float


def _replica(number: int, nodes: int, replica_id: Any) -> Any:
    report = {
        "seq": 1,
        "evict_in_s": None,
        "cores": 4.0,
        "guaranteed": 1,
        "load": 0.5,
        "age_s": 0.1,
    }
    return SimpleNamespace(
        replica_id=replica_id,
        node_id=f"node-{number % nodes:03}",
        availability_zone=None,
        routing_stats={"smartharvest": report},
        multiplexed_model_ids={f"model-{number % 7}"},
        max_ongoing_requests=8,
    )


async def _measure(name: str, replicas: int, nodes: int, requests: int, model: str) -> Cost:
    from ray._common.utils import import_module_and_attr
    from ray.serve._private.common import (
        DeploymentHandleSource,
        DeploymentID,
        ReplicaID,
        RequestMetadata,
    )
    from ray.serve.request_router import PendingRequest

    deployment = DeploymentID("measured", "app")
    router = import_module_and_attr(ROUTERS[name])[1](
        deployment_id=deployment,
        handle_source=DeploymentHandleSource.UNKNOWN,
        use_replica_queue_len_cache=True,
    )
    router.initialize_state()
    made = [
        _replica(number, nodes, ReplicaID(f"r{number:03}", deployment))
        for number in range(replicas)
    ]
    for one in made:
        router.replica_queue_len_cache.update(one.replica_id, 0)
    router._probe_queue_lens = _no_probe
    router.update_replicas(made)
    running: list[Any] = []
    spent_s, walls_s = 0.0, []
    for number in range(requests):
        pending = PendingRequest(
            args=[],
            kwargs={},
            metadata=RequestMetadata(
                request_id=f"q{number}",
                internal_request_id=f"q{number}",
                multiplexed_model_id=model,
            ),
        )
        began_s, wall_s = time.thread_time(), time.perf_counter()
        replica = await router._choose_replica_for_request(pending)
        router.on_send_request(replica.replica_id)
        if len(running) >= UNDER_WAY:
            router.decrement_queue_len_cache(running.pop(0))
        walls_s.append(time.perf_counter() - wall_s)
        spent_s += time.thread_time() - began_s
        running.append(replica.replica_id)
    wall = statistics.quantiles(walls_s, n=100)
    return Cost(spent_s / requests * 1e6, wall[49] * 1e6, wall[98] * 1e6)


async def _no_probe(replicas: list[Any], _backoff: int) -> list[Any]:
    return [(replica, 0) for replica in replicas]


@click.command()
@click.option("--replicas", default=100, show_default=True)
@click.option("--nodes", default=100, show_default=True)
@click.option("--requests", default=2000, show_default=True)
@click.option("--rounds", default=9, show_default=True)
@click.option("--model", default="", help="A multiplexed model's id.")
def main(replicas: int, nodes: int, requests: int, rounds: int, model: str) -> None:
    """Measures the routers in turns."""
    found: dict[str, list[Cost]] = {name: [] for name in ROUTERS}
    for _ in range(rounds):
        for name, costs in found.items():
            costs.append(asyncio.run(_measure(name, replicas, nodes, requests, model)))
    document: dict[str, Any] = {"replicas": replicas, "nodes": nodes}
    for field in ("cpu", "wall", "wall_p99"):
        each = {name: [getattr(one, field) for one in costs] for name, costs in found.items()}
        document[f"{field}_us"] = {
            name: round(statistics.median(values), 1) for name, values in each.items()
        }
        document[f"more_{field}_us"] = {
            name: round(
                statistics.median(a - b for a, b in zip(values, each["ray"], strict=True)), 1
            )
            for name, values in each.items()
            if name != "ray"
        }
    print(json.dumps(document))


if __name__ == "__main__":
    main()
