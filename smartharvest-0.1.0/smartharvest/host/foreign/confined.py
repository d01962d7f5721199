"""Finds the CPUs that tasks of somebody else are confined to.

A walk over all tasks goes task by task, so that it can be spread over any time, and keeps one task
a CPU, however many there are.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import NamedTuple

from smartharvest.host.process import tasks

MOST_ANCESTORS = 64
MOST_ROUNDS = 3
"""Of a walk, where a task that was met has ended by its end, and may have hidden another one."""


class Ours(NamedTuple):
    """Which tasks are not somebody else's."""

    processes: Collection[int] = ()
    """With all their threads."""
    family: Collection[int] = ()
    """Processes that are ours with all that they have started."""
    threads: Collection[int] = ()


class _Confined(NamedTuple):
    tid: int
    start_time: int
    name: str

    def __str__(self) -> str:
        return f"{self.name} ({self.tid})"


class ConfinedTasks:
    """The tasks of others that may not run on all online CPUs, as the last walk has found them.

    Those that are not ``ours``, are not called one of ``names``, and have lived for ``settled_s``.
    Kernel threads are left out: they are per-CPU by design and run briefly.
    """

    def __init__(
        self,
        ours: Callable[[], Ours],
        names: Collection[str] = (),
        settled_s: float = 0.0,
    ) -> None:
        self._ours = ours
        self._names = frozenset(names)
        self._settled_s = settled_s
        self._found: dict[int, _Confined] = {}

    @property
    def cpus(self) -> dict[int, str]:
        """CPU -> one of those that are confined to it, as ``comm (tid)``."""
        return {cpu: str(task) for cpu, task in self._found.items()}

    def walk(self) -> Iterator[None]:
        """Looks at all tasks, one a step; what it has found counts from its end on."""
        met: dict[int, _Confined] = {}
        for _ in range(MOST_ROUNDS):
            ours, online = self._ours(), tasks.online_cpus()
            ours = ours._replace(
                processes={*ours.processes, *ours.family}, threads=set(ours.threads)
            )
            for pid in tasks.process_ids():
                yield
                if pid in ours.processes:
                    continue
                for tid in tasks.threads_of((pid,)):
                    self._look_at(tid, ours, online, met)
                    yield
            for cpu in (gone := self._gone(met)):
                del met[cpu]
            if not gone:
                break
        self._found = met

    def _look_at(
        self, tid: int, ours: Ours, online: Collection[int], met: dict[int, _Confined]
    ) -> None:
        confined = tasks.affinity(tid)
        # Whether others are confined to a CPU as well changes nothing, and may be asked very often.
        if confined <= met.keys() or confined >= frozenset(online) or tid in ours.threads:
            return
        start_time = tasks.settled_since(tid, self._settled_s)
        if start_time is None or _descends(tid, ours.family):
            return
        if (name := tasks.name(tid)) in self._names:
            return
        for cpu in confined - met.keys():
            met[cpu] = _Confined(tid, start_time, name)

    def _gone(self, met: dict[int, _Confined]) -> set[int]:
        """The CPUs whose task is somebody else's no more, or has become ours during the walk."""
        if not met:
            return set()
        ours = self._ours()
        threads = set(ours.threads)
        return {cpu for cpu, task in met.items() if not self._is_others(task, cpu, ours, threads)}

    @staticmethod
    def _is_others(task: _Confined, cpu: int, ours: Ours, threads: Collection[int]) -> bool:
        if task.tid in threads or tasks.start_time(task.tid) != task.start_time:
            return False
        if cpu not in tasks.affinity(task.tid):
            return False
        return tasks.process_of(task.tid) not in ours.processes


def _descends(tid: int, family: Collection[int]) -> bool:
    """Whether one of ``family`` has started the thread's process, as far as its parents live."""
    pid = tasks.process_of(tid) if family else None
    for _ in range(MOST_ANCESTORS):
        if pid is None or pid in family:
            return pid is not None
        pid = tasks.parent_of(pid)
    return False
