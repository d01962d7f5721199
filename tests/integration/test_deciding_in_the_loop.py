"""A session whose loop decides itself: it lends, and only while its agent lives."""

from __future__ import annotations

import time

import pytest

from smartharvest.agent.supervisor import Supervisor
from smartharvest.algorithm.algorithm1 import Decision
from smartharvest.core.timeouts import LEAST_PERMIT_NS
from smartharvest.core.window import Window
from tests.integration.supervisors import settings_for
from tests.integration.worlds import World

pytestmark = pytest.mark.timing

FULL = 7


def test_an_idle_primary_lends_without_a_decision_of_the_agents(quiet_world: World) -> None:
    lent: list[int] = []

    def observe(window: Window, _decision: Decision) -> None:
        lent.append(FULL - window.primary_cores)

    with Supervisor(settings_for(quiet_world, learner="native")) as session:
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
        with Supervisor(settings_for(quiet_world, **more)) as session:
            assert session.make_decider(session.make_policy()) is None


def test_a_loop_whose_agent_says_nothing_gives_everything_back(quiet_world: World) -> None:
    hung = False

    def observe(window: Window, _decision: Decision) -> None:
        nonlocal hung
        if not hung and window.primary_cores < FULL:
            hung = True
            time.sleep(1.2 * LEAST_PERMIT_NS / 1e9)
            session.stop()

    with Supervisor(settings_for(quiet_world, learner="native")) as session:
        report = session.run(session.make_policy(), seconds=5.0, observe=observe).report
    assert hung
    assert report.plans_expired > 0
