"""The long-term safeguard in a running session: what counts as a wait, and what a rest does."""

from __future__ import annotations

import os
from collections.abc import Iterable

import pytest

from smartharvest.agent.supervisor import Supervisor
from smartharvest.algorithm.algorithm1 import Decision
from smartharvest.core.window import Window
from smartharvest.host.process.waits import ReadWaits, ThreadWaits
from smartharvest.sensor import waits as wait_watch
from tests.integration.processes import Processes, wait_until
from tests.integration.supervisors import Script, after, run_until, settings_for, watch
from tests.integration.worlds import World

pytestmark = pytest.mark.timing

QUICK = {"long_term_period_ns": 20_000_000, "long_term_rest_ns": 100_000_000}


class EverybodyWaits:
    """Every dispatch of the primary waited too long."""

    def __init__(self, _wait_threshold_ns: int, _read: ReadWaits) -> None:
        pass

    def read(self, _threads: Iterable[int]) -> tuple[int, int]:
        return 1000, 1000


@pytest.fixture(autouse=True)
def _waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wait_watch, "ThreadWaits", EverybodyWaits)


def test_long_waits_stop_the_harvest_for_the_rest_and_then_it_goes_on(
    quiet_world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    watch(quiet_world, monkeypatch)
    reasons: list[str] = []

    def rested(_window: Window, decision: Decision) -> bool:
        if not reasons or reasons[-1] != decision.reason:
            reasons.append(decision.reason)
        assert decision.reason != "long-term safeguard" or decision.harvest_cores == 0
        told = [reason for reason in reasons if reason != "stale window"]
        return told[-3:] == ["predicted", "long-term safeguard", "predicted"]

    with Supervisor(settings_for(quiet_world, long_term="attributed", **QUICK)) as session:
        report = run_until(session, Script(3), rested)
    assert report.long_safeguards >= 1


def test_a_trip_gives_the_cores_back_before_the_window_ends(
    quiet_world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    watch(quiet_world, monkeypatch)
    seen: list[tuple[int, int]] = []

    def twice(window: Window, decision: Decision) -> bool:
        if not window.stale:
            seen.append((window.primary_cores, decision.primary_cores))
        return len(seen) == 2

    settings = settings_for(quiet_world, long_term="attributed", window_ns=400_000_000, **QUICK)
    with Supervisor(settings) as session:
        run_until(session, Script(3), twice)
    assert seen[0] == (7, 3)
    assert seen[1][0] == 7  # the primary had all again when the next window ended


def test_the_learner_sees_every_window_of_a_rest(
    quiet_world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    watch(quiet_world, monkeypatch)
    policy = Script(3)
    learned: list[int] = []
    monkeypatch.setattr(policy, "learn", lambda window: learned.append(window.seq))
    resting: list[int] = []

    def enough(_window: Window, decision: Decision) -> bool:
        if decision.reason == "long-term safeguard":
            resting.append(decision.seq)
        return len(resting) == 5

    with Supervisor(settings_for(quiet_world, long_term="attributed", **QUICK)) as session:
        run_until(session, policy, enough)
    assert set(resting) <= set(learned)


@pytest.mark.parametrize(("primary_cores", "long_term"), [(7, "attributed"), (3, "off")])
def test_waits_are_not_held_against_an_agent_that_lends_nothing_or_does_not_judge(
    quiet_world: World, monkeypatch: pytest.MonkeyPatch, primary_cores: int, long_term: str
) -> None:
    watch(quiet_world, monkeypatch)
    with Supervisor(settings_for(quiet_world, long_term=long_term, **QUICK)) as session:
        report = run_until(session, Script(primary_cores), after(20))
    assert report.long_safeguards == 0


def test_the_papers_safeguard_counts_all_waits(
    quiet_world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    watch(quiet_world, monkeypatch)

    def tripped(_window: Window, decision: Decision) -> bool:
        return decision.reason == "long-term safeguard"

    with Supervisor(settings_for(quiet_world, long_term="paper", **QUICK)) as session:
        report = run_until(session, Script(7), tripped)
    assert report.long_safeguards == 1


@pytest.mark.parametrize(
    "more",
    [
        {"long_term_periods": 1_000_000},
        {"long_term_rest_ns": 1, "long_term_period_ns": 3_600_000_000_000},
    ],
)
def test_its_numbers_are_those_of_the_settings(
    quiet_world: World, monkeypatch: pytest.MonkeyPatch, more: dict[str, object]
) -> None:
    watch(quiet_world, monkeypatch)
    with Supervisor(settings_for(quiet_world, long_term="paper", **{**QUICK, **more})) as session:
        report = run_until(session, Script(3), after(20))
    assert report.long_safeguards == 0


def test_threads_that_share_a_cpu_wait_for_each_other(processes: Processes) -> None:
    cpu = {max(os.sched_getaffinity(0))}
    pids = [processes.spinning(), processes.spinning()]
    for pid in pids:
        os.sched_setaffinity(pid, cpu)
    waits = ThreadWaits(50_000)
    assert waits.read(pids) == (0, 0)  # the base
    seen: list[tuple[int, int]] = []

    def have_waited() -> bool:
        seen.append(waits.read(pids))
        return seen[-1][1] > 0

    wait_until(have_waited, lambda: seen)
    assert all(0 <= long_waits <= dispatches for dispatches, long_waits in seen)


def test_a_thread_that_sleeps_or_has_ended_does_not_wait(processes: Processes) -> None:
    asleep = processes.start(("sleep", "600"))
    wait_until(lambda: _state(asleep.pid) == "S")
    waits = ThreadWaits(0)
    waits.read([asleep.pid])
    assert waits.read([asleep.pid]) == (0, 0)
    asleep.kill()
    asleep.wait()
    assert waits.read([asleep.pid]) == (0, 0)


def _state(pid: int) -> str:
    with open(f"/proc/{pid}/stat") as file:
        return file.read().rpartition(")")[2].split()[0]
