"""What is known of an agent's threads while they are silent."""

from __future__ import annotations

import contextlib

from smartharvest.guardian.verdict import Cause, Health, RunTimes, Watch
from smartharvest.host.cgroup.freezing import is_frozen
from smartharvest.host.process import tasks

LOOP_NAME = "sh-loop"
"""The name of the loop's thread (csrc/loop/loop.c)."""


class Silence:
    """What is known of the agent's threads since they were first missed, and what was reported."""

    def __init__(self) -> None:
        self.missed: list[int] = []
        """The threads without a newer beat."""
        self.longest_ms = 0
        self._told: set[str] = set()
        self._judged = False
        self._run_times, self._others = RunTimes(), RunTimes()
        self._ran_ns = self._others_ran_ns = 0

    @property
    def told(self) -> bool:
        return bool(self._told)

    def is_new(self, what: str) -> bool:
        """Whether ``what`` has not been reported yet; it counts as reported from now on."""
        known = what in self._told
        self._told.add(what)
        return not known

    def is_new_to_judge(self) -> bool:
        """True once."""
        judged, self._judged = self._judged, True
        return not judged

    def observe(self, pid: int, watch: Watch) -> None:
        """Takes in which threads of ``pid`` were missed at the last look."""
        self.missed = [pid] if watch.agent_missed else []
        others: list[int] = []
        if watch.loop_missed or self.missed:
            for tid in tasks.process_threads(pid):
                is_loop = tid != pid and tasks.name(tid) == LOOP_NAME
                if is_loop and watch.loop_missed:
                    self.missed.append(tid)
                elif tid != pid and not is_loop:
                    others.append(tid)
        self._ran_ns = self._run_times.observe({tid: _cpu_time_ns(pid, tid) for tid in self.missed})
        self._others_ran_ns = self._others.observe({tid: _cpu_time_ns(pid, tid) for tid in others})

    def health(self, pid: int) -> Health:
        states = tuple(tasks.state(tid) for tid in self.missed or [pid])
        return Health(states, self._ran_ns, self._others_ran_ns, frozen=is_frozen(pid))

    def explain(self, cause: Cause) -> str:
        """``cause`` in words, with the kernel's function where that is what it waits for."""
        where = ""
        if cause in (Cause.BLOCKED, Cause.ASLEEP):
            where = next(filter(None, map(_wait_channel, self.missed)), "")
        return f"{cause.value}{f', in {where}' if where else ''}"


def _wait_channel(tid: int) -> str:
    """The kernel's function that the thread waits in; empty if it runs or we may not know."""
    with contextlib.suppress(OSError), open(f"/proc/{tid}/wchan") as file:
        return file.read().strip("0\n ")
    return ""


def _cpu_time_ns(pid: int, tid: int) -> int:
    try:
        with open(f"/proc/{pid}/task/{tid}/schedstat") as file:
            return int(file.read().split()[0])
    except (OSError, IndexError):
        return 0
