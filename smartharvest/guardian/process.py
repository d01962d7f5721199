"""The guardian: a small process that puts the host back when its agent cannot.

It waits for the agent's death (a pidfd) and reads its heartbeats (shared memory), in C as long as
they are plainly well: its turns are in real time, in front of the primary. After a death it
shrinks the elastic side to its minimum and, with ``--on-death restore``, puts every original back
from the journal. After silence (see ``verdict``) it has the agent say where its threads stand,
kills it and restores when the agent is gone, so that a continued agent does not overwrite what was
restored.

It has a session of its own, so that a signal to the agent's process group and the end of its
terminal do not reach it, and imports only what the journal needs. Its parent ends it once all is
restored; without a parent it ends by itself.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
import resource
import signal
import sys
from dataclasses import dataclass

from smartharvest.core._vigil import Vigil
from smartharvest.guardian import stacks
from smartharvest.guardian.restoring import Restoring, say
from smartharvest.guardian.silence import Silence
from smartharvest.guardian.verdict import STANDSTILL_NS, Cause, Limits, Look, Verdict, Watch
from smartharvest.host.cgroup.freezing import leave_groups
from smartharvest.host.cgroup.kernel_files import KernelFiles, PosixFiles
from smartharvest.host.journal.contents import JournalError, read_head, read_journal
from smartharvest.host.journal.places import page_path
from smartharvest.host.journal.restoration import is_same
from smartharvest.host.journal.shared_page import Phase, SharedPage
from smartharvest.host.process import tasks

NAME = "sh-guardian"
READY = b"r"

_FIFO_PRIORITY = 11
"""Above the loop's."""
_LIFTED = (
    *(resource.RLIMIT_CPU, resource.RLIMIT_RTTIME, resource.RLIMIT_FSIZE),
    *(resource.RLIMIT_AS, resource.RLIMIT_DATA),
)
_MCL_CURRENT, _MCL_FUTURE, _MCL_ONFAULT = 1, 2, 4  # bits/mman-linux.h
_PAGE_PATIENCE_S = 0.05


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
        numbers = (self.restores, limits.shrink_after, limits.kill_after, limits.hang_timeout)
        return [self.journal, self.fake_tree, *(str(int(number)) for number in numbers)]

    @classmethod
    def parse(cls, arguments: list[str]) -> GuardianConfig:
        journal, fake_tree, *numbers = arguments
        restores, shrink_after, kill_after, hang_timeout = map(int, numbers)
        return cls(
            journal, fake_tree, bool(restores), Limits(shrink_after, kill_after, hang_timeout)
        )


