"""How long a way that is too dear stays in force, and when it is tried again."""

from __future__ import annotations

import json

import pytest

from smartharvest.algorithm.harm import Durations
from smartharvest.algorithm.policy.base import DISPATCHES_PERIOD_NS
from smartharvest.algorithm.policy.ways import Way
from tests.unit.algorithm.policy.sharing_host import (
    ALL,
    AWFUL,
    USUAL,
    Host,
    harmless,
    hurt_by,
)

LATE = 1_640
"""The last rest was more than a minute ago, and the next one is not due yet."""


def until_dozing(host: Host) -> None:
    for _ in range(2_000):
        host.run(0.1)
        if host.policy.dozes:
            return
    raise AssertionError("it never looks away")


@pytest.mark.parametrize("total", [4, 10])
def test_it_looks_away_only_once_a_window_was_answered_with_nothing(total: int) -> None:
    host = Host(hurt_by(*ALL, how=AWFUL), total=total)
    steps = 0
    for _ in range(6_000):
        before = host.policy.way
        host.run(0.1)
        if before.kind != "nothing" and host.policy.way.kind == "nothing":
            # What has just been left is in force until then, and nobody would come to end it.
            assert not host.policy.dozes
            host.window(0)
            steps += host.policy.dozes
    assert steps > 0


def test_a_restart_while_it_looks_away_brings_no_trial_forward() -> None:
    host = Host(hurt_by(*ALL, how=AWFUL))
    host.run(120)
    until_dozing(host)
    left = [retry for _, retry, *_ in json.loads(host.policy.dump())["records"][:-1]]
    assert min(left) > 0
    after = Host(hurt_by(*ALL, how=AWFUL))
    after.policy.load(host.policy.dump())
    after.run((min(left) - 20) * DISPATCHES_PERIOD_NS / 1e9)
    assert set(after.periods) <= {"nothing", "asleep"}


def test_that_no_way_is_held_is_known_once_the_time_has_passed() -> None:
    host = Host(hurt_by(*ALL, "minimum", how=AWFUL), freezes=True)
    while not host.policy.is_barren:
        host.run(0.1)
        assert host.number < 3_000
    assert host.number >= 300


def test_what_its_moves_were_too_dear_for_puts_off_what_moves() -> None:
    host = Host(hurt_by("everywhere", "part", how=AWFUL))
    host.moves = dict.fromkeys(("wait", "buffer", "prediction"), ((100_000, 2_000),))
    host.run(60)
    host.harms = (hurt_by("part", how=AWFUL),)
    assert host.run(200) == "everywhere"


def test_what_the_way_before_has_moved_is_not_held_against_one_that_moves_nothing() -> None:
    host = Host(harmless, total=7)
    host.moves = {"everywhere": ((100_000, 5_000),)}  # as in its first period
    assert host.run(60) == "everywhere"
    assert host.periods[30:].count("everywhere") > 0.9 * len(host.periods[30:])


def test_what_moves_took_once_fails_no_later_trial() -> None:
    host = Host(hurt_by("everywhere", "part"))
    host.moves = dict.fromkeys(("wait", "buffer", "prediction"), ((100_000, 5_000),))
    host.run(20)
    assert "moves take" in host.policy.explanation
    host.moves = {}
    assert host.run(60).startswith("wait")


@pytest.mark.parametrize("total", [4, 10])
def test_a_way_in_which_a_task_waited_too_long_has_failed(total: int) -> None:
    host = Host(harmless, total=total)
    assert host.run(10) == "everywhere"
    host.policy.note_trip()
    host.inhibited = True
    host.run(0.1)
    assert host.policy.way.kind != "everywhere"
    assert "waited too long" in host.policy.explanation
    assert json.loads(host.policy.dump())["records"][0][0] == 1


def test_with_nothing_lent_nothing_has_failed_by_that() -> None:
    host = Host(harmless)
    host.policy.note_trip()
    host.run(0.2)
    host.policy.note_trip()
    assert {failed for failed, *_ in json.loads(host.policy.dump())["records"]} == {0}


def test_a_way_that_moves_cores_is_looked_at_as_often_as_ever() -> None:
    host = Host(hurt_by("everywhere", "part"))
    host.apart_leaves = 0
    assert host.run(20).startswith("wait")
    assert not host.policy.patient


def test_what_is_usual_is_looked_for_once_before_a_way_is_left() -> None:
    longer: Durations = ((100_000, 900), (240_000, 95), (500_000, 5))

    def harm(way: Way) -> Durations:
        return longer if way.kind != "nothing" and host.number > LATE else USUAL

    host = Host(harm)
    seen = host.seen
    assert host.run(LATE / 10) == "everywhere"
    # From now on something was lent in each look, whatever is in force.
    everywhere = Way("everywhere")
    host.seen = lambda way: seen(way if way == everywhere else everywhere)  # type: ignore[method-assign]
    host.run(2)
    assert len([at for at in host.begun("nothing") if at > LATE]) == 2
    assert json.loads(host.policy.dump())["records"][0][0] == 1
