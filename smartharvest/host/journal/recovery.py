"""Putting back what dead agents left behind."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from smartharvest.errors import RightsError
from smartharvest.host.cgroup.kernel_files import KernelFiles
from smartharvest.host.cpulist import parse_cpulist
from smartharvest.host.journal.confinement import take_back
from smartharvest.host.journal.contents import (
    JournalError,
    boot_id,
    head_of,
    read_journal,
    read_nudge,
)
from smartharvest.host.journal.places import (
    DEFAULT_DIRECTORY,
    journal_paths,
    lock_path,
    page_path,
    try_lock,
)
from smartharvest.host.journal.reach import check_reach
from smartharvest.host.journal.removal import remove, sweep
from smartharvest.host.journal.restoration import put_back
from smartharvest.host.journal.shared_page import read_agent_beat
from smartharvest.host.process import tasks
from smartharvest.trusted import Untrusted

OTHERS_MAY_TAKE_S = 5.0
"""How long another process, such as its guardian, may take to restore a dead agent's journal."""
_RETRY_S = 0.01
_HEARS_EVERY_S = 1.0
"""Longer than it takes an agent from hearing of a birth to journaling it."""
_REMEMBERED_S = 60.0


@dataclass
class RecoveryReport:
    """The result of a recovery. All empty if there was nothing to do."""

    restored: list[str] = field(default_factory=list)
    """One line for each thing put back."""
    left: list[str] = field(default_factory=list)
    """What another process has changed since; it stays as it is."""
    failed: list[str] = field(default_factory=list)
    """What the kernel refused to put back; its journal stays."""
    live: list[int] = field(default_factory=list)
    """Pids of running agents, whose journals stay."""
    discarded: list[str] = field(default_factory=list)
    """Journals from before the last boot, which undid everything they describe."""
    damaged: list[JournalError] = field(default_factory=list)
    """Unreadable journals; they stay."""


def recover(files: KernelFiles, directory: str = DEFAULT_DIRECTORY) -> RecoveryReport:
    """Restores and removes every journal in ``directory`` whose agent is dead.

    Raises RightsError if ``directory`` is no directory, unreadable or read-only.
    """
    report = RecoveryReport()
    try:
        for path in journal_paths(directory):
            if not recover_one(path, files, report):
                report.live.append(_pid_of(path))
        sweep(directory)
    except Untrusted as error:
        raise RightsError(f"no journal is obeyed there: {error}") from error
    except PermissionError as error:
        raise RightsError(f"{error.filename}: {error.strerror}; run as root") from error
    except OSError as error:
        raise RightsError(f"{error.filename or directory}: {error.strerror}") from error
    return report


def recover_one(path: str, files: KernelFiles, report: RecoveryReport) -> bool:
    """Restores and removes the journal at ``path`` unless its agent lives.

    False if its lock is held, and not just by another process that restores it. Raises OSError.
    """
    lock = lock_of_the_dead(path)
    if lock is None:
        return False
    try:
        _put_back(path, files, report)
    finally:
        os.close(lock)
    return True


def shrink(files: KernelFiles, directory: str) -> list[str]:
    """Leaves the elastic side of every dead agent in ``directory`` its minimum; journals stay.

    What was refused. Raises RightsError if ``directory`` is unreadable.
    """
    refused = []
    try:
        for path in journal_paths(directory):
            lock = lock_of_the_dead(path)
            if lock is None:
                continue
            try:
                refused += _shrink(path, files)
            except FileNotFoundError:  # restored meanwhile
                pass
            finally:
                os.close(lock)
    except OSError as error:
        raise RightsError(f"{error.filename or directory}: {error.strerror}") from error
    return refused


def _shrink(path: str, files: KernelFiles) -> list[str]:
    try:
        journal = read_journal(path)
        check_reach(path, journal, files)
    except JournalError as error:
        return [str(error)]
    return take_back(head_of(journal), files)[1] if journal.boot_id == boot_id() else []


