from __future__ import annotations

import pytest

from smartharvest.guardian.verdict import (
    ASLEEP_LOOKS,
    Health,
    Limits,
    Look,
    RunTimes,
    Verdict,
    Watch,
    limits_for,
)
from smartharvest.host.journal.shared_page import Phase

MS = 1_000_000
LIMITS = Limits()
STOPPED = Health(stopped=True, runnable=False, ran_ns=0)
ASLEEP = Health(stopped=False, runnable=False, ran_ns=0)
QUEUED = Health(stopped=False, runnable=True, ran_ns=10 * MS)
SPINNING = Health(stopped=False, runnable=True, ran_ns=900 * MS)


class Agent:
    """An agent whose beats a test sends or withholds; looked at when the watch wants to."""

    def __init__(self, phase: Phase = Phase.RUNNING) -> None:
        self.watch = Watch(LIMITS)
        self.phase = phase
        self.now_ns = 10**12
        self._loop = self._agent = self.now_ns
        self.look()

    def look(self, loop: bool = True, agent: bool = True, late_ms: int = 0) -> Verdict:
        """Beats come just before the look, or not any more."""
        self.now_ns += self.watch.next_look_ns + late_ms * MS
        self._loop = self.now_ns if loop else self._loop
        self._agent = self.now_ns if agent else self._agent
        return self.watch.observe(Look(self.now_ns, self.phase, self._loop, self._agent))

    def looks(self, for_ms: int, loop: bool = True, agent: bool = True) -> dict[int, Verdict]:
        """The verdicts of the looks in the next ``for_ms``, by when they were, in ms from now."""
        began_ns = self.now_ns
        verdicts = {}
        while self.now_ns + self.watch.next_look_ns <= began_ns + for_ms * MS:
            verdict = self.look(loop, agent)
            verdicts[(self.now_ns - began_ns) // MS] = verdict
        return verdicts


def when(verdicts: dict[int, Verdict], verdict: Verdict) -> list[int]:
    return [ms for ms, said in verdicts.items() if said is verdict]


def test_an_agent_that_beats_is_well_and_looked_at_ten_times_a_second() -> None:
    agent = Agent()
    agent.look()
    verdicts = agent.looks(1000)
    assert set(verdicts.values()) == {Verdict.WELL}
    assert len(verdicts) <= 12


def test_a_silent_loop_loses_its_cores_within_100_ms_and_its_agent_is_killed_after_1_s() -> None:
    verdicts = Agent().looks(1100, loop=False)
    (shrunk,) = when(verdicts, Verdict.SHRINK)
    assert 84 <= shrunk <= 94
    assert min(when(verdicts, Verdict.KILL)) in range(1000, 1021)


def test_silence_counts_from_the_last_beat_not_from_the_look_that_misses_it() -> None:
    agent = Agent()
    agent.look()
    for age_ms in (10, 30, 50):
        beat_ns = agent.now_ns + agent.watch.next_look_ns - age_ms * MS
        agent.now_ns += agent.watch.next_look_ns
        agent._loop = beat_ns
        assert (
            agent.watch.observe(Look(agent.now_ns, agent.phase, beat_ns, agent.now_ns))
            is Verdict.WELL
        )
        assert agent.watch.loop_silent_ns == age_ms * MS
        assert agent.watch.next_look_ns == (84 - age_ms) * MS


def test_a_loop_that_comes_to_is_watched_anew() -> None:
    agent = Agent()
    assert when(agent.looks(200, loop=False), Verdict.SHRINK)
    assert agent.look() is Verdict.WELL
    assert len(when(agent.looks(200, loop=False), Verdict.SHRINK)) == 1


def test_the_loop_shrinks_by_itself_for_a_silent_control_plane_which_is_killed_after_1_s() -> None:
    verdicts = Agent().looks(1100, agent=False)
    assert not when(verdicts, Verdict.SHRINK)
    assert min(when(verdicts, Verdict.KILL)) in range(1000, 1101)


def test_an_agent_that_was_starved_has_another_second_to_be_heard_of() -> None:
    agent = Agent()
    silent = agent.looks(1050, loop=False, agent=False)
    assert when(silent, Verdict.KILL)
    agent.watch.excuse()
    again = agent.looks(1100, loop=False, agent=False)
    assert not when(again, Verdict.SHRINK)  # its cores are back already
    assert min(when(again, Verdict.KILL)) in range(900, 1021)


def test_time_in_which_the_guardian_did_not_look_hardly_counts() -> None:
    agent = Agent()
    agent.look()
    assert agent.look(loop=False, agent=False, late_ms=3_600_000) is Verdict.WELL
    assert agent.watch.silent_ns <= 110 * MS
    assert agent.watch.next_look_ns <= 20 * MS
    assert agent.look() is Verdict.WELL


def test_a_late_look_condemns_nobody_but_the_one_after_it_does() -> None:
    agent = Agent()
    agent.look()
    assert agent.look(loop=False, late_ms=500) is Verdict.WELL
    assert agent.look(loop=False) is Verdict.SHRINK


def test_a_clock_that_jumps_back_proves_nothing() -> None:
    agent = Agent()
    agent.look()
    agent.now_ns -= 3_600_000 * MS
    assert agent.look(loop=False, agent=False) is Verdict.WELL
    assert agent.watch.silent_ns == 0


def test_without_a_loop_nothing_is_shrunk() -> None:
    for phase in (Phase.ARRANGING, Phase.ENDING, Phase.HANDING_OVER):
        verdicts = Agent(phase).looks(1100, loop=False, agent=False)
        assert not when(verdicts, Verdict.SHRINK)
        assert min(when(verdicts, Verdict.KILL)) in range(1000, 1021)  # to be confirmed


def test_a_change_of_phase_is_a_sign_of_life() -> None:
    agent = Agent()
    agent.looks(800, loop=False, agent=False)
    agent.phase = Phase.ENDING
    assert agent.look(loop=False, agent=False) is Verdict.WELL
    assert agent.watch.silent_ns == 0


@pytest.mark.parametrize(
    ("phase", "health", "verdict"),
    [
        (Phase.RUNNING, STOPPED, Verdict.KILL),
        (Phase.RUNNING, ASLEEP, Verdict.KILL),
        (Phase.RUNNING, SPINNING, Verdict.KILL),
        (Phase.RUNNING, QUEUED, Verdict.STARVED),
        (Phase.ARRANGING, STOPPED, Verdict.KILL),
        (Phase.ARRANGING, SPINNING, Verdict.WELL),
        (Phase.HANDING_OVER, ASLEEP, Verdict.WELL),
    ],
)
def test_what_a_second_of_silence_means(phase: Phase, health: Health, verdict: Verdict) -> None:
    agent = Agent(phase)
    agent.looks(1020, loop=False, agent=False)
    for _ in range(ASLEEP_LOOKS):
        said = agent.watch.judge(phase, health)
    assert said is verdict


def test_one_look_at_an_agent_asleep_does_not_show_that_it_hangs() -> None:
    agent = Agent()
    agent.looks(1020, loop=False, agent=False)
    for health in (ASLEEP, QUEUED) * ASLEEP_LOOKS:
        assert agent.watch.judge(agent.phase, health) is not Verdict.KILL


def test_arranging_may_take_ten_seconds_and_no_more() -> None:
    agent = Agent(Phase.ENDING)
    agent.looks(10_020, agent=False)
    said = [agent.watch.judge(Phase.ENDING, ASLEEP) for _ in range(ASLEEP_LOOKS)]
    assert said[-1] is Verdict.KILL


def test_the_limits_follow_a_long_window() -> None:
    assert limits_for(25 * MS) == LIMITS
    assert limits_for(1000 * MS) == Limits(3_984 * MS, 40_000 * MS, 40_000 * MS)


def test_what_a_thread_ran_before_it_was_missed_does_not_count() -> None:
    loop, agent = 7, 1
    times = RunTimes()
    assert times.observe({loop: 40 * MS}) == 0
    # The control plane is missed later than the loop: its start-up is not what it was caught in.
    assert times.observe({loop: 41 * MS, agent: 900 * MS}) == 1 * MS
    assert times.observe({agent: 903 * MS}) == 3 * MS
    assert times.observe({}) == 0
    assert times.observe({agent: 990 * MS}) == 0
