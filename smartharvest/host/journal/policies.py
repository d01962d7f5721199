"""Giving threads their scheduling policies back, unless another process has set them since."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence

from smartharvest.host.cgroup.kernel_files import KernelFiles
from smartharvest.host.cgroup.tree import tasks_below
from smartharvest.host.journal.contents import Entry, PolicyEntry, ScheduledEntry, inode
from smartharvest.host.journal.families import MOST_LOOKS, PAUSE_S, QUIET_LOOKS
from smartharvest.host.process import tasks
from smartharvest.host.process.policy import RESET_ON_FORK, SCHED_EXT, is_ext, policy_of, set_policy


class PoliciesBack:
    """Undoes the policies of a journal; calls ``log(thread, before, after)`` for each.

    Only a thread that has SCHED_EXT is changed. It gets what it had, or what its process had if it
    was born since; who was born since and left the group is found, too.
    """

    def __init__(
        self, entries: Sequence[Entry], files: KernelFiles, log: Callable[[str, str, str], None]
    ) -> None:
        self.refused: list[tuple[Entry, OSError]] = []
        self._entries = {
            (entry.tid, entry.start_time): entry
            for entry in entries
            if isinstance(entry, PolicyEntry)
        }
        self._groups = [entry for entry in entries if isinstance(entry, ScheduledEntry)]
        self._files = files
        self._log = log
        self._refused: set[int] = set()

    def run(self) -> None:
        """Undoes all of them, until nobody is born with SCHED_EXT."""
        if not (self._groups or self._entries):
            return
        quiet = 0
        for _ in range(MOST_LOOKS):
            quiet = 0 if self._look() else quiet + 1
            if quiet > QUIET_LOOKS:
                return
            time.sleep(PAUSE_S)

    def _look(self) -> bool:
        """Whether somebody had to be changed."""
        found = False
        for tid in self._ours():
            found |= self._give_back(tid)
        return found

    def _ours(self) -> Iterator[int]:
        """Threads with SCHED_EXT that have it from us."""
        inside: set[int] = set()
        for group in self._groups:
            now = inode(group.directory)
            if group.inode and now and now != group.inode:
                continue
            inside.update(tasks_below(self._files, group.directory))
        yield from (tid for tid in inside if is_ext(policy_of(tid)))
        since = min((group.since for group in self._groups), default=None)
        for pid in tasks.process_ids():
            for tid in tasks.process_threads(pid):
                if tid in inside or not is_ext(policy_of(tid)):
                    continue
                started = tasks.start_time(tid)
                if started is None:
                    continue
                if (tid, started) in self._entries or (since is not None and started >= since):
                    yield tid

    def _give_back(self, tid: int) -> bool:
        entry = self._entry(tid) or self._entry(tasks.process_of(tid))
        now = policy_of(tid)
        if tid in self._refused or now is None:
            return False
        policy = os.SCHED_OTHER if entry is None else entry.policy & ~RESET_ON_FORK
        policy |= now & RESET_ON_FORK
        if is_ext(policy):
            return False
        try:
            set_policy(tid, policy)
        except ProcessLookupError:
            return False
        except OSError as error:
            self._refused.add(tid)
            started = tasks.start_time(tid) or 0
            self.refused.append((entry or PolicyEntry(tid, started, policy), error))
            return False
        self._log(f"policy of thread {tid}", str(SCHED_EXT), str(policy & ~RESET_ON_FORK))
        return True

    def _entry(self, tid: int | None) -> PolicyEntry | None:
        started = None if tid is None else tasks.start_time(tid)
        return None if tid is None or started is None else self._entries.get((tid, started))
