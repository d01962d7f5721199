"""Work without a bound, done a little at a time: it may take a share of a core and no more.

Anybody can start tasks by the ten thousand, so no look at all tasks of a host may be done in one
go by a thread that others wait for.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

STEPS_AT_ONCE = 16
"""Between two looks at the clock; a step takes some 10 us."""


def _ignore() -> None:
    """Nobody waits."""


class Spread:
    """Runs what ``start`` returns to its end, again and again: each ``next`` of it is a step.

    ``turn`` makes as many steps as fit into ``share`` of the time since the last turn, at least
    STEPS_AT_ONCE once any time has passed and ``most_ns`` at once; what a step took too long is
    made up for. Two runs begin at least ``pause_ns`` apart. ``now_ns`` is the time, ``spent_ns``
    what of it this thread has spent on a CPU.
    """

    def __init__(
        self,
        start: Callable[[], Iterator[object]],
        *,
        share: float,
        pause_ns: int = 1_000_000_000,
        most_ns: int = 5_000_000,
        now_ns: Callable[[], int] = time.monotonic_ns,
        spent_ns: Callable[[], int] = time.thread_time_ns,
    ) -> None:
        self._start = start
        self._share = share
        self._pause_ns = pause_ns
        self._most_ns = most_ns
        self._now_ns = now_ns
        self._spent_ns = spent_ns
        self._run: Iterator[object] | None = None
        self._credit_ns = 0.0
        self._last_ns = self._next_ns = now_ns()

    def turn(self, rest: Callable[[], object] = _ignore) -> bool:
        """Goes on within the share; True if a run has come to its end.

        ``rest`` is called every STEPS_AT_ONCE: others may want the CPU.
        """
        now_ns = self._now_ns()
        earned_ns = (now_ns - self._last_ns) * self._share
        self._credit_ns = min(self._credit_ns + earned_ns, self._most_ns)
        self._last_ns = now_ns
        if self._run is None and now_ns < self._next_ns:
            return False
        ended = False
        began_ns = self._spent_ns()
        spent_ns = 0
        while spent_ns < self._credit_ns and not ended:
            ended = self._go_on(STEPS_AT_ONCE)
            rest()
            spent_ns = self._spent_ns() - began_ns
        self._credit_ns -= spent_ns
        return ended

    def finish(self, beat: Callable[[], object]) -> None:
        """Makes a whole run now, and calls ``beat`` every so many steps."""
        self._run = None
        while not self._go_on(STEPS_AT_ONCE):
            beat()

    def _go_on(self, steps: int) -> bool:
        """Makes so many steps; True if the run has come to its end."""
        if self._run is None:
            self._next_ns = self._now_ns() + self._pause_ns
            self._run = self._start()
        for _ in range(steps):
            try:
                next(self._run)
            except StopIteration:
                self._run = None
                return True
        return False
