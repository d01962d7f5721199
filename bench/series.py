"""A running total, moment by moment, while something else is measured."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

EVERY_S = 0.025
SERIES = "series"
"""Name of the thread."""


@contextmanager
def recorded(
    total_ns: Callable[[], int], every_s: float = EVERY_S
) -> Iterator[list[tuple[int, int]]]:
    """Rows of monotonic ns and the total: at the start, every ``every_s``, and at the exit."""
    rows = [(time.monotonic_ns(), total_ns())]
    ended = threading.Event()

    def record() -> None:
        while not ended.wait(every_s):
            rows.append((time.monotonic_ns(), total_ns()))

    recorder = threading.Thread(target=record, name=SERIES)
    recorder.start()
    try:
        yield rows
    finally:
        ended.set()
        recorder.join()
        rows.append((time.monotonic_ns(), total_ns()))
