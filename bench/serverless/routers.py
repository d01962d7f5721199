"""The routers of Ray Serve against Ray's own, replayed on scenes that differ in one thing each."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from typing import Any

from bench.serve.replay import RaysOwn, Router, made_scene, min_worker_set, replay, shortest_queue
from bench.serverless.experiments import Log, Row

ROUTERS: dict[str, Callable[[], Router]] = {
    "MinWorkerSetRouter": min_worker_set,
    "ShortestQueueRouter": shortest_queue,
    "Ray's": RaysOwn,
}
SEEDS = range(1, 6)
USUAL: dict[str, Any] = {"nodes": 12, "models": 28, "used": 0.5, "evicted": 1 / 6, "seconds": 40.0}
ALL = 100
"""Models that a node has memory for: more than there are."""
SCENES: dict[str, dict[str, Any]] = {
    "as said": {},
    "3 nodes, 7 models": {"nodes": 3, "models": 7, "evicted": 1 / 3},
    "3 nodes, 7 models, 35 % of the cores": {
        "nodes": 3,
        "models": 7,
        "evicted": 1 / 3,
        "used": 0.35,
    },
    "3 nodes, 7 models, no eviction": {"nodes": 3, "models": 7, "evicted": 0.0},
    "6 nodes, 14 models": {"nodes": 6, "models": 14},
    "24 nodes, 56 models": {"nodes": 24, "models": 56},
    "4 models": {"models": 4},
    "60 models": {"models": 60},
    "30 % of the cores": {"used": 0.3},
    "60 % of the cores": {"used": 0.6},
    "memory for two models, 20 models": {"warm_models": 2, "models": 20},
    "memory for all models": {"warm_models": ALL},
    "loading takes 0.1 s": {"cold_s": 0.1},
    "loading takes 1.6 s, no eviction": {"cold_s": 1.6, "evicted": 0.0},
    "no eviction": {"evicted": 0.0},
    "half of the nodes evicted": {"evicted": 0.5, "used": 0.3},
}


def routers(log: Log) -> Row:
    """Scene -> router -> medians over the seeds, and of how many seeds Ray's P95 is longer."""
    found: Row = {}
    for name, different in SCENES.items():
        log(f"routers: {name}")
        runs = {
            router: [
                replay(made_scene(seed=seed, **{**USUAL, **different}), make()) for seed in SEEDS
            ]
            for router, make in ROUTERS.items()
        }
        rays_s = [run.quantile(0.95) for run in runs["Ray's"]]
        found[name] = {
            router: {
                "p50_s": statistics.median(run.quantile(0.5) for run in those),
                "p95_s": statistics.median(run.quantile(0.95) for run in those),
                "cold_share": statistics.median(run.cold / len(run.took_s) for run in those),
                "lost": sum(run.lost for run in those),
                "requests": sum(len(run.took_s) + run.lost for run in those),
                "shorter_than_rays": sum(
                    run.quantile(0.95) < ray_s for run, ray_s in zip(those, rays_s, strict=True)
                ),
            }
            for router, those in runs.items()
        }
    return found
