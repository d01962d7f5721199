"""``python -m tests.lab.faults``: the fault campaign in guests, on the kernel's own cgroup v2.

What a guest has told is added to RECORD, also if it did not come to its end: so strikes are
gathered over days and machines. The page's tables are made from that.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from tests.faults.report import as_markdown
from tests.lab import kernels
from tests.lab.boot import run
from tests.lab.image import CHECKOUT, DISK, LAB, build_disk, is_out_of_date
from tests.lab.kernels import Kernel

RECORD = CHECKOUT / "bench" / "results" / "guest-strikes.jsonl"
PAGE = CHECKOUT / "docs" / "research" / "faults.md"
BEGIN, END = "<!-- from bench/results/guest-strikes.jsonl -->\n", "<!-- until here -->\n"
SLICES = (
    *("host,merge,shared", "host,merge,exclusive", "pid,merge,shared", "host,affinity,shared"),
    *("groups,merge,shared", "memory,merge,shared"),
)
"""Place, mechanism and placement."""
STRICT = "host,strict,shared"
"""Where the kernel has a scheduler class of our own (sched_ext with groups)."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.lab.faults", description=__doc__)
    parser.add_argument("--kernel", action="append", help="such as 6.1; all that were fetched")
    parser.add_argument("--slices", nargs="+", default=[], metavar="PLACE,MECHANISM,PLACEMENT")
    parser.add_argument("--strikes", type=int, default=12, help="of a slice at a time")
    parser.add_argument("--times", type=int, default=4, help="each slice so often, in turn")
    parser.add_argument("--at-once", type=int, metavar="N", help="guests; as many as CPUs")
    parser.add_argument("--minutes", type=float, default=90, help="of ours for each guest")
    parser.add_argument("--page", action="store_true", help="only write the tables into the page")
    options = parser.parse_args()
    if not options.page:
        _strike(options)
    PAGE.write_text(page_with(PAGE.read_text(), gathered()))
    return int(any(one["failures"] for one in gathered()))


def _strike(options: argparse.Namespace) -> None:
    """In a guest of each kernel, whose boot costs as much as a dozen strikes."""
    found = kernels.unpacked(LAB)
    if not found:
        raise SystemExit("lab: there is no image; run make lab-image")
    if not DISK.exists() or is_out_of_date():
        build_disk()
    before, commit = gathered(), _commit()

    def strike(kernel: Kernel) -> None:
        slices = options.slices or (*SLICES, *([STRICT] if kernel.name >= "7" else []))
        asked = next_slices(before, kernel.name, slices, options.strikes, options.times)
        told = run(kernel, "4", (), seconds=36_000, minutes=options.minutes, faults="+".join(asked))
        if not told["complete"]:
            print(f"{kernel.name}: {told['console'][-2000:]}", file=sys.stderr, flush=True)
        _keep(told, kernel, commit)

    chosen = [one for one in found if not options.kernel or one.name in options.kernel]
    with ThreadPoolExecutor(options.at_once or len(os.sched_getaffinity(0))) as guests:
        list(guests.map(strike, chosen))


def next_slices(
    before: Iterable[Mapping[str, Any]],
    kernel: str,
    slices: Sequence[str],
    strikes: int,
    times: int,
) -> list[str]:
    """What a guest is asked for (inside.py): each slice so often, with seeds that none has had.

    From one seed every slice would draw the same faults.
    """
    had = Counter((one["kernel"], one["slice"]) for one in before)
    asked = []
    for one in (*slices,) * times:
        had[kernel, one] += 1
        seed = zlib.crc32(f"{kernel},{one},{had[kernel, one]}".encode())
        place, mechanism, placement = one.split(",")
        asked.append(f"{place},{strikes},{seed},{mechanism},{placement}")
    return asked


def gathered() -> list[dict[str, Any]]:
    """All that guests have told so far, a slice each."""
    if not RECORD.exists():
        return []
    return [json.loads(line) for line in RECORD.read_text().splitlines()]


def _commit() -> str:
    asked = ["git", "-C", str(CHECKOUT), "rev-parse", "--short", "HEAD"]
    return subprocess.check_output(asked, text=True).strip()


def _keep(told: Mapping[str, Any], kernel: Kernel, commit: str) -> None:
    with RECORD.open("a") as record:
        for asked, result in told["slices"].items():
            place, _, seed, mechanism, placement = asked.split(",")
            struck = {
                "kernel": kernel.name,
                "slice": f"{place},{mechanism},{placement}",
                "seed": int(seed),
                "commit": commit,
                **result["faults"],
                "complete": result["complete"],
            }
            struck["place"] = struck["place"].replace("this host", f"guest, {kernel.name}")
            record.write(json.dumps(struck) + "\n")
            print(asked, struck["kills"], struck["failed"], flush=True)


def page_with(page: str, strikes: Sequence[Mapping[str, Any]]) -> str:
    """``page`` with the tables of ``strikes``."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    return before + begin + as_markdown([{"places": strikes}]) + end + after


if __name__ == "__main__":
    sys.exit(main())
