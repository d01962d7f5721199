"""``python -m bench.memory``: memory that a primary claims back, in a guest of the kernel lab.

Three rounds, each with an agent that lends memory, with one that lends cores only and without; and
one with idle CPUs. What runs inside is memory_inside.py. One JSON document: ``episodes``, and in
``figures`` and ``idle_figures`` medians of the rounds. The guest's time is instructions.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from bench.memory_inside import SIDES
from tests.lab import kernels
from tests.lab.boot import run
from tests.lab.image import DISK, LAB, build_disk, is_out_of_date

SECONDS, MINUTES = 2400, 60.0
FIGURES: Mapping[str, tuple[str, ...]] = {
    "the primary stood still for a MiB, P99, ms": ("stalled_ms", "p99"),
    "the primary stood still, all, ms": ("stalled_ms", "sum"),
    "a MiB of growth, median, ms": ("mib_ms", "p50"),
    "a MiB of growth, P99, ms": ("mib_ms", "p99"),
    "a MiB of growth, longest, ms": ("mib_ms", "max"),
    "of that its CPU time, P99, ms": ("cpu_ms", "p99"),
    "of that waiting for a CPU, P99, ms": ("waited_for_cpu_ms", "p99"),
    "waiting for a CPU, all, ms": ("waited_for_cpu_ms", "sum"),
    "pages that the primary scanned for room": ("meanwhile", "primary pgscan_direct"),
    "pages of the batch taken meanwhile": ("meanwhile", "batch pgsteal_direct"),
    "the primary's growth, s": ("primary_grew_s",),
    "the batch before, MiB": ("batch_mib", "before"),
    "the batch after, MiB": ("batch_mib", "after"),
    "killed": ("oom_kills",),
    "given back on a pause, MiB": ("given_back", "mib"),
    "seconds for a GiB of that": ("given_back", "gib_s"),
}


def figures_of(
    episodes: Sequence[Mapping[str, Any]], *, busy: bool = True
) -> dict[str, dict[str, list[float]]]:
    """For each figure and side, of the rounds with ``busy`` CPUs: median, least and most."""
    found: dict[str, dict[str, list[float]]] = {}
    for name, path in FIGURES.items():
        found[name] = {}
        for side in SIDES:
            chosen = (one for one in episodes if one["side"] == side and one["busy"] is busy)
            values = [value for one in chosen if (value := _at(one, path)) is not None]
            if values:
                found[name][side] = [statistics.median(values), min(values), max(values)]
    return found


def table(figures: Mapping[str, Mapping[str, Sequence[float]]]) -> str:
    """The figures as rows of Markdown: median (least to most)."""

    def cell(values: Sequence[float] | None) -> str:
        if values is None:
            return ""
        middle, least, most = values
        return f"{middle:g}" if least == most else f"{middle:g} ({least:g} to {most:g})"

    rows = ["| | memory lent | cores only | without an agent |", "|---|---|---|---|"]
    rows += [
        f"| {name} | " + " | ".join(cell(sides.get(side)) for side in SIDES) + " |"
        for name, sides in figures.items()
    ]
    return "\n".join(rows)


def _at(value: Any, path: Sequence[str]) -> float | None:
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    return None if value is None else float(value)


@click.command()
@click.option("--kernel", default="6.12", show_default=True)
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="Write it here, too.")
def main(kernel: str, out: Path | None) -> None:
    """Boots the guest, prints the document; its table goes to standard error."""
    chosen = next((one for one in kernels.unpacked(LAB) if one.name == kernel), None)
    if chosen is None or not DISK.exists():
        raise SystemExit(f"bench.memory: there is no kernel {kernel}; run make lab-image")
    if is_out_of_date():
        build_disk()
    told = run(chosen, "4", (), seconds=SECONDS, minutes=MINUTES, module="bench.memory_inside")
    episodes = list(told["slices"].values())
    document = {
        "kernel": told["kernel"],
        "complete": told["complete"],
        "episodes": episodes,
        "figures": figures_of(episodes),
        "idle_figures": figures_of(episodes, busy=False),
    }
    text = json.dumps(document, indent=1)
    if out is not None:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(text + "\n")
    click.echo(text)
    for heading in ("figures", "idle_figures"):
        click.echo(f"{table(document[heading])}\n", err=True)
    if not told["complete"]:
        raise SystemExit(f"bench.memory: the guest did not end well: {told['console'][-2000:]}")


if __name__ == "__main__":
    main()
