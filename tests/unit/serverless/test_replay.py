"""Functions that do not all fit: what Ray Serve's routers make of them, replayed without Ray."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from bench.serve.replay import (
    Ours,
    RaysOwn,
    Request,
    Router,
    Scene,
    made_scene,
    min_worker_set,
    replay,
    shortest_queue,
)
from smartharvest.serverless.balancers.min_worker_set import MinWorkerSet


def alone(*requests: tuple[float, str, float], cores: float = 1.0) -> list[Request]:
    """(when, model, core seconds) on one node that has memory for one model."""
    scene = Scene(
        {"a": [(1e9, cores)]},
        lambda: [Request(*one) for one in requests],
        evicted_s=1e9,
        warm_models=1,
        cold_s=1.0,
    )
    return replay(scene, min_worker_set()).requests


def test_a_model_is_loaded_once_and_again_when_another_has_displaced_it() -> None:
    found = alone((0, "x", 0.5), (5, "x", 0.5), (10, "y", 0.5), (15, "x", 0.5))
    assert [one.cold for one in found] == [True, False, True, True]
    assert [one.took_s for one in found] == pytest.approx([1.5, 0.5, 1.5, 1.5], abs=0.05)


def test_what_runs_and_what_is_loaded_share_the_cores() -> None:
    found = alone((0, "x", 0.5), (5, "x", 2.0), (5, "x", 2.0), (5, "y", 1.0), cores=2.0)
    # Two thirds of a core for each of three: loading takes 1.5 s, and so does what is left then.
    assert [one.took_s for one in found[1:]] == pytest.approx([3.0, 3.0, 3.0], abs=0.1)


@pytest.mark.parametrize("make", [min_worker_set, shortest_queue, RaysOwn])
def test_the_same_scene_gives_the_same_figures(make: Callable[[], Router]) -> None:
    scene = made_scene(nodes=3, models=7, seed=1, seconds=15, evicted=1 / 3)
    assert replay(scene, make()).requests == replay(scene, make()).requests


@pytest.mark.parametrize("make", [min_worker_set, shortest_queue])
def test_most_starts_are_cold_unless_a_cold_start_has_a_cost(
    make: Callable[[float], Router],
) -> None:
    scene = made_scene(nodes=3, models=7, seed=1, used=0.4, seconds=15)
    blind, aware = replay(scene, make(0.0)), replay(scene, make(4.0))
    assert aware.cold < blind.cold / 2
    assert aware.quantile(0.95) < blind.quantile(0.95) / 2


@pytest.fixture(scope="module", params=[1, 2])
def short_of_memory(request: pytest.FixtureRequest) -> Scene:
    """Two of a dozen nodes are evicted; the others have memory for 30 of 28 models."""
    return made_scene(nodes=12, models=28, seed=request.param, seconds=40, evicted=1 / 6)


def test_who_knows_what_is_displaced_loads_less_and_is_faster(short_of_memory: Scene) -> None:
    knows = replay(short_of_memory, min_worker_set())
    does_not = replay(short_of_memory, Ours(MinWorkerSet(cold_cost=4.0), says_memory=False))
    assert knows.loads < 0.8 * does_not.loads
    assert knows.quantile(0.95) < does_not.quantile(0.95)


def test_tails_are_shorter_than_under_rays_own_router_and_nothing_is_lost(
    short_of_memory: Scene,
) -> None:
    ours, rays = replay(short_of_memory, min_worker_set()), replay(short_of_memory, RaysOwn())
    assert ours.quantile(0.95) < rays.quantile(0.95)
    assert ours.lost == 0 < rays.lost