class GuardianProcess:
    """Watches the agent of one journal until it has ended and the host is in order."""

    def __init__(self, config: GuardianConfig) -> None:
        self._config = config
        self._files = _files(config.fake_tree)
        self._restoring = Restoring(config.journal, self._files, restores=config.restores)
        journal = read_journal(config.journal)
        self._pid = journal.pid
        self._pidfd = _open_process(journal.pid, journal.start_time)
        self._page = SharedPage(page_path(config.journal))
        self._watch = Watch(config.limits)
        self._silence = Silence()
        self._killed = False

    def run(self) -> int:
        """Returns when nothing is left to guard: 0, or 1 if something was not put back."""
        if self._pidfd is not None:  # it may have died while this guardian started
            self._guard(self._pidfd)
        return self._restoring.after_death(self._pid)

    def _guard(self, pidfd: int) -> None:
        vigil, watch = make_vigil(pidfd, self._page.vigil_slot, self._config.limits), self._watch
        well = False
        while vigil.wait(watch.next_look_ns, well=well):
            if well:
                watch.skip_to(_look(vigil.last))
            self._take_in(_look(vigil.look), pidfd)
            well = watch.calm and not self._silence.told

    # --- while it lives --------------------------------------------------------------------------

    def _take_in(self, look: Look, pidfd: int) -> None:
        verdict = self._watch.observe(look)
        if verdict is Verdict.SHRINK:  # before anything else is read or said
            silent_ms = self._watch.loop_silent_ns // 1_000_000
            self._shrink_if_running(look, f"the loop has been silent for {silent_ms} ms")
        if self._watch.stood_still_ns:
            self._page.count_silence("standstill")
            say(
                f"the guardian itself stood still for {self._watch.stood_still_ns // 1_000_000} ms "
                "(frozen with its control group, or without a CPU): if the agent did, too, what "
                "was lent stayed lent until now"
            )
        silence = self._silence
        silence.observe(self._pid, self._watch)
        if verdict is Verdict.SUSPECT and not self._killed:  # or it is still ending
            self._judge(look, pidfd)
        elif silence.told and not silence.missed:
            say(f"the agent (pid {self._pid}) beats again after {silence.longest_ms} ms")
            self._silence = Silence()

    def _shrink_if_running(self, look: Look, why: str) -> None:
        """Under the lock of the phase: what an ending agent has put back stays so.

        It is counted before it is written: an agent that meets it must not take it for a
        stranger's.
        """
        page = self._page
        with page.locked(_PAGE_PATIENCE_S) as held:
            if not (held and page.phase is look.phase):
                return
            if not self._restoring.shrink(before=page.count_shrink):
                return
        say(f"{why}: the elastic side is at its minimum")

    def _judge(self, look: Look, pidfd: int) -> None:
        """What to do about a silence that lasts."""
        watch, silence = self._watch, self._silence
        verdict = watch.judge(look.phase, silence.health(self._pid))
        silent_ms = watch.silent_ns // 1_000_000
        if verdict is Verdict.WELL:
            return
        assert watch.cause is not None
        silence.longest_ms = max(silence.longest_ms, silent_ms)
        running = look.phase is Phase.RUNNING
        if running and silence.is_new_to_judge() and not self._is_shrunk():
            # The loop's own rules should have done so.
            self._shrink_if_running(look, f"the agent has been silent for {silent_ms} ms")
        why, agent = silence.explain(watch.cause), f"the agent (pid {self._pid})"
        if verdict is Verdict.SPARE:
            self._spare(watch.cause, why, silent_ms)
        elif verdict is Verdict.TRACE:
            if silence.is_new("hung"):
                self._page.count_silence("hung")
            where = "; its threads stand here:" if stacks.ask(self._pid, pidfd) else ""
            say(f"{agent} has been silent for {silent_ms} ms: it {why}{where}")
        elif verdict is Verdict.KILL:
            say(f"the agent (pid {self._pid}) has hung for {silent_ms} ms and was killed: it {why}")
            self._killed = True
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(pidfd, signal.SIGKILL)

    def _spare(self, cause: Cause, why: str, silent_ms: int) -> None:
        """Tells of a silence that a kill would not help; again once it is longer than any other."""
        silence = self._silence
        name = {Cause.STARVED: "starved", Cause.FROZEN: "frozen"}.get(cause, "blocked")
        if silence.is_new(name):
            self._page.count_silence(name)
        elif not (cause is Cause.BLOCKED and self._watch.hangs and silence.is_new("for long")):
            return
        vain = " (no signal ends that)" if cause is Cause.BLOCKED else ""
        say(
            f"the agent (pid {self._pid}) {why} for {silent_ms} ms; its cores are back, and it is "
            f"not killed{vain}"
        )
        if cause is Cause.STARVED:  # once it runs again it may sleep before its next beat
            self._watch.excuse()

    def _is_shrunk(self) -> bool:
        """Whether the files hold what a shrink would write; threads are the loop's alone."""
        try:
            minimum = read_head(self._config.journal).minimum
            return all(is_same(path, self._files.read(path), value) for path, value in minimum)
        except (OSError, JournalError):
            return False


def make_vigil(pidfd: int, slot: bytearray | memoryview, limits: Limits) -> Vigil:
    """What looks at the agent of ``pidfd``, through the shared page's ``vigil_slot``."""
    return Vigil(
        pidfd,
        slot,
        shrink_after=limits.shrink_after,
        kill_after=limits.kill_after,
        loop_due=limits.loop_due,
        agent_due=limits.agent_due,
        look_soon=limits.look_soon,
        look_late=limits.look_late,
        standstill=STANDSTILL_NS,
    )


def _look(numbers: tuple[int, int, int, int]) -> Look:
    now_ns, phase, loop_beat_ns, agent_beat_ns = numbers
    return Look(now_ns, Phase(phase), loop_beat_ns, agent_beat_ns)


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


def _lift_limits() -> None:
    """What may end or refuse an agent, by its starter's wish, must not end the restoring."""
    for limit in _LIFTED:
        try:
            resource.setrlimit(limit, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        except (OSError, ValueError):  # without CAP_SYS_RESOURCE as far as it may
            _, most = resource.getrlimit(limit)
            resource.setrlimit(limit, (most, most))


def main(arguments: list[str]) -> int:
    """Writes READY to its standard output once it watches."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE):
        signal.signal(number, signal.SIG_IGN)  # it ends only with its agent
    _lift_limits()
    _make_punctual()
    config = GuardianConfig.parse(arguments)
    try:
        guardian = GuardianProcess(config)
    except FileNotFoundError:
        return 0  # the agent has put everything back, or has changed nothing
    except JournalError as error:
        say(str(error))
        return 1
    if not config.fake_tree:
        leave_groups()
    with contextlib.suppress(OSError):  # the agent may be gone already, for which it is there
        os.write(sys.stdout.fileno(), READY)
    os.close(sys.stdout.fileno())
    return guardian.run()
