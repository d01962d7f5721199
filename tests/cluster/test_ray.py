"""A real Ray of one node on loopback, started and stopped here."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from smartharvest.cluster.ray_node import RayNode
from smartharvest.errors import ConfigError, EngineError
from tests.cluster.agents import free_port, wait_until
from tests.cluster.journey import travel

pytest.importorskip("ray", reason="Ray is not installed")
pytest.importorskip("psutil", reason="psutil is not installed")

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(400)]

RAY = [sys.executable, "-m", "ray.scripts.scripts"]
QUIET = {"RAY_DISABLE_IMPORT_WARNING": "1", "RAY_USAGE_STATS_ENABLED": "0"}
TASKS = 8
WORK = f"""
import os, sys, time, ray
address, log, done = sys.argv[1:]
ray.init(address=address, logging_level="ERROR", log_to_driver=False)
@ray.remote(num_cpus=1)
def work(number):
    with open(log, "a") as file:
        file.write(f"{{number}}\\n")
    while not os.path.exists(done):
        time.sleep(0.05)
    return number
print("sum", sum(ray.get([work.remote(number) for number in range({TASKS})])))
"""


class MadeRay:
    """A head of one CPU, in the foreground, so that it ends with it and no other Ray does."""

    def __init__(self, log: Path) -> None:
        self._port = free_port()
        self._log = log
        self.address = f"127.0.0.1:{self._port}"

    def start(self) -> None:
        self._head = subprocess.Popen(
            [*RAY, "start", "--head", "--block", f"--port={self._port}", "--num-cpus=1",
             "--include-dashboard=false", "--disable-usage-stats",
             "--object-store-memory=80000000", f"--temp-dir=/tmp/ray-{self._port}"],
            env={**os.environ, **QUIET},
            stdin=subprocess.DEVNULL,
            stdout=self._log.open("a"),
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )  # fmt: skip
        wait_until(self._answers, 60.0)

    def stop(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._head.pid, signal.SIGKILL)
        self._head.wait()

    def work(self, log: Path, done: Path) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-c", WORK, self.address, str(log), str(done)],
            env={**os.environ, **QUIET},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def _answers(self) -> bool:
        try:
            RayNode(self.address, None).close()
        except (ConfigError, EngineError):
            return False
        return True


@pytest.fixture
def ray(tmp_path: Path) -> Iterator[MadeRay]:
    made = MadeRay(tmp_path / "head.log")
    made.start()
    try:
        yield made
    finally:
        made.stop()


def test_a_live_node_takes_on_what_is_advertised(ray: MadeRay) -> None:
    for resource in ("CPU", "harvested"):
        node = RayNode(ray.address, None, resource)
        for cores in (4, 0, 1):
            node.advertise(cores)
            wait_until(lambda: node.verify() == cores)  # noqa: B023 - it ends within the turn
        assert node.in_use() == 0
        node.close()
    with pytest.raises(ConfigError, match="choose one with --node"):
        RayNode(ray.address, "0123abcd")


def test_tasks_follow_through_deaths_and_each_core_costs_one_task_its_run(
    ray: MadeRay, tmp_path: Path
) -> None:
    log, done = tmp_path / "started", tmp_path / "done"
    node = RayNode(ray.address, None)
    driver = ray.work(log, done)
    try:
        travel(node, ("ray", "--address", ray.address), str(tmp_path))
        done.touch()
        said, _ = driver.communicate(timeout=100)
    finally:
        driver.kill()
        driver.wait()
        node.close()
    assert f"sum {sum(range(TASKS))}" in said  # among Ray's own messages
    started = log.read_text().split()
    assert len(started) == TASKS + 3 * 3  # shrunk three times, by three cores


def test_a_ray_that_was_restarted_is_followed_on(ray: MadeRay) -> None:
    node = RayNode(ray.address, None)
    node.advertise(3)
    wait_until(lambda: node.verify() == 3)
    ray.stop()
    with pytest.raises(EngineError):
        node.verify()
    ray.start()
    wait_until(lambda: node.verify() == 1)  # it has forgotten
    node.advertise(3)
    wait_until(lambda: node.verify() == 3)
    node.close()
