"""The contents of a journal: the host before each change, and the values the agent may write."""

from __future__ import annotations

import contextlib
import functools
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from types import NoneType
from typing import Any, TextIO

from smartharvest.errors import SmartHarvestError
from smartharvest.host.cpulist import format_cpulist, parse_cpulist
from smartharvest.host.journal import shared_page
from smartharvest.host.journal.places import page_path
from smartharvest.trusted import Untrusted, open_trusted

VERSION = 3
_READ_VERSIONS = (2, 3)
"""An older release may have handed over to this one, or died."""


class JournalError(SmartHarvestError):
    """A journal is damaged, or stands in the way of a new one."""

    exit_code = 9


@dataclass(frozen=True)
class FileEntry:
    """A file's contents, without the newline."""

    path: str
    original: str
    inode: int = 0
    """Of its group, since a later group may have the same name. 0: unknown."""


@dataclass(frozen=True)
class CreatedEntry:
    """A group that did not exist."""

    directory: str
    inode: int = 0
    """Once it exists; 0 before."""


@dataclass(frozen=True)
class MovedEntry:
    """A thread that was in group ``origin`` and moves to ``destination``."""

    tid: int
    start_time: int
    origin: str
    destination: str


@dataclass(frozen=True)
class OccupiedEntry:
    """A group that tasks are moved into, and the threads that were in it before.

    What started in it since ``since`` (clock ticks since boot) is of those moved, unless its
    ancestry shows otherwise.
    """

    directory: str
    inode: int
    since: int
    threads: tuple[int, ...]


@dataclass(frozen=True)
class AffinityEntry:
    """The CPUs a thread could run on."""

    tid: int
    start_time: int
    cpus: tuple[int, ...]
    newcomers_since: int | None = None
    """In clock ticks since boot: threads and descendants of the process that have no entry and
    started since then get these CPUs, too. None: only this thread does."""


@dataclass(frozen=True)
class ConfinedEntry:
    """A group whose threads' affinities are changed.

    Threads in it, or below it, without an AffinityEntry came later: they get the CPUs of their
    process, or else every CPU of their cpuset.
    """

    directory: str
    inode: int = 0


@dataclass(frozen=True)
class PolicyEntry:
    """The scheduling policy a thread had, as sched_getscheduler(2) returns it."""

    tid: int
    start_time: int
    policy: int


@dataclass(frozen=True)
class ScheduledEntry:
    """A group whose threads are put under SCHED_EXT.

    Threads with SCHED_EXT and without a PolicyEntry that are in it or below it, or have started
    since ``since`` (clock ticks since boot), have inherited it: they get the policy of their
    process, or else SCHED_OTHER.
    """

    directory: str
    inode: int
    since: int


Entry = (
    FileEntry
    | CreatedEntry
    | MovedEntry
    | OccupiedEntry
    | AffinityEntry
    | ConfinedEntry
    | PolicyEntry
    | ScheduledEntry
)

KINDS: dict[str, type[Entry]] = {
    "file": FileEntry,
    "created": CreatedEntry,
    "moved": MovedEntry,
    "occupied": OccupiedEntry,
    "affinity": AffinityEntry,
    "confined": ConfinedEntry,
    "policy": PolicyEntry,
    "scheduled": ScheduledEntry,
}


Minimum = tuple[tuple[str, str], ...]
"""(file, value), in the order to write them: after that the elastic side has its minimum."""


Ours = Mapping[str, Sequence[str]]
"""File -> every value this agent may have written there; any value for a file not in it."""
Chosen = Mapping[str, tuple[str, str]]
"""File -> (own, always), CPU lists: where the CPUs are chosen as they are lent, the file also gets
``(own & lent) | always`` of the two sets that the shared page has."""


@dataclass(frozen=True)
class Given:
    """The CPUs that threads with a journaled affinity may have."""

    sets: tuple[frozenset[int], ...] = ()
    """One for each number of cores lent. Empty: unknown, so any set."""
    nudging: bool = False
    """A loop ended while it had threads confined to one CPU of these."""


NOT_KNOWN = Given()


