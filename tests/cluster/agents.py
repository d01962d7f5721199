"""Agents whose capacity the test sets: in this process, or as one that can be killed.

``python -m tests.cluster.agents STATE_DIR GUARANTEED`` is such a process; each line of its input is
the capacity from then on.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from smartharvest.telemetry.client import socket_path
from smartharvest.telemetry.server import ControlSocket
from tests.served import served


class MadeAgent:
    """``cores`` are there and promised; ``guaranteed`` always."""

    def __init__(self, guaranteed: int) -> None:
        self.guaranteed = self.cores = guaranteed
        self.groups: list[dict[str, Any]] = []

    def capacity(self) -> dict[str, Any]:
        cores = {"now": self.cores, "promised": self.cores, "guaranteed": self.guaranteed}
        return {"cores": {**cores, "most": 8}, "groups": self.groups}


class AgentProcess:
    """A MadeAgent in a process of its own."""

    def __init__(self, state_dir: str, guaranteed: int) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.cluster.agents", state_dir, str(guaranteed)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == "answers\n"

    def offer(self, cores: int) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{cores}\n")
        self.process.stdin.flush()

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()


@contextmanager
def made_agent(state_dir: str, guaranteed: int = 1) -> Iterator[MadeAgent]:
    """Answers ``capacity`` in ``state_dir`` from a thread until the end."""
    agent = MadeAgent(guaranteed)
    control = ControlSocket(
        socket_path(state_dir, os.getpid()), {"capacity": lambda _arguments: agent.capacity()}
    )
    with served(control):
        yield agent


@contextmanager
def agent_process(state_dir: str, guaranteed: int = 1) -> Iterator[AgentProcess]:
    agent = AgentProcess(state_dir, guaranteed)
    try:
        yield agent
    finally:
        agent.kill()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def wait_until(what: Callable[[], bool], seconds: float = 90.0) -> None:
    """Raises AssertionError if it does not come true in time."""
    until_s = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < until_s, "it never came true"
        time.sleep(0.05)


if __name__ == "__main__":
    with made_agent(sys.argv[1], int(sys.argv[2])) as answering:
        print("answers", flush=True)
        for line in sys.stdin:
            answering.cores = int(line)
