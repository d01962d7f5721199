"""Undoing the entries of a journal, on a host that may have changed since.

Some entries can be undone only after others (a v1 parent cpuset before its child, or the child
before its parent), so the list is repeated, last entry first, while that makes progress. Where
parent and child wait for each other, the parent gets both masks for a moment. What no longer exists
needs no undoing.
"""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field

from smartharvest.host.cgroup.kernel_files import KernelFiles
from smartharvest.host.cpulist import format_cpulist, parse_cpulist
from smartharvest.host.journal.affinities import AffinitiesBack
from smartharvest.host.journal.contents import (
    NOT_KNOWN,
    AffinityEntry,
    ConfinedEntry,
    CreatedEntry,
    Entry,
    FileEntry,
    Given,
    MovedEntry,
    OccupiedEntry,
    Ours,
    PolicyEntry,
    ScheduledEntry,
    inode,
)
from smartharvest.host.journal.families import BirthEvents
from smartharvest.host.journal.inherited_masks import narrow_children
from smartharvest.host.journal.moves import MovesBack
from smartharvest.host.journal.policies import PoliciesBack
from smartharvest.host.process import tasks

_GONE = (errno.ENOENT, errno.ENODEV, errno.ENOTDIR, errno.ESRCH)
_MASKS = ("cpuset.cpus", "cpuset.mems")
_NOT_ONLINE = (errno.EINVAL, errno.EACCES, errno.ERANGE)
_WEIGHTS_OF_IDLE = {"cpu.shares": ("2", "3", "1024"), "cpu.weight": ("0", "1", "100")}
"""The values of an idle group, and of one after idle: sched_group_set_idle()."""
_OF_THREADS = (AffinityEntry, ConfinedEntry, PolicyEntry, ScheduledEntry)

WriteLog = Callable[[str, str, str], None]
"""Called as ``(path, old, new)`` after each change, for the audit log."""


def no_log(_path: str, _old: str, _new: str) -> None:
    """A WriteLog that keeps nothing."""


@dataclass(frozen=True)
class Restoration:
    """One line for each thing put back, and for each that the kernel refused."""

    restored: list[str]
    failed: list[str]
    left: list[str] = field(default_factory=list)
    """What another process has changed since: it stays as it is."""


def put_back(
    entries: Iterable[Entry],
    files: KernelFiles,
    write_log: WriteLog = no_log,
    *,
    ours: Ours | None = None,
    given: Given = NOT_KNOWN,
    births: BirthEvents | None = None,
    unheard_since: int | None = None,
) -> Restoration:
    """Undoes ``entries`` (in the order they were journaled); never raises OSError.

    Affinities come last, when every thread is in its group and the group has its mask. ``births``,
    which this closes, and ``unheard_since`` are as of ``Families``.

    Changes a thread only if its start time is the journaled one, and moves it back only if it still
    is where it was moved to; a file only if its group is the same and it holds one of the values in
    ``ours``; an affinity only if it is one of those ``given``.
    """
    undo = _Undo(files, list(entries), write_log, ours or {})
    affinities = AffinitiesBack(
        undo.entries, given, files, undo.log, _masks_of(ours or {}), births, unheard_since
    )
    # An idle group refuses a weight, and leaving idle resets it: idle first.
    last_first: list[Entry] = [
        one for one in undo.entries[::-1] if not isinstance(one, _OF_THREADS)
    ]
    pending = [entry for entry in last_first if _is_idle_switch(entry)]
    pending += [entry for entry in last_first if not _is_idle_switch(entry)]
    refused: list[tuple[Entry, OSError]] = []
    while pending:
        refused, undo.eased = [], False
        for entry in pending:
            try:
                undo.entry(entry)
            except OSError as error:
                if error.errno in _GONE:
                    continue
                if undo.is_below_left(entry):
                    undo.left.append(
                        f"{_where(entry)}: {error.strerror} below a group that has changed"
                    )
                    continue
                refused.append((entry, error))
        if len(refused) == len(pending) and not undo.eased:
            if undo.last_resort:
                break
            undo.last_resort = True
        pending = [entry for entry, _ in refused]
        if undo.last_resort:  # what an empty mask means is the parent's
            pending.sort(key=_depth)
    for path, mask in narrow_children(undo.entries, files, ours or {}):
        with contextlib.suppress(OSError):  # it is gone, or in other hands now
            undo.inherited(path, mask)
    affinities.run(groups_are_back=not refused)
    policies = PoliciesBack(undo.entries, files, undo.log)
    policies.run()
    failed = [*refused, *affinities.refused, *policies.refused]
    return Restoration(
        undo.restored,
        [f"{_where(entry)}: {error.strerror}" for entry, error in failed],
        undo.left + affinities.left,
    )


