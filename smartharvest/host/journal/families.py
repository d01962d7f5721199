"""Everybody who inherited a confinement: the processes of a journal, and what they have started.

A task that is being born has the affinity that its parent had when the birth began. So ancestors
come first, births are listened to meanwhile, and all is looked through again until nobody is new.

A task that is met is known to descend from a journaled process: a living parent, an event of its
birth or its session shows it (only forks enter a session, and the kernel does not use its number
again). One gap is left: orphans whose birth nobody heard, after the dead agent last read its events
and before this began. Those are taken to be of the family if all is as with it: a reaper for a
parent, user and control groups of a member, and an affinity that the agent has given. Any other
process with such an affinity has pinned itself.
"""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence

from smartharvest.errors import RightsError
from smartharvest.host.journal.contents import AffinityEntry
from smartharvest.host.process import tasks
from smartharvest.host.process.events import Birth, Death, EventsLost, ProcessEvents
from smartharvest.host.process.table import (
    Process,
    Table,
    ancestors,
    children_of,
    process_table,
    reapers,
)

PAUSE_S = 0.01
"""Between two looks: so long may a birth take that is under way."""
QUIET_LOOKS = 2
MOST_LOOKS = 200
_EVENTS_AT_ONCE = 10_000

Member = tuple[int, tuple[int, ...]]
"""A thread, and the CPUs it is to have."""
Change = Callable[[Sequence[Member]], bool]
"""What is done to the members of a process; False if nothing was to be done."""


class BirthEvents:
    """Who is born from now on."""

    def __init__(self, open_events: Callable[[], ProcessEvents] = ProcessEvents) -> None:
        self.since = tasks.start_time_of_newcomers()
        """In clock ticks since boot."""
        self.complete = True
        """Whether every birth was heard: there was the right to, and nothing was lost."""
        self._events: ProcessEvents | None = None
        try:
            self._events = open_events()
        except RightsError:
            self.complete = False

    def read(self) -> list[tuple[int, int]]:
        """(parent, child) of the processes born since the last call, oldest first."""
        heard: list[Birth | Death] = []
        try:
            if self._events is not None:
                heard.extend(self._events.read(_EVENTS_AT_ONCE))
        except EventsLost:
            self.complete = False
        return [
            (event.parent_pid, event.pid)
            for event in heard
            if isinstance(event, Birth) and event.tid == event.pid
        ]

    def close(self) -> None:
        if self._events is not None:
            self._events.close()
            self._events = None


