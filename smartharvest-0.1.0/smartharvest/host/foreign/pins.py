"""Detects other processes that pin threads to which the agent gives CPUs one by one.

An affinity does not show who set it, and a thread may have pinned itself. So only threads that
existed when the agent began are checked; a later one that pins itself is confined again.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from smartharvest.core import _actuators
from smartharvest.host.cpulist import format_cpulist
from smartharvest.host.process import tasks

MOST_AT_ONCE = 4096
"""Threads that one look takes in, in some milliseconds."""


@dataclass(frozen=True)
class ForeignPin:
    """A thread with other CPUs than the agent gave it."""

    tid: int
    start_time: int
    found: frozenset[int]
    given: frozenset[int]

    def describe(self) -> str:
        """The finding in a line."""
        return (
            f"affinity of thread {self.tid} ({tasks.name(self.tid)}): "
            f"{format_cpulist(self.found)!r} was found, {format_cpulist(self.given)!r} was set; "
            "another process pins these threads, or the program itself does"
        )


class GivenThreads:
    """The threads among ``tids`` that ``actuator`` moves.

    A look at all of them is spread over several calls where they are many, each of which continues
    where the one before has ended.
    """

    def __init__(self, actuator: _actuators.ThreadsActuator, tids: Iterable[int]) -> None:
        self._actuator = actuator
        self._tids = sorted(tids)
        self._known = frozenset(self._tids)
        self._began = tasks.start_time_of_newcomers()
        self._next = 0
        """Of ``_tids``, to be looked at."""
        self._suspects: list[int] = []

    def pinned_at_rest(self, *, everybody: bool = False) -> list[ForeignPin]:
        """Threads that have other CPUs now; empty while they are being moved.

        Looks at MOST_AT_ONCE and again at those that had other CPUs the last time, or at
        ``everybody``.
        """
        first = 0 if everybody else self._next
        last = len(self._tids) if everybody else first + MOST_AT_ONCE
        tids = [*self._suspects, *self._tids[first:last]]
        strays = self._actuator.strays_at_rest(tids, tasks.online_cpus())
        if strays is None:
            return []
        self._next = last if last < len(self._tids) else 0
        self._suspects = list(dict.fromkeys(tid for tid, _, _ in strays))
        return [pin for stray in dict.fromkeys(strays) for pin in self._pin(*stray)]

    def met_by_moves(self) -> list[ForeignPin]:
        """Threads that had other CPUs when the actuator moved them."""
        return [pin for stray in self._actuator.strays for pin in self._pin(*stray)]

    def foreign_tasks(self, tids: Iterable[int]) -> list[int]:
        """Threads among ``tids`` that came later and have CPUs they were not given."""
        return [
            tid
            for tid in tids
            if tid not in self._known
            and (given := self._actuator.given(tid)) is not None
            and not tasks.affinity(tid) <= given
        ]

    def _pin(self, tid: int, found: frozenset[int], given: frozenset[int]) -> list[ForeignPin]:
        started = tasks.start_time(tid) if tid in self._known else None
        if started is None or started > self._began:  # a later thread with a reused id
            return []
        return [ForeignPin(tid, started, found, given)]