@dataclass(frozen=True)
class JournalContents:
    """A journal that was read."""

    boot_id: str
    pid: int
    start_time: int
    claims: tuple[str, ...]
    entries: tuple[Entry, ...]
    minimum: Minimum
    ours: Ours
    minimum_cpus: tuple[int, ...] = ()
    """What threads with a journaled affinity have with ``minimum``; empty: unknown."""
    chosen: Chosen = field(default_factory=dict)
    given: Given = NOT_KNOWN
    arrangement: Mapping[str, str] | None = None
    """The settings that the host was arranged by, as text; None: unknown."""


@dataclass(frozen=True)
class Head:
    """What of a journal is needed to take the cores back; it stands in the journal's first line.

    So that takes no longer where the rest describes thousands of threads.
    """

    minimum: Minimum
    minimum_cpus: tuple[int, ...]
    processes: tuple[tuple[int, int], ...]
    """(process, start time) of those whose threads are confined one by one."""
    groups: tuple[str, ...]
    """The groups whose threads are."""
    claims: tuple[str, ...]
    """The targets, the elastic one last."""

    @property
    def elastic_cpus(self) -> tuple[int, ...]:
        """The CPUs that the elastic side has with the minimum; empty where they are not known."""
        if self.minimum_cpus:
            return self.minimum_cpus
        mask = dict(self.minimum).get(f"{self.claims[-1]}/cpuset.cpus" if self.claims else "", "")
        try:
            return tuple(sorted(parse_cpulist(mask)))
        except ValueError:
            return ()


def head_of(contents: JournalContents) -> Head:
    """What the first line of a journal with these contents says."""
    return Head(
        contents.minimum,
        contents.minimum_cpus,
        tuple(processes_of(contents.entries)),
        tuple(groups_of(contents.entries)),
        contents.claims,
    )


def processes_of(entries: Iterable[Entry]) -> list[tuple[int, int]]:
    """(process, start time) of the processes that are followed."""
    return [
        (entry.tid, entry.start_time)
        for entry in entries
        if isinstance(entry, AffinityEntry) and entry.newcomers_since is not None
    ]


def groups_of(entries: Iterable[Entry]) -> list[str]:
    """The groups whose threads' affinities are changed."""
    return [entry.directory for entry in entries if isinstance(entry, ConfinedEntry)]


def subject(entry: Entry) -> tuple[object, ...]:
    """What an entry is about."""
    match entry:
        case FileEntry():
            return FileEntry, entry.path
        case CreatedEntry():
            return CreatedEntry, entry.directory
        case MovedEntry():
            return MovedEntry, entry.tid, entry.start_time, entry.destination
        case OccupiedEntry():
            return OccupiedEntry, entry.directory, entry.inode
        case AffinityEntry():
            return AffinityEntry, entry.tid, entry.start_time
        case ConfinedEntry():
            return ConfinedEntry, entry.directory
        case PolicyEntry():
            return PolicyEntry, entry.tid, entry.start_time
        case ScheduledEntry():
            return ScheduledEntry, entry.directory


def with_chosen(ours: Ours, chosen: Chosen, sets: Iterable[frozenset[int]]) -> Ours:
    """``ours`` plus the values of files whose CPUs were chosen from ``sets``. Raises ValueError."""
    found = {file: list(values) for file, values in ours.items()}
    for lent in sets:
        for file, (own, always) in chosen.items():
            mask = (parse_cpulist(own) & lent) | parse_cpulist(always)
            found.setdefault(file, []).append(format_cpulist(mask))
    return found


def written(entry: Entry) -> str:
    """A journal's line for ``entry``."""
    values = [str(one) if type(one) is int else _json(one) for one in vars(entry).values()]
    return _LINES[type(entry)] % tuple(values)


def read_head(path: str) -> Head:
    """The first line of the journal at ``path``; raises as ``read_journal`` does."""
    with _trusted(path) as file, _damage_told(path):
        line = file.readline().rstrip()
    if not line.endswith(","):  # a journal of version 2 has no such line
        return head_of(read_journal(path))
    with _damage_told(path):
        raw = json.loads(line[:-1] + "}")
        _check_version(path, raw)
        return Head(
            _minimum(raw),
            tuple(map(int, raw["minimum_cpus"])),
            tuple((int(pid), int(start_time)) for pid, start_time in raw["processes"]),
            tuple(map(str, raw["groups"])),
            tuple(map(str, raw["claims"])),
        )


