"""Text for users, with names in it that come from elsewhere: groups, threads, units."""

from __future__ import annotations

from collections.abc import Sequence


def printable(text: str) -> str:
    """``text`` without characters that move a cursor or have no encoding; lines stay."""
    return "".join(c if c.isprintable() or c == "\n" else "?" for c in text)


def counted(number: int, noun: str) -> str:
    """``1 core``, ``2 cores``."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def shortened(things: Sequence[object], most: int = 5) -> str:
    """All of them in a line, or the first few and how many more there are."""
    more = len(things) - most
    text = "; ".join(map(str, things[:most]))
    return f"{text}; and {more} more" if more > 0 else text
