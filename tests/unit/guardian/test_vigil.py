"""What the guardian's C does not show its state machine, the state machine has no use for."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smartharvest.core._vigil import Vigil
from smartharvest.guardian import silence as silence_module
from smartharvest.guardian.process import make_vigil
from smartharvest.guardian.silence import LOOP_NAME, Silence
from smartharvest.guardian.verdict import (
    STANDSTILL_NS,
    Cause,
    Health,
    Limits,
    Look,
    Verdict,
    Watch,
    limits_for,
)
from smartharvest.host.journal.shared_page import Phase, SharedPage

MS = 1_000_000
BEGAN_NS = 10**12
PID, LOOP_TID, OTHER_TID = 1, 2, 3
LIMITS = (
    Limits(),
    limits_for(1000 * MS),
    Limits(kill_after=300 * MS, hang_timeout=900 * MS),
    Limits(kill_after=50 * MS),
    Limits(shrink_after=2000 * MS, kill_after=3000 * MS, look_late=1000 * MS),
)


def idle_vigil(limits: Limits) -> Vigil:
    """One that only judges looks."""
    return make_vigil(-1, bytearray(32), limits)


class Guardian:
    """What a guardian knows of looks that ``vigil``, if there is one, need not show it."""

    def __init__(self, limits: Limits, vigil: Vigil | None = None) -> None:
        self.limits, self.watch, self.silence = limits, Watch(limits), Silence()
        self.next_look_ns = self.watch.next_look_ns
        self._vigil = vigil
        self._last = (0, 0, 0, 0)
        self._well = False

    def take_in(self, look: Look, health: Health) -> tuple[object, ...] | None:
        """What came of it; None if it was not shown."""
        last = self._last
        self._last = (look.now_ns, look.phase, look.loop_beat_ns, look.agent_beat_ns)
        if self._vigil is not None and self._well and self._vigil.is_well(last, self._last):
            self.next_look_ns = self._vigil.until_next(self._last)
            return None
        watch, silence = self.watch, self.silence
        if self._vigil is not None and self._well:
            now_ns, phase, loop_ns, agent_ns = last
            watch.skip_to(Look(now_ns, Phase(phase), loop_ns, agent_ns))
        said = [watch.observe(look)]
        silence.observe(PID, watch)
        if said == [Verdict.SUSPECT]:
            said.append(watch.judge(look.phase, health))
            if said[1] in (Verdict.SPARE, Verdict.TRACE):
                silence.is_new(said[1].value)
            if said[1] is Verdict.SPARE and watch.cause is Cause.STARVED:
                watch.excuse()
        elif silence.told and not silence.missed:
            self.silence = Silence()
        self.next_look_ns = watch.next_look_ns
        self._well = watch.calm and not silence.told
        return (*said, watch.stood_still_ns, silence.missed, silence.told)

    def knows(self) -> list[dict[str, object]]:
        runs = (self.silence._run_times, self.silence._others)
        return [vars(self.watch), *map(vars, runs), {"ran": self.silence._ran_ns}]


class Threads:
    """An agent's threads, whose CPU time is the time of the look."""

    now_ns = 0

    def process_threads(self, _pid: int) -> list[int]:
        return [PID, LOOP_TID, OTHER_TID]

    def name(self, tid: int) -> str:
        return LOOP_NAME if tid == LOOP_TID else "python"

    def cpu_time_ns(self, _pid: int, tid: int) -> int:
        return self.now_ns // (tid + 1)


threads = Threads()


@pytest.fixture(autouse=True, scope="module")
def _known_threads() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(silence_module, "tasks", threads)
        patch.setattr(silence_module, "_cpu_time_ns", threads.cpu_time_ns)
        yield


EDGES_MS = (0, 1, 10, 42, 50, 84, 90, 100, 110, 250, 300, 500, 1000, 3_600_000)
near = st.sampled_from((-1, 0, 1))
When = tuple[str, int]
"""A look or a beat: after what, and by how many nanoseconds."""
Step = tuple[When, When, When, Phase, Health]
"""A look, the loop's beat and the control plane's, as that look finds them."""

