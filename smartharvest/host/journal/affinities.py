"""Giving threads back the affinities they had, as far as those they have now are still ours."""

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
    """What an agent may have left threads with.

    ``given`` are the sets of its levels; of one that a thread's own pin has a part of it was given
    that part. While it nudges, a thread has one CPU of them.
    """

    given: Given
    pins: Collection[frozenset[int]]

    def may_be(self, cpus: frozenset[int], reach: Callable[[], frozenset[int]]) -> bool:
        """Whether ``cpus`` is one of them. ``reach`` tells what the thread's cpuset has: less than
        was given may be all that is left of it there. Without any sets everything may be."""
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
    """Undoes the affinities of a journal; ``log`` is told (thread, before, after) of each.

    ``left`` has a line for each that somebody else has set meanwhile.
    """

    def __init__(
        self,
        entries: Sequence[Entry],
        given: Given,
        files: KernelFiles,
        log: Callable[[str, str, str], None],
        masks: Collection[frozenset[int]] = (),
    ) -> None:
        """``masks`` are those of groups, which threads get before Linux 6.2 as their own."""
        self.left: list[str] = []
        self._entries = [entry for entry in entries if isinstance(entry, AffinityEntry)]
        given = Given((*given.sets, *masks), given.nudging) if given.sets else given
        self._ours = OurAffinities(given, {frozenset(entry.cpus) for entry in self._entries})
        self._files = files
        self._log = log
        self._strangers: set[int] = set()

    def give_back(self, entry: AffinityEntry) -> None:
        """To one thread and those its process has started since. Raises OSError."""
        if tasks.start_time(entry.tid) != entry.start_time:
            return
        self._set(entry.tid, entry.cpus)
        if entry.newcomers_since is None:
            return
        done = {other.tid for other in self._entries}
        refusal: OSError | None = None
        # One that is not free yet may start another after we looked: until all are.
        while confined := self._confined_newcomers(entry, entry.newcomers_since) - done:
            for tid in confined:
                try:
                    self._set(tid, entry.cpus)
                except OSError as error:
                    # EINVAL: it went to a cpuset that has none of these CPUs, and got that one's.
                    if error.errno not in (errno.ESRCH, errno.EINVAL):
                        refusal = error
            done |= confined
        if refusal is not None:
            raise refusal

    def _confined_newcomers(self, entry: AffinityEntry, since: int) -> set[int]:
        """The threads that started ``since`` then, from ``entry``'s process on down."""
        family = [entry.tid, *tasks.descendants(entry.tid)]
        return {
            tid
            for process in family
            for tid in tasks.process_threads(process)
            if (tasks.start_time(tid) or 0) >= since and tasks.affinity(tid) != set(entry.cpus)
        }

    def free(self, confined: ConfinedEntry) -> None:
        """Those that came to the group later; one that is not free yet may start another."""
        known = {
            entry.tid: entry.cpus
            for entry in self._entries
            if tasks.start_time(entry.tid) == entry.start_time
        }
        done = set(known)
        while newcomers := set(tasks_below(self._files, confined.directory)) - done:
            for tid in newcomers:
                with contextlib.suppress(OSError):  # it has ended, or left for another cpuset
                    self._set(tid, known.get(tasks.process_of(tid) or tid, ()))
            done |= newcomers

    def _set(self, tid: int, cpus: tuple[int, ...]) -> None:
        """Gives a thread the CPUs it had: without an affinity of its own, if those are all that
        its cpuset has, so that it follows its cpuset again. No ``cpus``: as far as that goes."""
        current = tasks.affinity(tid)
        if tid in self._strangers:
            return
        if current != set(cpus) and not self._ours.may_be(current, lambda: _reach(tid, current)):
            self._strangers.add(tid)
            self.left.append(
                f"affinity of thread {tid}: is {format_cpulist(current)!r}, which somebody else "
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
    """The CPUs of the thread's cpuset, which only tells who asks for all of them."""
    os.sched_setaffinity(tid, tasks.EVERY_CPU)
    try:
        return tasks.affinity(tid)
    finally:
        os.sched_setaffinity(tid, current)
