"""A session whose loop decides itself, or has a plan that no window changes: it lends, and only
while its agent lives."""

from __future__ import annotations

import time

import pytest

from smartharvest.agent.deciders import decider_of
from smartharvest.agent.supervisor import Supervisor
from smartharvest.algorithm.algorithm1 import Decision
from smartharvest.core.timeouts import LEAST_PERMIT_NS, LEAST_PLAN_TTL_NS
from smartharvest.core.window import Window
from tests.integration.supervisors import settings_for
from tests.integration.worlds import World

pytestmark = pytest.mark.timing

FULL = 7


def test_an_idle_primary_lends_without_a_decision_of_the_agents(quiet_world: World) -> None:
    lent: list[int] = []

    def observe(window: Window, _decision: Decision) -> None:
        lent.append(FULL - window.primary_cores)

    settings = settings_for(quiet_world, policy="smartharvest", learner="native")
    with Supervisor(settings) as session:
        policy = session.make_policy()
        policy.learn = policy.predict = None  # type: ignore[method-assign, assignment]
        report = session.run(policy, seconds=1.0, observe=observe).report
    assert max(lent) > 0
    assert report.lessons > 0
    assert report.harvested_cores > 0


def test_the_agent_decides_where_it_is_told_to_and_for_every_other_learner(
    quiet_world: World,
) -> None:
    for more in ({"learner": "native", "decisions": "agent"}, {"learner": "vw"}):
        settings = settings_for(quiet_world, policy="smartharvest", **more)
        with Supervisor(settings) as session:
            assert decider_of(session.settings, session.make_policy(), keep_idle=0) is None


def test_a_loop_whose_agent_says_nothing_gives_everything_back(quiet_world: World) -> None:
    hung = False

    def observe(window: Window, _decision: Decision) -> None:
        nonlocal hung
        if not hung and window.primary_cores < FULL:
            hung = True
            time.sleep(1.2 * LEAST_PERMIT_NS / 1e9)
            session.stop()

    with Supervisor(settings_for(quiet_world, policy="smartharvest", learner="native")) as session:
        report = session.run(session.make_policy(), seconds=5.0, observe=observe).report
    assert hung
    assert report.plans_expired > 0


@pytest.mark.parametrize(
    ("silent_ns", "expires"), [(2 * LEAST_PLAN_TTL_NS, False), (1.2 * LEAST_PERMIT_NS, True)]
)
def test_a_plan_that_no_window_changes_outlasts_a_short_silence_only(
    quiet_world: World, silent_ns: float, expires: bool
) -> None:
    steady_lent = 0

    def observe(window: Window, _decision: Decision) -> None:
        nonlocal steady_lent
        steady_lent += window.primary_cores < FULL
        if steady_lent == 20:
            time.sleep(silent_ns / 1e9)
            session.stop()

    with Supervisor(settings_for(quiet_world, policy="wait:500us")) as session:
        report = session.run(session.make_policy(), seconds=10.0, observe=observe).report
    assert steady_lent >= 20
    assert (report.plans_expired > 0) == expires
