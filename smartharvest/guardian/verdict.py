"""What an agent's silence means, as a state machine without a clock.

A beat is a time, so one look shows how old it is, and the next look is due when it would be too
old: the guardian looks at a healthy agent ten times a second. Time in which the guardian missed its
own looks (it was starved, or the machine was suspended) hardly counts, since the agent probably did
not run either, and a late look condemns nobody: another follows soon. Jumps of a clock do not
count. Looks that are plainly well need not come here (csrc/guardian/vigil.h).

A silent loop may hold lent cores: they are taken back within 100 ms, and the agent is killed within
a second. A silent control plane holds none, since the loop gives everything back when its plan
expires: it gets much longer, and says where its threads stand before it is killed.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass

from smartharvest.core.timeouts import LEAST_PLAN_TTL_NS, plan_ttl_ns
from smartharvest.host.journal.shared_page import Phase

BUSY_SHARE = 0.5
"""A thread that ran for this share of its silence is not starved; it hangs."""
BUSY_NS = 1_000_000_000
"""Nor is one that had so much CPU time, however long that took: a beat takes milliseconds."""

ASLEEP_LOOKS = 4
"""A silent agent hangs if it sleeps at this many looks in a row; a starved one sleeps at some."""

TRACE_TAKES_NS = 200_000_000
"""From the last request for the stacks to the kill."""

STANDSTILL_NS = 500_000_000
"""A guardian, which is real-time, that has not looked for so long was most likely frozen."""

WRITING_TAKES_NS = 16_000_000
"""Time for writing, and for one late look and the next."""


class Verdict(enum.Enum):
    """What to do about the agent."""

    WELL = "well"
    SHRINK = "shrink"
    """Take the elastic side's cores back; the agent may recover."""
    SUSPECT = "suspect"
    """It is silent for so long that ``judge`` has to know the state of its threads."""
    SPARE = "spare"
    """A kill would not help, or not end it: its cores are back already."""
    TRACE = "trace"
    """Have it write where its threads stand."""
    KILL = "kill"
    """It does not recover, or not in time."""


class Cause(enum.Enum):
    """Why silent threads are silent, as far as the kernel tells; the value completes "it ...".

    A starved thread is R without CPU time; a busy one runs and does not come round to its beat; a
    locked-out one sleeps while another thread of its process runs, as under the interpreter's lock.
    """

    STOPPED = "is stopped by a signal or a debugger"
    FROZEN = "is frozen with its control group"
    BLOCKED = "waits in the kernel (state D)"
    STARVED = "gets no CPU"
    BUSY = "runs and does not come round"
    LOCKED_OUT = "sleeps while another of its threads runs"
    ASLEEP = "sleeps and is not woken"


_SPARED = (Cause.FROZEN, Cause.BLOCKED, Cause.STARVED)
"""SIGKILL ends neither D nor a frozen task of v1; a thawed or fed agent goes on."""


@dataclass(frozen=True)
class Limits:
    """How long each kind of silence may last, in nanoseconds."""

    shrink_after: int = LEAST_PLAN_TTL_NS - WRITING_TAKES_NS
    """Of the polling loop, before its cores are taken back: within 100 ms, even by a late look."""
    kill_after: int = 1_000_000_000
    """Of the loop, before the agent is killed; so long it may be stopped, too."""
    hang_timeout: int = 10_000_000_000
    """Of the control plane while the loop beats, or no loop runs and the host is arranged."""
    look_soon: int = 10_000_000
    """Between looks while a limit is near; also how late a look may come."""
    look_late: int = 300_000_000
    """The longest time between two looks."""

    @property
    def loop_due(self) -> int:
        """How old the loop's beat may be before it is missed: between two windows it may sleep."""
        return self.shrink_after // 2

    @property
    def agent_due(self) -> int:
        """The same of the control plane's, which rests where nobody asks for windows."""
        return self.kill_after * 3 // 4


@dataclass(frozen=True)
class Look:
    """What the guardian sees of the agent at one moment. All times are of one clock."""

    now_ns: int
    phase: Phase
    loop_beat_ns: int
    """When the loop last polled; in the future, a window before it looks again after a rest."""
    agent_beat_ns: int
    """When the control plane last decided."""

    @property
    def loop_age_ns(self) -> int:
        return self.now_ns - self.loop_beat_ns

    @property
    def agent_age_ns(self) -> int:
        return self.now_ns - self.agent_beat_ns


