from __future__ import annotations

import pytest

from smartharvest.guardian.verdict import Health, Limits, Look, Verdict, Watch, limits_for
from smartharvest.host.shared_page import Phase

MS = 1_000_000
LIMITS = Limits()
STOPPED = Health(stopped=True, runnable=False, ran_ns=0)
ASLEEP = Health(stopped=False, runnable=False, ran_ns=0)
QUEUED = Health(stopped=False, runnable=True, ran_ns=10 * MS)
SPINNING = Health(stopped=False, runnable=True, ran_ns=900 * MS)


class Agent:
    """An agent whose beats a test sends or withholds; looked at every 20 ms unless said."""

    def __init__(self, phase: Phase = Phase.RUNNING) -> None:
        self.watch = Watch(LIMITS)
        self.phase = phase
        self._now_ns = 10**12
        self._loop = self._agent = 0
        self.look()

    def look(self, loop: bool = True, agent: bool = True, after_ms: int = 20) -> Verdict:
        self._now_ns += after_ms * MS
        self._loop += loop
        self._agent += agent
        return self.watch.observe(Look(self._now_ns, self.phase, self._loop, self._agent))

    def looks(self, count: int, loop: bool = True, agent: bool = True) -> list[Verdict]:
        return [self.look(loop, agent) for _ in range(count)]


def test_an_agent_that_beats_is_well() -> None:
    assert set(Agent().looks(100)) == {Verdict.WELL}


def test_a_silent_loop_loses_its_cores_after_100_ms_and_its_agent_is_killed_after_1_s() -> None:
    verdicts = Agent().looks(50, loop=False)
    assert verdicts[:4] == [Verdict.WELL] * 4
    assert verdicts[4] is Verdict.SHRINK
    assert verdicts[5:49] == [Verdict.WELL] * 44
    assert verdicts[49] is Verdict.KILL


def test_a_loop_that_comes_to_is_watched_anew() -> None:
    agent = Agent()
    assert Verdict.SHRINK in agent.looks(10, loop=False)
    assert agent.look() is Verdict.WELL
    assert agent.looks(10, loop=False).count(Verdict.SHRINK) == 1


def test_the_loop_shrinks_by_itself_for_a_silent_control_plane_which_is_killed_after_1_s() -> None:
    verdicts = Agent().looks(50, agent=False)
    assert set(verdicts[:49]) == {Verdict.WELL}
    assert verdicts[49] is Verdict.KILL


def test_time_in_which_the_guardian_did_not_look_hardly_counts() -> None:
    agent = Agent()
    assert agent.look(loop=False, agent=False, after_ms=3_600_000) is Verdict.WELL
    assert agent.watch.silent_ns == 40 * MS


def test_without_a_loop_nothing_is_shrunk() -> None:
    for phase in (Phase.ARRANGING, Phase.ENDING, Phase.HANDING_OVER):
        verdicts = Agent(phase).looks(50, loop=False, agent=False)
        assert set(verdicts[:49]) == {Verdict.WELL}
        assert verdicts[49] is Verdict.KILL  # to be confirmed


def test_a_change_of_phase_is_a_sign_of_life() -> None:
    agent = Agent()
    agent.looks(40, loop=False, agent=False)
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
    agent.looks(50, loop=False, agent=False)
    assert agent.watch.judge(phase, health) is verdict


def test_arranging_may_take_ten_seconds_and_no_more() -> None:
    agent = Agent(Phase.ENDING)
    agent.looks(500, agent=False)
    assert agent.watch.judge(Phase.ENDING, ASLEEP) is Verdict.KILL


def test_the_limits_follow_a_long_window() -> None:
    assert limits_for(25 * MS) == LIMITS
    assert limits_for(1000 * MS) == Limits(4_000 * MS, 40_000 * MS, 40_000 * MS)
