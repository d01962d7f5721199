"""``python -m bench.memory``: memory that a primary claims back, in a guest of the kernel lab.

Three rounds, each with an agent and without; what runs inside is memory_inside.py. One JSON
document: ``episodes``, and in ``figures`` medians of the rounds. The guest's time is instructions.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from tests.lab import kernels
from tests.lab.boot import run
from tests.lab.image import DISK, LAB, build_disk, is_out_of_date

SECONDS, MINUTES = 1800, 40.0
FIGURES: Mapping[str, tuple[str, ...]] = {
    "a MiB of growth, median, ms": ("mib_ms", "p50"),
    "a MiB of growth, P99, ms": ("mib_ms", "p99"),
    "a MiB of growth, longest, ms": ("mib_ms", "max"),
    "the primary stood still, ms": ("primary_stalled_ms",),
    "the primary was off its CPU meanwhile, ms": ("off_cpu_ms",),
    "the primary's growth, s": ("primary_grew_s",),
    "the batch before, MiB": ("batch_mib", "before"),
    "the batch after, MiB": ("batch_mib", "after"),
    "killed": ("oom_kills",),
    "given back on a pause, MiB": ("given_back", "mib"),
    "seconds for a GiB of that": ("given_back", "gib_s"),
}


def figures_of(episodes: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """For each figure, of the rounds ``with`` an agent and ``without``: median, least and most."""
    found: dict[str, dict[str, Any]] = {}
    for name, path in FIGURES.items():
        found[name] = {}
        for lends, side in ((True, "with"), (False, "without")):
            values = [_at(one, path) for one in episodes if one["lends"] is lends]
            known = [value for value in values if value is not None]
            if known:
                found[name][side] = [statistics.median(known), min(known), max(known)]
    return found


def table(figures: Mapping[str, Mapping[str, Any]]) -> str:
    """The figures as rows of Markdown: median (least to most)."""

    def cell(values: Sequence[float] | None) -> str:
        if values is None:
            return ""
        middle, least, most = values
        return f"{middle:g}" if least == most else f"{middle:g} ({least:g} to {most:g})"

    rows = ["| | with an agent | without |", "|---|---|---|"]
    rows += [
        f"| {name} | {cell(sides.get('with'))} | {cell(sides.get('without'))} |"
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
    }
    text = json.dumps(document, indent=1)
    if out is not None:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(text + "\n")
    click.echo(text)
    click.echo(table(document["figures"]), err=True)
    if not told["complete"]:
        raise SystemExit(f"bench.memory: the guest did not end well: {told['console'][-2000:]}")


if __name__ == "__main__":
    main()