on_time = st.just(("planned", 0))
late = st.tuples(st.just("late"), st.integers(-2, 1))
looks = st.one_of(
    on_time,
    late,
    st.tuples(st.just("planned"), st.integers(-60 * MS, 60 * MS)),
    st.tuples(st.sampled_from(("loop due", "agent due")), near),
    st.tuples(st.just("planned"), st.sampled_from([ms * MS for ms in EDGES_MS])),
)
same = st.just(("same", 0))
fresh = st.tuples(st.just("look"), st.integers(-30 * MS, 1 * MS))
limit = st.tuples(st.sampled_from(("last look", "shrink", "kill")), near)
beats = st.one_of(
    same,
    fresh,
    limit,
    st.tuples(
        st.just("look"), st.sampled_from([by - ms * MS for ms in EDGES_MS for by in (-1, 0, 1)])
    ),
)
running = st.just(Phase.RUNNING)
healths = st.sampled_from(
    [Health(("T",), 0), Health(("S",), 0), Health(("R",), 0), Health(("D",), 0),
     Health(("R",), 10**12)]
)  # fmt: skip
steps = st.one_of(
    st.tuples(on_time, fresh, fresh, running, healths),
    st.tuples(looks, fresh, same, running, healths),
    st.tuples(looks, same, fresh, running, healths),
    st.tuples(late, limit, fresh, running, healths),
    st.tuples(looks, beats, beats, running, healths),
    st.tuples(looks, beats, beats, st.sampled_from(Phase), healths),
)
several = st.lists(st.tuples(steps, st.integers(1, 12)), max_size=20)


def made_looks(steps: Sequence[tuple[Step, int]], full: Guardian) -> Iterator[tuple[Look, Health]]:
    """The looks of those steps, each so many times; ``full`` says when one is planned."""
    now_ns = loop_ns = agent_ns = BEGAN_NS
    limits = full.limits
    for (look, loop, agent, phase, health), times in steps:
        for _ in range(times):
            last_ns = now_ns
            planned_ns = now_ns + full.next_look_ns
            moments = {
                "planned": planned_ns,
                "late": planned_ns + limits.look_soon,
                "loop due": loop_ns + limits.loop_due,
                "agent due": agent_ns + limits.agent_due,
            }
            now_ns = look[1] + moments[look[0]]
            beats = {
                "look": now_ns,
                "last look": last_ns,
                "shrink": now_ns - limits.shrink_after,
                "kill": now_ns - limits.kill_after,
            }
            loop_ns = loop[1] + beats.get(loop[0], loop_ns)
            agent_ns = agent[1] + beats.get(agent[0], agent_ns)
            threads.now_ns = now_ns
            yield Look(now_ns, phase, loop_ns, agent_ns), health


def agree(full: Guardian, shown: Guardian, look: Look, health: Health) -> None:
    """Shows both the look, and checks that they make the same of it."""
    everything, outcome = full.take_in(look, health), shown.take_in(look, health)
    assert shown.next_look_ns == full.next_look_ns
    if outcome is None:
        assert everything == (Verdict.WELL, 0, [], False)
        assert full.watch.calm
    else:
        assert outcome == everything
        assert shown.knows() == full.knows()


@given(several, st.sampled_from(LIMITS))
def test_the_watch_that_sees_every_look_knows_no_more(
    steps: list[tuple[Step, int]], limits: Limits
) -> None:
    full, shown = Guardian(limits), Guardian(limits, idle_vigil(limits))
    for look, health in made_looks(steps, full):
        agree(full, shown, look, health)


@pytest.mark.parametrize("limits", LIMITS, ids=["default", "slow", "short", "strict", "late"])
def test_nor_does_it_at_any_limit(limits: Limits) -> None:
    first = Look(BEGAN_NS - limits.look_soon, Phase.RUNNING, BEGAN_NS - 60 * MS, BEGAN_NS - 60 * MS)
    last = Look(BEGAN_NS, Phase.RUNNING, BEGAN_NS - 5 * MS, BEGAN_NS - 8 * MS)
    vigil = idle_vigil(limits)
    planned_ns = vigil.until_next((BEGAN_NS, 1, last.loop_beat_ns, last.agent_beat_ns))
    gaps = (1, planned_ns, planned_ns + limits.look_soon, STANDSTILL_NS, limits.agent_due - 8 * MS)
    ages = (limits.loop_due, limits.agent_due, limits.shrink_after, limits.kill_after)
    for gap_ns, by in itertools.product((*gaps, limits.loop_due - 5 * MS), (-1, 0, 1)):
        now_ns = threads.now_ns = BEGAN_NS + gap_ns + by
        beats = [now_ns, *(at + b for at in (BEGAN_NS, *(now_ns - age for age in ages))
                           for b in (-1, 0, 1))]  # fmt: skip
        for loop, agent in itertools.product(
            (last.loop_beat_ns, *beats), (last.agent_beat_ns, *beats)
        ):
            full, shown = Guardian(limits), Guardian(limits, vigil)
            for look in (first, last, Look(now_ns, Phase.RUNNING, loop, agent)):
                agree(full, shown, look, Health((), 0))
            after_ns = now_ns + full.next_look_ns
            agree(full, shown, Look(after_ns, Phase.RUNNING, loop, agent), Health((), 0))


