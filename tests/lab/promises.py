"""``python -m tests.lab.promises``: how soon a waking task has its CPU, in each preemption mode.

In a guest of each of the lab's kernels, whose time is counted in instructions. RECORD has the last
answer of each kernel and mode; the page's tables are made from it.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from tests.lab import kernels
from tests.lab.boot import ONE_CACHE, run
from tests.lab.image import CHECKOUT, DISK, LAB, build_disk, is_out_of_date
from tests.lab.kernels import Kernel
from tests.lab.promises_inside import BUSY_S, BUSY_WAKES, KINDS, STRICT, WAKES
from tests.lab.strict_price import SPARES

MODULE = "tests.lab.promises_inside"
RECORD = CHECKOUT / "bench" / "results" / "promises.jsonl"
PAGE = CHECKOUT / "docs" / "research" / "kernel-lab.md"
BEGIN, END = "<!-- from bench/results/promises.jsonl -->\n", "<!-- until here -->\n"
LATE_US = 300.0
"""Later than this at the median, it waited for a tick or longer (smartharvest.host.preemption)."""
WORK = {
    "user": "A batch in user mode",
    "busy": f"The same, where the task that wakes computes for {1e3 * BUSY_S:g} ms each time",
    "read": "In long reads of /dev/zero, which look at each page whether somebody else is to run",
    "poll": "In poll(2) of 262,144 descriptors, which looks at nothing else",
}
HEADS = {
    "normal": "nothing",
    "task": "its tasks SCHED_IDLE",
    "group": "its group `cpu.idle`",
    "both": "both",
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.lab.promises", description=__doc__)
    parser.add_argument("--kernel", action="append", help="such as 6.1; all that were fetched")
    parser.add_argument("--at-once", type=int, default=2, metavar="N", help="guests")
    parser.add_argument("--minutes", type=float, default=60, help="of ours for each guest")
    parser.add_argument("--page", action="store_true", help="only write the tables into the page")
    options = parser.parse_args()
    incomplete = 0
    if not options.page:
        found = kernels.unpacked(LAB)
        if not found:
            raise SystemExit("lab: there is no image; run make lab-image")
        if not DISK.exists() or is_out_of_date():
            build_disk()
        chosen = [
            one for one in reversed(found) if not options.kernel or one.name in options.kernel
        ]

        def ask(kernel: Kernel) -> bool:
            told = run(
                kernel, ONE_CACHE, (), seconds=36_000, minutes=options.minutes, module=MODULE
            )  # fmt: skip
            prices = told["tests"].pop(STRICT, None)
            for one in told["tests"].values():
                if prices and one["default"]:
                    one[STRICT] = prices["prices"]
            _keep(kernel.name, list(told["tests"].values()))
            if not told["complete"]:
                print(f"{kernel.name}: {told['console'][-2000:]}", file=sys.stderr, flush=True)
            return bool(told["complete"])

        with ThreadPoolExecutor(options.at_once) as guests:
            incomplete = list(guests.map(ask, chosen)).count(False)
    PAGE.write_text(page_with(PAGE.read_text(), gathered()))
    return incomplete


def gathered() -> list[dict[str, Any]]:
    """The last answer of each kernel and mode, in the order of both."""
    if not RECORD.exists():
        return []
    return [json.loads(line) for line in RECORD.read_text().splitlines()]


def _keep(kernel: str, told: Sequence[Mapping[str, Any]]) -> None:
    """Instead of what that kernel told earlier in the same modes."""
    modes = [one["mode"] for one in told]
    before = [one for one in gathered() if one["kernel"] != kernel or one["mode"] not in modes]
    both = [*before, *({"kernel": kernel, **one} for one in told)]
    both.sort(key=lambda one: tuple(map(int, one["kernel"].split("."))))
    RECORD.write_text("".join(json.dumps(one) + "\n" for one in both))


def page_with(page: str, told: Sequence[Mapping[str, Any]]) -> str:
    """``page`` with the tables of ``told``."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    return before + begin + "".join(f"{line}\n" for line in _tables(told)) + end + after


def _tables(told: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for work, about in WORK.items():
        yield f"{about}:\n"
        yield "| kernel, mode | " + " | ".join(HEADS.values()) + " |"
        yield "|---" * (1 + len(HEADS)) + "|"
        for one in told:
            cells = (_cell(one["late_us"][f"{kind}, {work}"]) for kind in KINDS)
            yield f"| {_name(one)} | " + " | ".join(cells) + " |"
        yield ""
    yield "| kernel, mode | HZ | slice, ms | nobody there |"
    yield "|---" * 4 + "|"
    for one in told:
        sched = one["sched"]
        slice_ns = int(sched.get("base_slice_ns") or sched["min_granularity_ns"])
        words = [str(one["hz"]), f"{slice_ns / 1e6:.2g}", _cell(one["late_us"]["nobody"])]
        yield f"| {_name(one)} | " + " | ".join(words) + " |"
    yield f"\nMicroseconds of {WAKES} wakes ({BUSY_WAKES} that compute) at P50 and P90."
    for one in told:
        if STRICT in one:
            yield from _prices(one)


def _prices(one: Mapping[str, Any]) -> Iterator[str]:
    """What the scheduler of ``strict`` adds, of one kernel."""
    prices = one[STRICT]
    yield f"\nInstructions in the programs of `strict`, {_name(one)}, for each turn or wake:\n"
    yield "| | " + " | ".join(f"{spare} kept idle" for spare in SPARES) + " | of these in |"
    yield "|---" * (2 + len(SPARES)) + "|"
    for what in dict.fromkeys(name.rpartition(",")[0] for name in prices if "spare" in name):
        columns = [prices[f"{what}, {spare} spare"] for spare in SPARES]
        each = [
            {
                name: program["runs"] * program["mean_ns"] / column["turns"]
                for name, program in column["programs"].items()
            }
            for column in columns
        ]
        most = sorted(each[-1].items(), key=lambda pair: -pair[1])[:3]
        parts = ", ".join(f"`{name}` {ns:,.0f}" for name, ns in most if ns >= 1)
        sums = " | ".join(f"{sum(one.values()):,.0f}" for one in each)
        yield f"| {what} | {sums} | {parts} |"
    turns = [prices[f"primaries hand over, {spare} spare"]["turn"] for spare in SPARES]
    bare = prices["primaries hand over, no scheduler"]["turn"]
    yield (
        f"\nTwo normal tasks on one CPU that wake each other: {bare:,} instructions a turn without "
        f"the scheduler, {' and '.join(f'{one:,}' for one in turns)} with it."
    )


def _name(one: Mapping[str, Any]) -> str:
    return f"{one['kernel']}, {one['mode']}{' (default)' if one['default'] else ''}"


def _cell(late: Mapping[str, Mapping[str, float]]) -> str:
    return "; ".join(
        f"**{us['p50']:,.0f}**, {us['p90']:,.0f}"
        if us["p50"] > LATE_US
        else f"{us['p50']:,.0f}, {us['p90']:,.0f}"
        for us in (late["timer"], late["afar"])
    )


if __name__ == "__main__":
    sys.exit(main())
