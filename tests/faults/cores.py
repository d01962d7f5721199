"""When the primary has its cores again after its agent was struck."""

from __future__ import annotations

import os
import time

from smartharvest.errors import SmartHarvestError
from smartharvest.host.cgroup.kernel_files import KernelFiles
from smartharvest.host.cpulist import parse_cpulist
from smartharvest.host.journal.contents import AffinityEntry, read_journal
from smartharvest.host.journal.journal import journal_paths
from smartharvest.host.process import tasks

_MOST_THREADS = 8
"""Of those that are moved one by one so many are looked at."""


class CoresBack:
    """Looks at what the journal of a struck agent calls its minimum.

    The cores are back once the elastic side has no more than that, or the journal is gone.
    """

    def __init__(self, files: KernelFiles, state_dir: str) -> None:
        self._files = files
        self._minimum: list[tuple[str, str]] = []
        self._cpus: frozenset[int] = frozenset()
        self._threads: list[int] = []
        self._journal = ""
        for path in journal_paths(state_dir):
            try:
                contents = read_journal(path)
            except (OSError, SmartHarvestError):
                continue
            self._journal = path
            self._minimum = list(contents.minimum)
            self._cpus = frozenset(contents.minimum_cpus)
            threads = [one.tid for one in contents.entries if isinstance(one, AffinityEntry)]
            self._threads = threads[:: max(1, len(threads) // _MOST_THREADS)] if self._cpus else []
        self._lent = not self._are_back()
        self._back_ns = 0

    def look(self) -> None:
        if self._lent and not self._back_ns and self._are_back():
            self._back_ns = time.monotonic_ns()

    def end(self) -> int:
        """When they were back; 0 if none were lent. Everything has been put back by now."""
        return (self._back_ns or time.monotonic_ns()) if self._lent else 0

    def _are_back(self) -> bool:
        if not self._minimum and not self._threads:
            return True
        return not os.path.exists(self._journal) or (
            all(self._holds(path, value) for path, value in self._minimum)
            and all(tasks.affinity(tid) <= self._cpus for tid in self._threads)
        )

    def _holds(self, path: str, value: str) -> bool:
        try:
            found = self._files.read(path)
        except OSError:  # its group is gone
            return True
        if os.path.basename(path) == "cpuset.cpus":
            return parse_cpulist(found) == parse_cpulist(value)
        return found.split() == value.split()
