"""``python -m tests.faults.sensors``: what each sensor makes of many tasks and short-lived ones.

Held against the kernel's own account of the group (root, gcc, cpuacct or v2).
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from smartharvest.host.process.cpu_usage import ReadCpuUsage, cpu_usage_of
from smartharvest.host.target.targets import parse_target, resolve_target
from tests.commands import as_command
from tests.integration.hosts import Host
from tests.integration.processes import Processes

HERE = Path(__file__).parent
SENSORS = ("bpf", "perf", "proc")
LOADS = {
    "10,000 processes a second": (HERE.parent / "integration" / "churn.c", "10000"),
    "30 threads": (HERE / "crowd.c", "30"),
    "300 threads": (HERE / "crowd.c", "300"),
    "600 threads": (HERE / "crowd.c", "600"),
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.faults.sensors", description=__doc__)
    parser.add_argument("--seconds", type=int, default=2)
    parser.add_argument("--loads", nargs="+", choices=LOADS, default=list(LOADS))
    options = parser.parse_args()
    for name in options.loads:
        for row in _rows(name, options.seconds):
            print(json.dumps(row), flush=True)


def _rows(name: str, seconds: int) -> Iterator[dict[str, object]]:
    processes = Processes()
    source, argument = LOADS[name]
    with tempfile.TemporaryDirectory() as directory:
        host = Host(processes, Path(directory, "state"))
        try:
            web = host.make("web")
            host.charge(web)
            program = Path(directory, source.stem)
            subprocess.run(["gcc", "-O1", "-pthread", "-o", program, source], check=True)
            host.place(processes.start([str(program), argument]).pid, web)
            time.sleep(0.5)
            spec = f"cgroup:{web}"
            charge = cpu_usage_of([resolve_target(parse_target(spec, "primary"), host.tree)])
            for sensor in SENSORS:
                yield {"load": name, "sensor": sensor, **_observe(spec, sensor, seconds, charge)}
        finally:
            processes.end()
            host.remove()


def _observe(spec: str, sensor: str, seconds: int, charge: ReadCpuUsage) -> dict[str, object]:
    words = ["observe", "--primary", spec, "--sensor", sensor, "--seconds", str(seconds), "--json"]
    began_ns, before = time.monotonic_ns(), charge()
    done = subprocess.run(as_command(words), capture_output=True, text=True, check=False)
    after, took_ns = charge(), time.monotonic_ns() - began_ns
    if done.returncode or before is None or after is None:
        return {"error": (done.stderr.splitlines() or ["no account of the group"])[-1]}
    seen = json.loads(done.stdout)
    return {
        "charged_cores": round((after - before) / took_ns, 3),
        "mean_busy": round(seen["mean_busy"], 3),
        "sensor_cpu": round(seen["sensor_cpu"], 4),
    }


if __name__ == "__main__":
    main()
