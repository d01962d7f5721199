"""What the host was like before the agent changed it, on disk before each change.

One JSON file per agent, ``agent-<pid>.journal``, replaced as a whole by rename(2) for each entry,
so a reader sees all of it or the version before. The agent holds a lock (flock(2)) on
``agent-<pid>.lock`` as long as it lives: the kernel drops it however the agent ends, so a journal
whose lock is free belongs to a dead one. ``agent-<pid>.shared`` is the memory that agent, loop and
guardian share (``shared_page``).
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from types import NoneType

from smartharvest.errors import AlreadyManaged, RightsError, SmartHarvestError
from smartharvest.host import shared_page, tasks
from smartharvest.host.cpulist import format_cpulist, parse_cpulist
from smartharvest.host.shared_page import SharedPage

DEFAULT_DIRECTORY = "/run/smartharvest"
_claimed_here: set[str] = set()
"""Groups that journals of this process have locked."""
_VERSION = 2
UNNAMED = ".bound"
"""Of a control socket that nobody listens to yet."""
_BESIDE = (".lock", ".shared", ".sock", UNNAMED)


class JournalError(SmartHarvestError):
    """A journal is damaged, or stands in the way of a new one."""

    exit_code = 9


@dataclass(frozen=True)
class FileEntry:
    """A file's contents, without the newline."""

    path: str
    original: str
    inode: int = 0
    """Of its group: another group by the same name is nobody's of ours. 0: not known."""


@dataclass(frozen=True)
class CreatedEntry:
    """A group that was not there."""

    directory: str
    inode: int = 0
    """Once it is made; 0 before."""


@dataclass(frozen=True)
class MovedEntry:
    """A thread that was in group ``origin`` and is to go to ``destination``."""

    tid: int
    start_time: int
    origin: str
    destination: str


@dataclass(frozen=True)
class AffinityEntry:
    """The CPUs a thread could run on."""

    tid: int
    start_time: int
    cpus: tuple[int, ...]
    newcomers_since: int | None = None
    """In clock ticks since boot: the process's threads and descendants that have no entry and
    started since then get these CPUs as well. None: nobody else does."""


@dataclass(frozen=True)
class ConfinedEntry:
    """A group whose threads' affinities are changed.

    Those in it, or below it, that have no AffinityEntry came later: they get what their process
    had, or else every CPU of their cpuset.
    """

    directory: str
    inode: int = 0


Entry = FileEntry | CreatedEntry | MovedEntry | AffinityEntry | ConfinedEntry

_KINDS: dict[str, type[Entry]] = {
    "file": FileEntry,
    "created": CreatedEntry,
    "moved": MovedEntry,
    "affinity": AffinityEntry,
    "confined": ConfinedEntry,
}


Minimum = tuple[tuple[str, str], ...]
"""(file, value) in the order to write them: the elastic side has its minimum then, and no more."""


Ours = Mapping[str, Sequence[str]]
"""File -> every value this agent may have written there. Of a file that is not in it, any is."""
Chosen = Mapping[str, tuple[str, str]]
"""File -> (own, always), CPU lists: where the CPUs are chosen as they are lent, the file also gets
``(own & lent) | always`` of the two sets that the shared page has."""


@dataclass(frozen=True)
class JournalContents:
    """A journal as read back."""

    boot_id: str
    pid: int
    start_time: int
    claims: tuple[str, ...]
    entries: tuple[Entry, ...]
    minimum: Minimum
    ours: Ours
    minimum_cpus: tuple[int, ...] = ()
    """Beside ``minimum``: what threads with a journaled affinity have then; empty: not known."""
    chosen: Chosen = field(default_factory=dict)


