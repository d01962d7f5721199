"""The Resource Monitor and a real Ray autoscaler, whose nodes are raylets on this machine."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from smartharvest.errors import EngineError
from smartharvest.serverless.keep_pool import PoolKeeper
from smartharvest.serverless.pool import PoolSettings
from smartharvest.serverless.ray_pool import RayPool
from tests.cluster.agents import free_port, wait_until

pytest.importorskip("ray", reason="Ray is not installed")
pytest.importorskip("psutil", reason="psutil is not installed")

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(600)]

HEAD_ID = "f" * 56
"""What the provider calls the head."""
CORES = 2
"""That a node of the pool promises."""
PATIENCE_S = 240.0
_COMMANDS = ("initialization", "setup", "head_setup", "worker_setup", "head_start_ray",
             "worker_start_ray")  # fmt: skip


def _configuration(address: str) -> dict[str, Any]:
    """Nodes of the pool are processes here (Ray's fake_multinode provider); all else is Ray's."""
    worker = {"resources": {"CPU": CORES, "pool": 1, "object_store_memory": 80_000_000},
              "node_config": {}, "min_workers": 0, "max_workers": 3}  # fmt: skip
    return {
        "cluster_name": "pool",
        "max_workers": 3,
        "idle_timeout_minutes": 0.05,
        "upscaling_speed": 10.0,
        "provider": {
            "type": "external",
            "module": "ray.autoscaler._private.fake_multi_node.node_provider.FakeMultiNodeProvider",
            "use_node_id_as_ip": True,
            "disable_node_updaters": True,
            "disable_launch_config_check": True,
            "launch_multiple": True,
            "head_node_id": HEAD_ID,
            "gcs_address": address,
        },
        "available_node_types": {
            "ray.head.default": {"resources": {"CPU": 0}, "node_config": {}, "max_workers": 0},
            "ray.worker.cpu": worker,
        },
        "head_node_type": "ray.head.default",
        "auth": {},
        "file_mounts": {},
        "file_mounts_sync_continuously": False,
        **{key: [] for key in ("cluster_synced_files", "rsync_exclude", "rsync_filter")},
        **{key: [] for key in (f"{when}_commands" for when in _COMMANDS)},
    }


def _children(pid: int) -> list[Any]:
    import psutil

    try:
        return list(psutil.Process(pid).children(recursive=True))
    except psutil.NoSuchProcess:
        return []


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """Of a head whose autoscaler (version 2) adds and removes nodes."""
    port = free_port()
    found = f"127.0.0.1:{port}"
    file, log = tmp_path / "autoscaling.json", tmp_path / "head.log"
    file.write_text(json.dumps(_configuration(found)))
    head = subprocess.Popen(
        [*(sys.executable, "-m", "ray.scripts.scripts", "start", "--head", "--block"),
         f"--port={port}", "--node-ip-address=127.0.0.1", "--num-cpus=0",
         "--include-dashboard=false", "--disable-usage-stats", "--object-store-memory=80000000",
         f"--temp-dir=/tmp/ray-{port}", f"--autoscaling-config={file}"],
        env={
            **os.environ,
            "AUTOSCALER_UPDATE_INTERVAL_S": "1",
            "RAY_FAKE_CLUSTER": "1",
            "RAY_enable_autoscaler_v2": "1",
            "RAY_CLOUD_INSTANCE_ID": HEAD_ID,
            "RAY_OVERRIDE_NODE_ID_FOR_TESTING": HEAD_ID,
            "RAY_USAGE_STATS_ENABLED": "0",
        },
        stdin=subprocess.DEVNULL,
        stdout=log.open("w"),
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )  # fmt: skip
    try:
        wait_until(lambda: "Ray runtime started." in log.read_text(), PATIENCE_S)
        yield found
    finally:
        # The autoscaler's raylets are in sessions of their own.
        with contextlib.suppress(ProcessLookupError):
            os.kill(head.pid, signal.SIGSTOP)  # so that it starts nothing any more
        for process in _children(head.pid):
            with contextlib.suppress(Exception):
                process.kill()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(head.pid, signal.SIGKILL)
        head.wait()


def test_the_monitor_gets_nodes_from_rays_autoscaler_and_gives_them_up(address: str) -> None:
    pool = RayPool(address, {"pool": 1})
    settings = PoolSettings(
        at_least=2 * CORES, most=3, expected=CORES, grow_after_s=0.0, settle_s=PATIENCE_S
    )
    keeper = PoolKeeper(pool, settings, dry_run=False)

    def promised(nodes: int) -> bool:
        keeper.turn(time.monotonic(), 1.0)
        try:
            return list(pool.nodes().values()) == [CORES] * nodes and pool.asked() == nodes
        except EngineError:
            return False

    try:
        assert pool.nodes() == {}
        wait_until(lambda: promised(2), PATIENCE_S)
        pool.ask(0)  # the autoscaler lets idle nodes go that nobody asks for any more
        wait_until(lambda: pool.nodes() == {}, PATIENCE_S)
        assert pool.asked() == 0
    finally:
        pool.close()
