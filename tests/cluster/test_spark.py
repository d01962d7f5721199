"""A real Spark standalone cluster on loopback: a master, and workers of the adapter."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from shutil import which

import pytest

from smartharvest.cluster.follow import leave
from smartharvest.cluster.spark_node import SparkNode
from smartharvest.errors import EngineError
from tests.cluster.agents import free_port, wait_until
from tests.cluster.journey import travel

pyspark = pytest.importorskip("pyspark", reason="pyspark is not installed")
if which("java") is None:
    pytest.skip("Java is not installed", allow_module_level=True)

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(1800)]

HOME = os.path.dirname(pyspark.__file__)
LOCAL = {"SPARK_LOCAL_IP": "127.0.0.1", "SPARK_HOME": HOME, "PYSPARK_PYTHON": sys.executable}
PATIENT_S = 240.0
"""A JVM starts for each core, all at once."""
WORK = """
import os, sys, time
from pyspark.sql import SparkSession
master, log, done, tasks, seconds = sys.argv[1:]
session = SparkSession.builder.master(master).appName("work").config(map={
    "spark.decommission.enabled": "true",
    "spark.storage.decommission.enabled": "true",
    "spark.storage.decommission.rddBlocks.enabled": "true",
    "spark.storage.decommission.shuffleBlocks.enabled": "true",
    "spark.executor.memory": "512m",
    "spark.task.maxFailures": "1",
    "spark.ui.enabled": "false",
}).getOrCreate()
def work(number):
    with open(log, "a") as file:
        file.write(f"{number} {os.getppid()}\\n")
    while not os.path.exists(done):
        time.sleep(0.05)
    time.sleep(float(seconds))
    return number
numbers = session.sparkContext.parallelize(range(int(tasks)), int(tasks))
print("sum", numbers.map(work).sum(), flush=True)
session.stop()
"""


class MadeSpark:
    """A master without workers."""

    def __init__(self, directory: Path) -> None:
        self._port, page_port = free_port(), free_port()
        self.master = f"spark://127.0.0.1:{self._port}"
        self.page = f"http://127.0.0.1:{page_port}"
        self.directory = str(directory / "spark")
        self._process = subprocess.Popen(
            [f"{HOME}/bin/spark-class", "org.apache.spark.deploy.master.Master",
             "--host", "127.0.0.1", "--port", str(self._port), "--webui-port", str(page_port)],
            env={**os.environ, **LOCAL},
            stdin=subprocess.DEVNULL,
            stdout=(directory / "master.log").open("w"),
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )  # fmt: skip
        wait_until(self._answers, PATIENT_S)

    def node(self) -> SparkNode:
        return SparkNode(self.master, self.page, self.directory)

    def work(self, log: Path, done: Path, tasks: int, seconds: float) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-c", WORK, self.master, str(log), str(done), str(tasks),
             str(seconds)],
            env={**os.environ, **LOCAL},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )  # fmt: skip

    def stop(self) -> None:
        with contextlib.suppress(EngineError):
            leave(self.node(), 0, 0.0)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._kill_workers()

    def _kill_workers(self) -> None:
        """Workers that were decommissioned last live on: only an adapter would end them."""
        for command_line in Path("/proc").glob("[0-9]*/cmdline"):
            with contextlib.suppress(OSError):
                if f"{self.directory}/".encode() in command_line.read_bytes():
                    os.kill(int(command_line.parent.name), signal.SIGKILL)

    def _answers(self) -> bool:
        with contextlib.suppress(EngineError):
            self.node()
            return True
        return False


@pytest.fixture
def spark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[MadeSpark]:
    for name, value in LOCAL.items():
        monkeypatch.setenv(name, value)
    made = MadeSpark(tmp_path)
    try:
        yield made
    finally:
        made.stop()


def started(log: Path) -> tuple[list[int], set[int]]:
    """(each task as often as it was begun, the executors that have begun some)."""
    lines = [line.split() for line in log.read_text().splitlines()] if log.exists() else []
    return sorted(int(number) for number, _ in lines), {int(one) for _, one in lines}


def test_a_job_loses_no_task_from_one_core_to_four_and_back(
    spark: MadeSpark, tmp_path: Path
) -> None:
    log, done = tmp_path / "started", tmp_path / "done"
    node = spark.node()
    node.advertise(1)
    driver = spark.work(log, done, tasks=40, seconds=0.3)
    try:
        wait_until(lambda: len(started(log)[1]) == 1, PATIENT_S)
        node.advertise(4)
        wait_until(lambda: len(started(log)[1]) == 4, PATIENT_S)
        node.shed(1, grace_s=60.0)
        done.touch()  # from here on the tasks end
        wait_until(lambda: node.in_use() <= 1, PATIENT_S)
        assert node.verify() == 1
        said, _ = driver.communicate(timeout=PATIENT_S)
    finally:
        driver.kill()
        driver.wait()
    assert said == f"sum {sum(range(40))}\n"
    assert started(log)[0] == list(range(40))  # none ran twice


def test_tasks_follow_through_deaths_and_none_is_lost_where_workers_are_killed(
    spark: MadeSpark, tmp_path: Path
) -> None:
    log, done = tmp_path / "started", tmp_path / "done"
    node = spark.node()
    driver = spark.work(log, done, tasks=8, seconds=0.0)
    try:
        options = ("--master", spark.master, "--page", spark.page, "--directory", spark.directory)
        travel(node, ("spark", *options), str(tmp_path), within_s=PATIENT_S)
        done.touch()
        said, _ = driver.communicate(timeout=PATIENT_S)
    finally:
        driver.kill()
        driver.wait()
    assert said == f"sum {sum(range(8))}\n"
    assert set(started(log)[0]) == set(range(8))
