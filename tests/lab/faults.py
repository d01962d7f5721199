"""``python -m tests.lab.faults``: the fault campaign in guests, on the kernel's own cgroup v2.

Their JSON goes to build/faults, beside that of ``make faults-all``.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tests.faults.everything import OUT
from tests.faults.report import as_markdown
from tests.lab import kernels
from tests.lab.boot import run
from tests.lab.image import DISK, LAB, build_disk, is_out_of_date
from tests.lab.kernels import Kernel

SLICES = (
    *("host,45,{},merge,shared", "host,45,{},merge,exclusive", "pid,45,{},merge,shared"),
    *("host,20,{},affinity,shared", "host,20,{},cpugroups,shared"),
)
"""Place, strikes, seed, mechanism and placement."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.lab.faults", description=__doc__)
    parser.add_argument("--kernel", action="append", help="such as 6.1; all that were fetched")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1])
    parser.add_argument("--slices", nargs="+", default=list(SLICES))
    parser.add_argument("--at-once", type=int, metavar="N", help="guests; as many as CPUs")
    parser.add_argument("--minutes", type=float, default=90, help="of ours for each guest")
    options = parser.parse_args()
    found = kernels.unpacked(LAB)
    if not found:
        raise SystemExit("lab: there is no image; run make lab-image")
    if not DISK.exists() or is_out_of_date():
        build_disk()
    OUT.mkdir(parents=True, exist_ok=True)
    chosen = [one for one in found if not options.kernel or one.name in options.kernel]
    todo = [(kernel, seed) for seed in options.seeds for kernel in chosen]

    def strike(kernel: Kernel, seed: int) -> None:
        """All slices in one guest, whose boot costs as much as a dozen strikes."""
        slices = [one.format(seed) for one in options.slices]
        left = [one for one in slices if not _is_complete(_out(kernel, one))]
        if left:
            told = run(
                kernel, "4", (), seconds=36_000, minutes=options.minutes, faults="+".join(left)
            )
            _keep(told, kernel)

    with ThreadPoolExecutor(options.at_once or len(os.sched_getaffinity(0))) as guests:
        list(guests.map(strike, *zip(*todo, strict=True)))
    results = sorted(OUT.glob("guest-*.json"))
    print(as_markdown(json.loads(path.read_text()) for path in results))
    return 0


def _out(kernel: Kernel, one: str) -> Path:
    return OUT / f"guest-{kernel.name}-{one.replace(',', '-')}.json"


def _is_complete(out: Path) -> bool:
    return out.exists() and all(one["complete"] for one in json.loads(out.read_text())["places"])


def _keep(told: Mapping[str, Any], kernel: Kernel) -> None:
    """Also what a guest has told that did not come to its end."""
    if not told["complete"]:
        print(f"{kernel.name}: {told['console'][-2000:]}", file=sys.stderr, flush=True)
    for one, result in told["slices"].items():
        struck = {**result["faults"], "complete": result["complete"]}
        struck["place"] = struck["place"].replace("this host", f"guest, {kernel.name}")
        out = _out(kernel, one)
        out.write_text(json.dumps({"places": [struck]}) + "\n")
        print(out.name, struck["kills"], struck["failed"], told["host_seconds"], flush=True)


if __name__ == "__main__":
    sys.exit(main())
