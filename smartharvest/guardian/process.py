"""The guardian: a small process that puts the host back when its agent cannot.

It waits for the agent's death (a pidfd) and reads its heartbeats (shared memory). After a death it
shrinks the elastic side to its minimum and, with ``--on-death restore``, puts every original back
from the journal. After silence (see ``verdict``) it kills the agent first and restores when the
agent is gone, so that a continued agent does not overwrite what was restored.

It has a session of its own, so that a signal to the agent's process group and the end of its
terminal do not reach it, and imports only what the journal needs. Its parent ends it once all is
restored; without a parent it ends by itself.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
import select
import signal
import sys
import time
from dataclasses import dataclass

from smartharvest.guardian.verdict import Health, Limits, Look, RunTimes, Verdict, Watch
from smartharvest.host.cgroup.kernel_files import KernelFiles, PosixFiles
from smartharvest.host.journal.confinement import confine
from smartharvest.host.journal.contents import JournalError, lock_path, page_path, read_journal
from smartharvest.host.journal.journal import try_lock
from smartharvest.host.journal.reach import check_reach
from smartharvest.host.journal.recovery import OTHERS_MAY_TAKE_S, RecoveryReport, recover_one
from smartharvest.host.journal.shared_page import SharedPage
from smartharvest.host.process import tasks

NAME = "sh-guardian"
LOOP_NAME = "sh-loop"
"""The name of the loop's thread (csrc/loop/loop.c)."""
READY = b"r"

_FIFO_PRIORITY = 11
"""Above the loop's."""
_MCL_CURRENT, _MCL_FUTURE, _MCL_ONFAULT = 1, 2, 4  # bits/mman-linux.h
_PAGE_PATIENCE_S = 0.05
_LOCK_PAUSE_S = 0.5


@dataclass(frozen=True)
class GuardianConfig:
    """Which agent to guard, and how; passed as the arguments of the process."""

    journal: str
    fake_tree: str
    """The root of a fake tree; empty on a host."""
    restores: bool
    """After a death: put the originals back, or leave the elastic side its minimum."""
    limits: Limits

    def arguments(self) -> list[str]:
        limits = self.limits
        numbers = (self.restores, limits.shrink_after, limits.kill_after, limits.arrange_within)
        return [self.journal, self.fake_tree, *(str(int(number)) for number in numbers)]

    @classmethod
    def parse(cls, arguments: list[str]) -> GuardianConfig:
        journal, fake_tree, *numbers = arguments
        restores, shrink_after, kill_after, arrange_within = map(int, numbers)
        return cls(
            journal, fake_tree, bool(restores), Limits(shrink_after, kill_after, arrange_within)
        )