class Families:
    """The processes in ``entries`` that were followed, with all they have started.

    ``births`` has been listening for some time. ``unheard_since`` is when a dead agent last read
    its own events, in clock ticks since boot; None: nobody's birth went unheard, or nobody knows
    any more. ``was_given`` tells whether an affinity may be the agent's.
    """

    def __init__(
        self,
        entries: Iterable[AffinityEntry],
        births: BirthEvents,
        was_given: Callable[[frozenset[int]], bool],
        unheard_since: int | None = None,
        *,
        table: Callable[[], Table] = process_table,
        threads: Callable[[int], Sequence[int]] = tasks.process_threads,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._births = births
        self._was_given = was_given
        self._unheard_since = unheard_since
        self._table = table
        self._threads = threads
        self._sleep = sleep
        self._journaled: dict[int, list[AffinityEntry]] = {}
        self._roots: dict[int, AffinityEntry] = {}
        for entry in entries:
            self._journaled.setdefault(entry.tid, []).append(entry)
            if entry.newcomers_since is not None:
                self._roots[entry.tid] = entry
        self._since = min((one.newcomers_since or 0 for one in self._roots.values()), default=0)
        self._cpus: dict[int, tuple[int, ...]] = {}
        """Process -> what its threads get, unless they have an entry; parents before children."""
        self._pending: deque[int] = deque()
        self._ended: set[int] | None = None
        """Journaled processes that were not there any more at the first look."""
        self._done: set[int] = set()

    def visit(self, change: Change) -> None:
        """Has each thread changed once, until nothing is done to any that is new."""
        if not self._roots:
            return
        self._look()
        for members in self._pending_members():
            change(members)
        quiet = 0
        for _ in range(MOST_LOOKS):
            self._sleep(PAUSE_S)
            self._look()
            self._pending.extend(self._cpus)  # a thread may have been under way
            quiet += 1
            for members in self._pending_members():
                if change(members):
                    quiet = 0
            if quiet == QUIET_LOOKS:
                return

    def _pending_members(self) -> Iterator[list[Member]]:
        """Process after process; one again that has new threads after a change."""
        while self._pending or self._hear():
            pid = self._pending.popleft()
            while new := [tid for tid in self._threads(pid) if tid not in self._done]:
                self._done.update(new)
                yield [(tid, self._wanted(tid, self._cpus[pid])) for tid in new]

    def _wanted(self, tid: int, cpus: tuple[int, ...]) -> tuple[int, ...]:
        # The id may be another thread's by now. That matters, and costs a look, if it had others.
        if all(entry.cpus == cpus for entry in self._journaled.get(tid, ())):
            return cpus
        started = tasks.start_time(tid)
        journaled = (one.cpus for one in self._journaled[tid] if one.start_time == started)
        return next(journaled, cpus)

    def _take_in(self, pid: int, cpus: tuple[int, ...]) -> None:
        if pid not in self._cpus:
            self._cpus[pid] = cpus
            self._pending.append(pid)

    def _hear(self) -> bool:
        """Whether processes were born since."""
        for parent, child in self._births.read():
            if parent in self._cpus:
                self._take_in(child, self._cpus[parent])
            elif parent in (
                self._ended or ()
            ):  # after the journal was written, and before we looked
                self._take_in(child, self._roots[parent].cpus)
        return bool(self._pending)

    def _look(self) -> None:
        """Takes in all that can be found by looking at all processes."""
        table = self._table()
        if self._ended is None:
            self._ended = self._roots.keys() - table.keys()
        for pid, entry in self._roots.items():  # those of parents among them come first
            process = table.get(pid)
            if process is not None and process.start_time == entry.start_time:
                above = next((one for one in ancestors(table, pid) if one in self._roots), None)
                if above is None:
                    self._take_in(pid, entry.cpus)
        self._take_in_children(table)
        for pid, entry in self._roots.items():  # an ancestor has another number by now
            process = table.get(pid)
            if process is not None and process.start_time == entry.start_time:
                self._take_in(pid, entry.cpus)
        for process in self._strays(table):
            self._take_in(process.pid, self._cpus_of_a_stray(process))
        self._take_in_children(table)

    def _take_in_children(self, table: Table) -> None:
        children = children_of(table)
        found = deque(self._cpus)
        while found:
            parent = found.popleft()
            for pid in children.get(parent, ()):
                if pid in self._cpus:
                    continue
                root = self._roots.get(pid)
                if root is not None and root.start_time == table[pid].start_time:
                    self._take_in(pid, root.cpus)
                elif table[pid].start_time >= self._since:
                    self._take_in(pid, self._cpus[parent])
                else:
                    continue
                found.append(pid)

    # --- orphans ---------------------------------------------------------------------------------

    def _strays(self, table: Table) -> Iterator[Process]:
        known = {
            pid
            for pid in (*self._roots, *self._cpus)
            if pid not in table or pid in self._cpus  # or the number is a stranger's by now
        }
        unheard_since = self._unheard_since
        if unheard_since is None and not self._births.complete:
            unheard_since = self._births.since
        adopters = reapers(table, self._cpus)
        likenesses: set[tuple[int, str]] | None = None
        for process in table.values():
            if process.pid in self._cpus or process.start_time < self._since:
                continue
            if process.session in known:
                yield process
                continue
            if unheard_since is None or process.start_time < unheard_since:
                continue
            if process.parent not in adopters or not self._was_given(tasks.affinity(process.pid)):
                continue
            if likenesses is None:
                likenesses = set(filter(None, map(_likeness, self._cpus)))
            if _likeness(process.pid) in likenesses:
                yield process

    def _cpus_of_a_stray(self, process: Process) -> tuple[int, ...]:
        if process.session in self._cpus:
            return self._cpus[process.session]
        if process.session in self._roots:
            return self._roots[process.session].cpus
        return next(iter(self._cpus.values()))


def _likeness(pid: int) -> tuple[int, str] | None:
    """User and control groups of a process."""
    try:
        with open(f"/proc/{pid}/cgroup", errors="surrogateescape") as file:
            return os.stat(f"/proc/{pid}").st_uid, file.read()
    except OSError:
        return None
