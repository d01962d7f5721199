"""Giving threads their affinities back, unless another process has set them since."""

from __future__ import annotations

import errno
import functools
import os
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from smartharvest.core._confine import give_back
from smartharvest.errors import SmartHarvestError
from smartharvest.host.cgroup.kernel_files import KernelFiles
from smartharvest.host.cgroup.tree import CgroupTree, tasks_below
from smartharvest.host.cpulist import format_cpulist, parse_cpulist
from smartharvest.host.journal.contents import (
    AffinityEntry,
    ConfinedEntry,
    Entry,
    Given,
    inode,
    processes_of,
)
from smartharvest.host.journal.families import (
    MOST_LOOKS,
    PAUSE_S,
    QUIET_LOOKS,
    BirthEvents,
    Families,
)
from smartharvest.host.process import tasks

THREADS_AT_ONCE = 256
"""Between two signs of life, which each change that is logged may show."""
Member = tuple[AffinityEntry | None, int, tuple[int, ...]]
"""A thread, what the journal says of it, and the CPUs it is to have."""


@dataclass(frozen=True)
class OurAffinities:
    """The affinities that an agent may have left threads with.

    ``given`` are the sets of its levels. A thread with a pin of its own got the part of a set that
    is in its pin. While the agent nudges, a thread has one CPU of a set.
    """

    given: Given
    pins: Collection[frozenset[int]]

    def were_given(self, cpus: frozenset[int]) -> bool:
        """Whether ``cpus`` is one of the sets, or of the parts of them, exactly."""
        return cpus in self._known

    def sets_but(self, cpus: Collection[int]) -> Collection[frozenset[int]]:
        """The sets and parts of sets that are not ``cpus``."""
        return self._known - {frozenset(cpus)}

    @functools.cached_property
    def _known(self) -> set[frozenset[int]]:
        parts = {one & pin for one in self.given.sets for pin in self.pins if one & pin}
        return parts.union(self.given.sets)

    def may_be(self, cpus: frozenset[int], reach: Callable[[], frozenset[int]]) -> bool:
        """Whether ``cpus`` is one of them.

        ``reach`` returns the CPUs of the thread's cpuset, which may have only a part of what was
        given. Without any sets every affinity may be one.
        """
        if not self.given.sets:
            return True
        known = self._known
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

    ``masks`` are those of groups; before Linux 6.2 their threads get them as affinities. ``births``
    and ``unheard_since`` are as of ``Families``.
    """

    def __init__(
        self,
        entries: Sequence[Entry],
        given: Given,
        files: KernelFiles,
        log: Callable[[str, str, str], None],
        masks: Collection[frozenset[int]] = (),
        births: BirthEvents | None = None,
        unheard_since: int | None = None,
    ) -> None:
        self.left: list[str] = []
        """A line for each thread that another process has pinned meanwhile, itself or its group."""
        self.refused: list[tuple[Entry, OSError]] = []
        self._entries = [entry for entry in entries if isinstance(entry, AffinityEntry)]
        self._groups = [entry for entry in entries if isinstance(entry, ConfinedEntry)]
        given = Given((*given.sets, *masks), given.nudging) if given.sets else given
        self._ours = OurAffinities(given, {frozenset(entry.cpus) for entry in self._entries})
        self._births = births
        self._unheard_since = unheard_since
        self._files = files
        self._log = log
        self._done: set[int] = set()
        self._every_cpu = possible_cpus()
        self._once_within_reach = frozenset(cpu for entry in self._entries for cpu in entry.cpus)

    def run(self, *, groups_are_back: bool = True) -> None:
        """Undoes all of them, those of processes and groups until nobody is born confined.

        ``groups_are_back`` unless a group may yet get a mask back.
        """
        self._groups_are_back = groups_are_back
        self._give_back_to_families()
        for group in self._groups:
            self._free(group)
        for entry in self._entries:
            if entry.tid not in self._done and tasks.start_time(entry.tid) == entry.start_time:
                self._try(entry, entry.tid, entry.cpus)

    def _give_back_to_families(self) -> None:
        if not processes_of(self._entries):
            return
        births = self._births or BirthEvents()
        try:
            families = Families(self._entries, births, self._ours.were_given, self._unheard_since)
            journaled = {entry.tid: entry for entry in self._entries}
            families.visit(
                lambda found: self._try_all([(journaled.get(tid), tid, had) for tid, had in found])
            )
        finally:
            births.close()

    def _free(self, group: ConfinedEntry) -> None:
        """Undoes the threads of a group and of those below it, until nobody is born confined."""
        now = inode(group.directory)
        if group.inode and now and now != group.inode:
            self.left.append(f"{group.directory}: is another group of that name; left alone")
            return
        known = {(entry.tid, entry.start_time): entry for entry in self._entries}
        quiet = 0
        for _ in range(MOST_LOOKS):
            new = [
                tid for tid in tasks_below(self._files, group.directory) if tid not in self._done
            ]
            quiet += 1
            start_times = dict(tasks.started(new))
            members: list[Member] = []
            for tid in new:
                entry = known.get((tid, start_times.get(tid, -1)))
                cpus = entry.cpus if entry is not None else self._of_its_process(known, tid)
                members.append((entry, tid, cpus))
            if self._try_all(members):
                quiet = 0
            if quiet > QUIET_LOOKS:
                return
            time.sleep(PAUSE_S)

    @staticmethod
    def _of_its_process(
        known: Mapping[tuple[int, int], AffinityEntry], tid: int
    ) -> tuple[int, ...]:
        pid = tasks.process_of(tid)
        started = None if pid is None else tasks.start_time(pid)
        entry = None if pid is None or started is None else known.get((pid, started))
        return () if entry is None else entry.cpus

    def _try_all(self, members: Sequence[Member]) -> bool:
        """Whether some of them were confined.

        By the thousand in C; one by one where it takes a closer look whether an affinity is ours.
        """
        together: dict[tuple[int, ...], list[Member]] = {}
        for member in members:
            together.setdefault(member[2], []).append(member)
        parts = (
            (cpus, same[first : first + THREADS_AT_ONCE])
            for cpus, same in together.items()
            for first in range(0, len(same), THREADS_AT_ONCE)
        )
        any_confined = False
        for cpus, same in parts:
            known = [frozenset(cpus), *self._ours.sets_but(cpus)]
            tids = [tid for _, tid, _ in same]
            had = (
                give_back(tids, known, self._every_cpu, self._once_within_reach)
                if cpus and self._ours.given.sets
                else [len(known)] * len(same)
            )
            for (entry, tid, _), number in zip(same, had, strict=True):
                if number == len(known):
                    any_confined |= self._try(entry, tid, cpus)
                    continue
                self._done.add(tid)
                if number < 0:
                    self._refuse(entry, tid, cpus, OSError(-number, os.strerror(-number)))
                elif number > 0:
                    any_confined = True
                    self._note(tid, known[number], known[0])
        return any_confined

    def _try(self, entry: AffinityEntry | None, tid: int, cpus: tuple[int, ...]) -> bool:
        """Whether the thread was confined."""
        self._done.add(tid)
        try:
            return self._set(tid, cpus)
        except OSError as error:
            self._refuse(entry, tid, cpus, error)
            return False

    def _refuse(
        self, entry: AffinityEntry | None, tid: int, cpus: tuple[int, ...], error: OSError
    ) -> None:
        """Notes what the kernel did not take, if that matters."""
        if error.errno == errno.ESRCH:
            return
        if error.errno == errno.EINVAL and self._is_taken_away(cpus):
            freed = self._free_from_lent(tid, frozenset(cpus))
            if entry is not None:
                self.left.append(
                    f"affinity of thread {tid} (was {format_cpulist(cpus)}): its group has none of "
                    f"these CPUs any more; {'it runs on all others' if freed else 'left alone'}"
                )
            return
        if error.errno == errno.EINVAL and entry is None:
            return
        named = entry or AffinityEntry(tid, tasks.start_time(tid) or 0, cpus)
        self.refused.append((named, error))

    def _free_from_lent(self, tid: int, cpus: frozenset[int]) -> bool:
        """Frees a thread whose cpuset has none of its own ``cpus`` from CPUs that were lent.

        The kernel takes no such pin, but remembers a set that holds more than the cpuset has. A
        thread that was not moved off its own CPUs keeps them: the kernel remembers those.
        """
        try:
            current = tasks.affinity(tid)
            reach = self._reach(tid, current)
            lent = any(
                one.isdisjoint(cpus) and not one.isdisjoint(reach) for one in self._ours.given.sets
            )
            if not lent and current == reach:
                return False
            os.sched_setaffinity(tid, reach | cpus)
        except OSError:
            return False
        return True

    def _note(self, tid: int, before: frozenset[int], after: frozenset[int]) -> None:
        self._log(f"affinity of thread {tid}", _in_text(before), _in_text(after))

    def _is_taken_away(self, cpus: Collection[int]) -> bool:
        """Whether a group that lacks ``cpus`` is as somebody else wants it, and will not be undone.

        CPUs that are offline may come back.
        """
        return self._groups_are_back and not tasks.online_cpus().isdisjoint(cpus)

    def _set(self, tid: int, cpus: tuple[int, ...]) -> bool:
        """Gives a thread the CPUs it had; no ``cpus``: all of its cpuset. Whether it had others.

        If those are all that its cpuset has, it gets no affinity of its own, so that it follows its
        cpuset again. Not in a cpuset that has lost CPUs since: the thread may be pinned to one of
        those that are left. A pin to others is refused before the kernel forgets what it had.
        """
        current = tasks.affinity(tid)
        wanted = frozenset(cpus)
        if current != wanted and not self._ours.may_be(current, lambda: self._reach(tid, current)):
            if current and (cpus or current != self._reach(tid, current)):
                self.left.append(
                    f"affinity of thread {tid}: is {format_cpulist(current)!r}, which another "
                    "process set; left alone"
                )
            return False
        if cpus:
            os.sched_setaffinity(tid, cpus)
        os.sched_setaffinity(tid, self._every_cpu)
        reach = tasks.affinity(tid)
        if cpus and (reach != wanted or not self._once_within_reach <= reach):
            os.sched_setaffinity(tid, cpus)
        after = wanted or reach
        if current != after:
            self._note(tid, current, after)
        return current != after

    def _reach(self, tid: int, current: Collection[int]) -> frozenset[int]:
        """The CPUs of the thread's cpuset.

        Where no file tells, the kernel is asked for all; it forgets what the thread had asked for.
        """
        found = cpuset_cpus(tid)
        if found is not None:
            return found
        os.sched_setaffinity(tid, self._every_cpu)
        try:
            return tasks.affinity(tid)
        finally:
            os.sched_setaffinity(tid, current)


@functools.lru_cache(256)
def _in_text(cpus: frozenset[int]) -> str:
    """Thousands of threads have the same few sets."""
    return format_cpulist(cpus)


def cpuset_cpus(tid: int) -> frozenset[int] | None:
    """The CPUs that a thread's cpuset has now; None if that is not to be found out."""
    try:
        return _host_tree().group_of(tid).effective_cpus()
    except (SmartHarvestError, OSError):
        return None


@functools.cache
def _host_tree() -> CgroupTree:
    return CgroupTree.discover()


def possible_cpus(path: str = "/sys/devices/system/cpu/possible") -> Collection[int]:
    """All CPUs this host can have: an affinity of those is none."""
    try:
        with open(path) as file:
            return parse_cpulist(file.read())
    except (OSError, ValueError):
        return tasks.EVERY_CPU
