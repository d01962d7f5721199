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


_NEAR = 0.05
"""Cores: a share of time that is nearer to a minimum than this reaches it."""


def _cores(number: float) -> str:
    return counted(number, "core") if isinstance(number, int) else f"{number:.2f} cores"


def below_minimum(row: Row) -> bool:
    """While the operator does not hold it."""
    cores, least = row.get("cores"), row.get("min")
    if cores is None or least is None or row.get("held"):
        return False
    return bool(cores < least - _NEAR)


def is_short(row: Row) -> bool:
    """Whether it has less than it is promised."""
    return row.get("guarantee_met") is False or below_minimum(row)


def evictions(row: Row) -> dict[str, Any] | None:
    """``notices``, ``evictions``, by whomever, and ``why`` the last was; None: it can have none."""
    seen, by_hand = row.get("eviction") or {}, row.get("operator_evictions") or 0
    if not seen and not by_hand:
        return None
    return {
        "notices": seen.get("notices", 0),
        "evictions": seen.get("evictions", 0) + by_hand,
        "why": seen.get("last_why") or "the operator asked for it",
    }


def in_words(row: Row) -> str:
    """One group's cores and what it did with them, as far as is known; without its name."""
    parts = []
    if row.get("cores") is not None:
        due = "" if row.get("due") is None else f" of {row['due']:.1f} due"
        by_time = ", shared by time" if row.get("divided_by") == "time" else ""
        parts.append(f"{_cores(row['cores'])}{due}{by_time}")
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
    if row.get("held"):
        parts.append(f"{row['held'].upper()} by the operator")
    if (count := evictions(row)) is not None and count["evictions"]:
        parts.append(f"evicted {counted(count['evictions'], 'time')}, last because {count['why']}")
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


def _stages(old: Row, row: Row) -> list[str]:
    """What evictions and the operator did to one group, in words."""
    was, now = old.get("eviction") or {}, row.get("eviction") or {}
    found = []
    if was.get("stage", "kept") != now.get("stage", "kept"):
        found.append(
            {
                "noticed": f"eviction notice, {now.get('why')}",
                "evicted": f"evicted, {now.get('why')}",
            }.get(now.get("stage", ""), "has its minimum again")
        )
    if old.get("held") != row.get("held"):
        found.append(f"{row.get('held') or 'resumed'} by the operator")
    return found


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
        if below_minimum(row) and not below_minimum(old):
            found.append(f"{name}: minimum of {row['min']} not reached")
        found += [f"{name}: {text}" for text in _stages(old, row)]
    gone = was.keys() - {row.get("name") for row in rows(now)}
    return found + [f"{name}: no elastic group any more" for name in sorted(map(str, gone))]
