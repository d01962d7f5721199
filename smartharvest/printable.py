"""Text of ours with names in it that others gave: groups, threads, units."""

from __future__ import annotations


def printable(text: str) -> str:
    """``text`` without what would move a terminal's cursor or cannot be written; lines stay."""
    return "".join(c if c.isprintable() or c == "\n" else "?" for c in text)
