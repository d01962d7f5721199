"""Moving tasks between groups, and sending home those that were moved and what they have started.

A group that was there before keeps whom it had, what they have started, and who came by other ways:
a task that is older than our first move, or whose parent lives and is none of those moved. All
others are children of moved tasks; so are orphans that init has adopted, or a subreaper (a service
manager, a container's shim) above the moved tasks, and children of orphans that were sent home
before by somebody who has died since.
"""

from __future__ import annotations

import functools
import os
import time
from collections.abc import Callable, Collection, Iterable, Sequence

from smartharvest.host.cgroup.kernel_files import KernelFiles
from smartharvest.host.journal.contents import Entry, MovedEntry, OccupiedEntry
from smartharvest.host.process import tasks
from smartharvest.host.process.table import Table, ancestors, process_table, reapers

_MOST_ROUNDS = 100
"""Tasks may fork while they are moved out."""
_TORN_ROUNDS = 10
"""So often the table is read again for a task of whose ancestors it does not tell."""
_LIST_LASTS_S = 0.05
_INIT = 1

Log = Callable[[str, str, str], None]


def move(files: KernelFiles, tid: int, directory: str) -> None:
    """Puts thread ``tid`` (v1) or its process (v2) into the group at ``directory``."""
    # In v2 threads cannot leave their process's domain; in v1 they can.
    by_thread = os.path.join(directory, "tasks")
    whole = os.path.join(directory, "cgroup.procs")
    files.write(by_thread if files.exists(by_thread) else whole, str(tid))


def move_process(files: KernelFiles, pid: int, directory: str) -> None:
    """Puts all threads of process ``pid`` into the group, with one write."""
    files.write(os.path.join(directory, "cgroup.procs"), str(pid))


def members(files: KernelFiles, directory: str) -> list[int]:
    """The tasks right in the group: what can be moved out of it."""
    # v2's cgroup.procs lists processes, which is what can be moved there. A threaded group has
    # no such list; a thread's id, written elsewhere, moves its process all the same.
    by_thread = os.path.join(directory, "tasks")
    whole = os.path.join(directory, "cgroup.procs")
    kind = os.path.join(directory, "cgroup.type")
    path = by_thread if files.exists(by_thread) else whole
    if files.exists(kind) and files.read(kind).strip() == "threaded":
        path = os.path.join(directory, "cgroup.threads")
    return [int(tid) for tid in files.read(path).split()]


def whole_processes(tids: Collection[int]) -> tuple[dict[int, list[int]], list[int]]:
    """(process -> its threads) where all are among ``tids`` and more than one, and the others.

    One write moves a process with all of its threads ten times as fast as one for each.
    """
    left = dict.fromkeys(tids)
    whole: dict[int, list[int]] = {}
    single: list[int] = []
    while left:
        tid = next(iter(left))
        pid = tasks.process_of(tid)
        threads = [] if pid is None else tasks.process_threads(pid)
        of_it = [one for one in threads if one in left] or [tid]
        if pid is not None and len(of_it) == len(threads) > 1:
            whole[pid] = of_it
        else:
            single += of_it
        for one in of_it:
            del left[one]
    return whole, single


class MovesBack:
    """Undoes the moves of a journal; calls ``log(group, group before, task)`` for each."""

    def __init__(
        self,
        entries: Iterable[Entry],
        files: KernelFiles,
        log: Log,
        *,
        table: Callable[[], Table] = process_table,
    ) -> None:
        self._files = files
        self._log = log
        self._table = table
        self._moved: dict[str, dict[int, MovedEntry]] = {}
        """Destination -> thread -> its move."""
        for entry in entries:
            if isinstance(entry, MovedEntry):
                self._moved.setdefault(entry.destination, {})[entry.tid] = entry
        self._lists: dict[str, tuple[float, frozenset[int]]] = {}
        self._apart: set[tuple[int, str]] = set()
        """(process, destination) whose threads go home one by one, or have all gone."""

    def give_back(self, entry: MovedEntry) -> None:
        """Moves a thread home, its whole process where that was moved; raises OSError."""
        if entry.tid not in self._listed(entry.destination):
            return
        if tasks.start_time(entry.tid) != entry.start_time:
            return
        if self._give_back_process(entry):
            return
        move(self._files, entry.tid, entry.origin)
        self._log(entry.origin, entry.destination, f"task {entry.tid}")

    def _give_back_process(self, entry: MovedEntry) -> bool:
        """Whether ``entry`` is of a process that went home as a whole."""
        pid = tasks.process_of(entry.tid)
        if pid is None or (pid, entry.destination) in self._apart:
            return False
        self._apart.add((pid, entry.destination))
        threads = tasks.process_threads(pid)
        moved = self._moved[entry.destination]
        origins = {moved[tid].origin for tid in threads if tid in moved}
        if len(threads) < 2 or origins != {entry.origin}:
            return False
        if not self._listed(entry.destination).issuperset(threads):
            return False
        move_process(self._files, pid, entry.origin)
        self._lists.pop(entry.destination, None)
        self._log(entry.origin, entry.destination, f"task {pid}")
        return True

    def _listed(self, directory: str) -> frozenset[int]:
        now_s = time.monotonic()
        listed_s, found = self._lists.get(directory, (0.0, frozenset()))
        if not listed_s or now_s - listed_s > _LIST_LASTS_S:
            found = frozenset(members(self._files, directory))
            self._lists[directory] = now_s, found
        return found

    def send_home(self, occupied: OccupiedEntry) -> None:
        """Moves those that moved tasks have started in the group meanwhile; raises OSError."""
        moved = self._moved.get(occupied.directory)
        if not moved:
            return
        stay: set[int] = set()
        family: set[int] = set()
        for number in range(_MOST_ROUNDS):
            new = [tid for tid in members(self._files, occupied.directory) if tid not in stay]
            if not new:
                return
            family.update(new)
            guests = _Guests(occupied, moved, self._table(), family, self._files)
            reads_again = number < _TORN_ROUNDS
            for tid in new:
                if reads_again and guests.is_torn(tid):
                    continue
                home = guests.home_of(tid)
                if home is None:
                    if not (reads_again and guests.has_lost_ancestor(tid)):
                        stay.add(tid)
                    continue
                try:
                    move(self._files, tid, home)
                except ProcessLookupError:
                    continue
                self._log(home, occupied.directory, f"task {tid}")

    def empty(self, directory: str) -> None:
        """Moves all out of a group that is to be removed; raises OSError."""
        origins = (entry.origin for entry in self._moved.get(directory, {}).values())
        there = filter(self._files.exists, dict.fromkeys(origins))
        home = next(there, os.path.dirname(directory))
        for _ in range(_MOST_ROUNDS):
            left = members(self._files, directory)
            if not left:
                return
            whole, single = whole_processes(left)
            for pid in whole:
                self._move_out(move_process, pid, directory, home)
            for tid in single:
                self._move_out(move, tid, directory, home)

    def _move_out(
        self,
        how: Callable[[KernelFiles, int, str], None],
        task: int,
        directory: str,
        home: str,
    ) -> None:
        try:
            how(self._files, task, home)
        except ProcessLookupError:
            return
        self._log(home, directory, f"task {task}")


