"""Somebody else pins threads that the agent gives their CPUs one by one.

An affinity bears no writer's name, and a thread may well have pinned itself. So only those are held
to what they were given that were there when the agent began with it; a newcomer that pins itself is
simply confined again.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from smartharvest.core import _actuators
from smartharvest.host.cpulist import format_cpulist
from smartharvest.host.process import tasks


@dataclass(frozen=True)
class ForeignPin:
    """A thread with other CPUs than it was given."""

    tid: int
    start_time: int
    found: frozenset[int]
    given: frozenset[int]

    def told(self) -> str:
        """What is to be seen."""
        return (
            f"affinity of thread {self.tid} ({tasks.name(self.tid)}): "
            f"{format_cpulist(self.found)!r} is there and {format_cpulist(self.given)!r} was set; "
            "somebody else pins these threads, or the program itself does"
        )


class GivenThreads:
    """The threads that ``actuator`` is to move, of those that are there now."""

    def __init__(self, actuator: _actuators.ThreadsActuator, tids: Iterable[int]) -> None:
        self._actuator = actuator
        self._start_times = {tid: tasks.start_time(tid) for tid in tids}

    def pinned_at_rest(self) -> list[ForeignPin]:
        """Those that have other CPUs now; none while they are being moved."""
        pins = []
        for tid in self._start_times:
            found, given = tasks.affinity(tid), self._actuator.given(tid)
            if given is None:
                return []
            if found and found != given and found != given & tasks.online_cpus():
                pins += self._pin(tid, found, given)
        return pins

    def met_by_moves(self) -> list[ForeignPin]:
        """Those that had other CPUs when they were moved since."""
        return [pin for stray in self._actuator.strays for pin in self._pin(*stray)]

    def strangers(self, tids: Iterable[int]) -> list[int]:
        """Of ``tids`` those that came later and have CPUs that they were not given."""
        return [
            tid
            for tid in tids
            if tid not in self._start_times
            and (given := self._actuator.given(tid)) is not None
            and not tasks.affinity(tid) <= given
        ]

    def _pin(self, tid: int, found: frozenset[int], given: frozenset[int]) -> list[ForeignPin]:
        started = self._start_times.get(tid)
        if started is None or tasks.start_time(tid) != started:  # a newcomer by an old number
            return []
        return [ForeignPin(tid, started, found, given)]
