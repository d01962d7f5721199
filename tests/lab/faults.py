"""``python -m tests.lab.faults``: the fault campaign in guests, on the kernel's own cgroup v2.

Their JSON goes to build/faults, beside that of ``make faults-all``.
"""

from __future__ import annotations

import argparse
import json
import sys

from tests.faults.everything import OUT
from tests.faults.report import as_markdown
from tests.lab import kernels
from tests.lab.boot import run
from tests.lab.image import DISK, LAB, build_disk, is_out_of_date

SLICES = (
    *("host,30,{},merge,shared", "host,30,{},merge,exclusive", "pid,30,{},merge,shared"),
    *("host,20,{},affinity,shared", "host,20,{},cpugroups,shared"),
)
"""Place, strikes, seed, mechanism and placement of one guest each."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.lab.faults", description=__doc__)
    parser.add_argument("--kernel", action="append", help="such as 6.1; all that were fetched")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--slices", nargs="+", default=list(SLICES))
    parser.add_argument("--minutes", type=float, default=30, help="of ours for each guest")
    options = parser.parse_args()
    found = kernels.unpacked(LAB)
    if not found:
        raise SystemExit("lab: there is no image; run make lab-image")
    if not DISK.exists() or is_out_of_date():
        build_disk()
    OUT.mkdir(parents=True, exist_ok=True)
    written = []
    for seed in options.seeds:
        for kernel in found:
            if options.kernel and kernel.name not in options.kernel:
                continue
            for one in options.slices:
                faults = one.format(seed)
                out = OUT / f"guest-{kernel.name}-{faults.replace(',', '-')}.json"
                written.append(out)
                if out.exists():
                    continue
                told = run(kernel, "4", (), seconds=7200, minutes=options.minutes, faults=faults)
                struck = told.get("faults")
                if struck is None:
                    print(f"{out.name}: {told['console'][-2000:]}", file=sys.stderr, flush=True)
                    continue
                struck["place"] = struck["place"].replace("this host", f"guest, {kernel.name}")
                struck["complete"] = told["complete"]
                out.write_text(json.dumps({"seed": seed, "places": [struck]}) + "\n")
                print(out.name, struck["kills"], struck["failed"], told["host_seconds"], flush=True)
    print(as_markdown(json.loads(path.read_text()) for path in written if path.exists()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
