"""One elastic group's memory limit, journaled, and reclaim in small steps in a thread of its own.

Every limit is a rung of a ladder (algorithm/memory.py). All rungs are in the journal before the
first is written, so that a later write costs no disk and what restores the host knows them for
ours. The limit never lies below what the group holds by more than its last steps: the kernel would
take the difference while the writer waits, and slow the group's tasks by seconds. What is above is
asked for through memory.reclaim, a few MiB at a time, and the limit follows it down, never up: a
group whose pages can go nowhere grows beyond its limit all the same, slowly. The soft limit
of version 1 takes nothing by itself, so it is written at once: the kernel goes by it when memory is
short.
"""

from __future__ import annotations

import errno
import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress

from smartharvest.algorithm.memory import ladder, rung_above
from smartharvest.errors import SmartHarvestError, TargetVanished
from smartharvest.host.cgroup.memory import limit_file, memory_bytes, reclaim_file, size_of
from smartharvest.host.cgroup.tree import Group
from smartharvest.host.journal.writer import HostWriter
from smartharvest.host.process.threads import has_started

STEP_BYTES = 16 << 20
"""Asked for at once: some milliseconds of reclaim, after which it can be ended."""
PAUSE_S = 0.1
"""After the kernel found nothing to take."""
MOST_REFUSALS = 5
"""In a row; then the rest is left until the next turn asks again."""
REWRITES = 3
"""How often the limit is written again that somebody else has put back, ..."""
CALM_AIMS = 60
"""... unless it was left alone for so many turns."""


class MemoryLimit:
    """Of ``group``, between ``least`` and ``most`` bytes. ``writer`` None: nothing is written.

    Its methods raise TargetVanished, WriteRefused and RightsError.
    """

    def __init__(self, group: Group, least: int, most: int, writer: HostWriter | None) -> None:
        self._group = group
        self._writer = writer
        self._wanted = (least, most)
        self.rungs = ladder(least, most)
        self.limit: int | None = None
        """In force, or as it would be; None before the first."""
        self.target: int | None = None
        """What is being worked towards."""
        self.trouble: str | None = None
        """Why the group's memory is left alone, if so."""
        self._original: str | None = None
        self._inode = 0
        self._rewritten = 0
        self._calm = 0
        """Turns since then."""
        self.reclaimer = Reclaimer()

    @property
    def path(self) -> str | None:
        """The limit's file; None without the controller."""
        return limit_file(self._group)

    def aim(self, target: int, used: int) -> None:
        """Works towards a limit of ``target`` bytes, a rung, from ``used`` now."""
        self.target = target
        self._calm += 1
        if self._calm > CALM_AIMS:
            self._rewritten = 0
        if used > target and self._writer is not None and not self.trouble:
            path = reclaim_file(self._group)
            if path is not None:
                self.reclaimer.start(self._reclaim_step(path), target)
        else:
            self.reclaimer.stop()
        self.follow(used)

    def follow(self, used: int | None = None) -> None:
        """Writes the limit that goes with what the group holds now."""
        if self.target is None or self.trouble:
            return
        if used is None:
            used = memory_bytes(self._group) or 0
        wanted = self.target
        if self._group.tree.version == 2:
            if used > self.rungs[-1] and self.reclaimer.runs:
                return  # it would wait until all that is above has been taken
            held = rung_above(self.rungs, used)
            # Down only: one that followed a group that grows would hold back nothing.
            wanted = max(wanted, held if self.limit is None else min(held, self.limit))
        if self._writer is None:
            self.limit = wanted
        elif self._owns():
            path = self.path
            assert path is not None
            self._writer.set(path, str(wanted))
            self.limit = wanted

    @property
    def shrinks(self) -> bool:
        """Whether the limit still has to come down to its target."""
        return self.target is not None and self.limit is not None and self.limit > self.target

    def _owns(self) -> bool:
        """Journals the file at first; whether what it holds is what was written last."""
        assert self._writer is not None
        path = self.path
        if path is None:
            raise TargetVanished(f"{self._group}: the group is gone or lacks this file")
        files = self._group.tree.files
        now, inode = files.read(path).strip(), files.inode(os.path.dirname(path))
        if inode != self._inode:  # the first look, or another group by that name
            self._inode, self._original, self.limit = inode, None, None
        if self._original is None:
            self._original = self._writer.adopt_limit(path, self._bounded)
            return not self.trouble
        if self.limit is None or size_of(now) == self.limit:
            return True
        if now == self._original and self._rewritten < REWRITES:  # as systemd does at a reload
            self._rewritten += 1
            self._calm = 0
            return True
        self.trouble = f"{path}: another process wrote {now}; it is left alone"
        self._writer.concede(path, now)
        self.reclaimer.stop()
        return False

    def _bounded(self, original: str) -> list[str]:
        """All limits that may be written, none of them above the owner's own."""
        least, most = self._wanted
        own = size_of(original)
        if own < least:
            self.trouble = f"{self.path}: is {original} already, below min; it is left alone"
            return []
        self.rungs = ladder(least, min(most, own))
        return list(map(str, self.rungs))

    def _reclaim_step(self, path: str) -> Callable[[int], bool]:
        files = self._group.tree.files

        def step(target: int) -> bool:
            """Whether there is more to take."""
            used = memory_bytes(self._group)
            if used is None or used <= target:
                return False
            files.write(path, str(min(STEP_BYTES, used - target)))  # a command: nothing to put back
            return True

        return step

    def release(self) -> None:
        """Puts the owner's limit back, for a group that is none of this agent's any more."""
        self.close()
        path = self.path
        if self._writer is None or self._original is None or path is None or self.trouble:
            return
        with suppress(SmartHarvestError, OSError):
            self._writer.set(path, self._original)

    def close(self) -> None:
        """Ends the thread, if one runs; what was written stays."""
        self.reclaimer.stop()
        self.reclaimer.join()


class Reclaimer:
    """Takes pages of one group until it holds ``target`` bytes; one thread at a time."""

    def __init__(self) -> None:
        self._thread: threading.Thread | None = None
        self._ended = threading.Event()
        self._target = 0
        self.refusals = 0
        """Steps in which the kernel found less than it was asked for."""

    @property
    def runs(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def start(self, step: Callable[[int], bool], target: int) -> None:
        """``step`` takes a little towards a target and returns whether there is more.

        Never waits: one that is ending is started again by the next call after its end.
        """
        self._target = target
        if self.runs:
            return
        self._ended.clear()
        thread = threading.Thread(target=self._run, args=(step,), name="reclaim", daemon=True)
        self._thread = thread if has_started(thread) else None

    def _run(self, step: Callable[[int], bool]) -> None:
        # Of the kernel's own reclaim: a control plane that gives way to all would come too late.
        with suppress(OSError):
            os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
            os.setpriority(os.PRIO_PROCESS, 0, 0)
        in_a_row = 0
        while not self._ended.is_set():
            try:
                if not step(self._target):
                    break
                in_a_row = 0
            except OSError as error:
                if error.errno not in (errno.EAGAIN, errno.EINTR):
                    break  # the group is gone, or has no such file any more
                self.refusals += 1
                in_a_row += 1
                if in_a_row == MOST_REFUSALS or self._ended.wait(PAUSE_S):
                    break
            time.sleep(0)  # a thread that waits for the interpreter goes first

    def stop(self) -> None:
        """Soon: after the step that is under way."""
        self._ended.set()

    def join(self) -> None:
        if self._thread is not None:
            self._thread.join()
            self._thread = None
