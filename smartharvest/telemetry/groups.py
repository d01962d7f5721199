"""The elastic groups of a status document, in words and as metrics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from smartharvest.printable import counted

Row = dict[str, Any]
Seen = Mapping[str, Any]


def rows(seen: Seen) -> list[Row]:
    """A row for each group; none of an agent of an earlier release, which has their name only."""
    elastic = seen["elastic"]
    return [] if isinstance(elastic, str) else list(elastic)


MOST_NAMED = 4


def names(seen: Seen) -> str:
    """Whom the cores are lent to: all names of a few groups, the first of many."""
    elastic = seen["elastic"]
    if isinstance(elastic, str):
        return elastic
    named = [str(row.get("name", "?")) for row in elastic]
    hidden = len(named) - MOST_NAMED
    more = f" and {hidden} more" if hidden > 0 else ""
    return ", ".join(named[:MOST_NAMED]) + more


def is_short(row: Row) -> bool:
    """Whether it has less than it is promised."""
    return row.get("guarantee_met") is False or below_minimum(row)


def below_minimum(row: Row) -> bool:
    """Whether it has fewer cores than its minimum."""
    return row.get("cores") is not None and row["cores"] < (row.get("min") or 0)


def in_words(row: Row) -> str:
    """One group's cores and what it did with them, as far as is known; without its name."""
    parts = []
    if row.get("cores") is not None:
        due = "" if row.get("due") is None else f" of {row['due']:.1f} due"
        parts.append(f"{counted(row['cores'], 'core')}{due}")
        if below_minimum(row):
            parts.append(f"minimum {row['min']} NOT reached")
    if row.get("guarantee_met") is not None:
        parts.append("guarantee met" if row["guarantee_met"] else "guarantee NOT met")
    if row.get("mean_cores") is not None:
        parts.append(f"{row['mean_cores']:.2f} on average")
    if row.get("throughput") is not None:
        by = row.get("throughput_by")
        parts.append(f"{row['throughput']:.2f}/s{f' {by}' if by else ''}")
    if (eviction := row.get("eviction")) and eviction["stage"] != "kept":
        left = eviction["left_s"]
        parts.append(f"evicted in {left:.0f} s" if left else "EVICTED")
    if row.get("memory_bytes") is not None:
        parts.append(f"{row['memory_bytes'] / 2**20:.0f} MiB")
    return ", ".join(parts)


def changes(before: Seen, now: Seen) -> list[str]:
    """What happened to each of several groups between two documents, in words."""
    was = {row.get("name"): row for row in rows(before)}
    if len(rows(now)) < 2:
        return []
    found = []
    for row in rows(now):
        name, old = row.get("name"), was.get(row.get("name"))
        if old is None:
            found.append(f"{name}: a new elastic group")
            continue
        if old.get("guarantee_met") != row.get("guarantee_met") and row.get("guarantee_met") in (
            True,
            False,
        ):
            found.append(f"{name}: guarantee {'met' if row['guarantee_met'] else 'violated'}")
        least = row.get("min") or 0
        if (row.get("cores") or 0) < least <= (old.get("cores") or 0):
            found.append(f"{name}: minimum of {least} not reached")
    gone = was.keys() - {row.get("name") for row in rows(now)}
    return found + [f"{name}: no elastic group any more" for name in sorted(map(str, gone))]
