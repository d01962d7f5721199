"""Two real Ray nodes, one for each of two elastic groups of a real agent, called by their names.

The agent's host is a made one of eight CPUs: what it lends is the same whatever runs here.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from smartharvest.cluster.ray_node import RayNode
from smartharvest.cluster.source import NoCapacity, from_socket
from smartharvest.errors import EngineError
from tests.cluster.agents import free_port, wait_until
from tests.commands import as_command, smartharvest_here
from tests.integration.processes import Processes
from tests.integration.test_several_groups import world_of_groups
from tests.integration.worlds import World

pytest.importorskip("ray", reason="Ray is not installed")
pytest.importorskip("psutil", reason="psutil is not installed")

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(400)]

NAMES = ("analytics", "builds")
PATIENCE_S = 120.0
START = (
    *(sys.executable, "-m", "ray.scripts.scripts", "start", "--block", "--disable-usage-stats"),
    *("--object-store-memory=80000000", "--node-ip-address=127.0.0.1", "--num-cpus=1"),
    "--dashboard-agent-listen-port=0",
)
TASKS = 9
WORK = f"""
import os, sys, time, ray
address, done = sys.argv[1:]
ray.init(address=address, logging_level="ERROR", log_to_driver=False)
@ray.remote(num_cpus=1, scheduling_strategy="SPREAD", max_retries=-1)
def work(number):
    while not os.path.exists(done):
        time.sleep(0.05)
    return number
print("sum", sum(ray.get([work.remote(number) for number in range({TASKS})])))
"""


def _start_node(log: Path, name: str, *join: str) -> subprocess.Popen[bytes]:
    process = subprocess.Popen(
        [*START, *join, f"--node-name={name}"],
        env={**os.environ, "RAY_USAGE_STATS_ENABLED": "0"},
        stdin=subprocess.DEVNULL,
        stdout=log.open("w"),
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    wait_until(
        lambda: process.poll() is not None or "Ray runtime started." in log.read_text(), PATIENCE_S
    )
    assert process.poll() is None, log.read_text()
    return process


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """Of a Ray whose nodes are called as the groups are."""
    port = free_port()
    joins = (
        ("--head", f"--port={port}", "--include-dashboard=false"),
        (f"--address=127.0.0.1:{port}",),
    )
    started: list[subprocess.Popen[bytes]] = []
    with tempfile.TemporaryDirectory(prefix="sh-", ignore_cleanup_errors=True) as directory:
        try:
            for name, join in zip(NAMES, joins, strict=True):
                more = (f"--temp-dir={directory}/ray",) if name == NAMES[0] else ()
                started.append(_start_node(tmp_path / f"{name}.log", name, *join, *more))
            yield f"127.0.0.1:{port}"
        finally:
            for process in started:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()


@pytest.fixture
def world(tmp_path: Path) -> World:
    return world_of_groups(tmp_path, 2)


@pytest.fixture
def agent(world: World, tmp_path: Path) -> Iterator[None]:
    config = tmp_path / "agent.toml"
    tables = (f'[[elastic]]\nname = "{name}"\ntarget = "cgroup:batch/{name}"\n' for name in NAMES)
    config.write_text("\n".join(tables))
    processes = Processes()
    try:
        running = processes.agent(
            *world.arguments, "--primary", "cgroup:web", "--policy", "fixed-buffer:1",
            "--config", str(config),
        )  # fmt: skip
        running.wait_until(lambda: divided(world))
        yield
        assert running.send(signal.SIGTERM).code == 0
    finally:
        processes.end()


def cores(world: World) -> dict[str, int]:
    """What the agent says is there for each group now; nothing before it answers."""
    try:
        groups = from_socket(str(world.state_dir), None)()["groups"]
    except NoCapacity:
        return {}
    return {one["name"]: one["cores"]["now"] for one in groups}


def divided(world: World) -> bool:
    """Of seven cores both have three or more; whether the last is of one or shared is no matter."""
    return min(cores(world).values(), default=0) >= 3


@pytest.mark.usefixtures("agent")
def test_each_node_follows_the_group_of_its_name_and_a_pause_moves_the_work_to_the_other(
    world: World, address: str, tmp_path: Path
) -> None:
    done = tmp_path / "done"
    adapters = [
        subprocess.Popen(
            as_command(
                ("adapter", "ray", "--address", address, "--node", name, "--group", name,
                 "--follow", "now", "--every", "200ms", "--grow-after", "100ms",
                 "--grace", "500ms", "--state-dir", str(world.state_dir))
            ),
            start_new_session=True,
        )
        for name in NAMES
    ]  # fmt: skip
    nodes = {name: RayNode(address, name) for name in NAMES}
    driver = subprocess.Popen(
        [sys.executable, "-c", WORK, address, str(done)],
        env={**os.environ, "RAY_USAGE_STATS_ENABLED": "0"},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )

    def command(name: str) -> None:
        state = ("--state-dir", str(world.state_dir))
        assert smartharvest_here(name, "--group", "builds", *state).code == 0

    def follow(wanted: Callable[[], dict[str, int]]) -> None:
        """Until both nodes have, and use, as many."""

        def reached() -> bool:
            now = wanted()
            with contextlib.suppress(EngineError):
                return all(
                    (node.verify(), node.in_use()) == (now[name], now[name])
                    for name, node in nodes.items()
                )
            return False

        wait_until(reached, PATIENCE_S)

    try:
        follow(lambda: cores(world))
        command("pause")
        follow(lambda: {"analytics": 7, "builds": 0})
        command("resume")
        wait_until(lambda: divided(world))
        follow(lambda: cores(world))
        done.touch()
        said, _ = driver.communicate(timeout=PATIENCE_S)
    finally:
        driver.kill()
        driver.wait()
        for adapter in adapters:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(adapter.pid, signal.SIGKILL)
            adapter.wait()
        for node in nodes.values():
            node.close()
    assert f"sum {sum(range(TASKS))}" in said  # among Ray's own messages
