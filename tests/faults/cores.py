"""When the primary has its cores again after its agent was struck."""

from __future__ import annotations

import contextlib
import os
import time

from smartharvest.errors import SmartHarvestError
from smartharvest.host.cgroup.kernel_files import KernelFiles
from smartharvest.host.cpulist import parse_cpulist
from smartharvest.host.journal.contents import AffinityEntry, read_journal
from smartharvest.host.journal.places import journal_paths, page_path
from smartharvest.host.journal.shared_page import Phase, SharedPage
from smartharvest.host.process import tasks

_MOST_THREADS = 8
"""Of those that are moved one by one so many are looked at."""


class CoresBack:
    """Looks at what the journal of a struck agent calls its minimum.

    The cores are back once the elastic side has no more than that, or the journal is gone. Nothing
    is lent but while the loop runs: before and after that the elastic side has what it had.
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
        self._lent = _lends(self._journal) and not self._are_back()
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
        name = os.path.basename(path)
        if name == "cpuset.cpus":
            return parse_cpulist(found) == parse_cpulist(value)
        if name == "freezer.state":  # who is still to freeze does not run
            return found.split() in (value.split(), ["FREEZING"])
        return found.split() == value.split()


def _lends(journal: str) -> bool:
    if not journal:
        return False
    with contextlib.suppress(OSError, ValueError):
        page = SharedPage(page_path(journal))
        try:
            return page.phase is Phase.RUNNING
        finally:
            page.close()
    return False
