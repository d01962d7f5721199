"""A real Ray of three nodes on loopback, each with an agent, and Ray Serve on top."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from smartharvest.serverless.node_report import CAPACITY_VARIABLE, NOTICE_FILE
from tests.cluster.agents import AgentProcess, free_port, wait_until

_START = (
    *(sys.executable, "-m", "ray.scripts.scripts", "start", "--block", "--disable-usage-stats"),
    *("--object-store-memory=80000000", "--node-ip-address=127.0.0.1", "--num-cpus=4"),
    "--dashboard-agent-listen-port=0",
)
_PATIENCE_S = 240.0
_RUNS = "Ray runtime started."
NODES = ("n0", "n1", "n2")
"""The first is the head."""


class ServeCluster:
    """Started by ``serve_cluster``."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.address = f"127.0.0.1:{free_port()}"
        self.agents: dict[str, AgentProcess] = {}
        self._raylets: list[subprocess.Popen[bytes]] = []

    def start(self) -> None:
        import ray

        port = self.address.rpartition(":")[2]
        head = ("--head", f"--port={port}", "--include-dashboard=false",
                f"--temp-dir={self.directory}/ray")  # fmt: skip
        for number, name in enumerate(NODES):
            os.mkdir(self.directory / name)
            self.start_agent(name)
            # One after the other: two at once may take the same port.
            self._start_node(name, head if number == 0 else (f"--address={self.address}",))
            if number == 0:
                ray.init(self.address, logging_level="ERROR", log_to_driver=False)
            wait_until(lambda: len(self._alive()) == number + 1, _PATIENCE_S)  # noqa: B023

    def _start_node(self, name: str, join: tuple[str, ...]) -> None:
        """A raylet that is not up within half a minute gives up: it is started again."""
        log = self.directory / f"{name}.log"
        until_s = time.monotonic() + _PATIENCE_S
        while time.monotonic() < until_s:
            raylet = subprocess.Popen(
                [*_START, *join, f"--node-name={name}"],
                env={
                    **os.environ,
                    CAPACITY_VARIABLE: str(self.directory / name),
                    "RAY_USAGE_STATS_ENABLED": "0",
                },
                stdin=subprocess.DEVNULL,
                stdout=log.open("w"),
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            self._raylets.append(raylet)
            while raylet.poll() is None:
                if _RUNS in log.read_text():
                    return
                time.sleep(0.1)
        raise AssertionError(log.read_text())

    def _alive(self) -> list[Any]:
        import ray

        return [node for node in ray.nodes() if node["Alive"]]

    def start_agent(self, name: str, cores: int = 2) -> None:
        self.agents[name] = AgentProcess(str(self.directory / name), 1)
        self.agents[name].offer(cores)

    def offer(self, *cores: int) -> None:
        """What each node has from now on."""
        for agent, count in zip(self.agents.values(), cores, strict=True):
            agent.offer(count)

    def notice(self, name: str) -> Path:
        """The file that says that the node will be evicted, not written yet."""
        return self.directory / name / NOTICE_FILE

    def stop(self) -> None:
        import ray
        from ray import serve

        if ray.is_initialized():  # else both would start a Ray of their own, and leave a token
            with contextlib.suppress(Exception):
                serve.shutdown()
            with contextlib.suppress(Exception):
                ray.shutdown()
        for raylet in self._raylets:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(raylet.pid, signal.SIGKILL)
            raylet.wait()
        for agent in self.agents.values():
            agent.kill()


@contextlib.contextmanager
def serve_cluster() -> Iterator[ServeCluster]:
    with tempfile.TemporaryDirectory(prefix="sh-", ignore_cleanup_errors=True) as directory:
        made = ServeCluster(Path(directory))
        try:
            made.start()
            yield made
        finally:
            made.stop()
