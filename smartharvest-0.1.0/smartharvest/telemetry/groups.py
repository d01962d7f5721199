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


def names(seen: Seen) -> str:
    """Whom the cores are lent to."""
    elastic = seen["elastic"]
    return elastic if isinstance(elastic, str) else ", ".join(row["name"] for row in elastic)


def in_words(row: Row) -> str:
    """One group's cores and what it did with them; without its name."""
    parts = [f"{counted(row['cores'], 'core')} of {row['due']:.1f} due"]
    parts.append(f"{row['mean_cores']:.2f} on average")
    if row["throughput"] is not None:
        parts.append(f"{row['throughput']:.2f}/s {row['throughput_by']}")
    if row["guarantee_met"] is not None:
        parts.append("guarantee met" if row["guarantee_met"] else "guarantee NOT met")
    if row["memory_bytes"] is not None:
        parts.append(f"{row['memory_bytes'] / 2**20:.0f} MiB")
    return ", ".join(parts)
