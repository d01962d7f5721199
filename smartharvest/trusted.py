"""Opening files that are obeyed: only root's and the caller's own, that nobody else can write.

The way is walked by descriptors, directory by directory, and what was checked is what is opened:
nobody can exchange it in between. A link counts as what it is in: it may be followed where only
root and the caller can have made it. A sticky directory, such as /tmp, keeps what is in it from
others, but others can put something there first: the owner of each file says who did.
"""

from __future__ import annotations

import errno
import os
import pwd
import stat

from smartharvest.printable import quoted

_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
_MOST_LINKS = 40
"""As the kernel (MAXSYMLINKS)."""


class Untrusted(PermissionError):
    """Somebody else can decide what is found at ``filename``; ``strerror`` says who and how."""

    def __init__(self, path: str, why: str) -> None:
        super().__init__(errno.EACCES, why, path)

    def __str__(self) -> str:
        return f"{self.filename}: {self.strerror}"


def open_trusted(
    path: str, flags: int = os.O_RDONLY, mode: int = 0o600, *, follow: bool = False
) -> int:
    """A descriptor of the regular file at ``path``, close-on-exec; ``flags`` as open(2).

    The last name may be a link only if one is to ``follow``. Raises Untrusted, and OSError as
    open(2) does.
    """
    directory, name, crowded = _walk(path, follow=follow)
    writes = flags & os.O_ACCMODE != os.O_RDONLY
    try:
        return _open(path, name, flags, mode, directory, one_name=crowded or writes)
    finally:
        os.close(directory)


def open_own(path: str, flags: int, mode: int) -> int:
    """A descriptor of the file or character device at ``path``, for output such as a log.

    Nobody obeys what it says. One who may write the directory may take the file away, but not
    lead the output elsewhere.
    Raises Untrusted, and OSError as open(2) does.
    """
    return _open(path, path, flags, mode, None, one_name=True, or_device=True)


def _open(
    path: str,
    name: str,
    flags: int,
    mode: int,
    directory: int | None,
    *,
    one_name: bool,
    or_device: bool = False,
) -> int:
    """A descriptor of ``path``, ``name`` in ``directory``; it is truncated once it is checked."""
    safe = os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
    try:
        fd = os.open(name, flags & ~os.O_TRUNC | safe, mode, dir_fd=directory)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise Untrusted(path, "is a link; put the file itself there") from None
        raise OSError(error.errno, error.strerror, path) from None
    try:
        status = os.fstat(fd)
        if not (or_device and stat.S_ISCHR(status.st_mode)):  # such as /dev/null
            _check_file(path, status, one_name=one_name)
        if flags & os.O_TRUNC:
            os.ftruncate(fd, 0)
    except BaseException:
        os.close(fd)
        raise
    return fd


def open_directory(path: str, *, shared: bool = False) -> int:
    """A descriptor of the directory at ``path``, to list and to sync.

    Only root and the caller may put files into it; others, too, if it is ``shared`` and sticky.
    Raises Untrusted, and OSError as open(2) does.
    """
    directory, name, _ = _walk(path, follow=True)
    try:
        fd = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=directory)
    except OSError as error:
        raise OSError(error.errno, error.strerror, path) from None
    finally:
        os.close(directory)
    try:
        _check_directory(path, os.fstat(fd), shared=shared)
    except BaseException:
        os.close(fd)
        raise
    return fd


def _walk(path: str, *, follow: bool) -> tuple[int, str, bool]:
    """(descriptor of the directory, name in it, whether others may put names there)."""
    names = _names(os.path.abspath(path))
    at = os.open("/", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    links, here, crowded = 0, "/", False
    try:
        while True:
            name = names.pop(0) if names else "."
            if not names and not follow:
                return at, name, crowded
            try:
                entry = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=at)
            except FileNotFoundError:
                if not names:
                    return at, name, crowded
                raise
            status = os.fstat(entry)
            where = os.path.join(here, name)
            if stat.S_ISLNK(status.st_mode):
                links += 1
                target = os.readlink("", dir_fd=entry)
                os.close(entry)
                _check_owner(where, status)
                if links > _MOST_LINKS:
                    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
                names = _names(target) + names
                if target.startswith("/"):
                    here = "/"
                    root = os.open("/", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
                    at, entry = root, at
                    os.close(entry)
                continue
            if not names:
                os.close(entry)
                return at, name, crowded
            at, before = entry, at
            os.close(before)
            if not stat.S_ISDIR(status.st_mode):
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), path)
            here = where
            _check_directory(where, status, shared=True)
            crowded = bool(status.st_mode & _OTHERS_WRITE)
    except BaseException as error:
        os.close(at)
        if isinstance(error, OSError) and not isinstance(error, Untrusted):
            raise OSError(error.errno, error.strerror, path) from None
        raise


def _names(path: str) -> list[str]:
    return [name for name in path.split("/") if name not in ("", ".")]


def _check_file(path: str, status: os.stat_result, *, one_name: bool) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise Untrusted(path, "is no regular file")
    _check_owner(path, status)
    if status.st_mode & _OTHERS_WRITE:
        raise Untrusted(path, f"others may write it; chmod go-w {quoted(path)}")
    if one_name and status.st_nlink > 1:
        raise Untrusted(path, "has other names, too (hard links); remove them, or make a copy")


def _check_directory(path: str, status: os.stat_result, *, shared: bool) -> None:
    _check_owner(path, status)
    keeps = shared and status.st_mode & stat.S_ISVTX
    if status.st_mode & _OTHERS_WRITE and not keeps:
        raise Untrusted(path, f"others may put files there; chmod go-w {quoted(path)}")


def _check_owner(path: str, status: os.stat_result) -> None:
    if status.st_uid not in (0, os.geteuid()):
        raise Untrusted(
            path,
            f"belongs to {user_name(status.st_uid)}, and only files of root and of the caller are "
            "obeyed; remove it, or run as its owner",
        )


def user_name(uid: int) -> str:
    """``nobody (65534)``; for messages."""
    try:
        return f"{pwd.getpwuid(uid).pw_name} ({uid})"
    except KeyError:
        return f"user {uid}"
