"""Text for users, with names in it that come from elsewhere: groups, threads, units."""

from __future__ import annotations

import os
import select
import shlex
from collections.abc import Sequence

_AT_ONCE_BYTES = select.PIPE_BUF
"""What a pipe takes whole once poll(2) says that it takes anything."""


def printable(text: str) -> str:
    """``text`` without characters that move a cursor or have no encoding; lines stay."""
    return "".join(c if c.isprintable() or c == "\n" else "?" for c in text)


def one_line(text: str) -> str:
    """The same in one line: a name must not add lines of its own to a log."""
    return printable(text.replace("\n", "?"))


def quoted(name: str) -> str:
    """``name`` as one word of a shell's command line, whatever is in it."""
    if name.isprintable():
        return shlex.quote(name)
    return "$'" + "".join(map(_escaped, name)) + "'"


def _escaped(c: str) -> str:
    """For bash's ``$'...'``, which any text can be written in; lone surrogates are its bytes."""
    if c in "'\\":
        return "\\" + c
    if c.isprintable():
        return c
    return "".join(f"\\x{byte:02x}" for byte in c.encode(errors="surrogateescape"))


def counted(number: int, noun: str) -> str:
    """``1 core``, ``2 cores``."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def spoken_span(seconds: float) -> str:
    """``39 s``, ``2 min 5 s``, ``3 d 4 h``: the two largest units."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    if days:
        return f"{days} d {hours} h"
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def spoken_wait(microseconds: float) -> str:
    """``1.5 us``, ``45 us``, ``1.7 ms``, ``2.1 s``: the unit that people think in."""
    for least, unit in ((1e6, "s"), (1e3, "ms")):
        if microseconds >= least:
            return f"{microseconds / least:.1f} {unit}"
    return f"{microseconds:.{1 if 0 < microseconds < 10 else 0}f} us"


def shortened(things: Sequence[object], most: int = 5) -> str:
    """All of them in a line, or the first few and how many more there are."""
    more = len(things) - most
    text = "; ".join(map(str, things[:most]))
    return f"{text}; and {more} more" if more > 0 else text


def write_unless_blocked(fd: int, text: str, within_s: float = 0.0) -> bool:
    """Writes ``text`` if its reader takes it, each page of it ``within_s`` seconds.

    False if not all was taken: a pipe is full, a terminal is stopped. Raises OSError if the reader
    is gone.
    """
    data = text.encode(errors="replace")
    poller = select.poll()
    poller.register(fd, select.POLLOUT)
    while data:
        if not poller.poll(within_s * 1000):
            return False
        data = data[os.write(fd, data[:_AT_ONCE_BYTES]) :]
    return True
