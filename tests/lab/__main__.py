"""``python -m tests.lab``: boots each kernel of the lab and tells what holds there."""

from __future__ import annotations

import argparse
import itertools
import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.lab import kernels
from tests.lab.boot import MACHINES, run
from tests.lab.image import DISK, LAB
from tests.lab.kernels import Kernel
from tests.lab.matrix import as_markdown

TESTS = (
    "tests/lab",
    "tests/integration/test_agent_on_this_host.py",
    "tests/integration/test_sensor_truth.py",
)


def main() -> None:
    """Boots what was asked for; the matrix goes to standard output and to build/lab."""
    parser = argparse.ArgumentParser(prog="make lab", description=__doc__)
    parser.add_argument("--kernel", action="append", help="such as 6.1; all that were fetched")
    parser.add_argument("--cpus", action="append", type=int, choices=sorted(MACHINES))
    parser.add_argument("--tests", action="append", help="what pytest is to run inside")
    parser.add_argument("--seconds", type=int, default=600, help="of a guest's own time")
    parser.add_argument("--minutes", type=float, default=30, help="of ours for each guest")
    parser.add_argument("--at-once", type=int, metavar="N", help="guests; as many as CPUs")
    parser.add_argument("--qmp-dir", type=Path, help="for monitors to stop and continue guests by")
    options = parser.parse_args()
    found = kernels.unpacked(LAB)
    if not DISK.exists() or not found:
        raise SystemExit("lab: there is no image; run make lab-image")
    chosen = [kernel for kernel in found if not options.kernel or kernel.name in options.kernel]
    results = LAB / "results"
    results.mkdir(exist_ok=True)

    def boot(kernel: Kernel, cpus: int) -> None:
        document = run(
            kernel,
            MACHINES[cpus],
            options.tests or list(TESTS),
            seconds=options.seconds,
            minutes=options.minutes,
            qmp_dir=options.qmp_dir,
        )
        document["name"] = kernel.name
        path = results / f"{kernel.name}-{cpus}.json"
        if options.tests and path.exists():
            document["tests"] = json.loads(path.read_text())["tests"] | document["tests"]
        path.write_text(json.dumps(document, indent=1))
        print(f"lab: {path.relative_to(Path.cwd())}", flush=True)

    # Each guest keeps one CPU busy.
    with ThreadPoolExecutor(options.at_once or len(os.sched_getaffinity(0))) as guests:
        cpus = options.cpus or sorted(MACHINES)
        list(guests.map(boot, *zip(*itertools.product(chosen, cpus), strict=True)))
    documents = [json.loads(path.read_text()) for path in sorted(results.glob("*.json"))]
    (LAB / "matrix.md").write_text(as_markdown(documents))
    print(as_markdown(documents))


if __name__ == "__main__":
    main()
