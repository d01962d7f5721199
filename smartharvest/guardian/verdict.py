"""What an agent's silence means, as a state machine without a clock.

A beat is a time, so one look shows how old it is, and the next look is due when it would be too
old: the guardian looks at a healthy agent ten times a second. Time in which the guardian missed its
own looks (it was starved, or the machine was suspended) hardly counts, since the agent probably did
not run either, and a late look leads to no verdict: another follows soon. Jumps of a clock do not
count.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass

from smartharvest.core.timeouts import LEAST_PLAN_TTL_NS, plan_ttl_ns
from smartharvest.host.journal.shared_page import Phase

BUSY_SHARE = 0.5
"""An agent that ran for this share of its silence is not starved; it hangs."""

ASLEEP_LOOKS = 4
"""A silent agent hangs if it sleeps at this many looks in a row; a starved one sleeps at some."""


WRITING_TAKES_NS = 16_000_000
"""Time for writing, and for one late look and the next."""


class Verdict(enum.Enum):
    """What to do about the agent."""

    WELL = "well"
    SHRINK = "shrink"
    """Take the elastic side's cores back; the agent may recover."""
    STARVED = "starved"
    """It wants to run and gets no CPU: its cores are back already, and a kill would not help."""
    KILL = "kill"
    """It does not recover, or not in time."""


@dataclass(frozen=True)
class Limits:
    """How long each kind of silence may last, in nanoseconds."""

    shrink_after: int = LEAST_PLAN_TTL_NS - WRITING_TAKES_NS
    """Of the polling loop, before its cores are taken back: within 100 ms, even by a late look."""
    kill_after: int = 1_000_000_000
    """Of the loop or the control plane, before the agent is killed."""
    arrange_within: int = 10_000_000_000
    """The same while no loop runs and the host is being arranged; many tasks take long."""
    look_soon: int = 10_000_000
    """Between looks while a limit is near; also how late a look may come."""
    look_late: int = 100_000_000
    """The longest time between two looks."""


@dataclass(frozen=True)
class Look:
    """What the guardian sees of the agent at one moment. All times are of one clock."""

    now_ns: int
    phase: Phase
    loop_beat_ns: int
    """When the loop last polled."""
    agent_beat_ns: int
    """When the control plane last decided."""


@dataclass(frozen=True)
class Health:
    """State of the silent threads."""

    stopped: bool
    """By a signal or a debugger."""
    runnable: bool
    """They want to run."""
    ran_ns: int
    """CPU time they got since they were first missed."""


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


def limits_for(window_ns: int) -> Limits:
    """The limits for a loop that looks at least once a window: as long as it waits for plans."""
    patience = plan_ttl_ns(window_ns)
    return Limits(
        patience - WRITING_TAKES_NS, 10 * patience, max(Limits.arrange_within, 10 * patience)
    )


class Watch:
    """Judges an agent by its heartbeats."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._last: Look | None = None
        self._shrunk = False
        self._asleep = 0
        self.next_look_ns = limits.look_soon
        """How long from the last look to the next."""
        self.loop_silent_ns = 0
        self.agent_silent_ns = 0
        self.loop_missed = self.agent_missed = False
        """Whether the last look found no newer beat than the one before."""

    @property
    def silent_ns(self) -> int:
        """The longer of the two silences."""
        return max(self.loop_silent_ns, self.agent_silent_ns)

    def observe(self, look: Look) -> Verdict:
        """Takes a look in. KILL is confirmed by ``judge``; SHRINK comes once a silence."""
        last, self._last = self._last, look
        if last is None or last.phase is not look.phase:
            self.loop_silent_ns = self.agent_silent_ns = 0
            self.loop_missed = self.agent_missed = self._shrunk = False
            self.next_look_ns = self._limits.look_soon
            return Verdict.WELL
        gap_ns = look.now_ns - last.now_ns
        seen_ns = min(gap_ns, self.next_look_ns + self._limits.look_soon)
        self.loop_missed = look.loop_beat_ns == last.loop_beat_ns
        self.agent_missed = look.agent_beat_ns == last.agent_beat_ns
        # The age of the beat, without time in which the guardian did not look.
        self.loop_silent_ns = max(0, min(
            look.now_ns - look.loop_beat_ns, seen_ns + self.loop_missed * self.loop_silent_ns
        ))  # fmt: skip
        self.agent_silent_ns = max(0, min(
            look.now_ns - look.agent_beat_ns, seen_ns + self.agent_missed * self.agent_silent_ns
        ))  # fmt: skip
        verdict = self._verdict(look.phase, in_time=seen_ns == gap_ns)
        self.next_look_ns = self._until_next(look.phase)
        if verdict is not Verdict.KILL:
            self._asleep = 0
        return verdict

    def _verdict(self, phase: Phase, *, in_time: bool) -> Verdict:
        limits = self._limits
        if phase is not Phase.RUNNING:
            self.loop_silent_ns, self.loop_missed = 0, False  # there is none
        elif self.loop_silent_ns < limits.shrink_after:
            self._shrunk = False
        elif not self._shrunk:
            if not in_time:
                self.loop_silent_ns = limits.shrink_after - limits.look_soon
                return Verdict.WELL
            self._shrunk = True
            return Verdict.SHRINK
        return Verdict.KILL if self.silent_ns >= limits.kill_after and in_time else Verdict.WELL

    def _until_next(self, phase: Phase) -> int:
        limits = self._limits
        if phase is not Phase.RUNNING or self._shrunk:
            return limits.look_soon
        left_ns = min(
            limits.shrink_after - self.loop_silent_ns, limits.kill_after - self.agent_silent_ns
        )
        return min(max(left_ns, limits.look_soon // 4), limits.look_late)

    def excuse(self) -> None:
        """The agent did not cause its silence: it gets the same time again."""
        self.loop_silent_ns = min(self.loop_silent_ns, self._limits.shrink_after)
        self.agent_silent_ns = 0

    def judge(self, phase: Phase, health: Health) -> Verdict:
        """The verdict on an agent that has been silent for ``kill_after``."""
        if health.stopped:
            return Verdict.KILL
        if phase is not Phase.RUNNING and self.silent_ns < self._limits.arrange_within:
            return Verdict.WELL
        if health.ran_ns >= BUSY_SHARE * self.silent_ns:
            return Verdict.KILL
        if health.runnable:
            self._asleep = 0
            return Verdict.STARVED
        self._asleep += 1
        return Verdict.KILL if self._asleep >= ASLEEP_LOOKS else Verdict.WELL