def is_same(path: str, current: str, wanted: str) -> bool:
    """Whether two values of a file mean the same."""
    if os.path.basename(path) in _MASKS:
        try:
            return parse_cpulist(current) == parse_cpulist(wanted)
        except ValueError:
            return False
    return current.split() == wanted.split()


def is_ours(
    path: str,
    current: str,
    original: str,
    ours: Ours,
    online: Callable[[], Collection[int]] = tasks.online_cpus,
) -> bool:
    """Whether an agent with these values may have left ``current`` in the file at ``path``."""
    name = os.path.basename(path)
    if name in _WEIGHTS_OF_IDLE:
        return current in (*_WEIGHTS_OF_IDLE[name], *ours.get(path, ()))
    values = ours.get(path)
    if name == "freezer.state" and current == "FREEZING":
        current = "FROZEN"  # on its way there, while some task does not stop
    if values is None or name == "cgroup.subtree_control":
        return True
    if name not in _MASKS:
        return any(is_same(path, current, value) for value in values)
    try:
        now, before = parse_cpulist(current), parse_cpulist(original)
        masks = [parse_cpulist(value) for value in values]
    except ValueError:
        return False
    # The union is there for a moment where parent and child wait for each other.
    written = [one for mask in masks for one in (mask, mask | before)]
    if now in written or name != "cpuset.cpus":
        return now in written
    # Any v1 mask loses the CPUs that go offline.
    return any(now and now < one and (one - now).isdisjoint(online()) for one in written)


