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
    """The threads among ``tids`` that ``actuator`` moves."""

    def __init__(self, actuator: _actuators.ThreadsActuator, tids: Iterable[int]) -> None:
        self._actuator = actuator
        self._start_times = {tid: tasks.start_time(tid) for tid in tids}

    def pinned_at_rest(self) -> list[ForeignPin]:
        """Threads that have other CPUs now; empty while they are being moved."""
        pins = []
        for tid in self._start_times:
            found, given = tasks.affinity(tid), self._actuator.given(tid)
            if given is None:
                return []
            if found and found != given and found != given & tasks.online_cpus():
                pins += self._pin(tid, found, given)
        return pins

    def met_by_moves(self) -> list[ForeignPin]:
        """Threads that had other CPUs when the actuator moved them."""
        return [pin for stray in self._actuator.strays for pin in self._pin(*stray)]

    def foreign_tasks(self, tids: Iterable[int]) -> list[int]:
        """Threads among ``tids`` that came later and have CPUs they were not given."""
        return [
            tid
            for tid in tids
            if tid not in self._start_times
            and (given := self._actuator.given(tid)) is not None
            and not tasks.affinity(tid) <= given
        ]

    def _pin(self, tid: int, found: frozenset[int], given: frozenset[int]) -> list[ForeignPin]:
        started = self._start_times.get(tid)
        if started is None or tasks.start_time(tid) != started:  # a later thread with a reused id
            return []
        return [ForeignPin(tid, started, found, given)]
