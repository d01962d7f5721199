"""The policy that compares tasks with themselves, without what lending held them up for."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest

from smartharvest.algorithm.harm import Durations
from smartharvest.algorithm.policy.base import (
    DISPATCHES_PERIOD_NS,
    Dispatches,
    PolicySettings,
    Spans,
)
from smartharvest.algorithm.policy.paired import RETRY_PERIODS, Paired, Pairs
from smartharvest.algorithm.policy.ways import Way, spares_of
from tests.unit.algorithm.policy.windows import window

TOTAL = 10
USUAL: Durations = ((100_000, 900), (200_000, 95), (400_000, 5))
LONGER: Durations = ((115_000, 900), (230_000, 95), (460_000, 5))
AWFUL: Durations = ((100_000, 500), (50_000_000, 500))

Harm = Callable[[Way], Durations]


class Host:
    """Where each way of sharing has its harm."""

    def __init__(self, *harms: Harm, preempts: bool = True, spares: tuple[int, ...] = ()) -> None:
        self.policy = Paired(
            PolicySettings(TOTAL, learner="native", preempts=preempts, spares=spares)
        )
        self.harms = harms
        self.number = 0
        self.periods: list[str] = []
        self.without: Durations = USUAL
        """What the tasks would take."""

    def run(self, seconds: float) -> str:
        """The way in force most of its end."""
        for _ in range(round(seconds * 1e9 / DISPATCHES_PERIOD_NS)):
            start_ns = self.number * DISPATCHES_PERIOD_NS
            seen = window([1, 2], start_ns=start_ns, end_ns=start_ns + DISPATCHES_PERIOD_NS)
            self.policy.learn(seen)
            self.policy.predict(seen)
            self.number += 1
            self.periods.append(self.policy.way.short)
            self.policy.observe_dispatches(self.seen(self.policy.way))
        return max(set(self.periods[-15:]), key=self.periods[-15:].count)

    def seen(self, way: Way) -> Dispatches:
        lends = way.kind != "nothing"
        spans = tuple(
            Spans(harm(way), (), self.without) if lends else Spans((), self.without)
            for harm in self.harms
        )
        return Dispatches(self.number * DISPATCHES_PERIOD_NS, USUAL, USUAL, lends, (), spans)


def harmless(_: Way) -> Durations:
    return USUAL


def hurt_by(*kinds: str, how: Durations = LONGER) -> Harm:
    return lambda way: how if way.kind in kinds else USUAL


def test_it_lends_everything_within_eight_seconds_where_that_is_harmless() -> None:
    assert Host(harmless).run(8) == "everywhere"


@pytest.mark.parametrize(
    ("harmful", "held"),
    [
        (["everywhere"], "wait:100us"),
        (["everywhere", "wait"], "buffer:1"),
        (["everywhere", "wait", "buffer"], "prediction"),
        (["everywhere", "wait", "buffer", "prediction"], "nothing"),
    ],
)
def test_it_holds_the_boldest_way_that_does_no_harm(harmful: list[str], held: str) -> None:
    assert Host(hurt_by(*harmful)).run(18) == held


def test_the_primary_that_is_hurt_most_decides() -> None:
    assert Host(harmless, hurt_by("everywhere", "wait")).run(10) == "buffer:1"


def test_a_load_that_makes_all_tasks_slower_is_no_harm() -> None:
    host = Host(lambda _: host.without)
    host.run(8)
    host.without = AWFUL
    assert host.run(10) == "everywhere"


def test_a_way_that_becomes_awful_is_left_after_one_period() -> None:
    host = Host(lambda way: AWFUL if worse and way.kind == "everywhere" else USUAL)
    worse = False
    host.run(10)
    worse = True
    host.run(0.2)
    assert host.policy.way.short == "wait:100us"


def test_what_failed_is_tried_again_and_later_each_time() -> None:
    host = Host(hurt_by("everywhere"))
    host.run(400)
    tried = [at for at, way in enumerate(host.periods) if way == "everywhere"]
    begun = [at for at in tried if at - 1 not in tried]
    gaps = [later - earlier for earlier, later in pairwise(begun)]
    assert gaps[0] >= RETRY_PERIODS
    assert all(later > 2 * earlier for earlier, later in pairwise(gaps))


def test_where_the_kernel_keeps_cpus_idle_one_that_hurts_puts_off_those_that_keep_fewer() -> None:
    spares = spares_of(TOTAL)

    def harm(way: Way) -> Durations:
        return LONGER if way.kind == "spare" and (way.spare or 0) < 2 else USUAL

    host = Host(harm, spares=spares)
    assert host.run(12) == "spare:2"
    assert "spare:1" in host.periods
    assert "spare:0" not in host.periods
    assert host.policy.spare == 2


def test_without_word_of_what_tasks_would_take_the_papers_policy_decides() -> None:
    host = Host(harmless)
    host.without = ()
    host.run(3)
    assert not host.policy.judges_waits
    assert "paper" in host.policy.explanation


def test_where_the_primary_does_not_preempt_it_lends_what_has_been_idle() -> None:
    host = Host(harmless, preempts=False)
    host.run(1)
    assert not host.policy.shared
    assert host.policy.quiet_ns is not None


@pytest.mark.parametrize("budget", [0.05, 0.1, 0.2])
def test_a_quantile_is_too_long_from_the_budget_on(budget: float) -> None:
    usual = tuple((100_000 + 1_000 * i, 100) for i in range(100))
    less, more = (
        tuple((round(ns * (1 + budget * part)), count) for ns, count in usual)
        for part in (0.5, 2.0)
    )
    assert not Pairs(less, usual).too_long(budget)
    assert "P50" in Pairs(more, usual).too_long(budget)


def test_of_few_spans_nothing_is_said() -> None:
    assert not Pairs(((50_000_000, 4),), ((100_000, 4),)).too_long(0.1)
