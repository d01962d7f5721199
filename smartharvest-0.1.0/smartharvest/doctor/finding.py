"""The result of a check, and its only input: the files below a root."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Literal

Status = Literal["ok", "warning", "failure"]

LARGEST_READ_BYTES = 1 << 20


@dataclass(frozen=True)
class Finding:
    """One thing about the host, in words an operator can act on."""

    check: str
    status: Status
    found: str
    why: str
    """Why it matters to lending."""
    fix: str | None = None
    """A command, or what to do; None if nothing needs fixing."""


@dataclass(frozen=True)
class Host:
    """A host's files below ``root``: ``/``, or a fake tree.

    Nothing raises: an unreadable file is None, like one the kernel does not have.
    """

    root: str = "/"

    def path(self, path: str) -> str:
        return os.path.join(self.root, path.lstrip("/"))

    def read(self, path: str) -> str | None:
        """The file's text without surrounding blanks, at most a megabyte."""
        contents = self.read_bytes(path)
        return None if contents is None else contents.decode(errors="replace").strip()

    def read_bytes(self, path: str) -> bytes | None:
        try:
            with open(self.path(path), "rb") as file:
                return file.read(LARGEST_READ_BYTES)
        except (OSError, ValueError):
            return None

    def read_int(self, path: str) -> int | None:
        text = self.read(path)
        try:
            return None if text is None else int(text)
        except ValueError:
            return None

    def exists(self, path: str) -> bool:
        return os.path.exists(self.path(path))

    def names(self, path: str) -> list[str]:
        """The entries of a directory, sorted; none if it is unreadable."""
        try:
            return sorted(os.listdir(self.path(path)))
        except OSError:
            return []

    def mode(self, path: str) -> int | None:
        try:
            return os.stat(self.path(path)).st_mode
        except OSError:
            return None

    def commands(self) -> dict[str, int]:
        """Name -> process id of the running processes, one for each name."""
        return {
            comm: int(name)
            for name in self.names("/proc")
            if name.isascii() and name.isdigit()
            for comm in [self.read(f"/proc/{name}/comm")]
            if comm
        }
