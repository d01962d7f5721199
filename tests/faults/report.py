"""``python -m tests.faults.report FILE ...``: the tables of some campaigns' results."""

from __future__ import annotations

import json
import statistics
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

Document = Mapping[str, Any]
_SINCE_RENAMED = {
    "kill beside a stopped guardian": "kill while the guardian is stopped",
    "kill beside a writer": "kill while somebody else writes",
}
"""Faults that older results call otherwise."""


def as_markdown(documents: Iterable[Document]) -> str:
    """Strikes by place and placement, and by fault how soon all was back."""
    places = [place for document in documents for place in document["places"]]
    return "\n".join([*_by_place(places), "", *_by_fault(places), ""])


def _by_place(places: Sequence[Mapping[str, Any]]) -> list[str]:
    rows: dict[str, Counter[str]] = defaultdict(Counter)
    for place in places:
        row = rows[place["place"]]
        row["strikes"] += place["kills"]
        row["failed"] += sum(place["failed"].values())
        for name in ("refusals", "pinned_by_strangers", "born_meanwhile"):
            row[name] += place[name]
        for name, count in place["placements"].items():
            row[name] += count
    lines = [
        "| place, what moves the cores | strikes | shared / exclusive | failed "
        "| born meanwhile | pinned by strangers | refusals asked for |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, row in rows.items():
        lines.append(
            f"| {name} | {row['strikes']:,} | {row['shared']} / {row['exclusive']} "
            f"| {row['failed']} | {row['born_meanwhile']} | {row['pinned_by_strangers']} "
            f"| {row['refusals']} |"
        )
    total = sum(row["strikes"] for row in rows.values())
    failed = sum(row["failed"] for row in rows.values())
    return [*lines, f"| all | {total:,} | | {failed} | | | |"]


def _by_fault(places: Sequence[Mapping[str, Any]]) -> list[str]:
    struck: Counter[str] = Counter()
    failed: Counter[str] = Counter()
    took: dict[str, dict[str, list[float]]] = {"cores_back_ms": {}, "restored_ms": {}}
    for place in places:
        struck.update(_by_new_names(place["struck"]))
        failed.update(_by_new_names(place["failed"]))
        for what, by_fault in took.items():
            for name, values in _by_new_names(place[what]).items():
                by_fault.setdefault(name, []).extend(values)
    lines = [
        "| fault | strikes | failed | cores back, ms: P50 / P99 / longest (of) "
        "| all back, ms: P50 / P99 / longest (of) |",
        "|---|---|---|---|---|",
    ]
    for name in sorted(struck, key=lambda one: -struck[one]):
        times = " | ".join(_quantiles(by_fault.get(name, [])) for by_fault in took.values())
        lines.append(f"| {name} | {struck[name]:,} | {failed[name]} | {times} |")
    return lines


def _by_new_names(by_fault: Mapping[str, Any]) -> dict[str, Any]:
    return {_SINCE_RENAMED.get(name, name): value for name, value in by_fault.items()}


def _quantiles(values: Sequence[float]) -> str:
    if not values:
        return ""
    ordered = sorted(values)
    p99 = ordered[min(len(ordered) - 1, int(0.99 * len(ordered)))]
    return f"{statistics.median(ordered):,.0f} / {p99:,.0f} / {ordered[-1]:,.0f} ({len(ordered):,})"


if __name__ == "__main__":
    print(as_markdown(json.loads(Path(path).read_text()) for path in sys.argv[1:]))
