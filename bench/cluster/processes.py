"""The processes of a demonstration: they end with it, whatever happens."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TypeVar

from smartharvest.errors import ConfigError, EngineError

START_S = 180.0
GRACE_S = 1.0
RAY = ["-m", "ray.scripts.scripts", "start", "--block", "--disable-usage-stats",
       "--object-store-memory=80000000", "--node-ip-address=127.0.0.1"]  # fmt: skip
Made = TypeVar("Made")
ENVIRONMENT = {**os.environ, "RAY_USAGE_STATS_ENABLED": "0"}
"""Of the children."""


def start_head(stack: ExitStack, directory: Path) -> str:
    """The address of a Ray without cores yet."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    head = ["--head", f"--port={port}", "--num-cpus=0", "--include-dashboard=false",
            f"--temp-dir={directory}/ray"]  # fmt: skip

    def answers() -> bool:
        with suppress(OSError):
            socket.create_connection(("127.0.0.1", port), 1.0).close()
            return True
        return False

    start_node(stack, head, answers)
    return f"127.0.0.1:{port}"


def start_node(
    stack: ExitStack, arguments: list[str], is_up: Callable[[], bool]
) -> subprocess.Popen[str]:
    """A node of Ray. One that is not up within half a minute gives up: it is started again."""
    until_s = time.monotonic() + START_S
    while time.monotonic() < until_s:
        node = child(stack, RAY + arguments, quiet=True)
        while node.poll() is None and time.monotonic() < until_s:
            if is_up():
                return node
            time.sleep(0.3)
    raise EngineError(f"a node of Ray is not up within {START_S:.0f} s")


def child(stack: ExitStack, arguments: list[str], *, quiet: bool = False) -> subprocess.Popen[str]:
    """In a session of its own, with all it starts, so that ctrl-C is ours to pass on."""
    process = subprocess.Popen(
        [sys.executable, *arguments],
        env=ENVIRONMENT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE if "bench.cluster.search" in arguments else subprocess.DEVNULL,
        stderr=subprocess.DEVNULL if quiet else None,
        text=True,
        start_new_session=True,
    )

    def end() -> None:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(GRACE_S + 10)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    stack.callback(end)
    return process


def patiently(make: Callable[[], Made]) -> Made:
    until_s = time.monotonic() + START_S
    while True:
        try:
            return make()
        except (EngineError, ConfigError, OSError):
            if time.monotonic() > until_s:
                raise
            time.sleep(0.3)