class Journal:
    """The journal of this process's agent, held locked until it is closed or released.

    ``claims`` are the groups and processes that the agent manages (``CgroupTarget.group.path``, or
    the target's text for a process). ``name`` tells several journals of one process apart. Claimed
    groups that exist, and those above them up to ``root`` or a mount point, are locked (flock(2))
    against agents with another ``directory``. Raises
    AlreadyManaged if another living process has one of the claims or a group above or below one,
    JournalError if a dead agent's journal has this one's name (recover first), and RightsError if
    ``directory`` cannot be written.
    """

    page: SharedPage
    """The memory shared with the loop and the guardian."""
    before_first_entry: Callable[[], None] | None = None
    """Called once, before anything is journaled and so before anything is changed."""

    def __init__(
        self,
        directory: str = DEFAULT_DIRECTORY,
        *,
        name: str = "agent",
        claims: Sequence[str] = (),
        root: str = "",
    ) -> None:
        pid = os.getpid()
        self.path = os.path.join(directory, f"{name}-{pid}.journal")
        self._directory = directory
        self._entries: dict[tuple[object, ...], Entry] = {}
        self._minimum: Minimum = ()
        self._minimum_cpus: tuple[int, ...] = ()
        self._ours: dict[str, list[str]] = {}
        self._chosen: dict[str, tuple[str, str]] = {}
        self._forget_at = 64
        self._locked: list[str] = []
        self._lock: int | None = None
        self._group_locks: list[int] = []
        self._header = _header(claims)
        try:
            os.makedirs(directory, mode=0o700, exist_ok=True)
            with _directory_locked(directory):
                _check_claims(directory, claims)
                if os.path.exists(self.path):
                    raise JournalError(
                        f"{self.path}: left by an earlier agent; run smartharvest restore"
                    )
                self._lock = try_lock(lock_path(self.path), create=True)
                if self._lock is None:
                    raise JournalError(f"{lock_path(self.path)}: somebody else holds this lock")
                self._lock_groups(claims, root)
                self.page = SharedPage(page_path(self.path), create=True)
                self._write()
        except BaseException as error:
            if self._lock is not None:
                with contextlib.suppress(OSError):
                    remove(self.path)
                self.release()
            if not isinstance(error, OSError):
                raise
            as_root = "run as root or " if error.errno in (errno.EACCES, errno.EPERM) else ""
            raise RightsError(
                f"{directory}: the journal cannot be written: {error.strerror}; "
                f"{as_root}choose another state directory"
            ) from error

    @classmethod
    def inherit(cls, path: str, lock: int, group_locks: Sequence[int]) -> Journal:
        """The journal that an earlier program in this process has left open, with its locks.

        Raises JournalError if it is damaged, of another version or not this process's.
        """
        contents = read_journal(path)
        pid = os.getpid()
        if (contents.pid, contents.start_time) != (pid, tasks.start_time(pid)):
            raise JournalError(f"{path}: is the journal of another process")
        journal = cls.__new__(cls)
        journal.path = path
        journal._directory = os.path.dirname(path)
        journal._entries = {_subject(entry): entry for entry in contents.entries}
        journal._minimum, journal._minimum_cpus = contents.minimum, contents.minimum_cpus
        journal._ours = {file: list(values) for file, values in contents.ours.items()}
        journal._chosen = dict(contents.chosen)
        journal._forget_at = 64
        journal._locked = list(filter(os.path.isabs, contents.claims))
        journal._lock, journal._group_locks = lock, list(group_locks)
        journal._header = _header(contents.claims)
        for descriptor in journal.descriptors:
            os.set_inheritable(descriptor, False)
        _claimed_here.update(journal._locked)
        journal.page = SharedPage(page_path(path))
        return journal

    @property
    def descriptors(self) -> tuple[int, ...]:
        """The locks': that of the journal, then those of the groups."""
        assert self._lock is not None
        return (self._lock, *self._group_locks)

    def _lock_groups(self, claims: Sequence[str], root: str) -> None:
        """Locks the claimed groups against all others, and those above them against whoever claims
        one of those: neither a group nor one below or above it has two agents. ``root`` itself
        is left alone."""
        groups = list(filter(os.path.isabs, dict.fromkeys(claims)))
        for claim in groups:
            self._lock_group(claim, claim, fcntl.LOCK_EX)
        self._locked = groups
        _claimed_here.update(groups)
        for claim in groups:
            above = os.path.dirname(claim)
            while above.startswith(f"{root}/") and not os.path.ismount(above):
                if above not in _claimed_here:  # one process keeps its own parts apart itself
                    self._lock_group(above, claim, fcntl.LOCK_SH)
                above = os.path.dirname(above)

    def _lock_group(self, path: str, claim: str, kind: int) -> None:
        try:
            fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError:  # it is still to be made, or will be reported where it is used
            return
        self._group_locks.append(fd)
        try:
            fcntl.flock(fd, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            what = "it" if path == claim and kind == fcntl.LOCK_EX else path
            raise AlreadyManaged(
                f"{claim}: an agent with another state directory already manages {what}; "
                "stop it first"
            ) from None

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

    def record_file(self, path: str, original: str) -> None:
        self.record(FileEntry(path, original, inode(os.path.dirname(path))))

    def record_created(self, directory: str) -> None:
        self.record(CreatedEntry(directory))

    def note_made(self, *directories: str) -> None:
        """The groups that were recorded as created are there now."""
        for directory in directories:
            entry = CreatedEntry(directory, inode(directory))
            self._entries[_subject(entry)] = entry
        self._save()

    def expect(
        self,
        values: Ours,
        minimum: Minimum | None = None,
        minimum_cpus: Sequence[int] = (),
        chosen: Chosen | None = None,
    ) -> None:
        """Journals what is going to be written, beside what was, and what the guardian writes.

        ``minimum_cpus``, given with ``minimum``, are those it leaves the threads whose affinities
        are journaled.
        """
        ours = {
            path: list(dict.fromkeys((*self._ours.get(path, ()), *new)))
            for path, new in values.items()
        }
        before = self._ours, self._minimum, self._minimum_cpus, self._chosen
        self._ours = {**self._ours, **ours}
        self._chosen = {**self._chosen, **(chosen or {})}
        if minimum is not None:
            self._minimum, self._minimum_cpus = minimum, tuple(minimum_cpus)
        if before == (self._ours, self._minimum, self._minimum_cpus, self._chosen):
            return
        try:
            self._save()
        except RightsError:
            self._ours, self._minimum, self._minimum_cpus, self._chosen = before
            raise

    def withdraw_created(self, directory: str) -> None:
        """Takes an entry back: somebody else made that group first, so it is not ours to remove."""
        del self._entries[_subject(CreatedEntry(directory))]
        self._save()

    def replace_original(self, path: str, original: str) -> None:
        """What somebody else has written to a file of ours is what is to be put back now."""
        entry = self._entries[_subject(FileEntry(path, ""))]
        assert isinstance(entry, FileEntry)
        self._entries[_subject(entry)] = replace(entry, original=original)
        self._save()

    def replace_affinity(self, tid: int, start_time: int, cpus: Sequence[int]) -> None:
        """The same of a thread's affinity; one without an entry gets none."""
        entry = self._entries.get(_subject(AffinityEntry(tid, start_time, ())))
        if isinstance(entry, AffinityEntry):
            self._entries[_subject(entry)] = replace(entry, cpus=tuple(cpus))
            self._save()

    def record_moved(self, tid: int, start_time: int, origin: str, destination: str) -> None:
        self.record(MovedEntry(tid, start_time, origin, destination))

    def record_affinity(self, tid: int, start_time: int, cpus: Sequence[int]) -> None:
        self.record(AffinityEntry(tid, start_time, tuple(cpus)))

    def record(self, *entries: Entry) -> None:
        """Makes ``entries`` durable in one go, but none for what has one: the first is true."""
        if self._lock is None:
            raise JournalError(f"{self.path}: is closed; nothing may be changed any more")
        if self.before_first_entry is not None:
            self.before_first_entry()
            self.before_first_entry = None
        before = self._entries.copy()
        for entry in entries:
            self._entries.setdefault(_subject(entry), entry)
        if len(self._entries) == len(before):
            return
        try:
            self._save()
        except RightsError:
            self._entries = before
            raise

    def forget_dead_threads(self) -> None:
        """Drops the affinities of threads that have ended, with the next entry that is recorded.

        Looks at all of them only once they have doubled.
        """
        if len(self._entries) < self._forget_at:
            return
        for subject, entry in list(self._entries.items()):
            is_dead = isinstance(entry, AffinityEntry) and (
                tasks.start_time(entry.tid) != entry.start_time
            )
            if is_dead:
                del self._entries[subject]
        self._forget_at = 2 * len(self._entries) + 64

    def _save(self) -> None:
        try:
            self._write()
        except OSError as error:
            with contextlib.suppress(OSError):
                os.unlink(self.path + ".new")
            raise RightsError(
                f"{self.path}: the journal cannot be written: {error.strerror}; nothing was changed"
            ) from error

    def _write(self) -> None:
        names = {kind: name for name, kind in _KINDS.items()}
        entries = [{"kind": names[type(entry)], **asdict(entry)} for entry in self.entries]
        temporary = self.path + ".new"
        with open(temporary, "w") as file:
            json.dump(
                {
                    **self._header,
                    "minimum": self._minimum,
                    "minimum_cpus": self._minimum_cpus,
                    "ours": self._ours,
                    "chosen": self._chosen,
                    "entries": entries,
                },
                file,
                indent=1,
            )
            file.flush()
            os.fsync(file.fileno())
        os.rename(temporary, self.path)
        _sync_directory(self._directory)

    def close(self) -> None:
        """Removes the journal: everything in it has been put back."""
        self._entries.clear()
        remove(self.path)
        self.release()

    def release(self) -> None:
        """Lets go of the journal but leaves it, for a recovery to finish."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None
            if hasattr(self, "page"):
                self.page.close()
        while self._group_locks:
            os.close(self._group_locks.pop())
        _claimed_here.difference_update(self._locked)
        self._locked = []


def _header(claims: Sequence[str]) -> dict[str, object]:
    pid = os.getpid()
    return {
        "version": _VERSION,
        "boot_id": boot_id(),
        "pid": pid,
        "start_time": tasks.start_time(pid),
        "claims": list(claims),
    }


def _subject(entry: Entry) -> tuple[object, ...]:
    """What an entry is about."""
    match entry:
        case FileEntry():
            return FileEntry, entry.path
        case CreatedEntry():
            return CreatedEntry, entry.directory
        case MovedEntry():
            return MovedEntry, entry.tid, entry.start_time, entry.destination
        case AffinityEntry():
            return AffinityEntry, entry.tid, entry.start_time
        case ConfinedEntry():
            return ConfinedEntry, entry.directory


def with_chosen(ours: Ours, chosen: Chosen, sets: Iterable[frozenset[int]]) -> Ours:
    """``ours`` and what files whose CPUs were chosen have of these sets. Raises ValueError."""
    found = {file: list(values) for file, values in ours.items()}
    for lent in sets:
        for file, (own, always) in chosen.items():
            mask = (parse_cpulist(own) & lent) | parse_cpulist(always)
            found.setdefault(file, []).append(format_cpulist(mask))
    return found


def read_journal(path: str) -> JournalContents:
    """The journal at ``path``; JournalError if it is damaged or of an unknown version."""
    try:
        with open(path) as file:
            raw = json.load(file)
        if raw["version"] != _VERSION:
            raise JournalError(
                f"{path}: version {raw['version']} is unknown; "
                "restore with the release that wrote it"
            )
        entries = []
        for written in raw["entries"]:
            kind = _KINDS[written.pop("kind")]
            if kind is AffinityEntry:
                written["cpus"] = tuple(map(int, written["cpus"]))
            entries.append(_checked(kind(**written)))
        chosen = {
            str(file): (str(own), str(always))
            for file, (own, always) in raw.get("chosen", {}).items()
        }
        return JournalContents(
            str(raw["boot_id"]),
            int(raw["pid"]),
            int(raw["start_time"]),
            tuple(map(str, raw["claims"])),
            tuple(entries),
            tuple((str(path), str(value)) for path, value in raw["minimum"]),
            with_chosen(
                {str(file): [*map(str, values)] for file, values in raw["ours"].items()},
                chosen,
                shared_page.read_choices(page_path(path)) if chosen else (),
            ),
            tuple(map(int, raw.get("minimum_cpus", ()))),
            chosen,
        )
    except (
        ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError
    ) as error:  # fmt: skip
        raise JournalError(
            f"{path}: the journal is damaged ({type(error).__name__}: {error}); "
            "look at it, put its values back by hand and remove it"
        ) from error


_TYPES: dict[str, type | tuple[type, ...]] = {
    "str": str,
    "int": int,
    "int | None": (int, NoneType),
    "tuple[int, ...]": tuple,
}


def _checked(entry: Entry) -> Entry:
    """What goes back to the host must be what was written. Raises TypeError."""
    for item in fields(entry):
        value = getattr(entry, item.name)
        if not isinstance(value, _TYPES[str(item.type)]):
            raise TypeError(f"{item.name} is {value!r}")
    return entry


def journal_paths(directory: str) -> list[str]:
    """All journals in ``directory``; empty if there is no such directory."""
    try:
        names = sorted(os.listdir(directory))
    except FileNotFoundError:
        return []
    return [os.path.join(directory, name) for name in names if name.endswith(".journal")]


def lock_path(journal_path: str) -> str:
    return journal_path.removesuffix(".journal") + ".lock"


def page_path(journal_path: str) -> str:
    return journal_path.removesuffix(".journal") + ".shared"


def read_nudge(journal_path: str) -> int:
    """The thread that a loop had pinned when it ended, 0 for none."""
    return shared_page.read_nudge(page_path(journal_path))


def try_lock(path: str, *, create: bool = False) -> int | None:
    """Locks the file at ``path``; its descriptor, or None if somebody holds the lock.

    The lock is gone when the descriptor is closed. Raises FileNotFoundError without ``create``.
    """
    while True:
        flags = os.O_RDWR | os.O_CLOEXEC | (os.O_CREAT if create else 0)
        fd = os.open(path, flags, 0o600)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(fd)
            return None
        with contextlib.suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(fd), os.stat(path)):
                return fd
        os.close(fd)  # a recovery removed the file between open and flock


def is_live(journal_path: str) -> bool:
    """Whether the agent that writes this journal is still there."""
    try:
        fd = try_lock(lock_path(journal_path))
    except FileNotFoundError:
        return False
    if fd is None:
        return True
    os.close(fd)
    return False


def remove(journal_path: str) -> None:
    """Removes a journal with its lock; the caller holds the lock."""
    sockets = (journal_path.removesuffix(".journal") + suffix for suffix in (".sock", UNNAMED))
    files = (journal_path, journal_path + ".new", page_path(journal_path), *sockets)
    for path in (*files, lock_path(journal_path)):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
    _sync_directory(os.path.dirname(journal_path))


def sweep(directory: str) -> None:
    """Removes what agents left that ended before they had a journal: nothing was changed yet."""
    with contextlib.suppress(FileNotFoundError), _directory_locked(directory):
        names = os.listdir(directory)
        stems = {os.path.splitext(name)[0] for name in names if name.endswith(_BESIDE)}
        for stem in stems - {os.path.splitext(n)[0] for n in names if n.endswith(".journal")}:
            path = os.path.join(directory, f"{stem}.journal")
            lock = try_lock(lock_path(path), create=True)
            if lock is not None:
                remove(path)
                os.close(lock)


def inode(directory: str) -> int:
    """The number that tells a group from a later one of its name; 0 if it is not there."""
    try:
        return os.stat(directory).st_ino
    except OSError:
        return 0


def boot_id() -> str:
    with open("/proc/sys/kernel/random/boot_id") as file:
        return file.read().strip()


def _check_claims(directory: str, claims: Sequence[str]) -> None:
    for path in journal_paths(directory):
        if not is_live(path):
            continue
        try:
            theirs = read_journal(path)
        except FileNotFoundError:  # its agent was just closing it
            continue
        if theirs.pid == os.getpid():  # one process keeps its own parts apart itself
            continue
        for claim in claims:
            for other in theirs.claims:
                if f"{claim}/".startswith(f"{other}/") or f"{other}/".startswith(f"{claim}/"):
                    raise AlreadyManaged(
                        f"{claim}: the agent with pid {theirs.pid} already manages {other}; "
                        "stop it first"
                    )


@contextlib.contextmanager
def _directory_locked(directory: str) -> Iterator[None]:
    """Lets agents that start at the same time see each other's claims."""
    fd = os.open(directory, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)


def _sync_directory(directory: str) -> None:
    fd = os.open(directory, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