class _Undo:
    def __init__(
        self,
        files: KernelFiles,
        entries: list[Entry],
        write_log: WriteLog,
        ours: Ours,
    ) -> None:
        self.entries = entries
        self.restored: list[str] = []
        self.left: list[str] = []
        self._left_groups: list[str] = []
        self._ours = ours
        self.eased = False
        self.last_resort = False
        self._files = files
        self._write_log = write_log
        self._moves = MovesBack(entries, files, self.log)

    def entry(self, entry: Entry) -> None:
        match entry:
            case FileEntry():
                if self._is_same_group(os.path.dirname(entry.path), entry.inode):
                    self._file(entry.path, entry.original)
            case CreatedEntry():
                if self._is_same_group(entry.directory, entry.inode):
                    self._created(entry.directory)
            case MovedEntry():
                self._moves.give_back(entry)
            case OccupiedEntry():
                if self._is_same_group(entry.directory, entry.inode):
                    self._moves.send_home(entry)

    def inherited(self, path: str, mask: str) -> None:
        """Gives a group that copied a mask of the agent the mask it would have copied otherwise."""
        current = self._files.read(path).strip()
        self._files.write(path, mask + "\n")
        self.log(path, current, mask)

    def _file(self, path: str, original: str) -> None:
        current = self._files.read(path).strip()
        if is_same(path, current, original):
            return
        if not is_ours(path, current, original, self._ours, lambda: self._online(path)):
            self._left_groups.append(os.path.dirname(path))
            self.left.append(f"{path}: holds {current!r}, which another process wrote; left alone")
            return
        if os.path.basename(path) == "cgroup.subtree_control":
            enabled = set(self._ours.get(path, current.split())) - set(original.split())
            changes = [f"-{name}" for name in sorted(enabled & set(current.split()))]
            if not changes:
                return
            self._files.write(path, " ".join(changes))
        else:
            try:
                self._files.write(path, original + "\n")
            except OSError as error:
                if error.errno == errno.EBUSY and os.path.basename(path) in _MASKS:
                    self._ease(path, current, original)
                if not self.last_resort or os.path.basename(path) not in _MASKS:
                    raise
                if error.errno == errno.ENOSPC and not original:
                    original = self._write_inherited(path, error)
                else:
                    original = self._write_online(path, original, error)
        self.log(path, current, original)

    def _online(self, path: str) -> frozenset[int]:
        """The online CPUs: those of the top group (v1).

        A v2 mask keeps offline CPUs, so there all count as online.
        """
        top = os.path.dirname(path)
        if not self._files.exists(f"{top}/tasks"):
            return frozenset(tasks.EVERY_CPU)
        while self._files.exists(f"{os.path.dirname(top)}/cpuset.cpus"):
            top = os.path.dirname(top)
        try:
            return parse_cpulist(self._files.read(f"{top}/cpuset.cpus"))
        except (OSError, ValueError):
            return tasks.online_cpus()

    def _is_same_group(self, directory: str, journaled: int) -> bool:
        now = inode(directory)
        if not journaled or not now or now == journaled:
            return True
        line = f"{directory}: is another group of that name; left alone"
        if line not in self.left:
            self.left.append(line)
        return False

    def is_below_left(self, entry: Entry) -> bool:
        """Whether ``entry`` is a mask below a group whose mask another process has changed."""
        return isinstance(entry, FileEntry) and any(
            entry.path.startswith(f"{group}/") for group in self._left_groups
        )

    def _ease(self, path: str, current: str, original: str) -> None:
        """Widens a v1 mask to both values, so that the children can go from one to the other."""
        union = format_cpulist(parse_cpulist(current) | parse_cpulist(original))
        if not is_same(path, current, union):
            self._files.write(path, union + "\n")
            self.eased = True

    def _write_online(self, path: str, original: str, refusal: OSError) -> str:
        """Writes what the parent still has of a v1 mask, and returns it.

        A CPU that goes offline is taken out of every v1 mask, and no mask with it is accepted.
        """
        directory, name = os.path.split(path)
        if refusal.errno not in _NOT_ONLINE or not self._files.exists(f"{directory}/tasks"):
            raise refusal
        above = parse_cpulist(self._files.read(f"{os.path.dirname(directory)}/{name}"))
        left = parse_cpulist(original) & above
        if not left or left == parse_cpulist(original):
            raise refusal
        self._files.write(path, format_cpulist(left) + "\n")
        return format_cpulist(left)

    def _write_inherited(self, path: str, refusal: OSError) -> str:
        """Writes the parent's mask, which an empty v2 mask means, and returns it.

        Linux refuses to empty the mask of a group with tasks.
        """
        directory, name = os.path.split(path)
        inherited = f"{os.path.dirname(directory)}/{name}.effective"
        if not self._files.exists(inherited):  # v1, where an empty mask means none
            raise refusal
        mask = self._files.read(inherited).strip()
        self._files.write(path, mask + "\n")
        return mask

    def _created(self, directory: str) -> None:
        if not self._files.exists(directory):
            return
        self._moves.empty(directory)
        self._files.rmdir(directory)
        self.log(directory, "mkdir", "removed")

    def log(self, path: str, old: str, new: str) -> None:
        self.restored.append(f"{path}: {old or '(empty)'} -> {new or '(empty)'}")
        self._write_log(path, old, new)


def _masks_of(ours: Ours) -> list[frozenset[int]]:
    """The sets of CPUs that groups may have been given."""
    found: list[frozenset[int]] = []
    for path, values in ours.items():
        if os.path.basename(path) == "cpuset.cpus":
            with contextlib.suppress(ValueError):
                found += map(parse_cpulist, values)
    return found


def _depth(entry: Entry) -> int:
    """How deep the group of a mask lies; 0 for anything else."""
    if isinstance(entry, FileEntry) and os.path.basename(entry.path) in _MASKS:
        return entry.path.count("/")
    return 0


def _is_idle_switch(entry: Entry) -> bool:
    return isinstance(entry, FileEntry) and entry.path.endswith("/cpu.idle")


def _where(entry: Entry) -> str:
    match entry:
        case FileEntry():
            return f"{entry.path} (was {entry.original or 'empty'})"
        case CreatedEntry():
            return f"{entry.directory} (was not there)"
        case MovedEntry():
            return f"task {entry.tid} (was in {entry.origin})"
        case OccupiedEntry():
            return f"tasks in {entry.directory}"
        case AffinityEntry():
            return f"affinity of thread {entry.tid} (was {format_cpulist(entry.cpus)})"
        case ConfinedEntry():
            return f"affinities in {entry.directory}"
        case PolicyEntry():
            return f"policy of thread {entry.tid} (was {entry.policy})"
        case ScheduledEntry():
            return f"policies in {entry.directory}"