def lock_of_the_dead(path: str) -> int | None:
    """The lock of the journal at ``path``; None if its agent lives, or another keeps the lock."""
    deadline = time.monotonic() + OTHERS_MAY_TAKE_S
    while True:
        lock = try_lock(lock_path(path), create=True)
        if lock is not None or _is_agents(path) or time.monotonic() > deadline:
            return lock
        time.sleep(_RETRY_S)


def _is_agents(path: str) -> bool:
    """Whether the agent that wrote the journal at ``path`` lives, as far as it can be read."""
    try:
        journal = read_journal(path)
    except FileNotFoundError:
        return False
    except JournalError:
        return True
    return tasks.start_time(journal.pid) == journal.start_time and tasks.alive(journal.pid)


def unheard_since(path: str) -> int | None:
    """When the agent of the journal at ``path`` last heard who was born; None: too long ago.

    In clock ticks since boot. Later, an orphan that looks like one of its own may be anybody.
    """
    beat_ns = read_agent_beat(page_path(path))
    silent_s = (time.monotonic_ns() - beat_ns) / 1e9
    if not beat_ns or silent_s > _REMEMBERED_S:
        return None
    ticks = os.sysconf("SC_CLK_TCK")
    return tasks.start_time_of_newcomers() - int((silent_s + _HEARS_EVERY_S) * ticks)


def _put_back(path: str, files: KernelFiles, report: RecoveryReport) -> None:
    try:
        journal = read_journal(path)
        check_reach(path, journal, files)
        heard = unheard_since(path)
    except FileNotFoundError:  # its agent was just closing it
        remove(path)
        return
    except Untrusted as error:  # the page next to it
        report.damaged.append(JournalError(f"{error}; nothing that the journal says is done"))
        return
    except JournalError as error:
        report.damaged.append(error)
        return
    if journal.boot_id != boot_id():
        report.discarded.append(path)
        remove(path)
        return
    if tasks.start_time(journal.pid) == journal.start_time and tasks.alive(journal.pid):
        report.live.append(journal.pid)  # the lock file of a running agent was removed
        return
    _unpin(read_nudge(path), journal.claims[-1:], files, report)
    result = put_back(
        journal.entries,
        files,
        ours=journal.ours,
        given=journal.given,
        unheard_since=heard,
    )
    report.restored += result.restored
    report.left += result.left
    report.failed += result.failed
    if not result.failed:
        remove(path)


def _unpin(tid: int, elastic: Sequence[str], files: KernelFiles, report: RecoveryReport) -> None:
    """Frees a thread that the loop pinned to one CPU; the loop pins only free threads.

    The id may be another thread's by now, and nothing shows when it was written (a mapped file's
    modification time does not): so only a thread of the elastic group is unpinned. The group may
    have been shrunk since: a thread whose one CPU is not there any more shows all that it has, and
    would be pinned again once that is more.
    """
    if not tid or not _holds(elastic, tid, files):
        return
    cpus = tasks.affinity(tid)
    if len(cpus) != 1 and cpus not in _effective(elastic, files):
        return
    with contextlib.suppress(OSError):
        os.sched_setaffinity(tid, tasks.EVERY_CPU)
        report.restored.append(f"affinity of thread {tid}: unpinned")


def _holds(groups: Sequence[str], tid: int, files: KernelFiles) -> bool:
    for path in (f"{group}/{name}" for group in groups for name in ("tasks", "cgroup.threads")):
        with contextlib.suppress(OSError):
            if str(tid) in files.read(path).split():
                return True
    return False


def _effective(groups: Sequence[str], files: KernelFiles) -> list[frozenset[int]]:
    """The CPUs that each of the groups has."""
    found = []
    for group in groups:
        for name in ("cpuset.effective_cpus", "cpuset.cpus.effective"):
            with contextlib.suppress(OSError, ValueError):
                found.append(parse_cpulist(files.read(f"{group}/{name}")))
    return found


def _pid_of(path: str) -> int:
    """The pid in a journal's name, for an unreadable journal; 0 if it was renamed."""
    number = path.removesuffix(".journal").rpartition("-")[2]
    return int(number) if number.isdigit() else 0
