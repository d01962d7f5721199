"""``python -m tests.faults.hang``: how soon a stopped agent's cores come back (root)."""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import tempfile
import time
from pathlib import Path

from smartharvest.host.cpulist import parse_cpulist
from smartharvest.host.tasks import charged_ticks
from tests.faults.campaign import quantiles
from tests.integration.hosts import Host
from tests.integration.processes import Processes, wait_until


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.faults.hang", description=__doc__)
    parser.add_argument("--hangs", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    numbers, processes = random.Random(options.seed), Processes()
    with tempfile.TemporaryDirectory() as state:
        host = Host(processes, Path(state, "state"))
        try:
            print(json.dumps(_measure(host, processes, options.hangs, numbers)))
        finally:
            processes.end()
            host.remove()


def _measure(
    host: Host, processes: Processes, hangs: int, numbers: random.Random
) -> dict[str, object]:
    host.populate()
    os.kill(host.spinner, signal.SIGSTOP)  # an idle primary lends all it may
    path = host.batch.cpus_file
    agent = processes.agent(*host.state, *host.targets, "--policy", "fixed-buffer:1")
    files = host.tree.files

    def lent() -> bool:
        return len(parse_cpulist(files.read(path))) == len(widest)

    whole = host.tree.online_cpus()
    agent.wait_until(lambda: parse_cpulist(files.read(path)) != whole)
    time.sleep(1.0)
    widest = parse_cpulist(files.read(path))
    guardian = int(Path(f"/proc/{agent.pid}/task/{agent.pid}/children").read_text().split()[0])
    ticks, began_s = charged_ticks(guardian) or 0, time.monotonic()
    time.sleep(5.0)
    idle_share = (
        ((charged_ticks(guardian) or 0) - ticks)
        / os.sysconf("SC_CLK_TCK")
        / (time.monotonic() - began_s)
    )
    took_ms = []
    for _ in range(hangs):
        wait_until(lent)
        time.sleep(numbers.uniform(0.05, 0.2))
        os.kill(agent.pid, signal.SIGSTOP)
        stopped_s = time.monotonic()
        while lent() and time.monotonic() - stopped_s < 1:
            time.sleep(0.0005)
        took_ms.append((time.monotonic() - stopped_s) * 1e3)
        os.kill(agent.pid, signal.SIGCONT)
    agent.send(signal.SIGTERM)
    return {"hang_to_shrunk_ms": quantiles(took_ms), "guardian_core_share": round(idle_share, 4)}


if __name__ == "__main__":
    main()
