"""Locks on groups: one group, with those above and below it, has one agent.

A lock is a file named after the group's device and inode, in one directory for every agent of the
host, whatever its state directory. Only root and the caller reach the directory: were the groups
themselves locked (flock(2)), which anybody may open, anybody could keep an agent from starting.
The kernel drops a lock however its agent ends; files of no use are removed at the next start.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Iterator, Sequence

from smartharvest.errors import AlreadyManaged, RightsError
from smartharvest.trusted import open_directory

DIRECTORY = "/run/smartharvest/locks"
VARIABLE = "SMARTHARVEST_LOCKS"
"""Names another directory, for tests."""
MOST_SWEPT = 10_000
_PATIENCE_S = 5.0
_RETRY_S = 0.005


def lock_groups(
    claims: Sequence[str], root: str, apart: frozenset[str], state_directory: str
) -> list[int]:
    """Descriptors of the locks: each claimed group for this agent alone, and a shared one for
    those above it, below ``root`` or a mount point, but not for those ``apart``.

    A group that does not exist has no lock. Raises AlreadyManaged, RightsError, or OSError.
    """
    groups = [claim for claim in dict.fromkeys(claims) if os.path.isabs(claim)]
    held: list[int] = []
    if not groups:
        return held
    try:
        with _directory(state_directory) as directory:
            _sweep(directory)
            for claim in groups:
                held += _lock(directory, claim, claim, fcntl.LOCK_EX)
            for claim in groups:
                above = os.path.dirname(claim)
                while above.startswith(f"{root}/") and not os.path.ismount(above):
                    if above not in apart and above not in groups:
                        held += _lock(directory, above, claim, fcntl.LOCK_SH)
                    above = os.path.dirname(above)
    except BaseException:
        for fd in held:
            os.close(fd)
        raise
    return held


@contextlib.contextmanager
def directory_locked(path: str) -> Iterator[None]:
    """Serialises starts in the state directory ``path``, so that agents see each other's claims.

    Raises RightsError if another one does not get on, or OSError.
    """
    until_s = time.monotonic() + _PATIENCE_S
    name = _name(os.stat(path))
    while True:
        with _directory(path) as directory:
            fd = _open(directory, name)
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                os.close(fd)
        _wait(path, until_s)
    try:
        yield
    finally:
        os.close(fd)


def _name(status: os.stat_result) -> str:
    return f"{status.st_dev:x}-{status.st_ino:x}.lock"


def _open(directory: int, name: str) -> int:
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        return os.open(name, flags, 0o600, dir_fd=directory)
    except OSError as error:  # which names the file alone
        error.filename = os.path.join(os.readlink(f"/proc/self/fd/{directory}"), name)
        raise


def _wait(path: str, until_s: float) -> None:
    if time.monotonic() > until_s:
        raise RightsError(f"{path}: another agent is starting and does not get on; try again")
    time.sleep(_RETRY_S)


def _lock(directory: int, path: str, claim: str, kind: int) -> list[int]:
    try:
        group = os.stat(path)
    except OSError:  # the agent creates it later, or its use reports the error
        return []
    fd = _open(directory, _name(group))
    try:
        fcntl.flock(fd, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(fd)
        what = "it" if path == claim and kind == fcntl.LOCK_EX else path
        raise AlreadyManaged(
            f"{claim}: an agent with another state directory already manages {what}; stop it first"
        ) from None
    return [fd]


def _sweep(directory: int) -> None:
    """Removes the files that nobody holds; the directory is locked, so nobody is about to."""
    for name in os.listdir(directory)[:MOST_SWEPT]:
        with contextlib.suppress(OSError):
            fd = os.open(name, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW, dir_fd=directory)
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                os.unlink(name, dir_fd=directory)
            finally:
                os.close(fd)


@contextlib.contextmanager
def _directory(state_directory: str) -> Iterator[int]:
    """A descriptor of the directory, which is locked meanwhile."""
    path = _path(state_directory)
    fd = open_directory(path)
    try:
        status = os.fstat(fd)
        if status.st_mode & 0o077 and status.st_uid == os.geteuid():
            os.fchmod(fd, 0o700)  # who may open it could hold its lock
        until_s = time.monotonic() + _PATIENCE_S
        while True:
            with contextlib.suppress(BlockingIOError):
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            _wait(path, until_s)
        yield fd
    finally:
        os.close(fd)


def _path(state_directory: str) -> str:
    """The one directory; for a user who has no part in it, one of its own."""
    named = os.environ.get(VARIABLE)
    if named is None and os.geteuid() != 0 and not _has_part(DIRECTORY):
        named = os.path.join(state_directory, "locks")
    path = named or DIRECTORY
    for directory in (os.path.dirname(path), path):
        os.makedirs(directory, mode=0o700, exist_ok=True)
    return path


def _has_part(directory: str) -> bool:
    """Whether root made it for this user, or whether this user may make it."""
    above = os.path.dirname(directory)
    try:
        return os.access(directory, os.W_OK | os.X_OK) or os.stat(above).st_uid == os.geteuid()
    except OSError:
        return False
