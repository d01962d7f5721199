"""The only writer to the host: it journals everything before writing it."""

from __future__ import annotations

import contextlib
import errno
import itertools
import logging
import os
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import TypeVar

from smartharvest.errors import (
    RightsError,
    SmartHarvestError,
    TargetError,
    TargetVanished,
    WriteRefused,
)
from smartharvest.host import kernels
from smartharvest.host.cgroup.kernel_files import KernelFiles
from smartharvest.host.cgroup.tree import tasks_below
from smartharvest.host.cpulist import format_cpulist, parse_cpulist
from smartharvest.host.journal.contents import (
    AffinityEntry,
    ConfinedEntry,
    CreatedEntry,
    FileEntry,
    MovedEntry,
    OccupiedEntry,
    PolicyEntry,
    ScheduledEntry,
    inode,
    processes_of,
)
from smartharvest.host.journal.families import BirthEvents
from smartharvest.host.journal.inherited_masks import MASK, has_inherited
from smartharvest.host.journal.journal import Journal
from smartharvest.host.journal.moves import members, move, move_process, whole_processes
from smartharvest.host.journal.restoration import WriteLog, is_same, no_log, put_back
from smartharvest.host.process import tasks
from smartharvest.host.process.family import Family
from smartharvest.host.process.policy import (
    RESET_ON_FORK,
    SCHED_EXT,
    is_fair,
    policy_of,
    set_policy,
)
from smartharvest.printable import shortened

_log = logging.getLogger(__name__)

_GONE = (errno.ENOENT, errno.ENODEV, errno.ENOTDIR)
_Item = TypeVar("_Item")
TASKS_PER_BEAT = 256
"""Tasks are looked at in some 20 us each, and there may be any number."""
_MOST_LAST_TURNS = 100


