"""Text of ours with names in it that others gave: groups, threads, units."""

from __future__ import annotations

from collections.abc import Sequence


def printable(text: str) -> str:
    """``text`` without what would move a terminal's cursor or cannot be written; lines stay."""
    return "".join(c if c.isprintable() or c == "\n" else "?" for c in text)


def told_shortly(things: Sequence[object], most: int = 5) -> str:
    """All of them in a line, or the first few and how many more there are."""
    more = len(things) - most
    told = "; ".join(map(str, things[:most]))
    return f"{told}; and {more} more" if more > 0 else told
