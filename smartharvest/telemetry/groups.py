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
    cores, least = row.get("cores"), row.get("min")
    return row.get("guarantee_met") is False or (
        cores is not None and least is not None and cores < least
    )


def in_words(row: Row) -> str:
    """One group's cores and what it did with them, as far as is known; without its name."""
    parts = []
    if row.get("cores") is not None:
        due = "" if row.get("due") is None else f" of {row['due']:.1f} due"
        parts.append(f"{counted(row['cores'], 'core')}{due}")
        if row["cores"] < (row.get("min") or 0):
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
        parts.append(f"{row['memory_bytes'] / 2**20:.0f} MiB{_of_limit(row.get('memory'))}")
    return ", ".join(parts)


def _of_limit(memory: Row | None) -> str:
    """What it may hold, and whether it is to give some back."""
    if not memory:
        return ""
    limit = memory.get("limit_bytes")
    most = "" if limit is None else f" of {limit / 2**20:.0f}"
    if memory.get("trouble"):
        return f"{most} (memory left alone)"
    return f"{most}{' (giving back)' if memory.get('taking_back') else ''}"


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
