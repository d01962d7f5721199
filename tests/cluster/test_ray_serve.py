"""The routers in a real Ray Serve of three nodes on loopback."""

from __future__ import annotations

import logging
import os
import signal
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from tests.cluster.agents import wait_until
from tests.cluster.ray_cluster import NODES, ServeCluster, serve_cluster

pytest.importorskip("ray.serve", reason="Ray Serve is not installed")

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(900)]

MODULE = "smartharvest.serverless.ray_router"


@pytest.fixture(scope="module")
def cluster() -> Iterator[ServeCluster]:
    with serve_cluster() as made:
        yield made


@pytest.fixture
def said() -> Iterator[list[str]]:
    """What the routers of this process log."""
    lines: list[str] = []

    class Lines(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            lines.append(record.getMessage())

    handler = Lines(logging.INFO)
    logging.getLogger("ray.serve").addHandler(handler)
    yield lines
    logging.getLogger("ray.serve").removeHandler(handler)


def deploy(name: str, router: str, **kwargs: Any) -> Any:
    """A handle of a deployment with one replica on each node; it answers with its node's name."""
    from ray import serve
    from ray.serve.config import RequestRouterConfig

    from smartharvest.serverless.node_report import HarvestedReplica

    class Function(HarvestedReplica):
        async def __call__(self, seconds: float = 0.0) -> str:
            import asyncio
            import os

            await asyncio.sleep(seconds)
            return os.path.basename(os.environ["SMARTHARVEST_CAPACITY"])

        async def stream(self, count: int) -> Any:
            for number in range(count):
                yield number

        @serve.multiplexed(max_num_models_per_replica=3)
        async def load(self, model: str) -> str:
            return model.upper()

        async def infer(self) -> tuple[str, str]:
            return await self.load(serve.get_multiplexed_model_id()), await self()

    config = RequestRouterConfig(
        request_router_class=f"{MODULE}:{router}",
        request_router_kwargs=kwargs,
        request_routing_stats_period_s=0.5,
    )
    options = serve.deployment(
        num_replicas=len(NODES),
        max_replicas_per_node=1,
        max_ongoing_requests=20,
        ray_actor_options={"num_cpus": 1},
        request_router_config=config,
    )
    serve.start(proxy_location="Disabled")
    return serve.run(options(Function).bind(), name=name, route_prefix=None)


def nodes_of(handle: Any, count: int, seconds: float = 0.2) -> Counter[str]:
    """Nodes that ``count`` requests at once went to."""
    return Counter(
        one.result(timeout_s=120) for one in [handle.remote(seconds) for _ in range(count)]
    )


@pytest.fixture
def shortest(cluster: ServeCluster) -> Iterator[Any]:
    from ray import serve

    cluster.offer(2, 2, 2)
    yield deploy("shortest", "ShortestQueueRouter")
    serve.delete("shortest")


def test_requests_follow_the_cores_of_the_nodes(cluster: ServeCluster, shortest: Any) -> None:
    cluster.offer(1, 2, 9)
    wait_until(lambda: nodes_of(shortest, 12)["n2"] >= 8)
    cluster.offer(9, 2, 1)
    wait_until(lambda: nodes_of(shortest, 12)["n0"] >= 8)
    assert list(shortest.options(stream=True).stream.remote(4)) == [0, 1, 2, 3]


def test_a_function_and_a_model_stay_where_they_are_warm(cluster: ServeCluster) -> None:
    from ray import serve

    cluster.offer(4, 4, 4)
    handle = deploy("few", "MinWorkerSetRouter", forget_s=600)
    try:
        wait_until(lambda: len({handle.remote().result(timeout_s=120) for _ in range(10)}) == 1)
        for model in ("cats", "dogs"):
            infer = handle.options(multiplexed_model_id=model).infer
            infer.remote().result(timeout_s=120)
            found = {infer.remote().result(timeout_s=120) for _ in range(10)}
            assert {answer for answer, _ in found} == {model.upper()}
            assert len({node for _, node in found}) == 1
            there = handle.options(multiplexed_model_id=model).record_routing_stats
            assert there.remote().result(timeout_s=120)["smartharvest"]["models_most"] == 3
        assert len(nodes_of(handle, 10)) >= 2  # more than one node has cores for: the set grows
    finally:
        serve.delete("few")


def test_a_notice_drains_a_node(cluster: ServeCluster, shortest: Any) -> None:
    cluster.offer(1, 1, 9)
    wait_until(lambda: nodes_of(shortest, 6)["n2"] > 0)
    cluster.notice("n2").write_text(f"{time.time() + 30}")
    wait_until(lambda: nodes_of(shortest, 6)["n2"] == 0)
    assert nodes_of(shortest, 30)["n2"] == 0
    cluster.notice("n2").unlink()
    wait_until(lambda: nodes_of(shortest, 6)["n2"] > 0)


def test_without_agents_requests_go_on_as_ray_routes_them_and_that_is_said(
    cluster: ServeCluster, shortest: Any, said: list[str]
) -> None:
    cluster.offer(1, 1, 9)
    wait_until(lambda: nodes_of(shortest, 12)["n2"] >= 8)
    for agent in cluster.agents.values():
        agent.kill()
    try:
        wait_until(lambda: _says(shortest, said, "routing as Ray does"))
        [line] = [line for line in said if "routing as Ray does" in line]
        assert "No agent is running" in line
        assert nodes_of(shortest, 30)["n2"] < 24
    finally:
        for name in NODES:
            cluster.start_agent(name)
    wait_until(lambda: _says(shortest, said, "follows its nodes' cores again"))
    cluster.offer(1, 1, 9)
    wait_until(lambda: nodes_of(shortest, 12)["n2"] >= 8)


def _says(handle: Any, said: list[str], what: str) -> bool:
    """Whether the router has, which it does when a request comes."""
    nodes_of(handle, 1)
    return any(what in line for line in said)


def test_reports_ten_seconds_old_are_followed_and_a_new_controller_brings_new_ones(
    cluster: ServeCluster,
) -> None:
    import ray
    from ray import serve
    from ray.serve.context import _get_global_client

    cluster.offer(1, 1, 9)
    # Trusted however old they are: how long the machine takes for this test changes nothing.
    handle = deploy("patient", "ShortestQueueRouter", fresh_s=3600, lost_s=7200)
    try:
        wait_until(lambda: nodes_of(handle, 12)["n2"] >= 8)
        controller = _get_global_client()._controller
        pid = ray.get(controller.get_pid.remote())
        os.kill(pid, signal.SIGSTOP)  # no report comes through
        try:
            cluster.offer(9, 1, 1)
            time.sleep(10)
            # Ray forgets queue lengths after as long. While it asks for them again, which a busy
            # machine does not answer in time, it passes a replica over.
            wait_until(lambda: nodes_of(handle, 12)["n2"] >= 8)
        finally:
            os.kill(pid, signal.SIGCONT)
        ray.kill(controller, no_restart=False)
        assert sum(nodes_of(handle, 12).values()) == 12  # without a controller
        wait_until(lambda: nodes_of(handle, 12)["n0"] >= 8, 180)
    finally:
        serve.delete("patient")


def test_reports_that_are_too_old_are_not_followed_and_that_is_said(
    cluster: ServeCluster, said: list[str]
) -> None:
    import ray
    from ray import serve
    from ray.serve.context import _get_global_client

    cluster.offer(1, 1, 9)
    handle = deploy("impatient", "ShortestQueueRouter", fresh_s=10, lost_s=20)
    try:
        wait_until(lambda: nodes_of(handle, 12)["n2"] >= 8)
        pid = ray.get(_get_global_client()._controller.get_pid.remote())
        os.kill(pid, signal.SIGSTOP)
        try:
            wait_until(lambda: _says(handle, said, "s old; routing as Ray does"), 120)
        finally:
            os.kill(pid, signal.SIGCONT)
        wait_until(lambda: _says(handle, said, "follows its nodes' cores again"))
    finally:
        serve.delete("impatient")
