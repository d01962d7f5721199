"""Files that tell the owner of an elastic group that it is to be evicted: ``notices/NAME``.

Each has the time of the eviction, in seconds of the epoch. A list of them lies next to the agent's
journal, so that who removes the journal of a dead agent removes its notices as well.
"""

from __future__ import annotations

import contextlib
import os
import re

DIRECTORY = "notices"
"""Below the state directory."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,31}")


def notice_path(state_dir: str, name: str) -> str:
    return os.path.join(state_dir, DIRECTORY, name)


def write_notice(journal_path: str, name: str, at_s: float) -> None:
    """``at_s`` is seconds of the epoch. Raises OSError."""
    state_dir = os.path.dirname(journal_path)
    with contextlib.suppress(FileExistsError):
        os.mkdir(os.path.join(state_dir, DIRECTORY), 0o755)
    names = _listed(journal_path) | {name}
    _write(_list_path(journal_path), "".join(f"{one}\n" for one in sorted(names)), 0o600)
    _write(notice_path(state_dir, name), f"{at_s:.3f}\n", 0o644)


def remove_notice(journal_path: str, name: str) -> None:
    """Harmless where there is none. Raises OSError."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(notice_path(os.path.dirname(journal_path), name))


def remove_notices(journal_path: str) -> None:
    """Removes all that the agent of this journal has written."""
    state_dir = os.path.dirname(journal_path)
    for name in _listed(journal_path):
        with contextlib.suppress(OSError):
            os.unlink(notice_path(state_dir, name))
    with contextlib.suppress(OSError):
        os.unlink(_list_path(journal_path))
    with contextlib.suppress(OSError):  # others may have theirs in it
        os.rmdir(os.path.join(state_dir, DIRECTORY))


def _list_path(journal_path: str) -> str:
    return journal_path.removesuffix(".journal") + ".noticed"


def _listed(journal_path: str) -> set[str]:
    try:
        fd = os.open(_list_path(journal_path), os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        with open(fd, encoding="utf-8", errors="replace") as file:
            return set(filter(_NAME.fullmatch, file.read(1 << 16).split()))
    except OSError:
        return set()


def _write(path: str, text: str, mode: int) -> None:
    """A reader meets the old or the new, never half."""
    new = f"{path}.new"
    with contextlib.suppress(FileNotFoundError):
        os.unlink(new)
    fd = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, mode)
    with open(fd, "w", encoding="utf-8") as file:
        os.fchmod(fd, mode)
        file.write(text)
    os.rename(new, path)
