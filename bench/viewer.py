"""What a viewer of the page costs: CPU time of the agent and of the page's server, in turns.

    python -m bench.viewer [--seconds 60] [--rounds 2]

An agent lends one process's CPUs to another on this host (root). In turns nobody looks and one
viewer reads the stream of events; every figure is from the kernel's accounts of CPU time.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

SERVICE = "while sleep 0.02; do timeout 0.005 sh -c 'while :; do :; done'; done"
BATCH = "while :; do :; done"
SETTLES_S = 5.0


def cpu_seconds(pid: int) -> float:
    """CPU time of the threads of ``pid`` that live, with the scheduler's resolution."""
    return sum(
        int((task / "schedstat").read_text().split()[0]) / 1e9
        for task in Path(f"/proc/{pid}/task").iterdir()
    )


def page_of(agent: int) -> int:
    """The pid of the page's server."""
    for child in Path(f"/proc/{agent}/task/{agent}/children").read_text().split():
        if b"telemetry.web" in Path(f"/proc/{child}/cmdline").read_bytes():
            return int(child)
    raise SystemExit("the agent has no page")


@contextmanager
def watched(address: str) -> Iterator[list[int]]:
    """One viewer; how many bytes it has read stands in the list."""
    read = [0]
    ended = threading.Event()

    def look() -> None:
        with urllib.request.urlopen(f"http://{address}/events", timeout=30) as events:
            while not ended.is_set() and (line := events.readline()):
                read[0] += len(line)

    viewer = threading.Thread(target=look)
    viewer.start()
    try:
        yield read
    finally:
        ended.set()
        viewer.join()


def cost(agent: int, page: int, seconds: float) -> dict[str, float]:
    """Percent of a core that each of the two takes."""
    time.sleep(SETTLES_S)
    before, began_s = (cpu_seconds(agent), cpu_seconds(page)), time.monotonic()
    time.sleep(seconds)
    took_s = time.monotonic() - began_s
    after = cpu_seconds(agent), cpu_seconds(page)
    agent_took, page_took = (
        100 * (end - start) / took_s for start, end in zip(before, after, strict=True)
    )
    return {"agent": round(agent_took, 3), "page": round(page_took, 3)}


def free_address() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{probe.getsockname()[1]}"


def measure(seconds: float, rounds: int) -> dict[str, Any]:
    address = free_address()
    loads = [
        subprocess.Popen(["nice", "sh", "-c", what], start_new_session=True)
        for what in (SERVICE, BATCH)
    ]
    agent = None
    alone, looked_at, read = [], [], 0
    try:
        with tempfile.TemporaryDirectory() as state:
            service, batch = loads
            agent = subprocess.Popen(
                [sys.executable, "-P", "-m", "smartharvest", "agent", "--state-dir", state,
                 "--primary", f"pid:{service.pid}", "--elastic", f"pid:{batch.pid}",
                 "--web", address, "--model", "off"]
            )  # fmt: skip
            until_s = time.monotonic() + 60
            while not _answers(address):
                if agent.poll() is not None or time.monotonic() > until_s:
                    raise SystemExit("the agent serves no page")
                time.sleep(0.1)
            page = page_of(agent.pid)
            for _ in range(rounds):
                alone.append(cost(agent.pid, page, seconds))
                with watched(address) as bytes_read:
                    looked_at.append(cost(agent.pid, page, seconds))
                read += bytes_read[0]
            agent.terminate()
            agent.wait()
    finally:
        for process in filter(None, (agent, *loads)):
            if process.poll() is None:
                os.kill(process.pid, 15)
                process.wait()
    return {
        "seconds": seconds,
        "without": alone,
        "with_one": looked_at,
        "more": {
            part: round(
                statistics.mean(one[part] for one in looked_at)
                - statistics.mean(one[part] for one in alone),
                3,
            )
            for part in ("agent", "page")
        },
        "bytes_read": read,
    }


def _answers(address: str) -> bool:
    try:
        with urllib.request.urlopen(f"http://{address}/healthz", timeout=5):
            return True
    except OSError:
        return False


def main() -> None:
    parser = argparse.ArgumentParser(prog="make bench-viewer")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--rounds", type=int, default=2)
    options = parser.parse_args()
    print(json.dumps(measure(options.seconds, options.rounds), indent=2))


if __name__ == "__main__":
    main()
