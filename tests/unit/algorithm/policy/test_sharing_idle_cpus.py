"""The policy that moves between ways of sharing, where the kernel keeps CPUs idle."""

from __future__ import annotations

import pytest

from smartharvest.algorithm.controller import Controller
from smartharvest.algorithm.harm import Durations
from smartharvest.algorithm.policy.ways import Way, spares_of
from tests.unit.algorithm.policy.sharing_host import (
    AWFUL,
    TOTAL,
    USUAL,
    WORSE,
    Harm,
    Host,
    harmless,
    plan_of,
)
from tests.unit.algorithm.policy.windows import window


def needs_idle(cpus: int, how: Durations = WORSE) -> Harm:
    """Who wakes is hurt where fewer CPUs are kept idle."""

    def harm(way: Way) -> Durations:
        hurts = way.kind == "prediction" or (way.kind == "spare" and (way.spare or 0) < cpus)
        return how if hurts else USUAL

    return harm


SPARES = (0, 1, 2, 3, 4)


@pytest.mark.parametrize("needed", SPARES)
def test_the_kernel_keeps_as_many_idle_as_the_primary_needs(needed: int) -> None:
    host = Host(needs_idle(needed), spares=SPARES)
    assert host.run(15) == f"spare:{needed}"
    assert {"wait", "buffer", "everywhere"}.isdisjoint(one.split(":")[0] for one in host.periods)


def test_it_lends_within_a_second() -> None:
    host = Host(harmless, spares=SPARES)
    host.run(2)
    assert all(way.startswith("spare") for way in host.periods[10:])


def test_what_fewer_idle_cpus_would_do_is_not_tried_once_more_hurt() -> None:
    host = Host(needs_idle(4, how=AWFUL), spares=SPARES)
    host.run(10)
    assert "spare:0" not in host.periods
    assert "spare:1" not in host.periods


def test_where_no_number_protects_it_predicts_or_lends_nothing() -> None:
    host = Host(needs_idle(9), spares=SPARES)
    assert host.run(25) in ("nothing", "asleep")
    assert host.policy.spare is None


def test_what_it_keeps_idle_no_window_changes() -> None:
    host = Host(needs_idle(2), spares=SPARES)
    host.run(15)
    assert host.changed == 0


def test_one_number_that_was_set_is_all_it_tries() -> None:
    host = Host(harmless, spares=(1,))
    assert host.run(5) == "spare:1"
    assert {one for one in host.periods if one.startswith("spare")} == {"spare:1"}


def test_it_says_how_many_are_kept_idle() -> None:
    host = Host(needs_idle(2), spares=SPARES)
    host.run(10)
    assert host.policy.explanation.startswith(
        "lends everything and keeps 2 CPUs idle for those who wake, since with spare:1 "
    )


def test_a_plan_has_what_the_kernel_is_to_keep_idle() -> None:
    host = Host(harmless, spares=SPARES)
    assert plan_of(host).spare is None
    host.run(10)
    while host.policy.way.kind != "spare":
        host.run(0.1)
    plan = plan_of(host)
    assert (plan.spare, plan.primary_cores) == (0, 0)
    controller = Controller(host.policy, total=TOTAL)
    assert controller.on_window(window([1, 2])) is not None
    assert controller.give_everything_back().spare is None


@pytest.mark.parametrize(
    ("cpus", "spares"),
    [(1, (0,)), (2, (0, 1)), (3, (0, 1)), (4, (0, 1, 2)), (8, SPARES), (16, (0, 1, 2, 5, 8))],
)
def test_the_ladder_follows_from_the_cpus_of_a_cache(cpus: int, spares: tuple[int, ...]) -> None:
    assert spares_of(cpus) == spares
