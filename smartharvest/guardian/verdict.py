"""What an agent's silence means, as a state machine without a clock.

Silence is counted as the guardian sees it, look by look: time in which the guardian itself did not
look (it was starved, or the machine was suspended) hardly counts, for the agent will not have run
either. A jump of any clock counts for nothing.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

from smartharvest.host.shared_page import Phase

BUSY_SHARE = 0.5
"""An agent that ran for this share of its silence is not starved but caught in something."""


class Verdict(enum.Enum):
    """What to do about the agent."""

    WELL = "well"
    SHRINK = "shrink"
    """Take the elastic side's cores back; the agent may come to."""
    STARVED = "starved"
    """It wants to run and gets no CPU: its cores are back already, and a kill would help nobody."""
    KILL = "kill"
    """It will not come to, or not in time."""


@dataclass(frozen=True)
class Limits:
    """How long which silence is borne, in nanoseconds."""

    shrink_after: int = 100_000_000
    """Of the polling loop, before its cores are taken back."""
    kill_after: int = 1_000_000_000
    """Of the loop or the control plane, before the agent is killed."""
    arrange_within: int = 10_000_000_000
    """The same while no loop runs and the host is being arranged: many tasks take their time."""
    look_every: int = 20_000_000


@dataclass(frozen=True)
class Look:
    """What the guardian sees of the agent at one moment."""

    now_ns: int
    phase: Phase
    loop_beat: int
    """Any number that changes with every poll."""
    agent_beat: int
    """Any number that changes with every decision."""


@dataclass(frozen=True)
class Health:
    """How the silent threads fare."""

    stopped: bool
    """By a signal or a debugger."""
    runnable: bool
    """They want to run."""
    ran_ns: int
    """CPU time they got since they were first missed."""


def limits_for(window_ns: int) -> Limits:
    """The limits for a loop that looks once a window at least: its own patience with plans."""
    shrink_after = max(4 * window_ns, Limits.shrink_after)
    return Limits(shrink_after, 10 * shrink_after, max(Limits.arrange_within, 10 * shrink_after))


class Watch:
    """Judges an agent by its heartbeats."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._last: Look | None = None
        self.loop_silent_ns = 0
        self.agent_silent_ns = 0
        self._shrunk = False

    @property
    def silent_ns(self) -> int:
        """How long nothing was heard of the one that is silent for longer."""
        return max(self.loop_silent_ns, self.agent_silent_ns)

    def observe(self, look: Look) -> Verdict:
        """Takes a look in; KILL is to be confirmed by ``judge``. SHRINK is said once a silence."""
        last, self._last = self._last, look
        if last is None or last.phase is not look.phase:
            self.loop_silent_ns = self.agent_silent_ns = 0
            self._shrunk = False
            return Verdict.WELL
        seen_ns = min(look.now_ns - last.now_ns, 2 * self._limits.look_every)
        loop_beats = look.loop_beat != last.loop_beat
        agent_beats = look.agent_beat != last.agent_beat
        self.loop_silent_ns = 0 if loop_beats else self.loop_silent_ns + seen_ns
        self.agent_silent_ns = 0 if agent_beats else self.agent_silent_ns + seen_ns
        if look.phase is not Phase.RUNNING:
            self.loop_silent_ns = 0  # there is none
        elif self.loop_silent_ns < self._limits.shrink_after:
            self._shrunk = False
        elif not self._shrunk:
            self._shrunk = True
            return Verdict.SHRINK
        return Verdict.KILL if self.silent_ns >= self._limits.kill_after else Verdict.WELL

    def judge(self, phase: Phase, health: Health) -> Verdict:
        """The verdict on an agent that has been silent for ``kill_after``."""
        if health.stopped:
            return Verdict.KILL
        if phase is not Phase.RUNNING and self.silent_ns < self._limits.arrange_within:
            return Verdict.WELL
        busy = health.ran_ns >= BUSY_SHARE * self.silent_ns
        return Verdict.STARVED if health.runnable and not busy else Verdict.KILL
