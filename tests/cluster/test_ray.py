"""A real Ray of one node on loopback, started and stopped here."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from smartharvest.cluster.ray_node import RayNode
from smartharvest.errors import ConfigError
from tests.cluster.agents import made_agent, wait_until

pytest.importorskip("ray", reason="Ray is not installed")
pytest.importorskip("psutil", reason="psutil is not installed")

pytestmark = pytest.mark.cluster

RAY = [sys.executable, "-m", "ray.scripts.scripts"]
QUIET = {"RAY_DISABLE_IMPORT_WARNING": "1", "RAY_USAGE_STATS_ENABLED": "0"}
TASKS = 5
WORK = f"""
import sys, time, ray
ray.init(address=sys.argv[1], logging_level="ERROR", log_to_driver=False)
@ray.remote(num_cpus=1, max_retries=-1)
def work(number):
    time.sleep(2.0)
    return number
print("sum", sum(ray.get([work.remote(number) for number in range({TASKS})])))
"""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    # In the foreground, so that it ends with this session and no other Ray's does.
    head = subprocess.Popen(
        [*RAY, "start", "--head", "--block", f"--port={port}", "--num-cpus=1",
         "--include-dashboard=false", "--disable-usage-stats", "--object-store-memory=80000000",
         f"--temp-dir=/tmp/ray-{port}"],
        env={**os.environ, **QUIET},
        stdout=(tmp_path_factory.mktemp("ray") / "head.log").open("w"),
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )  # fmt: skip
    where = f"127.0.0.1:{port}"
    try:
        wait_until(lambda: _answers(where), 60.0)
        yield where
    finally:
        head.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            head.wait(15)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(head.pid, signal.SIGKILL)
        head.wait()


def _answers(address: str) -> bool:
    try:
        RayNode(address, None).close()
    except Exception:
        return False
    return True


def test_a_live_node_takes_on_what_is_advertised(address: str) -> None:
    node = RayNode(address, None)
    for cores in (4, 0, 1):
        node.advertise(cores)
        wait_until(lambda cores=cores: node.verify() == cores)  # type: ignore[misc]
    assert node.in_use() == 0
    node.close()


def test_a_resource_of_ones_own_may_follow_instead(address: str) -> None:
    node = RayNode(address, None, "harvested")
    node.advertise(3)
    wait_until(lambda: node.verify() == 3)
    node.close()


def test_a_node_that_is_not_there_is_a_wrong_setting(address: str) -> None:
    with pytest.raises(ConfigError, match="choose one with --node"):
        RayNode(address, "0123abcd")


def test_tasks_follow_the_agent_and_none_is_lost_when_the_adapter_is_killed(
    address: str, tmp_path: Path
) -> None:
    node = RayNode(address, None)
    with made_agent(str(tmp_path), guaranteed=1) as agent:
        adapter = subprocess.Popen(
            [sys.executable, "-m", "smartharvest", "adapter", "ray", "--state-dir", str(tmp_path),
             "--address", address, "--every", "100ms", "--grow-after", "100ms", "--grace", "300ms"],
            start_new_session=True,
        )  # fmt: skip
        driver = subprocess.Popen(
            [sys.executable, "-c", WORK, address],
            env={**os.environ, **QUIET},
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            agent.cores = 3
            wait_until(lambda: node.in_use() >= 2, 60.0)
            agent.cores = 1
            wait_until(lambda: (node.in_use() <= 1, node.verify()) == (True, 1))
            agent.cores = 3
            wait_until(lambda: node.verify() == 3)
            os.killpg(adapter.pid, signal.SIGKILL)
            wait_until(lambda: (node.in_use() <= 1, node.verify()) == (True, 1))
            said, _ = driver.communicate(timeout=100)
        finally:
            for process in (adapter, driver):
                with contextlib.suppress(ProcessLookupError):
                    process.kill()
                process.wait()
    node.close()
    assert f"sum {sum(range(TASKS))}" in said  # among Ray's own messages