@pytest.mark.parametrize("limits", [LIMITS[0], LIMITS[1]], ids=["25 ms", "1 s"])
@pytest.mark.parametrize("decides_every_ms", [25, 100])
def test_a_healthy_agent_is_not_shown_after_the_second_look(
    limits: Limits, decides_every_ms: int
) -> None:
    guardian = Guardian(limits, idle_vigil(limits))
    now_ns, shown = BEGAN_NS, []
    for number in range(1000):
        ago = now_ns - BEGAN_NS
        look = Look(now_ns, Phase.RUNNING, now_ns - ago % (25 * MS),
                    now_ns - ago % (decides_every_ms * MS))  # fmt: skip
        if guardian.take_in(look, Health((), 0)) is not None:
            shown.append(number)
        now_ns += guardian.next_look_ns + 50_000
    assert shown == [0, 1]


def test_a_loop_that_falls_silent_is_shown_when_its_cores_are_to_be_taken_back() -> None:
    guardian = Guardian(Limits(), idle_vigil(Limits()))
    now_ns = BEGAN_NS
    for _ in range(100):
        guardian.take_in(Look(now_ns, Phase.RUNNING, now_ns, now_ns), Health((), 0))
        now_ns += guardian.next_look_ns
    fell_silent_ns = now_ns - 30 * MS
    while True:
        look = Look(now_ns, Phase.RUNNING, fell_silent_ns, now_ns)
        outcome = guardian.take_in(look, Health((), 0))
        if outcome is not None and outcome[0] is Verdict.SHRINK:
            break
        now_ns += guardian.next_look_ns
    assert now_ns - fell_silent_ns == Limits().shrink_after


def test_it_reads_and_beats_where_the_others_do(tmp_path: Path) -> None:
    path = str(tmp_path / "page")
    agent, page = SharedPage(path, create=True), SharedPage(path)
    agent.phase = Phase.RUNNING
    agent.beat_slot.cast("q")[0] = 7
    agent.beat_as_agent()
    me = os.pidfd_open(os.getpid())
    vigil = make_vigil(me, page.vigil_slot, Limits())
    assert vigil.wait(0, well=False)
    os.close(me)
    assert vigil.look[1:] == (Phase.RUNNING, 7, agent.agent_beat)
    assert vigil.look[0] == agent.guardian_beat > 0
    assert vigil.last == (0, 0, 0, 0)


def test_the_end_of_the_agent_is_no_look() -> None:
    child = os.fork()
    if not child:
        os._exit(0)
    pidfd = os.pidfd_open(child)
    page = bytearray(32)
    assert not make_vigil(pidfd, page, Limits()).wait(60_000 * MS, well=True)
    assert page == bytes(32)
    os.close(pidfd)
    os.waitpid(child, 0)


def test_a_page_that_is_too_short_and_a_time_that_is_none_are_refused() -> None:
    with pytest.raises(ValueError, match="32 are written"):
        make_vigil(-1, bytearray(31), Limits())
    with pytest.raises(OSError, match="Invalid argument"):
        idle_vigil(Limits()).wait(-1, well=False)


def test_a_guardian_that_stood_still_is_shown_whatever_the_limits_are() -> None:
    vigil = idle_vigil(LIMITS[-1])
    last, beat_ns = (BEGAN_NS, 1, BEGAN_NS, BEGAN_NS), BEGAN_NS + STANDSTILL_NS
    assert vigil.is_well(last, (beat_ns - 1, 1, beat_ns - 1, beat_ns - 1))
    assert not vigil.is_well(last, (beat_ns, 1, beat_ns, beat_ns))