@dataclass(frozen=True)
class Health:
    """State of the silent threads."""

    states: tuple[str, ...]
    """The letters of proc_pid_stat(5)."""
    ran_ns: int
    """The most CPU time that one of them got since it was first missed."""
    others_ran_ns: int = 0
    """The same of the process's threads that need not beat."""
    frozen: bool = False
    """Whether their control group is."""

    def cause(self, silent_ns: int) -> Cause:
        """Why they have been silent for ``silent_ns``."""
        if self.frozen:  # before D, which a frozen task of v1 shows
            return Cause.FROZEN
        if any(state in ("T", "t") for state in self.states):
            return Cause.STOPPED
        if self.ran_ns >= min(BUSY_SHARE * silent_ns, BUSY_NS):
            return Cause.BUSY
        if "D" in self.states:
            return Cause.BLOCKED
        if self.states and all(state == "R" for state in self.states):
            return Cause.STARVED
        if self.others_ran_ns >= BUSY_SHARE * silent_ns:
            return Cause.LOCKED_OUT
        return Cause.ASLEEP


class RunTimes:
    """CPU time of threads since each was first missed."""

    def __init__(self) -> None:
        self._began_ns: dict[int, int] = {}

    def observe(self, ran_ns: Mapping[int, int]) -> int:
        """The most CPU time that a missed thread got since it is missed, from the totals of all.

        A thread that beats again is forgotten.
        """
        self._began_ns = {tid: self._began_ns.get(tid, ran) for tid, ran in ran_ns.items()}
        return max((ran - self._began_ns[tid] for tid, ran in ran_ns.items()), default=0)


def limits_for(window_ns: int, hang_timeout_ns: int = Limits.hang_timeout) -> Limits:
    """The limits for a loop that looks at least once a window: as long as it waits for plans."""
    patience = plan_ttl_ns(window_ns)
    return Limits(patience - WRITING_TAKES_NS, 10 * patience, max(hang_timeout_ns, 10 * patience))