class _Guests:
    """Who in an occupied group is there because of those moved into it."""

    def __init__(
        self,
        occupied: OccupiedEntry,
        moved: dict[int, MovedEntry],
        table: Table,
        family: Collection[int],
        files: KernelFiles,
    ) -> None:
        """``family``: those that are in the group, or were and have been sent home."""
        self._files = files
        self._occupied = occupied
        self._before = frozenset(occupied.threads)
        self._moved = moved
        self._table = table
        self._last = next(reversed(moved.values()))
        self._family = family
        self._adopters = reapers(table, moved) - moved.keys() - self._before
        self._groups = {  # no other gets the number of one that has ended and left members
            table[tid].group if tid in table else tid
            for tid, entry in moved.items()
            if tid not in table or table[tid].start_time == entry.start_time
        }

    def is_torn(self, tid: int) -> bool:
        """Whether the table lacks the thread's process, or who is above that: it was born, or one
        of those has ended, while the table was read."""
        pid = tasks.process_of(tid)
        if pid is None:
            return False
        *_, last = pid, *ancestors(self._table, pid)
        return last not in self._table and last != 0

    def has_lost_ancestor(self, tid: int) -> bool:
        """Whether a young one above the thread has ended since the table was read."""
        above = ancestors(self._table, tasks.process_of(tid) or 0)
        known = (self._table[one] for one in above if one in self._table)
        young = (one for one in known if one.start_time >= self._occupied.since)
        return any(tasks.start_time(one.pid) != one.start_time for one in young)

    def home_of(self, tid: int) -> str | None:
        """Where thread ``tid`` goes; None: it stays."""
        started = tasks.start_time(tid)
        if started is None or started < self._occupied.since:
            return None
        pid = tasks.process_of(tid)
        process = self._table.get(pid or 0)
        if pid is None or process is None:
            return None
        line: Sequence[int] = (pid, *ancestors(self._table, pid))
        for one in line:
            entry = self._moved.get(one)
            began = self._table[one].start_time if one in self._table else None
            if entry is not None and entry.start_time == began:
                return entry.origin
            if one in self._before and (began or 0) < self._occupied.since:
                return None
        return self._last.origin if self._is_orphans(line) else None

    def _is_orphans(self, line: Sequence[int]) -> bool:
        """Whether the oldest of ``line`` that was in the group has been adopted by another parent.

        Init's children are taken for orphans. A subreaper (a service manager, a container's shim)
        may have started some itself, in its own session and process group or in new ones; a daemon
        is in another session, and a task that has left neither is in the process group of one
        that was moved.
        """
        oldest = line[0]
        for one in line[1:]:
            if one not in self._table:
                break
            if one not in self._family and not self._was_sent_home_before(one):
                break
            oldest = one
        process = self._table[oldest]
        parent = self._table.get(process.parent)
        if process.parent not in self._adopters:
            return False
        if process.parent == _INIT or parent is None or parent.session != process.session:
            return True
        return process.group in self._groups and process.group != parent.group

    def _was_sent_home_before(self, pid: int) -> bool:
        """Whether the process is one that somebody who has died since had sent home already.

        It is as young as those that are still here, and in every group that a moved one, which has
        gone home by now, is in.
        """
        if self._table[pid].start_time < self._occupied.since:
            return False
        return self._membership(pid) in self._memberships_at_home

    @functools.cached_property
    def _memberships_at_home(self) -> set[str]:
        alive = [tid for tid, one in self._moved.items() if tasks.start_time(tid) == one.start_time]
        return set(filter(None, map(self._membership, alive)))

    def _membership(self, tid: int) -> str:
        """Empty for a thread that has ended."""
        try:
            return self._files.membership(tid)
        except OSError:
            return ""