class GuardianProcess:
    """Watches the agent of one journal until it has ended and the host is in order."""

    def __init__(self, config: GuardianConfig) -> None:
        self._config = config
        self._files = _files(config.fake_tree)
        journal = read_journal(config.journal)
        self._pid = journal.pid
        self._pidfd = _open_process(journal.pid, journal.start_time)
        self._page = SharedPage(page_path(config.journal))
        self._watch = Watch(config.limits)
        self._run_times = RunTimes()
        self._ran_ns = 0
        self._starving = False
        self._killed = False

    def run(self) -> int:
        """Returns when nothing is left to guard: 0, or 1 if something was not put back."""
        if self._pidfd is not None:  # it may have died while this guardian started
            self._guard(self._pidfd)
        return self._after_death()

    def _guard(self, pidfd: int) -> None:
        poller = select.poll()
        poller.register(pidfd, select.POLLIN)
        while not poller.poll(self._watch.next_look_ns / 1e6):
            self._page.beat_as_guardian()
            self._look(pidfd)

    # --- while it lives --------------------------------------------------------------------------

    def _look(self, pidfd: int) -> None:
        page = self._page
        look = Look(time.monotonic_ns(), page.phase, page.loop_beat, page.agent_beat)
        verdict = self._watch.observe(look)
        missed = self._silent_threads()
        self._ran_ns = self._run_times.observe(
            {tid: _cpu_time_ns(self._pid, tid) for tid in missed}
        )
        if not missed:
            self._starving = False
        if verdict is Verdict.SHRINK:
            self._shrink_if_running(look)
        elif verdict is Verdict.KILL:
            self._confirm(look, missed, pidfd)

    def _shrink_if_running(self, look: Look) -> None:
        """Under the lock of the phase: what an ending agent has put back stays so."""
        with self._page.locked(_PAGE_PATIENCE_S) as held:
            if held and self._page.phase is look.phase and self._shrink():
                self._page.count_shrink()
                _say(
                    f"the loop has been silent for {self._watch.loop_silent_ns // 1_000_000} ms: "
                    "the elastic side is at its minimum"
                )

    def _confirm(self, look: Look, missed: list[int], pidfd: int) -> None:
        if self._killed:  # it is still ending
            return
        verdict = self._watch.judge(look.phase, self._health(missed))
        silent_ms = self._watch.silent_ns // 1_000_000
        if verdict is Verdict.STARVED:
            # Once it runs again it may sleep for a moment before its next beat.
            self._watch.excuse()
            self._run_times = RunTimes()
            if not self._starving:
                self._starving = True
                self._page.count_starved()
                _say(
                    f"the agent (pid {self._pid}) got no CPU for {silent_ms} ms; its cores are "
                    "back, and it is not killed"
                )
        elif verdict is Verdict.KILL:
            _say(f"the agent (pid {self._pid}) has hung for {silent_ms} ms and was killed")
            self._killed = True
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(pidfd, signal.SIGKILL)

    def _silent_threads(self) -> list[int]:
        silent = [self._pid] if self._watch.agent_missed else []
        if self._watch.loop_missed:
            threads = tasks.process_threads(self._pid)
            silent += [tid for tid in threads if tasks.name(tid) == LOOP_NAME]
        return silent

    def _health(self, missed: list[int]) -> Health:
        states = [tasks.state(tid) for tid in missed or [self._pid]]
        return Health(
            stopped=any(state in ("T", "t") for state in states),
            runnable=all(state == "R" for state in states),
            ran_ns=self._ran_ns,
        )

    # --- writing ---------------------------------------------------------------------------------

    def _shrink(self) -> bool:
        """Shrinks the elastic side to its minimum, as far as the journal says how."""
        try:
            journal = read_journal(self._config.journal)
            check_reach(self._config.journal, journal, self._files)
        except (OSError, JournalError):
            return False
        for path, value in journal.minimum:
            try:
                self._files.write(path, value)
            except OSError as error:
                _say(f"{path}: writing {value!r} was refused: {error.strerror}")
        cpus = journal.minimum_cpus
        confined = confine(journal.entries, cpus, self._files) if cpus else 0
        return bool(journal.minimum or confined)

    def _after_death(self) -> int:
        path = self._config.journal
        if not os.path.exists(path):
            return 0
        lock = _wait_for_lock(lock_path(path))
        if lock is not None:
            self._shrink()
            os.close(lock)
        if not self._config.restores:
            _say(
                f"the agent (pid {self._pid}) has died: the elastic side keeps its minimum until "
                "smartharvest restore, or the next agent"
            )
            return 0
        report, reported = RecoveryReport(), False
        while not recover_one(path, self._files, report):
            if not reported:
                _say(f"{lock_path(path)}: another process holds this lock; waiting to restore")
            reported = True
            time.sleep(_LOCK_PAUSE_S)
        if report.restored:
            _say(f"the agent (pid {self._pid}) has died: put back {'; '.join(report.restored)}")
        for failure in [*report.failed, *report.damaged]:
            _say(f"not restored: {failure}")
        return int(bool(report.failed or report.damaged))


def _files(fake_tree: str) -> KernelFiles:
    if not fake_tree:
        return PosixFiles()
    from smartharvest.host.cgroup.fake_kernel import FakeKernel  # not needed on a host

    return FakeKernel(fake_tree)


def _open_process(pid: int, start_time: int) -> int | None:
    """A descriptor of the process that started then; None if it has ended."""
    try:
        pidfd = os.pidfd_open(pid)
    except ProcessLookupError:
        return None
    if tasks.start_time(pid) == start_time:
        return pidfd
    os.close(pidfd)
    return None


def _cpu_time_ns(pid: int, tid: int) -> int:
    try:
        with open(f"/proc/{pid}/task/{tid}/schedstat") as file:
            return int(file.read().split()[0])
    except (OSError, IndexError):
        return 0


def _wait_for_lock(path: str) -> int | None:
    """The dead agent's lock; None if its file is gone, or another process keeps it for too long."""
    deadline = time.monotonic() + OTHERS_MAY_TAKE_S
    try:
        while (lock := try_lock(path)) is None and time.monotonic() < deadline:
            time.sleep(0.001)
    except FileNotFoundError:
        return None
    return lock


def _say(line: str) -> None:
    with contextlib.suppress(OSError):  # the reader of our messages may be gone, too
        os.write(sys.stderr.fileno(), f"smartharvest: guardian: {line}\n".encode())


def _make_punctual() -> None:
    """Keeps up on a loaded machine: real-time, locked in memory, last to be killed for memory."""
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(_FIFO_PRIORITY))
    except OSError:
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, 0, -20)
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write("-1000")
    with contextlib.suppress(OSError), open("/proc/self/comm", "w") as file:
        file.write(NAME)
    # Pages stay once they are used; pages that are never used are not loaded.
    ctypes.CDLL(None).mlockall(_MCL_CURRENT | _MCL_FUTURE | _MCL_ONFAULT)
    gc.freeze()
    gc.disable()


def main(arguments: list[str]) -> int:
    """Writes READY to its standard output once it watches."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE):
        signal.signal(number, signal.SIG_IGN)  # it ends only with its agent
    _make_punctual()
    try:
        guardian = GuardianProcess(GuardianConfig.parse(arguments))
    except FileNotFoundError:
        return 0  # the agent has put everything back, or has changed nothing
    except JournalError as error:
        _say(str(error))
        return 1
    os.write(sys.stdout.fileno(), READY)
    os.close(sys.stdout.fileno())
    return guardian.run()
