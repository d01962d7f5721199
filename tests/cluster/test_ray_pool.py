"""The Resource Monitor and Ray's own autoscaler, whose nodes are processes on loopback."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from smartharvest.errors import EngineError
from smartharvest.serverless.ray_pool import RayPool
from tests.cluster.agents import free_port, wait_until

pytest.importorskip("ray", reason="Ray is not installed")

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(900)]

BUNDLE = {"harvest": 1.0}
CLUSTER = {
    "cluster_name": "made",
    "max_workers": 4,
    "upscaling_speed": 10,
    "idle_timeout_minutes": 1,
    "provider": {
        "type": "fake_multinode",
        "use_node_id_as_ip": True,
        "disable_node_updaters": True,
        "disable_launch_config_check": True,
    },
    "available_node_types": {
        "ray.head.default": {"resources": {"CPU": 0}, "node_config": {}, "max_workers": 0},
        "harvested": {
            "resources": {"CPU": 2, "harvest": 1, "object_store_memory": 80_000_000},
            "node_config": {},
            "min_workers": 0,
            "max_workers": 4,
        },
    },
    "head_node_type": "ray.head.default",
    "docker": {},
    "file_mounts": {},
    "cluster_synced_files": [],
    "file_mounts_sync_continuously": False,
    "rsync_exclude": [],
    "rsync_filter": [],
    "initialization_commands": [],
    "setup_commands": [],
    "head_setup_commands": [],
    "worker_setup_commands": [],
    "head_start_ray_commands": [],
    "worker_start_ray_commands": [],
    "auth": {},
}


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """A head without cores, and an autoscaler that looks once a second."""
    port = free_port()
    config = tmp_path / "cluster.json"
    config.write_text(json.dumps(CLUSTER))
    log = tmp_path / "head.log"
    head = subprocess.Popen(
        [sys.executable, "-m", "ray.scripts.scripts", "start", "--head", "--block",
         f"--port={port}", "--num-cpus=0", "--include-dashboard=false", "--disable-usage-stats",
         "--object-store-memory=80000000", f"--temp-dir=/tmp/ray-{port}",
         f"--autoscaling-config={config}"],
        env={**os.environ, "AUTOSCALER_UPDATE_INTERVAL_S": "1", "RAY_FAKE_CLUSTER": "1",
             "RAY_USAGE_STATS_ENABLED": "0"},
        stdin=subprocess.DEVNULL,
        stdout=log.open("w"),
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )  # fmt: skip
    try:
        wait_until(lambda: "Ray runtime started." in log.read_text(), 120)
        yield f"127.0.0.1:{port}"
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(head.pid, signal.SIGKILL)
        head.wait()


def keep(address: str, cores: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "smartharvest", "serverless", "pool", "ray", "--address", address,
         "--bundle", json.dumps(BUNDLE), "--at-least", str(cores), "--most", "3", "--expect", "2",
         "--grow-after", "0", "--every", "1s"],
        stderr=subprocess.DEVNULL,
    )  # fmt: skip


def test_a_pool_grows_to_its_threshold_and_a_second_monitor_takes_it_over(address: str) -> None:
    pool = RayPool(address, BUNDLE)
    assert pool.nodes() == {}
    assert pool.asked() == 0
    monitor = keep(address, 4)
    try:
        wait_until(lambda: list(pool.nodes().values()) == [2, 2], 400)
        assert pool.asked() == 2
    finally:
        monitor.send_signal(signal.SIGTERM)
        assert monitor.wait(30) == 0
    monitor = keep(address, 3)
    try:
        with pytest.raises(subprocess.TimeoutExpired):
            monitor.wait(10)
        pool.nodes()
        assert pool.asked() == 2  # what there is
    finally:
        monitor.send_signal(signal.SIGTERM)
        monitor.wait(30)
        pool.close()


def test_a_ray_that_is_not_there_is_an_error_and_not_the_end() -> None:
    pool = RayPool(f"127.0.0.1:{free_port()}", BUNDLE)
    with pytest.raises(EngineError, match="it does not answer"):
        pool.nodes()
    pool.close()
