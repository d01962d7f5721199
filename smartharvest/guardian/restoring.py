"""What the guardian writes: the cores back first, everything else afterwards.

Taking the cores back is short and real-time, on the elastic side's own CPUs. Restoring may take a
second where there are thousands of threads, and the primary has its cores by then: so before that
the guardian leaves the real-time class. It stays on the elastic side's smallest set of CPUs, where
the primary has nothing to lose, and takes the highest priority there is in the normal class: the
batch, which is squeezed onto the same CPUs, must not keep it from freeing the batch.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable, Collection, Iterator

from smartharvest.host.cgroup.kernel_files import KernelFiles
from smartharvest.host.journal.confinement import confine_families, take_back
from smartharvest.host.journal.contents import JournalError, read_head, read_journal
from smartharvest.host.journal.places import lock_path, try_lock
from smartharvest.host.journal.reach import check_reach
from smartharvest.host.journal.recovery import (
    OTHERS_MAY_TAKE_S,
    RecoveryReport,
    recover_one,
    unheard_since,
)
from smartharvest.printable import shortened, write_unless_blocked

_LOCK_PAUSE_S = 0.5
_HIGHEST, _LOWEST = -20, 19
"""Niceness."""


class Restoring:
    """The writing half of the guardian of the journal at ``path``."""

    def __init__(self, path: str, files: KernelFiles, *, restores: bool) -> None:
        self._path = path
        self._files = files
        self._restores = restores

    def shrink(self, *, once: bool = False, before: Callable[[], None] = lambda: None) -> bool:
        """Shrinks the elastic side to its minimum, as far as the journal says how.

        ``once``: as of ``confine``. Calls ``before`` first, if there may be anything to write.
        """
        try:
            head = read_head(self._path)
            check_reach(self._path, head, self._files)
        except (OSError, JournalError):
            return False
        if head.minimum or head.minimum_cpus:
            before()
        with _on(head.elastic_cpus):
            confined, refused = take_back(head, self._files, once=once)
        for line in refused:
            say(line)
        return bool(confined or head.minimum)

    def after_death(self, pid: int) -> int:
        """Puts the host in order after the agent ``pid``: 0, or 1 if something was not put back."""
        died_s = time.monotonic()
        if not os.path.exists(self._path):
            return 0
        lock = _wait_for_lock(lock_path(self._path))
        if lock is not None:
            self.shrink(once=True)
        cores_back_s = time.monotonic() - died_s
        try:
            self._leave_real_time()
            if not self._restores and lock is not None:
                self._keep_minimum()
        finally:
            if lock is not None:
                os.close(lock)
        if not self._restores:
            say(
                f"the agent (pid {pid}) has died: the elastic side keeps its minimum until "
                "smartharvest restore, or the next agent"
            )
            return 0
        report, reported = RecoveryReport(), False
        while not recover_one(self._path, self._files, report):
            if not reported:
                say(f"{lock_path(self._path)}: another process holds this lock; waiting to restore")
            reported = True
            time.sleep(_LOCK_PAUSE_S)
        all_back_s = time.monotonic() - died_s
        if report.restored:
            say(
                f"the agent (pid {pid}) has died: put back {shortened(report.restored)} "
                f"(the cores after {cores_back_s * 1000:.0f} ms, everything after "
                f"{all_back_s * 1000:.0f} ms)"
            )
        if report.left:
            say(f"not put back: {shortened(report.left)}")
        for failure in [*report.failed, *report.damaged]:
            say(f"not restored: {failure}")
        return int(bool(report.failed or report.damaged))

    def _keep_minimum(self) -> None:
        """Confines those who were not found at once: orphans, and those born meanwhile."""
        self.shrink()
        with contextlib.suppress(OSError, JournalError):
            confine_families(read_journal(self._path), unheard_since(self._path))

    def _leave_real_time(self) -> None:
        if os.sched_getscheduler(0) == os.SCHED_OTHER and os.getpriority(os.PRIO_PROCESS, 0) >= 0:
            return
        cpus: Collection[int] = ()
        with contextlib.suppress(OSError, JournalError):
            cpus = read_head(self._path).elastic_cpus
        try:
            os.sched_setaffinity(0, cpus)
            niceness = _HIGHEST
        except OSError:  # there are none, or our cpuset has none of them
            niceness = _LOWEST
        with contextlib.suppress(OSError):
            os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, 0, niceness)


@contextlib.contextmanager
def _on(cpus: Collection[int]) -> Iterator[None]:
    """Keeps this thread on ``cpus`` meanwhile, if it may run there."""
    before = os.sched_getaffinity(0)
    with contextlib.suppress(OSError):
        os.sched_setaffinity(0, cpus)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            os.sched_setaffinity(0, before)


def _wait_for_lock(path: str) -> int | None:
    """The dead agent's lock; None if its file is gone, or another process keeps it for too long."""
    deadline = time.monotonic() + OTHERS_MAY_TAKE_S
    try:
        while (lock := try_lock(path)) is None and time.monotonic() < deadline:
            time.sleep(0.001)
    except FileNotFoundError:
        return None
    return lock


def say(line: str) -> None:
    """A line for the log, if its reader is still there; the cores come first."""
    with contextlib.suppress(OSError):
        write_unless_blocked(sys.stderr.fileno(), f"smartharvest: guardian: {line}\n")
