"""The policy that moves between ways of sharing, by what each costs the primary."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from smartharvest.algorithm.controller import Controller
from smartharvest.algorithm.harm import Durations
from smartharvest.algorithm.policy.adaptive import (
    BLIND_NS,
    LEARNED_LESSONS,
    MOST_RESTED_NS,
    Adaptive,
)
from smartharvest.algorithm.policy.base import (
    DISPATCHES_PERIOD_NS,
    Dispatches,
    DispatchesObserver,
    PolicySettings,
    Spans,
)
from smartharvest.algorithm.policy.fallback import judges_waits, note_blind
from smartharvest.algorithm.policy.records import RETRY_PERIODS
from smartharvest.algorithm.policy.rests import REST_PERIODS
from smartharvest.algorithm.policy.smartharvest import make_smartharvest
from smartharvest.algorithm.policy.ways import APART_QUIET_NS, Way, ways
from tests.unit.algorithm.policy.dispatches import period
from tests.unit.algorithm.policy.sharing_host import (
    ALL,
    AWFUL,
    TOTAL,
    USUAL,
    WINDOWS,
    WORSE,
    Host,
    harmless,
    hurt_by,
    plan_of,
)
from tests.unit.algorithm.policy.windows import window


def test_it_begins_with_nothing_lent() -> None:
    policy = Adaptive(PolicySettings(TOTAL, preempts=True))
    assert policy.predict(window([1, 2])) == TOTAL
    assert not policy.shared


def test_it_lends_everything_within_eight_seconds_where_that_is_harmless() -> None:
    host = Host(harmless)
    assert host.run(8) == "everywhere"
    assert host.policy.shared
    assert host.policy.predict(window([1, 2])) == 0


@pytest.mark.parametrize(
    ("harmful", "held"),
    [
        (["everywhere"], "wait:100us"),
        (["everywhere", "wait"], "buffer:1"),
        (["everywhere", "wait", "buffer"], "prediction"),
        (ALL, "nothing"),
    ],
)
def test_it_holds_the_boldest_way_that_does_no_harm(harmful: list[str], held: str) -> None:
    assert Host(hurt_by(*harmful)).run(18).replace("asleep", "nothing") == held


@pytest.mark.parametrize("total", [2, TOTAL])
@pytest.mark.parametrize("harmful", [[], ["everywhere"], ["everywhere", "wait", "buffer"], ALL])
def test_what_it_calls_steady_no_window_changes(harmful: list[str], total: int) -> None:
    host = Host(hurt_by(*harmful), total=total)
    host.run(30)
    assert host.changed == 0
    assert host.steady > host.number  # more than one of a period's four windows


def test_a_larger_budget_buys_a_bolder_way() -> None:
    assert Host(hurt_by("wait", "everywhere"), protect=0.5).run(8) == "everywhere"


def test_it_says_in_a_sentence_why_it_is_no_bolder() -> None:
    host = Host(hurt_by("everywhere", "wait"))
    host.run(14)
    assert host.policy.explanation == (
        "keeps 1 idle, lends the rest after 1000 us, since with wait:2000us 100.0% of its wake-ups "
        "take longer than the P50 may; it is tried again after 20 s"
    )


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
    begun = host.begun("everywhere")
    gaps = [later - earlier for earlier, later in pairwise(begun)]
    assert gaps[0] >= RETRY_PERIODS
    assert all(later > 2 * earlier for earlier, later in pairwise(gaps))


def test_a_disaster_is_met_again_much_later() -> None:
    host = Host(hurt_by("everywhere", how=AWFUL))
    host.run(100)
    assert len(host.begun("everywhere")) == 1


def test_what_was_harmful_is_tried_again() -> None:
    host = Host(hurt_by(*ALL))
    host.run(60)
    host.harms = (harmless,)
    assert host.run(1000) == "everywhere"


def test_trials_are_few_where_everything_hurts() -> None:
    host = Host(hurt_by(*ALL))
    host.run(120)
    lent = len(host.periods) - host.periods.count("nothing") - host.periods.count("asleep")
    assert 0 < lent < 0.05 * len(host.periods)


def test_while_nothing_is_lent_and_no_trial_is_due_it_does_not_even_look() -> None:
    host = Host(hurt_by(*ALL))
    host.run(600)
    last = host.periods[-3000:]
    assert last.count("asleep") > 0.9 * len(last)


def test_a_pause_changes_nothing_of_what_was_found() -> None:
    hosts = [Host(hurt_by(*ALL)) for _ in range(2)]
    for host in hosts:
        host.run(30)
    hosts[1].number += 36_000  # nobody looked for an hour
    for host in hosts:
        host.run(30)
    assert hosts[0].periods == hosts[1].periods


def test_it_looks_less_often_once_it_has_held_a_way_without_a_move_for_a_while() -> None:
    host = Host(hurt_by("everywhere"), total=4)
    host.run(2)
    assert not host.policy.patient
    assert host.run(10) == "part:2"
    assert host.policy.patient
    host.harms = (hurt_by("everywhere", "part", how=AWFUL),)
    host.run(0.2)
    assert not host.policy.patient


def test_a_look_at_several_periods_is_as_long_as_these() -> None:
    hosts = [Host(hurt_by("everywhere", "part"), total=4) for _ in range(2)]
    for host in hosts:
        host.run(3)
    seen = hosts[0].seen(hosts[0].policy.way)
    hosts[0].policy.observe_dispatches(replace(seen, period_ns=3 * DISPATCHES_PERIOD_NS))
    for _ in range(3):
        hosts[1].policy.observe_dispatches(seen)
    dumps = [json.loads(host.policy.dump())["records"] for host in hosts]
    assert dumps[0] == dumps[1]


def test_a_primary_that_always_sleeps_is_lent_from() -> None:
    host = Host(harmless)
    host.seen = lambda way: Dispatches(  # type: ignore[method-assign]
        host.number * DISPATCHES_PERIOD_NS, (), (), way.kind != "nothing", (), (Spans((), ()),)
    )
    assert host.run(30) == "everywhere"


def test_a_way_whose_moves_take_more_than_they_may_is_left() -> None:
    host = Host(hurt_by("everywhere"))
    host.moves["wait"] = ((100_000, 200),)  # two hundred of 100 us
    host.run(2.5)
    assert host.policy.explanation.count("moves take")
    assert host.run(17.5) == "buffer:1"


def test_where_cores_are_few_only_the_prediction_moves_them() -> None:
    host = Host(hurt_by("everywhere"), total=4)
    assert host.run(31) == "part:2"
    assert host.policy.shared
    assert host.policy.predict(window([1, 2])) == 2
    assert {way.kind for way in ways(4)} == {"everywhere", "part", "prediction", "nothing"}


@pytest.mark.parametrize(
    ("total", "kept"), [(1, []), (2, [1]), (3, [1, 2]), (4, [2, 3]), (6, [3, 5]), (7, [3, 5, 6])]
)
def test_half_of_few_cores_are_a_part_and_half_of_that(total: int, kept: list[int]) -> None:
    assert [way.kept for way in ways(total) if way.kind == "part"] == kept


@pytest.mark.parametrize("freezes", [True, False])
def test_of_two_cores_none_moves_and_the_minimum_is_half(freezes: bool) -> None:
    assert [way.short for way in ways(2, freezes=freezes)] == ["everywhere", "part:1", "nothing"]


def test_the_minimum_is_held_where_all_beyond_it_hurts() -> None:
    host = Host(hurt_by(*ALL), freezes=True)
    assert host.run(30) == "minimum"
    assert host.policy.predict(window([1, 2])) == TOTAL
    assert host.policy.frozen is False
    assert host.policy.explanation.startswith(
        "lends nothing beyond the batch's minimum (median request +0% by a rest), since"
    )


def test_a_minimum_that_hurts_is_frozen_and_nothing_bolder_is_tried() -> None:
    host = Host(hurt_by(*ALL, "minimum"), freezes=True)
    host.run(20)
    assert host.policy.frozen is True
    assert host.policy.explanation.startswith("lends nothing and has frozen the batch, since with")
    assert set(host.periods) == {"nothing", "minimum", "asleep"}
    host.harms = (hurt_by(*ALL),)
    assert host.run(120) == "minimum"


def test_what_runs_with_nothing_lent_and_may_not_be_frozen_is_not_judged() -> None:
    host = Host(hurt_by(*ALL))
    host.run(20)
    assert host.policy.frozen is None


@pytest.mark.parametrize(
    ("total", "harmful", "held"),
    [
        (TOTAL, [], "quiet"),
        (TOTAL, ["quiet"], "minimum"),
        (TOTAL, ["quiet", "minimum"], "nothing"),
        (4, [], "prediction"),
        (4, ["prediction"], "minimum"),
        (2, ["prediction", "minimum"], "nothing"),
    ],
)
def test_where_the_kernel_does_not_give_way_the_minimum_is_judged_all_the_same(
    total: int, harmful: list[str], held: str
) -> None:
    host = Host(hurt_by(*harmful), total=total, preempts=False, freezes=True)
    assert host.run(30).replace("asleep", "nothing") == held
    assert host.policy.frozen is (held == "nothing")
    assert host.policy.explanation.endswith("the primary is not known to preempt the batch")
    assert not host.policy.shared


@pytest.mark.parametrize(
    ("total", "harmful", "held"),
    [
        (TOTAL, [], "quiet"),
        (TOTAL, ["quiet"], "apart:5"),
        (7, [], "apart:4"),
        (7, ["apart"], "prediction"),
        (7, ["apart", "prediction"], "minimum"),
        (2, [], "apart:1"),
        (2, ["apart", "minimum"], "nothing"),
    ],
)
def test_where_they_meet_on_no_core_the_batch_may_have_a_set_of_its_own(
    total: int, harmful: list[str], held: str
) -> None:
    host = Host(hurt_by(*harmful), total=total, preempts=False, freezes=True, exclusive=True)
    assert host.run(30).replace("asleep", "nothing") == held
    assert "preempt" not in host.policy.explanation


def test_of_such_sets_the_largest_that_does_no_harm_is_held() -> None:
    def harm(way: Way) -> Durations:
        return WORSE if way.kind == "quiet" or (way.kind == "apart" and way.kept < 8) else USUAL

    host = Host(harm, preempts=False, freezes=True, exclusive=True)
    assert host.run(60) == "apart:8"
    assert not host.policy.shared  # a task that waits takes cores back
    assert (host.policy.buffer, host.policy.quiet_ns) == (0, APART_QUIET_NS)
    assert host.policy.predict(window([1, 2])) == 8
    assert host.policy.frozen is False
    given = [way.kept for way in ways(TOTAL, preempts=False, exclusive=True) if way.kind == "apart"]
    assert given == [5, 8, 9]
    assert host.policy.explanation.startswith("leaves the primary 8 cores, and the batch the oth")


@pytest.mark.parametrize(
    ("total", "smallest", "found"),
    [
        (TOTAL, 1, ["quiet:0", "apart:5", "apart:8", "minimum:9", "nothing:0"]),
        (16, 2, ["quiet:0", "apart:8", "apart:12", "minimum:14", "nothing:0"]),
        # As many as there would be with a minimum that nobody takes back.
        (8, 1, ["apart:4", "apart:6", "prediction:0", "minimum:7", "nothing:0"]),
        (2, 1, ["apart:1", "nothing:0"]),
    ],
)
def test_the_smallest_of_them_is_for_good_where_it_is_all_that_a_batch_has(
    total: int, smallest: int, found: list[str]
) -> None:
    those = ways(total, preempts=False, exclusive=True, smallest=smallest)
    assert [f"{way.kind}:{way.kept}" for way in those] == found
    (minimum,) = [way for way in those if way.kind == "minimum"] or [Way("minimum", kept=1)]
    assert minimum.is_static
    assert not minimum.moves


def test_a_minimum_that_is_lent_is_held_as_long_as_it_does_no_harm() -> None:
    def host_of(*harmful: str) -> Host:
        return Host(hurt_by(*harmful), preempts=False, exclusive=True, smallest=1)

    host = host_of("quiet", "apart")
    assert host.run(30) == "minimum"
    assert host.policy.predict(window([1, 2])) == TOTAL - 1
    assert host.policy.shared  # no task that waits takes it back
    assert host.policy.explanation.startswith(
        "lends nothing beyond the batch's minimum, and leaves the primary 9 cores"
    )
    host.harms = (hurt_by("quiet", "apart", "minimum"),)
    assert host.run(10) in ("nothing", "asleep")
    assert host.policy.predict(window([1, 2])) == TOTAL
    assert not host.policy.shared


@pytest.mark.parametrize(("leaves", "held"), [(4, "quiet"), (6, "apart:5")])
def test_cores_that_follow_demand_are_to_be_more_than_such_a_set(leaves: int, held: str) -> None:
    host = Host(harmless, preempts=False, freezes=True, exclusive=True)
    host.leaves = leaves
    assert host.run(10) == held
    assert "quiet" in host.periods
    why = "4.0 cores are lent, and 5.0 of a set apart did no harm; it is tried again after 20 s"
    assert host.policy.explanation.endswith(why) is (held != "quiet")
    assert len(host.begun("quiet")) == 1
    host.run(25)
    tried = [at for at in host.begun("quiet") if host.periods[at - 1] != "nothing"]  # no rest
    assert len(tried) == 1 + (held != "quiet")


@pytest.mark.parametrize(("lent", "total"), [(0, TOTAL), (0, 7), (1, TOTAL), (1, 7)])
def test_a_way_that_moves_cores_and_lends_none_is_left(lent: int, total: int) -> None:
    host = Host(harmless, total=total, preempts=False, freezes=True, exclusive=True)
    host.leaves = host.apart_leaves = total - lent
    held = host.run(20)
    assert (held == "minimum") is not bool(lent)
    assert ("no more than 0.00 cores are lent" in host.policy.explanation) is not bool(lent)


def test_a_way_that_lent_none_for_long_is_tried_soon_once_it_would() -> None:
    host = Host(harmless, preempts=False, freezes=True, exclusive=True)
    host.leaves = host.apart_leaves = TOTAL
    host.run(600)
    host.leaves = host.apart_leaves = 4
    assert host.run(25) in ("quiet", "apart:5")
    assert not any(failures for failures, *_ in json.loads(host.policy.dump())["records"])


def test_a_way_that_lends_none_puts_off_no_bolder_one() -> None:
    host = Host(hurt_by("everywhere", "part"), total=7, freezes=True)
    host.leaves = 7
    host.run(40)
    assert "no more than 0.00 cores are lent" in host.policy.explanation
    failed, again = host.begun("everywhere")
    due = failed + RETRY_PERIODS + 1
    assert due <= again <= due + REST_PERIODS
    assert set(host.periods[due : again - 1]) <= {"nothing"}  # a rest
    assert again < host.begun("prediction")[1]


def test_a_set_that_is_mostly_taken_back_counts_for_what_the_batch_has_of_it() -> None:
    host = Host(harmless, preempts=False, freezes=True, exclusive=True)
    host.leaves, host.apart_leaves = 6, 7
    assert host.run(10) == "quiet"


def test_what_is_not_lent_while_nothing_may_be_is_no_reason_to_leave() -> None:
    host = Host(harmless, preempts=False, freezes=True, exclusive=True)
    host.leaves = 4
    assert host.run(10) == "quiet"
    host.inhibited = True
    host.run(60)
    host.inhibited = False
    assert host.run(5) == "quiet"
    assert len(host.begun("quiet")) == 1


def test_where_no_sensor_sees_waits_it_is_the_papers_policy_at_once_until_one_does() -> None:
    host = Host(harmless, freezes=True)
    note_blind(host.policy)
    assert host.policy.frozen is None
    assert host.policy.explanation.endswith("the paper's smartharvest decides")
    host.run(0.2)
    assert host.policy.frozen is True


@pytest.mark.parametrize("total", [2, 7, TOTAL])
def test_while_nothing_may_be_lent_no_way_is_found_harmless(total: int) -> None:
    host = Host(hurt_by(*ALL), total=total, freezes=True)
    host.run(4)
    before = host.policy.way, json.loads(host.policy.dump())
    host.inhibited = True
    host.run(60)
    assert (host.policy.way, json.loads(host.policy.dump())) == before
    host.inhibited = False
    assert host.run(4) in ("minimum", "nothing")


def test_nobody_is_frozen_where_no_sensor_tells() -> None:
    host = Host(harmless, freezes=True)
    assert host.policy.frozen is True
    for host.number in range(BLIND_NS // DISPATCHES_PERIOD_NS + 2):
        host.window(0)
    assert host.policy.frozen is None


def test_the_prediction_has_learned_for_a_while_before_it_is_tried() -> None:
    host = Host(hurt_by("everywhere", "part"), total=4)
    assert host.run(15) == "prediction"
    assert host.begun("prediction")[0] * WINDOWS >= LEARNED_LESSONS


# --- where it cannot do that ----------------------------------------------------------------------


def test_without_harm_it_is_the_papers_policy_and_says_so() -> None:
    policy = Adaptive(PolicySettings(TOTAL, learner="native", preempts=True))
    assert judges_waits(policy)
    for number in range(100):
        policy.learn(window([1, 2], end_ns=number * BLIND_NS // 20))
        kept = policy.predict(window([1, 2]))
    assert policy.explanation == "the sensor does not tell harm: the paper's smartharvest decides"
    assert 2 <= kept < TOTAL
    assert (policy.buffer, policy.quiet_ns) == (0, None)
    assert not judges_waits(policy)  # the long-term safeguard has to


def test_where_the_primary_does_not_preempt_the_batch_it_is_adaptive_quiet() -> None:
    host = Host(preempts=False)
    policy = host.policy
    for number in range(1, 200):
        policy.observe_dispatches(period(number, lent=policy.buffer < TOTAL))
    assert not policy.shared
    assert policy.buffer < TOTAL
    assert policy.explanation.endswith("the primary is not known to preempt the batch")


def test_where_it_does_not_and_cores_are_few_it_is_the_papers_policy() -> None:
    host = Host(harmless, total=2, preempts=False)
    host.run(1)
    assert (host.policy.buffer, host.policy.quiet_ns, host.policy.shared) == (0, None, False)
    assert not judges_waits(host.policy)  # the long-term safeguard has to
    assert host.policy.explanation.startswith("lends what the paper's prediction leaves")


def test_a_stale_window_gives_everything_back() -> None:
    host = Host(harmless)
    host.run(3)
    assert host.policy.predict(window([1, 2], stale=True)) == TOTAL


def test_a_controller_takes_what_it_decides() -> None:
    host = Host(harmless)
    while host.policy.way.short != "wait:100us":
        host.run(0.1)
    plan = plan_of(host)
    assert (plan.primary_cores, plan.quiet_ns) == (0, 100_000)
    assert isinstance(host.policy, DispatchesObserver)


def test_the_ways_go_from_everything_to_nothing() -> None:
    for total in (1, 2, 8, 64):
        kinds = [way.kind for way in ways(total)]
        assert kinds[0] == "everywhere"
        assert kinds[-1] == "nothing"
        assert ("prediction" in kinds) == (total > 2)
        assert all(way.buffer < total for way in ways(total))


@pytest.mark.parametrize("total", [10, 4])
def test_while_it_holds_a_way_that_asks_nobody_it_learns_as_the_papers_policy_does(
    total: int,
) -> None:
    host = Host(harmless, total=total)
    assert host.run(18) == "everywhere"
    paper = make_smartharvest(PolicySettings(total, learner="native"))
    host.policy.learner = make_smartharvest(PolicySettings(total, learner="native")).learner
    both = [Controller(policy, total=total) for policy in (host.policy, paper)]
    numbers = random.Random(1)
    seen = [window([numbers.randint(0, total - 1) for _ in range(5)]) for _ in range(90)]
    for one in (replace(seen[0], stale=True), *seen):
        for controller in both:
            controller.on_window(one)
    learned: Any = host.policy.learner
    assert learned.lessons == paper.learner.lessons == len(seen) - 1
    for one in seen:
        assert learned.predict(one.features) == paper.learner.predict(one.features)


def test_of_two_cores_it_learns_nothing_since_nobody_predicts_the_last() -> None:
    host = Host(harmless, total=2)
    host.run(18)
    learned: Any = host.policy.learner
    assert learned.lessons == 0
    host.policy.note_blind()
    host.window(0)
    host.window(1)
    assert learned.lessons == 1


def test_it_rests_once_it_has_learned_and_learns_on_now_and_then() -> None:
    host = Host(harmless)
    rests = []
    for _ in range(round(1.5 * MOST_RESTED_NS / DISPATCHES_PERIOD_NS) + 200):
        host.run(0.1)
        rests.append(host.policy.rests)
        if host.policy.rests:  # what the loop hands over then
            at_ns = host.number * DISPATCHES_PERIOD_NS
            rested = window([1, 2], start_ns=at_ns - DISPATCHES_PERIOD_NS, end_ns=at_ns)
            assert host.policy.learn(replace(rested, rested=True)) is None
    learned: Any = host.policy.learner
    assert learned.lessons >= LEARNED_LESSONS
    first = rests.index(True)
    assert first * WINDOWS >= LEARNED_LESSONS - WINDOWS
    assert 0 < rests[first + 5 :].count(False) < 0.2 * len(rests)
