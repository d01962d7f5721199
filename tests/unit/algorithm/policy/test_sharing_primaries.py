"""What is known of primaries that come and go."""

from __future__ import annotations

import json

import pytest

from smartharvest.algorithm.policy.base import PolicySettings, ProtectOf
from tests.unit.algorithm.policy.sharing_host import ALL, AWFUL, Host, harmless, hurt_by

EVERYWHERE_HURTS = hurt_by("everywhere", how=AWFUL)
HELD = "wait:100us"
"""What it holds then."""


def watched(host: Host, *names: str) -> Host:
    host.policy.note_primaries(names)
    return host


def failures(host: Host) -> int:
    """Of the boldest way."""
    failed: int = json.loads(host.policy.dump())["records"][0][0]
    return failed


def test_what_was_too_dear_for_one_that_stays_is_put_off_when_another_comes() -> None:
    host = watched(Host(EVERYWHERE_HURTS), "a")
    assert host.run(15) == HELD
    before, failed = len(host.begun("everywhere")), failures(host)
    host.harms = (harmless, EVERYWHERE_HURTS)
    watched(host, "b", "a")
    host.run(0.4)
    assert set(host.periods[-3:]) == {"nothing"}  # it is seen first how the new one fares
    assert host.run(90) == HELD
    assert len(host.begun("everywhere")) == before
    assert failures(host) == failed > 0


def test_the_way_that_is_held_goes_on_when_one_leaves() -> None:
    host = watched(Host(EVERYWHERE_HURTS, harmless), "a", "b")
    assert host.run(15) == HELD
    host.harms = (EVERYWHERE_HURTS,)
    since = len(host.periods)
    watched(host, "a")
    host.run(0.5)
    assert set(host.periods[since:]) == {HELD}


def test_another_of_as_many_is_known_nothing_of() -> None:
    host = watched(Host(EVERYWHERE_HURTS), "a")
    assert host.run(15) == HELD
    host.harms = (harmless,)
    watched(host, "b")
    host.run(0.4)
    assert set(host.periods[-3:]) == {"nothing"}
    assert failures(host) == 0
    assert host.run(8) == "everywhere"


def test_who_is_gone_may_be_why_a_way_failed_so_it_wakes_up_and_tries_again_soon() -> None:
    host = watched(Host(hurt_by(*ALL, how=AWFUL), harmless), "a", "b")
    host.run(300)
    while not host.policy.dozes:
        host.run(1)
        assert host.number < 4_000
    host.harms = (harmless,)
    watched(host, "b")
    assert not host.policy.dozes
    assert host.run(70) == "everywhere"


def test_after_a_restart_it_is_known_who_they_were() -> None:
    host = watched(Host(EVERYWHERE_HURTS, harmless), "a", "b")
    assert host.run(15) == HELD
    kept = host.policy.dump()
    again = watched(Host(harmless, EVERYWHERE_HURTS), "b", "a")
    again.policy.load(kept)
    assert again.run(0.5) == HELD
    fewer = watched(Host(harmless), "b")
    fewer.policy.load(kept)
    assert fewer.run(0.5) == HELD
    assert fewer.run(70) == "everywhere"
    more = watched(Host(harmless, EVERYWHERE_HURTS), "c", "a")
    more.policy.load(kept)
    assert more.run(0.4) == "nothing"
    assert failures(more) == failures(host)
    others = watched(Host(harmless, harmless), "c", "d")
    others.policy.load(kept)
    assert others.run(0.4) == "nothing"
    assert failures(others) == 0


def test_two_of_a_name_are_two() -> None:
    host = watched(Host(EVERYWHERE_HURTS, harmless), "a", "a")
    assert host.run(15) == HELD
    assert len(json.loads(host.policy.dump())["names"]) == 2


def test_the_budget_is_told_of_each_by_its_name_but_while_nothing_may_be_lent() -> None:
    slowed = ((104_000, 900), (208_000, 95), (416_000, 5))
    host = watched(Host(harmless, hurt_by("everywhere", how=slowed)), "a", "b")
    assert host.policy.budget is None  # nothing is known yet
    assert host.run(30) == "everywhere"
    kept = host.policy.budget
    assert kept is not None
    assert list(kept) == ["a", "b"]
    assert {one.protect for one in kept.values()} == {0.1}
    assert kept["a"].p50 == pytest.approx(0, abs=0.01)
    assert kept["b"].p50 is not None
    assert 0.01 < kept["b"].p50 < 0.1
    host.inhibited = True
    host.run(0.3)
    assert host.policy.budget is None


def test_each_may_have_a_budget_of_its_own() -> None:
    little = ((104_000, 900), (208_000, 95), (416_000, 5))
    hurts = hurt_by("everywhere", how=little)
    lenient = watched(Host(hurts, hurts), "cgroup:web", "cgroup:api")
    assert lenient.run(30) == "everywhere"
    strict = (ProtectOf("cgroup:api", 0.01),)
    careful = watched(Host(hurts, hurts, protect_of=strict), "cgroup:web", "cgroup:api")
    assert careful.run(30) != "everywhere"
    kept = careful.policy.budget
    assert kept is not None
    assert [one.protect for one in kept.values()] == [0.1, 0.01]
    assert careful.policy.conditions["protect_of"] == ["cgroup:api=1%"]
    assert "protect_of" not in lenient.policy.conditions


def test_a_budget_is_of_whom_the_user_calls_so() -> None:
    group = "cgroup:/sys/fs/cgroup/system.slice/web.service"
    of = PolicySettings(
        8,
        protect_of=(ProtectOf("systemd:web.service", 0.05),),
        asked_as=lambda name: "systemd:web.service" if name == group else name,
    )
    assert of.protect_for(group) == 0.05
    assert of.protect_for("cgroup:web.service") == 0.1