class Watch:
    """Judges an agent by its heartbeats."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._last: Look | None = None
        self._shrunk = False
        self._asleep = 0
        self._traced = False
        self._last_trace_ns: int | None = None
        """How long the silence had lasted at the request before the kill."""
        self._spared_ns = 0
        """How long it had lasted when the agent was last seen where it could not act."""
        self.next_look_ns = limits.look_soon
        """How long from the last look to the next."""
        self.loop_silent_ns = 0
        self.agent_silent_ns = 0
        self._loop_rests_ns = 0
        """For how long it announced no beat."""
        self.loop_missed = self.agent_missed = False
        """Whether the last look found no newer beat than the one before, and one was due."""
        self.stood_still_ns = 0
        """How long the guardian itself had not looked before this look, if that is remarkable."""
        self.cause: Cause | None = None
        """Of the silence that was judged last."""
        self.calm = False
        """Whether the agent is well and all that is known of it follows from the last look."""

    @property
    def silent_ns(self) -> int:
        """The longer of the two silences."""
        return max(self.loop_silent_ns, self.agent_silent_ns)

    @property
    def hangs(self) -> bool:
        """Whether the silence is longer than any that is a matter of load."""
        return self.silent_ns >= self._limits.hang_timeout

    def observe(self, look: Look) -> Verdict:
        """Takes a look in: WELL, SHRINK (once a silence) or SUSPECT."""
        last, self._last = self._last, look
        gap_ns = 0 if last is None else look.now_ns - last.now_ns
        self.calm = False
        self.stood_still_ns = gap_ns if gap_ns >= STANDSTILL_NS else 0
        if last is None or last.phase is not look.phase:
            self.loop_silent_ns = self.agent_silent_ns = 0
            self.loop_missed = self.agent_missed = self._shrunk = False
            self.next_look_ns = self._limits.look_soon
            self._forgive()
            return Verdict.WELL
        seen_ns = min(gap_ns, self.next_look_ns + self._limits.look_soon)
        same_loop = look.loop_beat_ns == last.loop_beat_ns
        same_agent = look.agent_beat_ns == last.agent_beat_ns
        self.loop_missed = same_loop and look.loop_age_ns >= self._limits.loop_due
        self.agent_missed = same_agent and look.agent_age_ns >= self._limits.agent_due
        # The age of the beat, without time in which the guardian did not look.
        self.loop_silent_ns = max(
            0, min(look.loop_age_ns, seen_ns + same_loop * self.loop_silent_ns)
        )
        self.agent_silent_ns = max(
            0, min(look.agent_age_ns, seen_ns + same_agent * self.agent_silent_ns)
        )
        self._loop_rests_ns = max(0, -look.loop_age_ns)
        verdict = self._verdict(look, in_time=seen_ns == gap_ns)
        self.next_look_ns = self._until_next(look.phase)
        if verdict is not Verdict.SUSPECT:
            self._asleep = 0
        if self.silent_ns < self._limits.kill_after:
            self._forgive()
        ages = max(0, look.loop_age_ns), max(0, look.agent_age_ns)
        self.calm = (
            verdict is Verdict.WELL
            and look.phase is Phase.RUNNING
            and not (self._shrunk or self.loop_missed or self.agent_missed or self.stood_still_ns)
            and self.silent_ns < self._limits.kill_after
            and (self.loop_silent_ns, self.agent_silent_ns) == ages
        )
        return verdict

    def skip_to(self, look: Look) -> None:
        """Takes in a look of which it need not know more: all from a calm one to it were calm."""
        self._last = look
        self._loop_rests_ns = max(0, -look.loop_age_ns)
        self.loop_silent_ns = max(0, look.loop_age_ns)
        self.agent_silent_ns = max(0, look.agent_age_ns)
        self.next_look_ns = self._until_next(look.phase)

    def _forgive(self) -> None:
        self._asleep = 0
        self._traced, self._last_trace_ns = False, None
        self._spared_ns = 0
        self.cause = None

    def _verdict(self, look: Look, *, in_time: bool) -> Verdict:
        limits = self._limits
        if look.phase is not Phase.RUNNING:
            self.loop_silent_ns, self.loop_missed = 0, False  # there is none
        elif not in_time and not self._shrunk and look.loop_age_ns >= limits.shrink_after:
            # The loop did not run meanwhile, either: what was lent then is lent still.
            self.loop_silent_ns = max(self.loop_silent_ns, limits.shrink_after)
            self._shrunk = True
            return Verdict.SHRINK
        elif self.loop_silent_ns < limits.shrink_after:
            self._shrunk = False
        elif not self._shrunk:
            self._shrunk = True
            return Verdict.SHRINK
        is_suspect = self.silent_ns >= limits.kill_after and in_time
        return Verdict.SUSPECT if is_suspect else Verdict.WELL

    def _until_next(self, phase: Phase) -> int:
        limits = self._limits
        if phase is not Phase.RUNNING or self._shrunk:
            lasts = self.silent_ns >= 2 * limits.kill_after  # the cores are back
            return limits.look_late if lasts else limits.look_soon
        left_ns = limits.shrink_after + self._loop_rests_ns - self.loop_silent_ns
        if self.agent_silent_ns < limits.kill_after:
            left_ns = min(left_ns, limits.kill_after - self.agent_silent_ns)
        return min(max(left_ns, limits.look_soon // 4), limits.look_late)

    def excuse(self) -> None:
        """The agent did not cause its silence: it gets the same time again."""
        self.loop_silent_ns = min(self.loop_silent_ns, self._limits.shrink_after)
        self.agent_silent_ns = 0

    def judge(self, phase: Phase, health: Health) -> Verdict:
        """The verdict on a SUSPECT: WELL (look again), SPARE, TRACE or KILL; ``cause`` says why."""
        limits, silent_ns = self._limits, self.silent_ns
        cause = self.cause = health.cause(silent_ns)
        arranges = phase is not Phase.RUNNING
        if cause is Cause.ASLEEP:
            self._asleep += 1
            if self._asleep < ASLEEP_LOOKS:
                return Verdict.WELL
        else:
            self._asleep = 0
        if arranges and silent_ns < limits.hang_timeout and cause in (Cause.STARVED, Cause.BLOCKED):
            return Verdict.WELL  # many tasks take long
        if cause in _SPARED:
            self._spared_ns = silent_ns
            return Verdict.SPARE
        if self._spared_ns > 0 and silent_ns - self._spared_ns < limits.kill_after:
            return Verdict.WELL  # it could act only since then
        loop_hangs = self.loop_silent_ns >= limits.kill_after
        stopped = cause is Cause.STOPPED and (arranges or loop_hangs)
        if stopped or loop_hangs or silent_ns >= limits.hang_timeout:
            return self._kill(cause)
        if arranges or self._traced:
            return Verdict.WELL
        self._traced = True
        return Verdict.TRACE

    def _kill(self, cause: Cause) -> Verdict:
        if cause is Cause.STOPPED:  # it takes no signal
            return Verdict.KILL
        if self._last_trace_ns is None:
            self._traced, self._last_trace_ns = True, self.silent_ns
            return Verdict.TRACE
        waited_ns = self.silent_ns - self._last_trace_ns
        return Verdict.KILL if waited_ns >= TRACE_TAKES_NS else Verdict.WELL
