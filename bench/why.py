"""``python -m bench.why``: the README's chart and table, from bench/results/real.json.

Shown are the pairs of service and batch that ran under every condition named here, all of them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

RESULTS = Path("bench/results/real.json")
CHART = Path("docs/why-not-cpu-idle.svg")

ALONE = "alone"
SHOWN = {
    "nice 19": "nice 19",
    "cpu.idle": "cpu.idle",
    "smartharvest": "the paper's policy",
    "adaptive": "SmartHarvest",
}
IN_TABLE = ("cpu.idle", "adaptive")
COLORS = {
    "nice 19": "#8a8a8a",
    "cpu.idle": "#b8590b",
    "smartharvest": "#4a6fa5",
    "adaptive": "#1f6f43",
}

PLAIN = {"digits": "inference", "regression": "training", "sort": "sorting", "build": "a build"}
"""What a reader calls the services and batches of bench.real."""

WIDTH, LEFT, RIGHT = 760, 290, 610
"""Of the picture, and where the axis begins and ends; batch work stands on the right of it."""
TICKS = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0)
"""P99 over alone, on a logarithmic axis, which has all that is shown between two of these."""
TOP, ROW, GAP = 66, 20, 14


@dataclass(frozen=True)
class Cell:
    """One condition of one pair: P99 over alone with its 95 % interval, and the batch's work."""

    ratio: float
    low: float
    high: float
    work_cores: float


Pairs = Mapping[str, tuple[float, Mapping[str, Cell]]]
"""Title of a pair -> its P99 alone in us, and a cell for each condition shown."""


def read_pairs(document: Mapping[str, Any]) -> Pairs:
    """Those that ran under all conditions shown."""
    pairs = {}
    for experiment in document["experiments"].values():
        rows = experiment.get("conditions", {})
        if all(name in rows for name in SHOWN):
            primary, batch = (experiment[side] for side in ("primary", "batch"))
            title = f"{PLAIN.get(primary, primary)} next to {PLAIN.get(batch, batch)}"
            cells = {name: _cell(rows[name]) for name in SHOWN}
            pairs[title] = rows[ALONE]["latency_us"]["p99"], cells
    return pairs


def _cell(row: Mapping[str, Any]) -> Cell:
    p99 = row["to_alone"]["p99"]
    low, high = p99["interval"]
    return Cell(p99["ratio"], low, high, row["batch_work_cores"])


def table(pairs: Pairs) -> str:
    """In Markdown: P99 over alone, its interval, and batch work."""
    lines = ["| P99; batch work | " + " | ".join(pairs) + " |"]
    lines.append("|---" * (1 + len(pairs)) + "|")
    alone = (f"{p99_us / 1000:.1f} ms; 0" for p99_us, _ in pairs.values())
    lines.append(f"| nothing | {' | '.join(alone)} |")
    for name in IN_TABLE:
        ones = (cells[name] for _, cells in pairs.values())
        texts = (f"{_ratio(one)}; {one.work_cores:.2f}" for one in ones)
        lines.append(f"| {SHOWN[name]} | {' | '.join(texts)} |")
    return "\n".join(lines)


def _ratio(cell: Cell) -> str:
    return f"{cell.ratio:.1f}× ({cell.low:.1f}–{cell.high:.1f})"


def chart(pairs: Pairs, machine: Mapping[str, Any]) -> str:
    """As SVG: a dot with its interval for each condition, the batch's work on the right."""
    height = TOP + len(pairs) * (len(SHOWN) * ROW + GAP) + 46
    ticks = _ticks(pairs)
    where = (
        f"{machine['cpu_model'].replace('(R)', '')}, {machine['cpus']} CPUs, "
        f"Linux {machine['kernel'].split('-')[0]}, {machine['date']}"
    )
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
            'font-family="sans-serif" font-size="13">',
            f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>',
            _text(20, 24, "What the service pays, and what the batch gets", size=15),
            _text(LEFT, 48, "P99, times that without a batch (95 % interval)", color="#555"),
            _text(WIDTH - 20, 48, "batch work, cores", anchor="end", color="#555"),
            *_axis(height, ticks),
            *_rows(pairs, ticks),
            _text(20, height - 12, where, color="#555", size=12),
            "</svg>\n",
        ]
    )


def _ticks(pairs: Pairs) -> Sequence[float]:
    cells = [one for _, cells in pairs.values() for one in cells.values()]
    least, most = min(one.low for one in cells), max(one.high for one in cells)
    first = max((i for i, tick in enumerate(TICKS) if tick <= least), default=0)
    last = next((i for i, tick in enumerate(TICKS) if tick >= most), len(TICKS) - 1)
    return TICKS[first : last + 1]


def _axis(height: int, ticks: Sequence[float]) -> Iterator[str]:
    bottom = height - 46
    for tick in ticks:
        x = _x(tick, ticks)
        dash = "" if tick == 1 else ' stroke-dasharray="2 4"'
        yield f'<path d="M{x:.1f} {TOP - 8}V{bottom}" stroke="#999"{dash}/>'
        yield _text(x, bottom + 16, f"{tick:g}×", anchor="middle", color="#555", size=12)


def _rows(pairs: Pairs, ticks: Sequence[float]) -> Iterator[str]:
    y = TOP + 8
    for title, (_, cells) in pairs.items():
        yield _text(20, y + ROW + 4, title)
        for name, shown in SHOWN.items():
            cell, color = cells[name], COLORS[name]
            yield _text(LEFT - 12, y + 4, shown, anchor="end", color=color)
            yield (
                f'<path d="M{_x(cell.low, ticks):.1f} {y}H{_x(cell.high, ticks):.1f}" '
                f'stroke="{color}" '
                'stroke-width="3" stroke-opacity="0.45"/>'
            )
            yield f'<circle cx="{_x(cell.ratio, ticks):.1f}" cy="{y}" r="5" fill="{color}"/>'
            yield _text(WIDTH - 20, y + 4, f"{cell.work_cores:.2f}", anchor="end", color=color)
            y += ROW
        y += GAP


def _x(ratio: float, ticks: Sequence[float]) -> float:
    least, most = ticks[0], ticks[-1]
    share = math.log(min(max(ratio, least), most) / least) / math.log(most / least)
    return LEFT + share * (RIGHT - LEFT)


def _text(
    x: float, y: float, words: str, *, anchor: str = "start", color: str = "#222", size: int = 13
) -> str:
    return (
        f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}" fill="{color}" '
        f'font-size="{size}">{words}</text>'
    )


def main() -> None:
    document = json.loads(RESULTS.read_text())
    pairs = read_pairs(document)
    CHART.write_text(chart(pairs, document["machine"]))
    print(table(pairs))


if __name__ == "__main__":
    main()
