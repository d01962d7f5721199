"""``python -m tests.lab``: boots each kernel of the lab and tells what holds there."""

from __future__ import annotations

import argparse
import json
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.lab import kernels
from tests.lab.boot import MACHINES, not_booted, run
from tests.lab.image import DISK, LAB, build_disk, is_out_of_date
from tests.lab.kernels import Kernel
from tests.lab.matrix import as_markdown


def main() -> None:
    """Boots what was asked for; the matrix goes to standard output and to build/lab."""
    parser = argparse.ArgumentParser(prog="make lab", description=__doc__)
    parser.add_argument("--kernel", action="append", help="such as 6.1; all that were fetched")
    parser.add_argument("--cpus", action="append", choices=MACHINES)
    parser.add_argument("--tests", action="append", help="what pytest is to run inside")
    parser.add_argument("--seconds", type=int, default=1800, help="of a guest's own time")
    parser.add_argument("--minutes", type=float, default=30, help="of ours for each guest")
    parser.add_argument("--at-once", type=int, metavar="N", help="guests; as many as CPUs")
    parser.add_argument("--qmp-dir", type=Path, help="for monitors to stop and continue guests by")
    options = parser.parse_args()
    found = kernels.unpacked(LAB)
    if not DISK.exists() or not found:
        raise SystemExit("lab: there is no image; run make lab-image")
    if is_out_of_date():
        print("lab: the checkout has changed: building the disk anew", file=sys.stderr, flush=True)
        build_disk()
    chosen = [kernel for kernel in found if not options.kernel or kernel.name in options.kernel]
    results = LAB / "results"
    results.mkdir(exist_ok=True)

    def boot(kernel: Kernel, machine: str) -> bool:
        path = results / f"{kernel.name}-{machine}.json"
        try:
            document = run(
                kernel,
                machine,
                options.tests or (),
                seconds=options.seconds,
                minutes=options.minutes,
                qmp_dir=options.qmp_dir,
            )
        except (OSError, ValueError) as error:  # the other guests go on
            document = not_booted(kernel, machine, str(error))
        held = document["complete"] and all(
            test["outcome"] != "failed" for test in document["tests"].values()
        )
        if options.tests and path.exists():
            document["tests"] = json.loads(path.read_text())["tests"] | document["tests"]
        path.write_text(json.dumps(document, indent=1))
        print(f"lab: {path.relative_to(Path.cwd())}", file=sys.stderr, flush=True)
        return bool(held)

    # Each guest keeps one CPU busy.
    with ThreadPoolExecutor(options.at_once or len(os.sched_getaffinity(0))) as guests:
        machines = options.cpus or list(MACHINES)
        pairs = [(kernel, machine) for machine in machines for kernel in chosen]
        held = list(guests.map(boot, *zip(*pairs, strict=True)))
    documents = [json.loads(path.read_text()) for path in sorted(results.glob("*.json"))]
    documents = [one for one in documents if one.get("machine") in MACHINES]
    (LAB / "matrix.md").write_text(as_markdown(documents))
    print(as_markdown(documents))
    if not all(held):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
