"""The contents of a journal: the host before each change, and the values the agent may write."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from types import NoneType

from smartharvest.errors import SmartHarvestError
from smartharvest.host.cpulist import format_cpulist, parse_cpulist
from smartharvest.host.journal import shared_page
from smartharvest.trusted import Untrusted, open_trusted

VERSION = 2


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


Entry = FileEntry | CreatedEntry | MovedEntry | AffinityEntry | ConfinedEntry

KINDS: dict[str, type[Entry]] = {
    "file": FileEntry,
    "created": CreatedEntry,
    "moved": MovedEntry,
    "affinity": AffinityEntry,
    "confined": ConfinedEntry,
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


def subject(entry: Entry) -> tuple[object, ...]:
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
    """``ours`` plus the values of files whose CPUs were chosen from ``sets``. Raises ValueError."""
    found = {file: list(values) for file, values in ours.items()}
    for lent in sets:
        for file, (own, always) in chosen.items():
            mask = (parse_cpulist(own) & lent) | parse_cpulist(always)
            found.setdefault(file, []).append(format_cpulist(mask))
    return found


def read_journal(path: str) -> JournalContents:
    """The journal at ``path``; JournalError if it is damaged, of an unknown version, or
    somebody else could have written it."""
    try:
        with open(open_trusted(path)) as file:
            raw = json.load(file)
        if raw["version"] != VERSION:
            raise JournalError(
                f"{path}: version {raw['version']} is unknown; "
                "restore with the release that wrote it"
            )
        entries = []
        for written in raw["entries"]:
            kind = KINDS[written.pop("kind")]
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
            Given(
                tuple(parse_cpulist(str(cpus)) for cpus in raw.get("given", ())),
                bool(read_nudge(path)),
            ),
        )
    except Untrusted as error:
        raise JournalError(f"{error}; nothing that the journal says is done") from None
    except (
        ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError
    ) as error:  # fmt: skip
        raise JournalError(
            f"{path}: the journal is damaged ({type(error).__name__}: {error}); "
            "read it, put its values back by hand and remove it"
        ) from error


_TYPES: dict[str, type | tuple[type, ...]] = {
    "str": str,
    "int": int,
    "int | None": (int, NoneType),
    "tuple[int, ...]": tuple,
}


def _checked(entry: Entry) -> Entry:
    """``entry``, if its fields have the right types. Raises TypeError."""
    for item in fields(entry):
        value = getattr(entry, item.name)
        if not isinstance(value, _TYPES[str(item.type)]):
            raise TypeError(f"{item.name} is {value!r}")
    return entry


def journal_path(state_dir: str, pid: int) -> str:
    """Where the agent with that pid keeps its journal."""
    return os.path.join(state_dir, f"agent-{pid}.journal")


def lock_path(journal_path: str) -> str:
    return journal_path.removesuffix(".journal") + ".lock"


def page_path(journal_path: str) -> str:
    return journal_path.removesuffix(".journal") + ".shared"


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
