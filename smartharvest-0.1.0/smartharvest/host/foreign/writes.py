"""Detects, about once a second, another process that writes the managed files, and names it."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from smartharvest.errors import AlreadyManaged
from smartharvest.host.cgroup.kernel_files import KernelFiles
from smartharvest.host.journal.restoration import is_same
from smartharvest.host.process import tasks

ManagedFile = tuple[str, str | None, list[str]]
"""(file, file with the set in force or None, its value for each number of harvested cores)."""

MOST_LOOKED_AT = 4096
"""Processes, from the lowest number on: those of the system come first."""
_LIKELY = frozenset(
    {
        *("systemd", "kubelet", "libvirtd", "virtqemud", "dockerd", "containerd", "crio"),
        *("podman", "lxcfs", "lxd", "incusd", "slurmd", "nomad", "tuned", "irqbalance", "cset"),
    }
)


class ForeignWrite(AlreadyManaged):
    """Another process writes a file that the agent manages; the agent has stepped aside."""


@dataclass(frozen=True)
class Surprise:
    """A file that does not hold what the agent wrote."""

    path: str
    found: str
    expected: str
    written: str
    """The file that was written; ``path`` follows from it."""

    def describe(self, writer: str | None) -> str:
        """The finding in a line, with the writer if it is known."""
        who = f"last: {writer}" if writer else likely_writers()
        return (
            f"{self.path}: {self.found!r} was found, {self.expected!r} was written; another "
            f"process writes this group ({who})"
        )


def find_surprise(
    files: KernelFiles, managed: Sequence[ManagedFile], harvested: int, idle_file: str | None
) -> Surprise | None:
    """The first managed file that is not as it is with ``harvested`` cores lent.

    A group that is gone is none. Raises OSError for an unreadable file.
    """
    for path, effective, masks in managed:
        for file in filter(None, (path, effective)):
            try:
                found = files.read(file).strip()
            except FileNotFoundError:
                continue
            # The name says that the values are masks; the set in force has another one.
            if not is_same("cpuset.cpus", found, masks[harvested]):
                return Surprise(file, found, masks[harvested], path)
    if idle_file is not None:
        found = files.read(idle_file).strip()
        if found != "1":
            return Surprise(idle_file, found, "1", idle_file)
    return None


def likely_writers() -> str:
    """The running programs that are known to write cpusets."""
    running = [
        f"{name} (pid {pid})"
        for pid in itertools.islice(tasks.process_ids(), MOST_LOOKED_AT)
        if (name := tasks.name(pid)) in _LIKELY
    ]
    return f"likely: {', '.join(running)}" if running else "none of the usual ones runs here"
