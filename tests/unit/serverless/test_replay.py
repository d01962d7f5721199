"""Functions that do not all fit: a router that forgets what a cold start costs drowns in them."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from smartharvest.serverless.balancers.min_worker_set import MinWorkerSet
from smartharvest.serverless.balancers.shortest_queue import ShortestQueue
from smartharvest.serverless.routing import Balancer
from tests.unit.serverless.replay import Ours, RaysOwn, replay

MakeBalancer = Callable[[float], Balancer]


def min_worker_set(cold_cost: float) -> Balancer:
    return MinWorkerSet(cold_cost=cold_cost)


def shortest_queue(cold_cost: float) -> Balancer:
    return ShortestQueue(random.Random(1).randrange, cold_cost=cold_cost)


def p95(took_s: list[float]) -> float:
    return took_s[int(0.95 * len(took_s))]


@pytest.mark.parametrize("make", [min_worker_set, shortest_queue])
def test_most_starts_are_cold_unless_a_cold_start_has_a_cost(make: MakeBalancer) -> None:
    blind, blind_s, _ = replay(Ours(make(0.0)))
    aware, aware_s, _ = replay(Ours(make(4.0)))
    assert aware < blind / 2
    assert p95(aware_s) < p95(blind_s) / 2


@pytest.mark.parametrize("seed", [1, 2])
def test_with_it_tails_are_not_longer_than_under_rays_own_router_and_nothing_is_lost(
    seed: int,
) -> None:
    _, ours_s, ours_lost = replay(Ours(min_worker_set(4.0)), seed=seed)
    _, rays_s, rays_lost = replay(RaysOwn(), seed=seed)
    assert (ours_lost, rays_lost) == (0, 1)
    assert p95(ours_s) <= p95(rays_s)
