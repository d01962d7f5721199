"""The state of the host before the agent changed it, on disk before each change.

One JSON file per agent, ``agent-<pid>.journal``, replaced as a whole by rename(2) for each entry,
so a reader sees the new version or the one before. Its first line is what the guardian needs to
take the cores back (``Head``); each entry has a line of its own. The agent holds a lock (flock(2))
on ``agent-<pid>.lock`` while it lives. The kernel drops the lock however the agent ends: a journal
whose lock is free belongs to a dead agent. ``agent-<pid>.shared`` is memory that agent, loop and
guardian share (``shared_page``).
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from smartharvest.errors import AlreadyManaged, RightsError
from smartharvest.host.cpulist import format_cpulist, parse_cpulist
from smartharvest.host.journal.contents import (
    VERSION,
    AffinityEntry,
    Chosen,
    ConfinedEntry,
    CreatedEntry,
    Entry,
    FileEntry,
    Given,
    JournalContents,
    JournalError,
    Minimum,
    Ours,
    PolicyEntry,
    boot_id,
    groups_of,
    inode,
    processes_of,
    read_journal,
    subject,
    with_chosen,
    written,
)
from smartharvest.host.journal.group_locks import directory_locked, lock_groups
from smartharvest.host.journal.patience import PatientWriter
from smartharvest.host.journal.places import (
    DEFAULT_DIRECTORY,
    is_live,
    journal_paths,
    lock_path,
    page_path,
    sync_directory,
    try_lock,
)
from smartharvest.host.journal.removal import remove
from smartharvest.host.journal.shared_page import SharedPage
from smartharvest.host.process import tasks
from smartharvest.trusted import Untrusted, open_trusted

_claimed_here: set[str] = set()
"""Groups that journals of this process have locked: its claims do not exclude each other."""


class Journal:
    """The journal of this process's agent, held locked until it is closed or released.

    ``claims`` are the groups and processes that the agent manages (a group's path, or the text of a
    process target). ``name`` distinguishes several journals of one process. Claimed groups that
    exist, and those above them up to ``root`` or a mount point, are locked (group_locks.py) against
    agents with another ``directory``. ``arrangement`` are the settings that the host is arranged
    by. ``predecessor`` is the journal of a dead agent whose entries this one begins with: its path,
    which the caller has locked, and its contents. Raises AlreadyManaged if another living process
    has one of the claims or a group above or below one, JournalError if a dead agent's journal has
    this one's name (recover first), and RightsError if writing to ``directory`` fails.
    """

    page: SharedPage
    """The memory shared with the loop and the guardian."""
    before_first_entry: Callable[[], None] | None = None
    """Called once, before anything is journaled and so before anything is changed."""
    while_waiting: Callable[[], None] | None = None
    """Called while a disk is waited for; None: the calling thread itself writes and waits."""
    _patient: PatientWriter | None = None

    def __init__(
        self,
        directory: str = DEFAULT_DIRECTORY,
        *,
        name: str = "agent",
        claims: Sequence[str] = (),
        root: str = "",
        arrangement: Mapping[str, str] | None = None,
        predecessor: tuple[str, JournalContents] | None = None,
    ) -> None:
        pid = os.getpid()
        self.path = os.path.join(directory, f"{name}-{pid}.journal")
        self._directory = directory
        self._entries: dict[tuple[object, ...], Entry] = {}
        self._of_the_head: dict[tuple[object, ...], Entry] = {}
        """Those that the first line tells of: of thousands they are few."""
        self._lines: dict[tuple[object, ...], str] = {}
        self._minimum: Minimum = ()
        self._minimum_cpus: tuple[int, ...] = ()
        self._ours: dict[str, list[str]] = {}
        self._chosen: dict[str, tuple[str, str]] = {}
        self._given: list[str] = []
        self._records_given = True
        self._forget_at = 64
        self._locked: list[str] = []
        self._lock: int | None = None
        self._group_locks: list[int] = []
        self._header = _header(claims, arrangement)
        if predecessor is not None:
            self._go_on_with(predecessor[1])
        try:
            os.makedirs(directory, mode=0o700, exist_ok=True)
            with directory_locked(directory):
                check_claims(directory, claims, but=predecessor[0] if predecessor else None)
                if os.path.exists(self.path):
                    raise JournalError(
                        f"{self.path}: left by an earlier agent; run smartharvest restore"
                    )
                self._lock = try_lock(lock_path(self.path), create=True)
                if self._lock is None:
                    raise JournalError(f"{lock_path(self.path)}: another process holds this lock")
                self._group_locks = lock_groups(claims, root, frozenset(_claimed_here), directory)
                self._locked = list(filter(os.path.isabs, dict.fromkeys(claims)))
                _claimed_here.update(self._locked)
                self.page = SharedPage(page_path(self.path), create=True)
                self._write()
        except BaseException as error:
            if self._lock is not None:
                with contextlib.suppress(OSError):
                    remove(self.path)
                self.release()
            if not isinstance(error, OSError):
                raise
            if isinstance(error, Untrusted):
                raise RightsError(f"the journal cannot be kept: {error}") from error
            as_root = "run as root or " if error.errno in (errno.EACCES, errno.EPERM) else ""
            raise RightsError(
                f"{directory}: the journal cannot be written: {error.strerror}; "
                f"{as_root}choose another state directory"
            ) from error

    @classmethod
    def inherit(cls, path: str, lock: int, group_locks: Sequence[int]) -> Journal:
        """The journal that an earlier program in this process left open, with its locks.

        Raises JournalError if it is damaged, of another version or not this process's.
        """
        contents = read_journal(path)
        pid = os.getpid()
        if (contents.pid, contents.start_time) != (pid, tasks.start_time(pid)):
            raise JournalError(f"{path}: is the journal of another process")
        journal = cls.__new__(cls)
        journal.path = path
        journal._directory = os.path.dirname(path)
        journal._lines = {}
        journal._go_on_with(contents)
        journal._forget_at = 64
        journal._locked = list(filter(os.path.isabs, contents.claims))
        journal._lock, journal._group_locks = lock, list(group_locks)
        journal._header = _header(contents.claims, contents.arrangement)
        for descriptor in journal.descriptors:
            os.set_inheritable(descriptor, False)
        _claimed_here.update(journal._locked)
        journal.page = SharedPage(page_path(path))
        return journal

    def _go_on_with(self, contents: JournalContents) -> None:
        self._entries, self._of_the_head = {}, {}
        for entry in contents.entries:
            self._put(subject(entry), entry)
        self._minimum, self._minimum_cpus = contents.minimum, contents.minimum_cpus
        self._ours = {file: list(values) for file, values in contents.ours.items()}
        self._chosen = dict(contents.chosen)
        self._given = [format_cpulist(cpus) for cpus in contents.given.sets]
        # An earlier release may have given sets that it did not journal.
        has_affinities = any(isinstance(entry, AffinityEntry) for entry in contents.entries)
        self._records_given = bool(contents.given.sets) or not has_affinities

    @property
    def descriptors(self) -> tuple[int, ...]:
        """Descriptors of the locks: the journal's, then those of the groups."""
        assert self._lock is not None
        return (self._lock, *self._group_locks)

    @property
    def entries(self) -> tuple[Entry, ...]:
        return tuple(self._entries.values())

    @property
    def minimum(self) -> Minimum:
        return self._minimum

    @property
    def minimum_cpus(self) -> tuple[int, ...]:
        return self._minimum_cpus

    @property
    def ours(self) -> Ours:
        return with_chosen(self._ours, self._chosen, self.page.choices if self._chosen else ())

    @property
    def given(self) -> Given:
        sets = tuple(map(parse_cpulist, self._given))
        return Given(sets, bool(self.page.nudge_slot.cast("i")[0]))

    def holds(self, entry: Entry) -> bool:
        """Whether ``entry`` is journaled as it is."""
        return self._entries.get(subject(entry)) == entry

    def record_file(self, path: str, original: str) -> None:
        self.record(FileEntry(path, original, inode(os.path.dirname(path))))

    def renew_file(self, path: str, original: str) -> None:
        """Journals the file of a group that was made again; nothing happens to any other."""
        entry = self._entries.get(subject(FileEntry(path, "")))
        now = inode(os.path.dirname(path))
        if not isinstance(entry, FileEntry) or not entry.inode or entry.inode == now:
            return
        self._replace(FileEntry(path, original, now))
        self._save()

    def record_created(self, directory: str) -> None:
        self.record(CreatedEntry(directory))

    def note_made(self, *directories: str) -> None:
        """Notes that groups recorded as created exist now."""
        for directory in directories:
            self._replace(CreatedEntry(directory, inode(directory)))
        self._save()

    def expect(
        self,
        values: Ours,
        minimum: Minimum | None = None,
        minimum_cpus: Sequence[int] = (),
        chosen: Chosen | None = None,
        given: Iterable[Sequence[int]] = (),
    ) -> None:
        """Journals what will be written, and what the guardian writes after a death.

        ``given`` are the sets of CPUs that threads with a journaled affinity may get;
        ``minimum_cpus``, which comes with ``minimum``, the set that the guardian leaves them.
        """
        ours = {
            path: list(dict.fromkeys((*self._ours.get(path, ()), *new)))
            for path, new in values.items()
        }
        before = self._expected
        self._ours = {**self._ours, **ours}
        self._chosen = {**self._chosen, **(chosen or {})}
        if self._records_given:
            self._given = list(dict.fromkeys([*self._given, *map(format_cpulist, given)]))
        if minimum is not None:
            self._minimum, self._minimum_cpus = minimum, tuple(minimum_cpus)
        if before == self._expected:
            return
        try:
            self._save()
        except RightsError:
            self._ours, self._minimum, self._minimum_cpus, self._chosen, self._given = before
            raise

    @property
    def _expected(
        self,
    ) -> tuple[
        dict[str, list[str]], Minimum, tuple[int, ...], dict[str, tuple[str, str]], list[str]
    ]:
        return self._ours, self._minimum, self._minimum_cpus, self._chosen, self._given

    def withdraw_created(self, directory: str) -> None:
        """Drops the group's entries: another process made it first, or it is removed already."""
        self._drop(subject(CreatedEntry(directory)))
        for key, entry in list(self._entries.items()):
            if isinstance(entry, FileEntry) and os.path.dirname(entry.path) == directory:
                self._drop(key)
        self._save()

    def original(self, path: str) -> str | None:
        """What the file at ``path`` had; None if it is not journaled."""
        entry = self._entries.get(subject(FileEntry(path, "")))
        return entry.original if isinstance(entry, FileEntry) else None

    def knows(self, path: str, value: str) -> bool:
        """Whether the original of that very file is journaled, and ``value`` as one of ours."""
        entry = self._entries.get(subject(FileEntry(path, "")))
        return (
            isinstance(entry, FileEntry)
            and entry.inode == inode(os.path.dirname(path))
            and value in self._ours.get(path, ())
        )

    def replace_original(self, path: str, original: str) -> None:
        """Another process has written to a journaled file: its value is the original now."""
        entry = self._entries[subject(FileEntry(path, ""))]
        assert isinstance(entry, FileEntry)
        self._replace(replace(entry, original=original))
        self._save()

    def replace_affinity(self, tid: int, start_time: int, cpus: Sequence[int]) -> None:
        """The same for a thread's affinity; a thread without an entry gets none."""
        entry = self._entries.get(subject(AffinityEntry(tid, start_time, ())))
        if isinstance(entry, AffinityEntry):
            self._replace(replace(entry, cpus=tuple(cpus)))
            self._save()

    def record_affinity(self, tid: int, start_time: int, cpus: Sequence[int]) -> None:
        self.record(AffinityEntry(tid, start_time, tuple(cpus)))

    def record(self, *entries: Entry) -> None:
        """Makes ``entries`` durable at once; a subject that has an entry keeps the first."""
        if self._lock is None:
            raise JournalError(f"{self.path}: is closed; no more changes are allowed")
        if self.before_first_entry is not None:
            self.before_first_entry()
            self.before_first_entry = None
        new = []
        for entry in entries:
            if (key := subject(entry)) not in self._entries:
                self._put(key, entry)
                new.append(key)
        if not new:
            return
        try:
            self._save()
        except RightsError:
            for key in new:
                self._drop(key)
            raise

    def forget_dead_threads(self, but: int | None = None) -> None:
        """Drops entries of threads that have ended, on disk with the next recorded entry.

        That of ``but`` stays. Checks them only when their number has doubled.
        """
        if len(self._entries) < self._forget_at:
            return
        for key, entry in list(self._entries.items()):
            if not isinstance(entry, (AffinityEntry, PolicyEntry)) or entry.tid == but:
                continue
            if tasks.start_time(entry.tid) != entry.start_time:
                self._drop(key)
        self._forget_at = 2 * len(self._entries) + 64

    def note_arrangement(self, arrangement: Mapping[str, str]) -> None:
        """Notes the settings that the host is arranged by from now on, if they are others.

        Raises RightsError if the disk takes no write; then the journal keeps the old settings.
        """
        before = self._header
        if before["arrangement"] == dict(arrangement):
            return
        self._header = {**before, "arrangement": dict(arrangement)}
        try:
            self._save()
        except RightsError:
            self._header = before
            raise

    def _put(self, key: tuple[object, ...], entry: Entry) -> None:
        self._entries[key] = entry
        is_followed = isinstance(entry, AffinityEntry) and entry.newcomers_since is not None
        if is_followed or isinstance(entry, ConfinedEntry):
            self._of_the_head[key] = entry

    def _replace(self, entry: Entry) -> None:
        self._put(subject(entry), entry)
        self._lines.pop(subject(entry), None)

    def _drop(self, key: tuple[object, ...]) -> None:
        del self._entries[key]
        self._of_the_head.pop(key, None)
        self._lines.pop(key, None)

    def _save(self) -> None:
        try:
            if self.while_waiting is None:
                self._write()
            else:
                self._patient = self._patient or PatientWriter(self.path)
                self._patient.run(self._write, self.while_waiting)
        except OSError as error:
            if not isinstance(error, TimeoutError):  # it would wait as long
                with contextlib.suppress(OSError):
                    os.unlink(self.path + ".new")
            raise RightsError(
                f"{self.path}: the journal cannot be written: {error.strerror}; nothing was changed"
            ) from error

    def _write(self) -> None:
        head = {
            **self._header,
            "minimum": self._minimum,
            "minimum_cpus": self._minimum_cpus,
            "ours": self._ours,
            "chosen": self._chosen,
            "given": self._given,
            "processes": processes_of(self._of_the_head.values()),
            "groups": groups_of(self._of_the_head.values()),
        }
        temporary = self.path + ".new"
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        with open(open_trusted(temporary, flags), "w") as file:
            file.write(json.dumps(head)[:-1] + ',\n"entries": [\n')
            file.write(",\n".join(map(self._line, self._entries)))
            file.write("\n]}\n")
            file.flush()
            os.fsync(file.fileno())
        os.rename(temporary, self.path)
        sync_directory(self._directory)

    def _line(self, key: tuple[object, ...]) -> str:
        """The line of an entry, which is kept: most are written again and again."""
        line = self._lines.get(key)
        if line is None:
            line = self._lines[key] = written(self._entries[key])
        return line

    def close(self) -> None:
        """Removes the journal: everything in it was put back."""
        self._entries.clear()
        self._of_the_head.clear()
        self._lines.clear()
        remove(self.path)
        self.release()

    def release(self) -> None:
        """Drops the locks but leaves the journal, for a recovery to finish."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None
            if hasattr(self, "page"):
                self.page.close()
        while self._group_locks:
            os.close(self._group_locks.pop())
        _claimed_here.difference_update(self._locked)
        self._locked = []


def _header(claims: Sequence[str], arrangement: Mapping[str, str] | None) -> dict[str, object]:
    pid = os.getpid()
    return {
        "version": VERSION,
        "boot_id": boot_id(),
        "pid": pid,
        "start_time": tasks.start_time(pid),
        "claims": list(claims),
        "arrangement": None if arrangement is None else dict(arrangement),
    }


def check_claims(directory: str, claims: Sequence[str], but: str | None = None) -> None:
    """Raises AlreadyManaged if a living agent with a journal in ``directory``, other than the one
    at ``but``, has one of the ``claims`` or a group above or below one."""
    for path in journal_paths(directory):
        if path == but or not is_live(path):
            continue
        try:
            theirs = read_journal(path)
        except FileNotFoundError:  # its agent was just closing it
            continue
        if theirs.pid == os.getpid():  # claims of one process do not exclude each other
            continue
        for claim in claims:
            for other in theirs.claims:
                if f"{claim}/".startswith(f"{other}/") or f"{other}/".startswith(f"{claim}/"):
                    what = "it" if other == claim else other
                    raise AlreadyManaged(
                        f"{claim}: the agent with pid {theirs.pid} already manages {what}; "
                        "stop it first"
                    )
