"""The seam to the files of the kernel's cgroup filesystems."""

from __future__ import annotations

import os
import re
from typing import Protocol

_MOUNT_POINT = 4  # proc_pid_mountinfo(5)


class KernelFiles(Protocol):
    """What the project does with cgroup files. Every method raises OSError as the kernel does."""

    @property
    def runs_tasks(self) -> bool:
        """Whether the tasks in its groups run, and where the groups' masks say."""

    @property
    def stand_in(self) -> KernelFiles | None:
        """Who answers in the kernel's place; None: C code opens the files itself."""

    def read(self, path: str) -> str: ...

    def write(self, path: str, value: str) -> None:
        """Writes ``value`` with one write(2), in place; the kernel ignores an empty one."""

    def mkdir(self, path: str) -> None: ...

    def rmdir(self, path: str) -> None: ...

    def subdirectories(self, path: str) -> list[str]:
        """Names of the groups right below ``path``, sorted."""

    def exists(self, path: str) -> bool: ...

    def inode(self, path: str) -> int:
        """What the kernel knows the group at ``path`` by."""

    def mounts(self) -> list[str]:
        """The directories that the groups lie below."""

    def membership(self, tid: int) -> str:
        """The groups that thread ``tid`` is in, as /proc/TID/cgroup lists them."""


class PosixFiles:
    """The files of a mounted cgroup hierarchy."""

    runs_tasks = True
    stand_in = None

    def read(self, path: str) -> str:
        with open(path) as file:
            return file.read()

    def write(self, path: str, value: str) -> None:
        fd = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
        try:
            os.write(fd, value.encode())
        finally:
            os.close(fd)

    def mkdir(self, path: str) -> None:
        os.mkdir(path, 0o755)

    def rmdir(self, path: str) -> None:
        os.rmdir(path)

    def subdirectories(self, path: str) -> list[str]:
        return sorted(entry.name for entry in os.scandir(path) if entry.is_dir())

    def exists(self, path: str) -> bool:
        return os.path.exists(path)

    def inode(self, path: str) -> int:
        return os.stat(path).st_ino

    def mounts(self) -> list[str]:
        lines = [line.split(" ") for line in read_proc("/proc/self/mountinfo").splitlines()]
        return [
            _unescaped(fields[_MOUNT_POINT])
            for fields in lines
            if fields[fields.index("-") + 1] in ("cgroup", "cgroup2")
        ]

    def membership(self, tid: int) -> str:
        return read_proc(f"/proc/{tid}/cgroup")


def _unescaped(text: str) -> str:
    """Of blanks, newlines and backslashes, which the kernel writes as octal numbers."""
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), text)


def read_proc(path: str) -> str:
    """A file of /proc, with names in it that need not be UTF-8."""
    with open(path, errors="surrogateescape") as file:
        return file.read()
