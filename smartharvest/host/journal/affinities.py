"""Giving threads their affinities back, unless another process has set them since."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from smartharvest.host.cgroup.kernel_files import KernelFiles
from smartharvest.host.cgroup.tree import tasks_below
from smartharvest.host.cpulist import format_cpulist
from smartharvest.host.journal.contents import AffinityEntry, ConfinedEntry, Entry, Given
from smartharvest.host.process import tasks


@dataclass(frozen=True)
class OurAffinities:
    """The affinities that an agent may have left threads with.

    ``given`` are the sets of its levels. A thread with a pin of its own got the part of a set that
    is in its pin. While the agent nudges, a thread has one CPU of a set.
    """

    given: Given
    pins: Collection[frozenset[int]]

    def may_be(self, cpus: frozenset[int], reach: Callable[[], frozenset[int]]) -> bool:
        """Whether ``cpus`` is one of them.

        ``reach`` returns the CPUs of the thread's cpuset, which may have only a part of what was
        given. Without any sets every affinity may be one.
        """
        if not self.given.sets:
            return True
        known = set(self.given.sets)
        known.update(one & pin for one in self.given.sets for pin in self.pins if one & pin)
        if cpus in known:
            return True
        if self.given.nudging and len(cpus) == 1 and any(cpus <= one for one in known):
            return True
        larger = [one for one in known if cpus < one]
        if not larger:
            return False
        there = reach()
        return any(cpus == one & there for one in larger)


class AffinitiesBack:
    """Undoes the affinities of a journal; calls ``log(thread, before, after)`` for each.

    ``left`` has a line for each that another process has set meanwhile.
    """

    def __init__(
        self,
        entries: Sequence[Entry],
        given: Given,
        files: KernelFiles,
        log: Callable[[str, str, str], None],
        masks: Collection[frozenset[int]] = (),
    ) -> None:
        """``masks`` are those of groups; before Linux 6.2 their threads get them as affinities."""
        self.left: list[str] = []
        self._entries = [entry for entry in entries if isinstance(entry, AffinityEntry)]
        given = Given((*given.sets, *masks), given.nudging) if given.sets else given
        self._ours = OurAffinities(given, {frozenset(entry.cpus) for entry in self._entries})
        self._files = files
        self._log = log
        self._foreign_tasks: set[int] = set()

    def give_back(self, entry: AffinityEntry) -> None:
        """Undoes one thread, and those that its process has started since. Raises OSError."""
        if tasks.start_time(entry.tid) != entry.start_time:
            return
        self._set(entry.tid, entry.cpus)
        if entry.newcomers_since is None:
            return
        done = {other.tid for other in self._entries}
        refusal: OSError | None = None
        # Repeats until all are free: a confined thread may start another after it was listed.
        while confined := self._confined_children(entry, entry.newcomers_since) - done:
            for tid in confined:
                try:
                    self._set(tid, entry.cpus)
                except OSError as error:
                    # EINVAL: it moved to a cpuset without these CPUs, and got those of the cpuset.
                    if error.errno not in (errno.ESRCH, errno.EINVAL):
                        refusal = error
            done |= confined
        if refusal is not None:
            raise refusal

    def _confined_children(self, entry: AffinityEntry, since: int) -> set[int]:
        """Confined threads of the process and its descendants, started at ``since`` or later."""
        family = [entry.tid, *tasks.descendants(entry.tid)]
        return {
            tid
            for process in family
            for tid in tasks.process_threads(process)
            if (tasks.start_time(tid) or 0) >= since and tasks.affinity(tid) != set(entry.cpus)
        }

    def free(self, confined: ConfinedEntry) -> None:
        """Frees threads that came to the group later; repeats, since one may start another."""
        known = {
            entry.tid: entry.cpus
            for entry in self._entries
            if tasks.start_time(entry.tid) == entry.start_time
        }
        done = set(known)
        while new := set(tasks_below(self._files, confined.directory)) - done:
            for tid in new:
                with contextlib.suppress(OSError):  # it has ended, or left for another cpuset
                    self._set(tid, known.get(tasks.process_of(tid) or tid, ()))
            done |= new

    def _set(self, tid: int, cpus: tuple[int, ...]) -> None:
        """Gives a thread the CPUs it had; no ``cpus``: all of its cpuset.

        If those are all that its cpuset has, it gets no affinity of its own, so that it follows its
        cpuset again.
        """
        current = tasks.affinity(tid)
        if tid in self._foreign_tasks:
            return
        if current != set(cpus) and not self._ours.may_be(current, lambda: _reach(tid, current)):
            self._foreign_tasks.add(tid)
            self.left.append(
                f"affinity of thread {tid}: is {format_cpulist(current)!r}, which another process "
                "set; left alone"
            )
            return
        os.sched_setaffinity(tid, tasks.EVERY_CPU)
        if cpus and tasks.affinity(tid) != set(cpus):
            os.sched_setaffinity(tid, cpus)
        cpus = cpus or tuple(tasks.affinity(tid))
        if current != set(cpus):
            self._log(f"affinity of thread {tid}", format_cpulist(current), format_cpulist(cpus))


def _reach(tid: int, current: Collection[int]) -> frozenset[int]:
    """The CPUs of the thread's cpuset, which the kernel shows only after asking for all CPUs."""
    os.sched_setaffinity(tid, tasks.EVERY_CPU)
    try:
        return tasks.affinity(tid)
    finally:
        os.sched_setaffinity(tid, current)