class HostWriter:
    """Changes files, groups, places and affinities, and puts everything back.

    Methods raise WriteRefused if the kernel refuses (``errno`` says how), TargetVanished if the
    group is gone and RightsError if writing the journal fails or this user may not read or write
    a file. ``family`` is followed since an earlier session; its births since then are journaled at
    once.
    """

    only_plans = False
    """Whether it only remembers what it is asked for."""

    def __init__(
        self,
        files: KernelFiles,
        journal: Journal,
        write_log: WriteLog = no_log,
        family: Family | None = None,
    ) -> None:
        self.files = files
        self._journal = journal
        self._write_log = write_log
        self._births: BirthEvents | None = None
        self._family = family
        if family is not None:
            self.adopt_last_births(family)

    def set(self, path: str, value: str) -> None:
        """Writes ``value`` (no newline) unless the file holds it already."""
        current = self.read(path)
        if is_same(path, current, value):
            return
        self.adopt(path)
        self._journal.expect({path: [value]})
        self._write(path, value + "\n")  # a bare newline empties a mask, an empty write does not
        self._write_log(path, current, value)

    def set_known(self, values: Iterable[tuple[str, str]]) -> float:
        """Writes (path, value) after (path, value) for which all is in the journal already.

        Notes the writes only afterwards: somebody waits for them. Others are written as by ``set``.
        Returns when the last was written, in seconds of the epoch.
        """
        written: list[tuple[str, str, str]] = []
        try:
            for path, value in values:
                if not self._journal.knows(path, value):
                    self.set(path, value)
                    continue
                current = self.read(path)
                if not is_same(path, current, value):
                    self._write(path, value + "\n")
                    written.append((path, current, value))
            return time.time()
        finally:
            for one in written:
                self._write_log(*one)

    def adopt(self, path: str) -> None:
        """Journals a file that another thread, such as the polling loop, is going to write.

        For cpu.idle the weight is journaled, too: the kernel drops it when idle is switched on.
        """
        original = self.read(path)
        directory, name = os.path.split(path)
        self._journal.renew_file(path, original)
        self._journal.record_file(path, original)
        if name == "cpu.idle" and original == "0":
            for weight in ("cpu.shares", "cpu.weight"):
                if self.files.exists(os.path.join(directory, weight)):
                    self.adopt(os.path.join(directory, weight))

    def adopt_limit(self, path: str, values: Callable[[str], Iterable[str]]) -> str:
        """Journals a file and the ``values`` that may be written for the original it is given.

        They are known for ours then, and writing one of them costs no disk. Without values nothing
        is journaled. Returns the original, which may be of an earlier session of the same group.
        """
        self._journal.renew_file(path, self.read(path))
        original = self._journal.original(path) or self.read(path)
        if expected := list(values(original)):
            self.adopt(path)
            self._journal.expect({path: expected})
        return original

    def concede(self, path: str, found: str) -> None:
        """Leaves a journaled file what somebody else has written: that is its original now."""
        self._journal.replace_original(path, found)

    def adopt_inherited_mask(self, directory: str) -> None:
        """Journals the mask of a group that was created below a narrowed one (v1).

        If it copied that group's mask, its original is that group's (inherited_masks.py).
        """
        path = os.path.join(directory, MASK)
        above = os.path.join(os.path.dirname(directory), MASK)
        narrow = map(parse_cpulist, [*self._journal.ours.get(above, ()), self.read(above)])
        try:
            copied = has_inherited(self.files, directory, set(narrow))
        except FileNotFoundError as error:
            raise TargetVanished(f"{path}: the group is gone") from error
        if not copied:  # by a group that was there before
            self._journal.renew_file(path, self.read(path))
        original = format_cpulist(self.original_cpus(above if copied else path))
        self._journal.renew_file(path, original)
        self._journal.record_file(path, original)

    def make_group(self, path: str) -> None:
        """Creates the group at ``path`` and those missing above it, if it does not exist.

        A new v1 cpuset has no CPUs and no memory nodes and takes no tasks: it gets its parent's.
        """
        if self.files.exists(path):
            return
        parent = os.path.dirname(path)
        self.make_group(parent)
        self._journal.record_created(path)
        try:
            self.files.mkdir(path)
            for name in ("cpuset.cpus", "cpuset.mems"):
                own, above = os.path.join(path, name), os.path.join(parent, name)
                is_v1 = self.files.exists(os.path.join(path, "tasks"))
                if is_v1 and self.files.exists(own):
                    self.files.write(own, self.files.read(above))
        except FileExistsError:
            self._journal.withdraw_created(path)
            return
        except PermissionError as error:
            raise RightsError(
                f"{path}: creating the group failed: {error.strerror}; run as root"
            ) from error
        except OSError as error:
            raise TargetError(f"{path}: creating the group failed: {error.strerror}") from error
        self._journal.note_made(path)
        self._write_log(path, "", "mkdir")

    def remove_group(self, path: str) -> None:
        """Removes an empty group that ``make_group`` made, ahead of ``restore``, which tries again.

        Does nothing if another process has made it.
        """
        made = any(
            isinstance(entry, CreatedEntry) and entry.directory == path
            for entry in self._journal.entries
        )
        if not made:
            return
        try:
            self.files.rmdir(path)
        except OSError as error:
            if error.errno not in _GONE:
                return
        self._journal.withdraw_created(path)
        self._write_log(path, "mkdir", "removed")

    def make_children(self, parent: str, masks: Mapping[str, str]) -> None:
        """Creates groups below ``parent`` that differ in their CPUs: name -> mask.

        Under v2 they are threaded, so that the parent may have tasks, too. Existing ones, which
        this writer must have created, get the new masks.
        """
        paths = [os.path.join(parent, name) for name in masks]
        self._journal.record(*(CreatedEntry(path) for path in paths))
        for path, mask in zip(paths, masks.values(), strict=True):
            try:
                if not self.files.exists(path):
                    self.files.mkdir(path)
                    if self.files.exists(f"{path}/cgroup.type"):
                        self.files.write(f"{path}/cgroup.type", "threaded")
                    else:
                        self.files.write(
                            f"{path}/cpuset.mems", self.files.read(f"{parent}/cpuset.mems")
                        )
                    self._write_log(path, "", "mkdir")
                self.files.write(f"{path}/cpuset.cpus", mask + "\n")
            except OSError as error:
                raise self._refusal(f"{path}/cpuset.cpus", mask, error) from error
        self._journal.note_made(*paths)

    def enable_controllers(self, directory: str, controllers: Collection[str]) -> None:
        """Enables ``controllers`` for the children of a v2 group, if they are not."""
        path = os.path.join(directory, "cgroup.subtree_control")
        current = self.read(path)
        missing = [name for name in controllers if name not in current.split()]
        if not missing:
            return
        self.adopt(path)
        self._journal.expect({path: missing})
        value = " ".join(f"+{name}" for name in missing)
        self._write(path, value)
        self._write_log(path, current, value)

    def move_task(self, tid: int, origin: str, destination: str) -> None:
        """Moves a thread (v1) or its whole process (v2) between two group directories.

        Does nothing if the thread has ended.
        """
        for refusal in self.move_tasks([(tid, origin, destination)]):
            raise refusal

    def move_tasks(self, moves: Iterable[tuple[int, str, str]]) -> list[SmartHarvestError]:
        """The same for many, as (tid, origin, destination): journals all, then moves them.

        Returns the WriteRefused and RightsErrors of those that did not move.
        """
        ways = {tid: way for tid, *way in moves if way[0] != way[1]}
        entries = {
            tid: MovedEntry(tid, start_time, *ways[tid]) for tid, start_time in self._started(ways)
        }
        occupied = map(self._occupied, dict.fromkeys(one.destination for one in entries.values()))
        self._journal.record(*filter(None, occupied), *entries.values())
        refusals: list[SmartHarvestError] = []
        for way in dict.fromkeys((one.origin, one.destination) for one in entries.values()):
            of_it = [tid for tid, one in entries.items() if (one.origin, one.destination) == way]
            whole, single = whole_processes(of_it)
            for pid in whole:
                refusals += self._move(move_process, pid, *way)
            for tid in single:
                refusals += self._move(move, tid, *way)
        return refusals

    def _occupied(self, directory: str) -> OccupiedEntry | None:
        """Who is in a group already; None for one that goes with the agent, or has an entry."""
        made = any(
            isinstance(entry, (CreatedEntry, OccupiedEntry)) and entry.directory == directory
            for entry in self._journal.entries
        )
        try:
            if made or not self.files.exists(directory):
                return None
            threads = tuple(members(self.files, directory))
        except OSError:  # the moves tell why
            return None
        since = tasks.start_time_of_newcomers()
        return OccupiedEntry(directory, inode(directory), since, threads)

    def _move(
        self, how: Callable[[KernelFiles, int, str], None], task: int, origin: str, destination: str
    ) -> list[SmartHarvestError]:
        """The refusal, if there is one."""
        try:
            how(self.files, task, destination)
        except ProcessLookupError:
            return []
        except OSError as error:
            refusal = self._refusal(destination, str(task), error)
            if isinstance(refusal, TargetVanished):
                raise refusal from error
            return [refusal]
        self._write_log(destination, origin, str(task))
        return []

    def set_affinity(self, tid: int, cpus: Collection[int]) -> None:
        """Confines a thread to ``cpus``; does nothing if it has ended.

        A set that was given is not journaled: the thread has inherited it, and gets what its
        process had.
        """
        start_time, current = tasks.start_time(tid), tasks.affinity(tid)
        if start_time is None or not current or current == set(cpus):
            return
        if current not in self._journal.given.sets:
            self._journal.record_affinity(tid, start_time, sorted(current))
        where = f"affinity of thread {tid}"
        try:
            os.sched_setaffinity(tid, cpus)
        except ProcessLookupError:
            return
        except OSError as error:
            raise self._refusal(where, format_cpulist(cpus), error) from error
        self._write_log(where, format_cpulist(current), format_cpulist(cpus))

    def adopt_affinity(self, pid: int, since: int | None = None) -> None:
        """Journals the affinities of a process that the loop is going to confine.

        Threads and processes that it starts meanwhile inherit the confinement; they get the CPUs
        of its first thread back. Meanwhile is from now on, or ``since`` (clock ticks since boot).
        """
        since = tasks.start_time_of_newcomers() if since is None else since
        entries = []
        for tid, start_time in self._started(tasks.process_threads(pid)):
            if cpus := tasks.affinity(tid):
                newcomers_since = since if tid == pid else None
                cpus_before = tuple(sorted(cpus))
                entries.append(AffinityEntry(tid, start_time, cpus_before, newcomers_since))
        self._journal.record(*entries)

    def adopt_pins(self, tids: Iterable[int], group: Collection[int]) -> None:
        """Journals the affinities of threads that lack some CPUs of their ``group``.

        Before Linux 6.2 a write to the group's mask overwrites them (set_cpus_allowed_ptr() without
        ``user_cpus_ptr``). Later kernels keep them.
        """
        if kernels.has(kernels.USER_CPUS_PTR):
            return
        whole = frozenset(group)
        entries = []
        for some in self._in_turns(tids):
            now = {tid: tasks.affinity(tid) for tid in some}
            pinned = {tid: cpus for tid, cpus in now.items() if cpus and cpus != whole}
            entries += [
                AffinityEntry(tid, start_time, tuple(sorted(pinned[tid])))
                for tid, start_time in tasks.started([*pinned])
            ]
        self._journal.record(*entries)

    def adopt_affinities(self, directory: str, ours: Collection[frozenset[int]] = ()) -> None:
        """Journals the affinities in a group, and below it, that the loop is going to change.

        From the second time on those that are one of ``ours`` are left out: they were inherited,
        and the threads get what their process had.
        """
        confined = ConfinedEntry(directory, inode(directory))
        if not self._journal.holds(confined):
            ours = ()
        self._journal.forget_dead_threads()
        # Of thousands that were just moved it need not be read again: for another thread that has
        # the id by now, an entry says nothing.
        start_times = {
            entry.tid: entry.start_time
            for entry in self._journal.entries
            if isinstance(entry, MovedEntry)
        }
        entries = []
        for some in self._in_turns(tasks_below(self.files, directory)):
            now = {tid: tasks.affinity(tid) for tid in some}
            new = {tid: cpus for tid, cpus in now.items() if cpus and cpus not in ours}
            start_times.update(tasks.started([tid for tid in new if tid not in start_times]))
            entries += [
                AffinityEntry(tid, start_times[tid], tuple(sorted(cpus)))
                for tid, cpus in new.items()
                if tid in start_times
            ]
        self._journal.record(confined, *entries)

    def set_policies(self, directory: str) -> tuple[int, list[OSError]]:
        """Puts the threads in a group, and below it, under SCHED_EXT; journals all of them first.

        Real-time threads stay what they are. How many were changed, and what the kernel refused.
        """
        if not any(
            isinstance(entry, ScheduledEntry) and entry.directory == directory
            for entry in self._journal.entries
        ):
            since = tasks.start_time_of_newcomers()
            self._journal.record(ScheduledEntry(directory, inode(directory), since))
        self._journal.forget_dead_threads()
        # Who has an entry and is none of SCHED_EXT was taken out by somebody else, who knows why.
        known = {
            (entry.tid, entry.start_time)
            for entry in self._journal.entries
            if isinstance(entry, PolicyEntry)
        }
        entries = []
        for some in self._in_turns(tasks_below(self.files, directory)):
            now = {tid: policy_of(tid) for tid in some}
            fair = {tid: one for tid, one in now.items() if one is not None and is_fair(one)}
            entries += [
                PolicyEntry(tid, start_time, fair[tid])
                for tid, start_time in tasks.started([*fair])
                if (tid, start_time) not in known
            ]
        self._journal.record(*entries)
        changed, refused = 0, []
        for entry in itertools.chain.from_iterable(self._in_turns(entries)):
            try:
                set_policy(entry.tid, SCHED_EXT | entry.policy & RESET_ON_FORK)
            except ProcessLookupError:
                continue
            except OSError as error:
                refused.append(error)
                continue
            changed += 1
        if changed:
            self._write_log(f"policies in {directory}", "fair", f"SCHED_EXT of {changed} threads")
        return changed, refused

    def adopt_forked_children(
        self, root: int, forked_children: Iterable[tuple[int, int | None]]
    ) -> None:
        """Journals processes that inherited their confinement, each with its parent.

        They get what the parent had before, or, if that is unknown, what ``root`` had. Entries of
        other threads that have ended are dropped.
        """
        originals = {
            entry.tid: entry.cpus
            for entry in self._journal.entries
            if isinstance(entry, AffinityEntry)
        }
        entries = []
        for pid, parent in forked_children:
            cpus = originals[pid] = originals.get(parent or root, originals[root])
            for tid, start_time in self._started(tasks.process_threads(pid)):
                since = start_time if tid == pid else None
                entries.append(AffinityEntry(tid, start_time, cpus, since))
        self._journal.forget_dead_threads(but=root)  # whose children may live on
        self._journal.record(*entries)

    def adopt_births(self, family: Family) -> list[int]:
        """Journals those born to ``family`` since its last turn, and returns them."""
        new = family.turn()
        if new:
            parents = family.members
            self.adopt_forked_children(family.root, [(pid, parents[pid]) for pid in new])
        return new

    def adopt_last_births(self, family: Family) -> None:
        """The same until nobody is new: who was born amid it may have lost its parent by then.

        Where every birth is heard, later ones are left to the next look: it would not end where
        tasks are born all the time.
        """
        began = tasks.start_time_of_newcomers()
        # Unjournaled, most are still found by their parents.
        with contextlib.suppress(RightsError):
            for _ in range(_MOST_LAST_TURNS):
                new = self.adopt_births(family)
                if family.hears_all:
                    new = [pid for pid in new if (tasks.start_time(pid) or began) < began]
                if not new and not family.behind:
                    break

    def take_family(self) -> Family | None:
        """That of an earlier session, which the caller closes."""
        family, self._family = self._family, None
        return family

    def pins(self, unpinned: Collection[int]) -> dict[int, tuple[int, ...]]:
        """The CPUs that journaled threads were confined to, if they lacked some of ``unpinned``."""
        return {
            entry.tid: entry.cpus
            for entry in self._journal.entries
            if isinstance(entry, AffinityEntry) and not set(entry.cpus) >= set(unpinned)
        }

    def original_cpus(self, path: str) -> frozenset[int]:
        """The mask in the file at ``path`` before this writer changed it."""
        original = self.original(path)
        return parse_cpulist(self.read(path) if original is None else original)

    def original(self, path: str) -> str | None:
        """What the file at ``path`` contained before this writer changed it; None: it did not."""
        for entry in self._journal.entries:
            if isinstance(entry, FileEntry) and entry.path == path:
                return entry.original
        return None

    def hear_births(self) -> None:
        """From now on, so that ``restore`` finds what is born meanwhile.

        Call it while the births before are still heard of.
        """
        if self._births is None and processes_of(self._journal.entries):
            self._births = BirthEvents()

    def restore(self) -> list[str]:
        """Puts everything back and removes the journal; returns a line for each thing put back.

        If the kernel refuses something, the rest is put back, the journal stays for ``smartharvest
        restore``, and RightsError names what is left.
        """
        journal = self._journal
        self.hear_births()
        if (family := self.take_family()) is not None:
            self.adopt_last_births(family)
            family.close()
        result = put_back(
            journal.entries,
            self.files,
            self._write_log,
            ours=journal.ours,
            given=journal.given,
            births=self._births,
        )
        self._births = None
        for line in result.left:
            _log.warning("not put back: %s", line)
        if result.failed:
            self._journal.release()
            raise RightsError(
                f"{self._journal.path}: not everything could be put back: "
                f"{shortened(result.failed)}; run smartharvest restore"
            )
        self._journal.close()
        return result.restored

    def _in_turns(self, items: Iterable[_Item]) -> Iterator[list[_Item]]:
        """``items``, some at a time; before each it shows the guardian that the agent lives."""
        left = iter(items)
        while some := list(itertools.islice(left, TASKS_PER_BEAT)):
            self.show_life()
            yield some

    def _started(self, tids: Iterable[int]) -> Iterator[tuple[int, int]]:
        """(thread, its start time) of those that are not gone; beats as well."""
        for some in self._in_turns(tids):
            yield from tasks.started(some)

    def show_life(self) -> None:
        """Shows the guardian that the agent lives, amid something that takes long."""
        self._journal.page.beat_as_agent()

    def read(self, path: str) -> str:
        """What the file holds. Raises as all of these do."""
        try:
            return self.files.read(path).strip()
        except PermissionError as error:
            raise RightsError(f"{path}: reading is not allowed; run as root") from error
        except OSError as error:
            if error.errno in _GONE:
                raise TargetVanished(f"{path}: the group is gone or lacks this file") from error
            raise RightsError(f"{path}: {error.strerror}") from error

    def _write(self, path: str, value: str) -> None:
        try:
            self.files.write(path, value)
        except OSError as error:
            raise self._refusal(path, value.strip(), error) from error

    @staticmethod
    def _refusal(path: str, value: str, error: OSError) -> SmartHarvestError:
        if error.errno in _GONE:
            return TargetVanished(f"{path}: the group is gone")
        refusal = WriteRefused(path, value, error.errno or errno.EIO)
        if isinstance(error, PermissionError) and os.geteuid() != 0:
            return RightsError(str(refusal))
        return refusal
