"""How far a run is and how much time is left, on standard error."""

from __future__ import annotations

import sys
import time
from typing import TextIO

from bench.document import Progress

BAR = 24


class Terminal(Progress):
    """A line a subject; on a terminal it grows a bar and is drawn anew in place."""

    def __init__(self, subjects: int, stream: TextIO | None = None) -> None:
        super().__init__()
        self._subjects = subjects
        self._stream = stream or sys.stderr
        self._live = self._stream.isatty()
        self._number = 0

    def begin(self, name: str, expected_s: float, left_s: float) -> None:
        self._number += 1
        self._head = f"[{self._number}/{self._subjects}] {name}"
        self._ends_s = time.monotonic() + left_s
        if not self._live:
            self._stream.write(f"{self._head}: about {expected_s:.0f} s; {clock(left_s)} left\n")
            self._stream.flush()

    def advance(self, done: int, total: int, case: str) -> None:
        if not self._live:
            return
        filled = BAR * done // max(1, total)
        left = clock(max(0.0, self._ends_s - time.monotonic()))
        bar = "#" * filled + "-" * (BAR - filled)
        self._stream.write(f"\r\x1b[K{self._head} {bar} {case}; {left} left")
        self._stream.flush()

    def end(self, _name: str, outcome: str, /) -> None:
        start = "\r\x1b[K" if self._live else ""
        self._stream.write(f"{start}{self._head}: {outcome}\n")
        self._stream.flush()


def clock(seconds: float) -> str:
    """As minutes:seconds."""
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"
