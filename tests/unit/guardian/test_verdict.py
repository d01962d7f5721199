from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smartharvest.config.settings import Settings
from smartharvest.guardian.verdict import (
    ASLEEP_LOOKS,
    TRACE_TAKES_NS,
    Cause,
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
STOPPED = Health(("T",), ran_ns=0)
ASLEEP = Health(("S",), ran_ns=0)
QUEUED = Health(("R",), ran_ns=10 * MS)
SPINNING = Health(("R",), ran_ns=900_000 * MS)
BLOCKED = Health(("D",), ran_ns=0)
FROZEN = Health(("D",), ran_ns=0, frozen=True)
LOCKED_OUT = Health(("S",), ran_ns=0, others_ran_ns=900_000 * MS)


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


def test_a_silent_loop_loses_its_cores_within_100_ms_and_is_judged_after_1_s() -> None:
    verdicts = Agent().looks(1100, loop=False)
    (shrunk,) = when(verdicts, Verdict.SHRINK)
    assert 84 <= shrunk <= 94
    assert min(when(verdicts, Verdict.SUSPECT)) in range(1000, 1021)


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


def test_a_beat_that_is_not_due_yet_is_not_missed() -> None:
    agent = Agent()
    agent.look()
    agent.looks(700, agent=False)  # nobody asks for windows
    assert agent.watch.agent_silent_ns > 100 * MS
    assert not agent.watch.agent_missed
    agent.looks(100, agent=False)
    assert agent.watch.agent_missed
    agent.look(loop=False)
    assert agent.watch.loop_missed
    slow = Watch(limits_for(1000 * MS))  # a loop that may sleep for a second
    for now_ms in range(0, 1000, 100):
        slow.observe(Look(10**12 + now_ms * MS, Phase.RUNNING, 10**12, 10**12))
        assert (slow.loop_missed, slow.agent_missed) == (False, False)


def test_a_starved_agent_is_missed_even_after_it_was_excused() -> None:
    agent = Agent()
    agent.looks(1050, agent=False)
    agent.watch.excuse()
    agent.look(agent=False)
    assert agent.watch.agent_silent_ns < LIMITS.agent_due
    assert agent.watch.agent_missed


def test_a_loop_that_comes_to_is_watched_anew() -> None:
    agent = Agent()
    assert when(agent.looks(200, loop=False), Verdict.SHRINK)
    assert agent.look() is Verdict.WELL
    assert len(when(agent.looks(200, loop=False), Verdict.SHRINK)) == 1


def test_a_silent_control_plane_is_not_shrunk_for_and_is_judged_after_1_s() -> None:
    verdicts = Agent().looks(1200, agent=False)
    assert not when(verdicts, Verdict.SHRINK)
    assert min(when(verdicts, Verdict.SUSPECT)) in range(1000, 1101)


def test_an_agent_that_was_starved_has_another_second_to_be_heard_of() -> None:
    agent = Agent()
    silent = agent.looks(1050, loop=False, agent=False)
    assert when(silent, Verdict.SUSPECT)
    agent.watch.excuse()
    again = agent.looks(1100, loop=False, agent=False)
    assert not when(again, Verdict.SHRINK)  # its cores are back already
    assert min(when(again, Verdict.SUSPECT)) in range(900, 1021)


def test_time_in_which_the_guardian_did_not_look_hardly_counts() -> None:
    agent = Agent()
    agent.look()
    assert agent.look(loop=False, agent=False, late_ms=3_600_000) is not Verdict.SUSPECT
    assert agent.watch.silent_ns <= 110 * MS
    assert agent.watch.next_look_ns <= 20 * MS
    assert agent.look() is Verdict.WELL


def test_a_late_look_kills_nobody() -> None:
    agent = Agent()
    agent.looks(1020, loop=False, agent=False)
    assert agent.look(loop=False, agent=False, late_ms=500) is Verdict.WELL
    assert agent.look(loop=False, agent=False) is Verdict.SUSPECT


@pytest.mark.parametrize("beat_after_the_last_look", [False, True])
def test_what_was_lent_when_loop_and_guardian_were_frozen_is_taken_back_at_the_first_look(
    beat_after_the_last_look: bool,
) -> None:
    agent = Agent()
    agent.looks(1000)
    if beat_after_the_last_look:
        agent._loop += 25 * MS
    verdict = agent.look(loop=False, agent=False, late_ms=60_000)
    assert verdict is Verdict.SHRINK
    assert agent.watch.stood_still_ns >= 60_000 * MS
    assert agent.look(loop=False, agent=False) is Verdict.WELL  # once
    assert agent.watch.stood_still_ns == 0


def test_a_guardian_that_alone_stood_still_takes_nothing_back() -> None:
    agent = Agent()
    agent.looks(1000)
    assert agent.look(late_ms=60_000) is Verdict.WELL
    assert agent.watch.stood_still_ns >= 60_000 * MS


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
        assert min(when(verdicts, Verdict.SUSPECT)) in range(1000, 1021)


def test_a_change_of_phase_is_a_sign_of_life() -> None:
    agent = Agent()
    agent.looks(800, loop=False, agent=False)
    agent.phase = Phase.ENDING
    assert agent.look(loop=False, agent=False) is Verdict.WELL
    assert agent.watch.silent_ns == 0


@pytest.mark.parametrize(
    ("health", "cause"),
    [
        (STOPPED, Cause.STOPPED),
        (Health(("S", "t"), ran_ns=0), Cause.STOPPED),
        (FROZEN, Cause.FROZEN),
        (BLOCKED, Cause.BLOCKED),
        (Health(("R", "D"), ran_ns=0), Cause.BLOCKED),
        (QUEUED, Cause.STARVED),
        (SPINNING, Cause.BUSY),
        (Health(("S",), ran_ns=900 * MS), Cause.BUSY),
        (LOCKED_OUT, Cause.LOCKED_OUT),
        (ASLEEP, Cause.ASLEEP),
        (Health((), ran_ns=0), Cause.ASLEEP),
    ],
)
def test_the_causes_of_silence_are_told_apart(health: Health, cause: Cause) -> None:
    assert health.cause(1000 * MS) is cause


SILENT_LOOP, SILENT_CONTROL, ARRANGING = (
    (Phase.RUNNING, False),
    (Phase.RUNNING, True),
    (Phase.ARRANGING, False),
)


@pytest.mark.parametrize(
    ("where", "health", "after_1_s", "after_10_s"),
    [
        (SILENT_LOOP, STOPPED, Verdict.KILL, Verdict.KILL),
        (SILENT_LOOP, ASLEEP, Verdict.TRACE, Verdict.KILL),
        (SILENT_LOOP, SPINNING, Verdict.TRACE, Verdict.KILL),
        (SILENT_LOOP, QUEUED, Verdict.SPARE, Verdict.SPARE),
        (SILENT_LOOP, BLOCKED, Verdict.SPARE, Verdict.SPARE),
        (SILENT_LOOP, FROZEN, Verdict.SPARE, Verdict.SPARE),
        (SILENT_CONTROL, STOPPED, Verdict.TRACE, Verdict.KILL),
        (SILENT_CONTROL, ASLEEP, Verdict.TRACE, Verdict.TRACE),
        (SILENT_CONTROL, SPINNING, Verdict.TRACE, Verdict.TRACE),
        (SILENT_CONTROL, LOCKED_OUT, Verdict.TRACE, Verdict.TRACE),
        (SILENT_CONTROL, QUEUED, Verdict.SPARE, Verdict.SPARE),
        (SILENT_CONTROL, BLOCKED, Verdict.SPARE, Verdict.SPARE),
        (ARRANGING, STOPPED, Verdict.KILL, Verdict.KILL),
        (ARRANGING, SPINNING, Verdict.WELL, Verdict.TRACE),
        (ARRANGING, ASLEEP, Verdict.WELL, Verdict.TRACE),
        (ARRANGING, QUEUED, Verdict.WELL, Verdict.SPARE),
        (ARRANGING, BLOCKED, Verdict.WELL, Verdict.SPARE),
        (ARRANGING, FROZEN, Verdict.SPARE, Verdict.SPARE),
    ],
)
def test_what_a_second_and_ten_of_silence_mean(
    where: tuple[Phase, bool], health: Health, after_1_s: Verdict, after_10_s: Verdict
) -> None:
    phase, loop_beats = where
    agent = Agent(phase)
    for silent_ms, expected in ((1200, after_1_s), (9500, after_10_s)):
        agent.looks(silent_ms, loop=loop_beats, agent=False)
        asleep = health.cause(agent.watch.silent_ns) is Cause.ASLEEP
        said = [agent.watch.judge(phase, health) for _ in range(ASLEEP_LOOKS if asleep else 1)]
        assert next((one for one in said if one is not Verdict.WELL), Verdict.WELL) is expected
        if Verdict.TRACE in said and after_10_s is Verdict.KILL:
            agent.looks(TRACE_TAKES_NS // MS + 20, loop=loop_beats, agent=False)


def judged(agent: Agent, for_ms: int, health: Health, *, loop: bool) -> dict[Verdict, list[int]]:
    """When, in ms from now, an agent without beats is judged to be what."""
    began_ns = agent.now_ns
    found: dict[Verdict, list[int]] = {}
    while agent.now_ns < began_ns + for_ms * MS:
        if agent.look(loop, agent=False) is not Verdict.SUSPECT:
            continue
        verdict = agent.watch.judge(agent.phase, health)
        found.setdefault(verdict, []).append((agent.now_ns - began_ns) // MS)
    return found


def test_a_control_plane_that_hangs_is_traced_at_once_and_again_before_it_is_killed() -> None:
    found = judged(Agent(), 11_000, ASLEEP, loop=True)
    early, last = found[Verdict.TRACE]
    assert early in range(1000, 1500)
    assert last in range(10_000, 10_500)
    killed = found[Verdict.KILL][0]
    assert killed in range(last + TRACE_TAKES_NS // MS, last + TRACE_TAKES_NS // MS + 110)


def test_a_loop_that_hangs_is_traced_and_killed_soon_after() -> None:
    found = judged(Agent(), 1400, SPINNING, loop=False)
    (traced,) = found[Verdict.TRACE]
    assert traced in range(1000, 1030)
    assert found[Verdict.KILL][0] in range(1200, 1300)


def test_an_agent_that_beats_again_after_the_trace_is_well() -> None:
    agent = Agent()
    found = judged(agent, 5000, ASLEEP, loop=True)
    assert set(found) == {Verdict.WELL, Verdict.TRACE}
    assert agent.look() is Verdict.WELL
    assert len(judged(agent, 5000, ASLEEP, loop=True)[Verdict.TRACE]) == 1


def test_a_loop_that_falls_silent_after_the_control_plane_loses_its_cores_as_soon() -> None:
    agent = Agent()
    agent.looks(3000, agent=False)
    (shrunk,) = when(agent.looks(200, loop=False, agent=False), Verdict.SHRINK)
    assert shrunk <= 94


def test_an_agent_that_a_disk_let_go_has_a_second_to_beat() -> None:
    agent = Agent()
    assert set(judged(agent, 30_000, BLOCKED, loop=True)) == {Verdict.SPARE}
    found = judged(agent, 2000, ASLEEP, loop=True)
    assert found[Verdict.TRACE][0] >= 1000
    assert found[Verdict.KILL][0] >= 1200


def test_a_long_wait_is_looked_at_ten_times_a_second() -> None:
    agent = Agent()
    judged(agent, 5000, BLOCKED, loop=False)
    assert len(judged(agent, 10_000, BLOCKED, loop=False)[Verdict.SPARE]) <= 101


def test_one_look_at_an_agent_asleep_does_not_show_that_it_hangs() -> None:
    agent = Agent()
    agent.looks(1020, loop=False, agent=False)
    for health in (ASLEEP, QUEUED) * ASLEEP_LOOKS:
        assert agent.watch.judge(agent.phase, health) in (Verdict.WELL, Verdict.SPARE)


@given(
    st.lists(
        st.tuples(
            st.sampled_from([STOPPED, ASLEEP, QUEUED, SPINNING, BLOCKED, FROZEN, LOCKED_OUT]),
            st.integers(0, 400),
        ),
        max_size=150,
    ),
    st.sampled_from(list(Phase)),
)
def test_a_control_plane_whose_loop_beats_is_never_killed_early_or_in_vain(
    silence: list[tuple[Health, int]], phase: Phase
) -> None:
    agent = Agent(phase)
    traces = 0
    for health, late_ms in silence:
        if agent.look(loop=True, agent=False, late_ms=late_ms) is not Verdict.SUSPECT:
            continue
        verdict = agent.watch.judge(phase, health)
        traces += verdict is Verdict.TRACE
        if verdict is Verdict.KILL:
            cause = health.cause(agent.watch.silent_ns)
            assert cause not in (Cause.BLOCKED, Cause.FROZEN, Cause.STARVED)
            stopped_early = cause is Cause.STOPPED and phase is not Phase.RUNNING
            assert agent.watch.silent_ns >= LIMITS.hang_timeout or stopped_early
            assert traces or cause is Cause.STOPPED
            return


@given(st.lists(st.tuples(st.integers(0, 99), st.integers(0, 3000)), max_size=60))
def test_no_look_leaves_a_loop_its_cores_that_was_silent_for_long(
    looks: list[tuple[int, int]],
) -> None:
    agent = Agent()
    was_shrunk = False
    for age_ms, late_ms in looks:
        agent.now_ns += agent.watch.next_look_ns + late_ms * MS
        agent._agent = agent.now_ns
        agent._loop = max(agent._loop, agent.now_ns - age_ms * MS)
        look = Look(agent.now_ns, agent.phase, agent._loop, agent._agent)
        verdict = agent.watch.observe(look)
        if look.loop_age_ns < LIMITS.shrink_after:
            was_shrunk = False
        was_shrunk |= verdict is Verdict.SHRINK
        if look.loop_age_ns >= 110 * MS:
            assert was_shrunk


def test_the_limits_follow_a_long_window() -> None:
    assert limits_for(25 * MS) == LIMITS
    assert limits_for(1000 * MS) == Limits(3_984 * MS, 40_000 * MS, 40_000 * MS)
    assert limits_for(25 * MS, 60_000 * MS).hang_timeout == 60_000 * MS


def test_the_limits_are_those_of_the_settings() -> None:
    assert limits_for(Settings().window_ns, Settings().hang_timeout_ns) == LIMITS


def test_what_a_thread_ran_before_it_was_missed_does_not_count() -> None:
    loop, agent = 7, 1
    times = RunTimes()
    assert times.observe({loop: 40 * MS}) == 0
    # The control plane is missed later than the loop: its start-up is not what it was caught in.
    assert times.observe({loop: 41 * MS, agent: 900 * MS}) == 1 * MS
    assert times.observe({agent: 903 * MS}) == 3 * MS
    assert times.observe({}) == 0
    assert times.observe({agent: 990 * MS}) == 0