def read_journal(path: str) -> JournalContents:
    """The journal at ``path``; JournalError if it is damaged, of an unknown version, or
    somebody else could have written it."""
    with _trusted(path) as file, _damage_told(path):
        raw = json.load(file)
        _check_version(path, raw)
        return _contents(path, raw)


@contextlib.contextmanager
def _trusted(path: str) -> Iterator[TextIO]:
    try:
        fd = open_trusted(path)
    except Untrusted as error:
        raise JournalError(f"{error}; nothing that the journal says is done") from None
    with open(fd) as file:
        yield file


@contextlib.contextmanager
def _damage_told(path: str) -> Iterator[None]:
    try:
        yield
    except (
        ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError
    ) as error:  # fmt: skip
        raise JournalError(
            f"{path}: the journal is damaged ({type(error).__name__}: {error}); "
            "read it, put its values back by hand and remove it"
        ) from error


def _check_version(path: str, raw: Mapping[str, object]) -> None:
    if raw["version"] not in _READ_VERSIONS:
        raise JournalError(
            f"{path}: version {raw['version']} is unknown; restore with the release that wrote it"
        )


def _minimum(raw: Mapping[str, Any]) -> Minimum:
    return tuple((str(path), str(value)) for path, value in raw["minimum"])


def _contents(path: str, raw: Mapping[str, Any]) -> JournalContents:
    chosen = {
        str(file): (str(own), str(always)) for file, (own, always) in raw.get("chosen", {}).items()
    }
    return JournalContents(
        str(raw["boot_id"]),
        int(raw["pid"]),
        int(raw["start_time"]),
        tuple(map(str, raw["claims"])),
        tuple(map(_entry, raw["entries"])),
        _minimum(raw),
        with_chosen(
            {str(file): [*map(str, values)] for file, values in raw["ours"].items()},
            chosen,
            shared_page.read_choices(page_path(path)) if chosen else (),
        ),
        tuple(map(int, raw.get("minimum_cpus", ()))),
        chosen,
        Given(
            tuple(parse_cpulist(str(cpus)) for cpus in raw.get("given", ())),
            bool(read_nudge(path)),
        ),
        None
        if raw.get("arrangement") is None
        else {str(name): str(value) for name, value in raw["arrangement"].items()},
    )


_TYPES: dict[str, type | tuple[type, ...]] = {
    "str": str,
    "int": int,
    "int | None": (int, NoneType),
    "tuple[int, ...]": tuple,
}
_FIELDS = {
    kind: [(item.name, _TYPES[str(item.type)]) for item in fields(kind)] for kind in KINDS.values()
}
_LINES = {
    kind: json.dumps({"kind": name, **{field: "%" for field, _ in _FIELDS[kind]}}).replace(
        '"%"', "%s"
    )
    for name, kind in KINDS.items()
}
_json = functools.lru_cache(256)(json.dumps)
"""Of thousands of entries most say the same of their threads."""


def _entry(raw: dict[str, Any]) -> Entry:
    """The entry of a line. Raises TypeError if its fields have other types."""
    kind = KINDS[raw.pop("kind")]
    for name, types in _FIELDS[kind]:
        if name in raw and types is tuple:
            raw[name] = tuple(map(int, raw[name]))
    entry = kind(**raw)
    for (name, types), value in zip(_FIELDS[kind], vars(entry).values(), strict=True):
        if not isinstance(value, types):
            raise TypeError(f"{name} is {value!r}")
    return entry


def read_nudge(journal_path: str) -> int:
    """The thread that a loop had pinned when it ended, 0 for none."""
    return shared_page.read_nudge(page_path(journal_path))


def inode(directory: str) -> int:
    """The number that distinguishes a group from a later one of its name; 0 if it is gone."""
    try:
        return os.stat(directory).st_ino
    except OSError:
        return 0


def boot_id() -> str:
    with open("/proc/sys/kernel/random/boot_id") as file:
        return file.read().strip()
