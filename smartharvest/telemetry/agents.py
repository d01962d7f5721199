"""Finding agents, and the journals that dead ones have left, wherever they are on this machine."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable
from dataclasses import dataclass, field

from smartharvest.errors import RightsError
from smartharvest.host.journal.places import DEFAULT_DIRECTORY, is_live, journal_paths
from smartharvest.telemetry.client import SUFFIX, sockets
from smartharvest.trusted import Untrusted


@dataclass(frozen=True)
class Orphan:
    """What an agent that is dead has changed and nobody has put back: its batch may be confined."""

    journal: str
    pid: int | None
    """Of the dead agent; None if the journal cannot be read."""
    claims: tuple[str, ...]
    """The groups and processes it managed."""
    fix: str
    """What to type."""

    def describe(self) -> str:
        whose = f"its agent (pid {self.pid})" if self.pid else "its agent"
        return f"{self.journal}: {whose} was killed; {self.fix} puts the host back"


@dataclass
class Found:
    """What there is in the state directories that were looked at."""

    sockets: list[str] = field(default_factory=list)
    """Where agents listen, or will: one that starts, ends or is replaced has no socket just now.
    The socket may also be a killed agent's that had no journal."""
    orphans: list[Orphan] = field(default_factory=list)


def find(state_dirs: Iterable[str]) -> Found:
    """Looks into ``state_dirs``. Raises RightsError if none of them may be read."""
    found, refused, read = Found(), None, False
    for state_dir in state_dirs:
        try:
            _look_into(state_dir, found)
            read = True
        except RightsError as error:
            refused = error
    if refused is not None and not read:
        raise refused
    return found


def _look_into(state_dir: str, found: Found) -> None:
    there = set(sockets(state_dir))
    if there and not os.access(state_dir, os.R_OK):  # those of status_group
        found.sockets += sorted(there)
        return
    try:
        for journal in journal_paths(state_dir):
            socket = journal.removesuffix(".journal") + SUFFIX
            if not is_live(journal):
                there.discard(socket)
                if os.path.exists(journal):  # it was not just closed
                    found.orphans.append(_orphan(journal))
            elif os.path.basename(journal).startswith("agent-"):
                there.add(socket)
    except Untrusted as error:
        raise RightsError(str(error)) from error
    except PermissionError as error:
        raise RightsError(f"{error.filename}: {error.strerror}; run as root") from error
    found.sockets += sorted(there)


def _orphan(path: str) -> Orphan:
    from smartharvest.host.journal.contents import JournalError, read_journal  # for this alone

    try:
        contents = read_journal(path)
    except (OSError, JournalError):
        return Orphan(path, None, (), restore_command(os.path.dirname(path)))
    return Orphan(path, contents.pid, contents.claims, restore_command(os.path.dirname(path)))


def restore_command(state_dir: str) -> str:
    """What to type to put back what was left in ``state_dir``."""
    usual = os.path.realpath(state_dir) == DEFAULT_DIRECTORY
    where = "" if usual else f" --state-dir {shlex.quote(state_dir)}"
    return f"smartharvest restore{where}"


def pid_of(socket: str) -> int | None:
    """The pid in the name of an agent's socket."""
    number = os.path.basename(socket).removeprefix("agent-").removesuffix(SUFFIX)
    return int(number) if number.isdecimal() else None
