"""Which state directories the agents of this machine use, so that each is found without a hint.

An agent notes its own in DIRECTORY, a small file for each, which goes with its journal. Besides,
every guardian that runs names its journal. An agent that may not write there is found by its
guardian alone, and one on a fake tree by neither: that is nobody's host. What is found is a hint:
who reads a journal there checks it.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Iterator
from typing import Any

from smartharvest.host.journal.places import lock_path
from smartharvest.host.process import tasks
from smartharvest.trusted import open_directory, open_trusted

DIRECTORY = "/run/smartharvest/agents"
LARGEST_ENTRY_BYTES = 8192
UNFINISHED_S = 60.0
"""An entry that is not whole by then never will be."""
_GUARDIAN = b"smartharvest.guardian"


def note(journal_path: str) -> None:
    """Notes where this process keeps its journal, or is about to; nothing without the rights."""
    entry = _entry_path(journal_path)
    pid = os.getpid()
    document = {"journal": journal_path, "pid": pid, "start_time": tasks.start_time(pid)}
    with contextlib.suppress(OSError):
        os.makedirs(DIRECTORY, mode=0o700, exist_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        with open(open_trusted(f"{entry}.new", flags), "w") as file:
            json.dump(document, file)
        os.rename(f"{entry}.new", entry)


def drop(journal_path: str) -> None:
    """Forgets a journal that is gone."""
    with contextlib.suppress(OSError):
        os.unlink(_entry_path(journal_path))


def state_directories() -> list[str]:
    """Those of agents that run, and of agents that have left a journal, each once."""
    return list(dict.fromkeys(map(os.path.dirname, (*_noted(), *_guarded()))))


def _entry_path(journal_path: str) -> str:
    import hashlib  # loads OpenSSL, which no question needs

    name = hashlib.sha256(os.path.realpath(journal_path).encode()).hexdigest()[:16]
    return os.path.join(DIRECTORY, name)


def _noted() -> Iterator[str]:
    """Journals noted, of agents that live or have left it; forgets the others."""
    try:
        directory = open_directory(DIRECTORY)
    except OSError:
        return
    try:
        names = sorted(os.listdir(directory))
    finally:
        os.close(directory)
    for name in names:
        path = os.path.join(DIRECTORY, name)
        if name.endswith(".new"):  # nothing is journaled yet; its writer may have been killed
            with contextlib.suppress(OSError):
                if time.time() - os.stat(path).st_mtime > UNFINISHED_S:
                    os.unlink(path)
            continue
        entry = _read(path)
        if entry is None:
            continue
        journal, pid, start_time = entry
        if os.path.exists(journal) or tasks.start_time(pid) == start_time:
            yield journal
        elif not os.path.exists(lock_path(journal)):
            drop(journal)


def _read(path: str) -> tuple[str, int, int] | None:
    """(journal, pid, start time) of an entry; None if it is not one of ours."""
    try:
        with open(open_trusted(path)) as file:
            document: Any = json.loads(file.read(LARGEST_ENTRY_BYTES))
        journal = document["journal"]
        if not (isinstance(journal, str) and os.path.isabs(journal) and "\0" not in journal):
            return None
        return journal, int(document["pid"]), int(document["start_time"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def _guarded() -> Iterator[str]:
    """Journals on this host that guardians of root or the caller watch or restore now."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                words = file.read(LARGEST_ENTRY_BYTES).split(b"\0")
            if _GUARDIAN not in words or _uid_of(pid) not in (0, os.geteuid()):
                continue
        except OSError:
            continue
        journal, fake_tree = [*words[words.index(_GUARDIAN) + 1 :], b"", b""][:2]
        if journal.endswith(b".journal") and os.path.isabs(journal) and not fake_tree:
            yield os.fsdecode(journal)


def _uid_of(pid: str) -> int:
    """The effective user; the owner of /proc/PID is root for one who asks for that (prctl(2))."""
    with open(f"/proc/{pid}/status") as file:
        uids = next(line for line in file if line.startswith("Uid:"))
    return int(uids.split()[2])
