"""The policy that moves between ways of sharing, by what each costs the primary."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from smartharvest.algorithm.controller import Controller
from smartharvest.algorithm.harm import Durations
from smartharvest.algorithm.policy import rests
from smartharvest.algorithm.policy.adaptive import (
    BLIND_NS,
    LEARNED_LESSONS,
    LEAST_USUAL_LOOKS,
    MOST_RESTED_NS,
    TRIAL_PERIODS,
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
from smartharvest.algorithm.policy.smartharvest import make_smartharvest
from smartharvest.algorithm.policy.spans import FEWER_PAIRS_ERRORS
from smartharvest.algorithm.policy.ways import APART_QUIET_NS, Way, spares_of, ways
from tests.unit.algorithm.policy.dispatches import period
from tests.unit.algorithm.policy.windows import window

TOTAL = 10
USUAL: Durations = ((100_000, 900), (200_000, 95), (400_000, 5))
WORSE: Durations = ((125_000, 900), (250_000, 95), (500_000, 5))
AWFUL: Durations = ((100_000, 500), (50_000_000, 500))
WINDOWS = 4

Harm = Callable[[Way], Durations]
ALL = ["everywhere", "part", "wait", "buffer", "prediction"]


class Host:
    """Where each way of sharing has its harm."""

    def __init__(
        self,
        *harms: Harm,
        total: int = TOTAL,
        preempts: bool = True,
        protect: float = 0.1,
        spares: tuple[int, ...] = (),
        freezes: bool = False,
        exclusive: bool = False,
    ) -> None:
        self.policy = Adaptive(
            PolicySettings(
                total,
                learner="native",
                preempts=preempts,
                protect=protect,
                spares=spares,
                freezes=freezes,
                exclusive=exclusive,
            )
        )
        self.harms = harms
        self.without: Durations = USUAL
        """What the tasks would take with nothing lent."""
        self.idle: Durations | None = None
        """What they take then, if that is something else."""
        self.answer_ns = 0
        """How long they wait for an idle core."""
        self.leaves = 0
        """Cores that a way which moves them leaves the primary."""
        self.apart_leaves = 0
        """The same of a set apart, if that is not what the way keeps for it."""
        self.inhibited = False
        """Whether nothing is lent whatever the policy decides."""
        self.moves: dict[str, Durations] = {}
        """Of a kind of ways, in a period."""
        self.number = 0
        self.periods: list[str] = []
        self.answered: tuple[int, int, int | None, bool] | None = None
        self.steady = self.changed = 0
        """Windows that were to be answered as the one before, and those of them that were not."""

    def run(self, seconds: float) -> str:
        """The way in force most of its end."""
        for _ in range(round(seconds * 1e9 / DISPATCHES_PERIOD_NS)):
            way = self.window(0)
            for place in range(1, WINDOWS):
                self.window(place)
            self.number += 1
            self.periods.append("asleep" if self.policy.dozes else way.short)
            if not self.policy.dozes:
                self.policy.observe_dispatches(self.seen(way))
        return max(set(self.periods[-15:]), key=self.periods[-15:].count)

    def window(self, place: int) -> Way:
        """The way in force after one of the next period's."""
        ns = DISPATCHES_PERIOD_NS // WINDOWS
        start_ns = self.number * DISPATCHES_PERIOD_NS + place * ns
        policy = self.policy
        moves = policy.way.moves and policy.way.kind != "apart"
        given = self.apart_leaves or policy.way.kept if policy.way.kind == "apart" else TOTAL
        cores = TOTAL if self.inhibited else self.leaves if moves else given
        seen = window([1, 2], primary_cores=cores, start_ns=start_ns, end_ns=start_ns + ns)
        steady, before = policy.steady, self.answered
        policy.learn(seen)
        self.answered = (policy.predict(seen), policy.buffer, policy.quiet_ns, policy.shared)
        if steady:
            self.steady += 1
            self.changed += self.answered != before
        return policy.way

    def seen(self, way: Way) -> Dispatches:
        lends = way.kind != "nothing" and not self.inhibited
        spans = tuple(
            Spans(harm(way), (), self.without, self.answer_ns)
            if lends
            else Spans((), self.idle or self.without, (), self.answer_ns)
            for harm in self.harms
        )
        moves = self.moves.get(way.kind, ())
        return Dispatches(
            self.number * DISPATCHES_PERIOD_NS,
            USUAL,
            USUAL,
            lends,
            moves=moves,
            spans=spans,
            inhibited=self.inhibited,
        )

    def begun(self, short: str) -> list[int]:
        """The periods in which that way was entered."""
        at = [number for number, way in enumerate(self.periods) if way == short]
        return [number for number in at if number - 1 not in at]


def harmless(_: Way) -> Durations:
    return USUAL


def hurt_by(*kinds: str, how: Durations = WORSE) -> Harm:
    return lambda way: how if way.kind in kinds else USUAL


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
    assert host.run(20) == "buffer:1"
    assert host.policy.explanation.count("moves take")


def test_where_cores_are_few_only_the_prediction_moves_them() -> None:
    host = Host(hurt_by("everywhere"), total=4)
    assert host.run(31) == "part:2"
    assert host.policy.shared
    assert host.policy.predict(window([1, 2])) == 2
    assert {way.kind for way in ways(4)} == {"everywhere", "part", "prediction", "nothing"}


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


# --- over a restart -------------------------------------------------------------------------------


def restarted(host: Host, *harms: Harm) -> Host:
    after = Host(*(harms or host.harms))
    after.policy.load(host.policy.dump())
    after.policy.learner = host.policy.learner  # it is kept, too
    return after


@pytest.mark.parametrize("harmful", [[], ["everywhere"], ["everywhere", "wait"], ALL])
def test_after_a_restart_it_holds_at_once_what_it_held(harmful: list[str]) -> None:
    host = Host(hurt_by(*harmful))
    held = host.run(60).replace("asleep", "nothing")
    after = restarted(host)
    after.run(0.5)
    assert after.periods == ["nothing", *[held] * 4]


def test_a_prediction_whose_model_is_lost_is_not_held_again() -> None:
    host = Host(hurt_by("everywhere", "wait", "buffer"))
    assert host.run(60) == "prediction"
    after = Host(harmless)
    after.policy.load(host.policy.dump())
    after.run(0.4)
    assert set(after.periods) == {"nothing"}


def test_after_a_restart_it_does_not_try_again_what_was_harmful() -> None:
    host = Host(hurt_by("everywhere", "wait", how=AWFUL))
    host.run(60)
    after = restarted(host)
    after.run(5)
    assert not {"everywhere", "wait:100us"} & set(after.periods)


def test_what_has_become_harmful_over_a_restart_is_left_at_once() -> None:
    host = Host(harmless)
    assert host.run(60) == "everywhere"
    after = restarted(host, hurt_by("everywhere", how=AWFUL))
    after.run(1)
    assert after.periods.count("everywhere") <= 2


def test_evidence_of_another_number_of_primaries_is_forgotten() -> None:
    host = Host(harmless)
    host.run(60)
    after = restarted(host, harmless, harmless)
    after.run(0.3)
    assert set(after.periods) == {"nothing"}


def test_evidence_goes_on_over_many_restarts() -> None:
    host = Host(hurt_by("everywhere"))
    held = host.run(60)
    for _ in range(5):
        host = restarted(host)
        host.run(1)
    assert host.run(1) == held


@pytest.mark.parametrize(
    ("path", "wrong"),
    [
        (("held",), 99),
        (("held",), None),
        (("records",), []),
        (("records", 0, 1), 1e300),
        (("records", 0, 0), -1),
        (("primaries",), 0),
        (("primaries",), []),
        (("slowdowns",), []),
        (("slowdowns", 0), [[0, 5, float("nan"), 0.0]]),
        (("slowdowns", 0), [[0, 5, 0.1, -1.0]]),
        (("slowdowns", 0), [[99, 5, 0.1, 0.0]]),
        (("slowdowns", 0), [[0, 1e9, 0.1, 0.0]]),
        (("slowdowns", 0), 7),
    ],
)
def test_evidence_that_cannot_be_is_refused(path: tuple[object, ...], wrong: object) -> None:
    host = Host(harmless)
    host.run(10)
    kept = json.loads(host.policy.dump())
    at = kept
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = wrong
    policy = Host(harmless).policy
    with pytest.raises(ValueError, match=r"\w"):
        policy.load(json.dumps(kept).encode())
    assert json.loads(policy.dump())["primaries"] == 0


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
    controller = Controller(host.policy, total=TOTAL)
    answer = controller.on_window(window([1, 2]))
    assert answer is not None
    assert answer.plan is not None
    assert (answer.plan.primary_cores, answer.plan.quiet_ns) == (0, 100_000)
    assert isinstance(host.policy, DispatchesObserver)


def test_the_ways_go_from_everything_to_nothing() -> None:
    for total in (1, 2, 8, 64):
        kinds = [way.kind for way in ways(total)]
        assert kinds[0] == "everywhere"
        assert kinds[-1] == "nothing"
        assert ("prediction" in kinds) == (total > 2)
        assert all(way.buffer < total for way in ways(total))


# --- where the kernel keeps CPUs idle -------------------------------------------------------------


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
    controller = Controller(host.policy, total=TOTAL)
    answer = controller.on_window(window([1, 2]))
    assert answer is not None
    assert answer.plan is not None
    assert answer.plan.spare is None
    host.run(10)
    while host.policy.way.kind != "spare":
        host.run(0.1)
    controller = Controller(host.policy, total=TOTAL)
    answer = controller.on_window(window([1, 2]))
    assert answer is not None
    assert answer.plan is not None
    assert (answer.plan.spare, answer.plan.primary_cores) == (0, 0)
    assert controller.give_everything_back().spare is None


@pytest.mark.parametrize(
    ("cpus", "spares"),
    [(1, (0,)), (2, (0, 1)), (3, (0, 1)), (4, (0, 1, 2)), (8, SPARES), (16, (0, 1, 2, 5, 8))],
)
def test_the_ladder_follows_from_the_cpus_of_a_cache(cpus: int, spares: tuple[int, ...]) -> None:
    assert spares_of(cpus) == spares


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


def test_where_idle_cpus_are_as_slow_it_goes_on_lending_and_looks_now_and_then() -> None:
    tail: Durations = ((100_000, 900), (260_000, 95), (400_000, 5))
    host = Host(lambda way: tail if way.kind == "everywhere" else USUAL)
    host.idle = tail
    host.run(300)
    settled = host.periods[100:]
    assert settled.count("everywhere") > 0.98 * len(settled)
    assert 3 <= len([n for n in host.begun("nothing") if n >= 100]) <= 8  # rests are among them
    assert set(settled) == {"everywhere", "nothing"}
    host.idle = USUAL
    host.run(70)
    assert "everywhere" not in host.periods[-50:]


@pytest.mark.parametrize(("total", "waits"), [(2, True), (TOTAL, False)])
def test_of_few_cores_what_is_usual_is_known_before_a_trial(total: int, waits: bool) -> None:
    host = Host(harmless, total=total)
    host.run(10)
    first = next(at for at, way in enumerate(host.periods) if way != "nothing")
    assert (first >= LEAST_USUAL_LOOKS) is waits


def test_of_few_cores_usual_is_seen_again_under_less_load_before_a_way_is_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rests, "FIRST_REST_PERIODS", 100_000)  # no rest before that
    less: Durations = ((100_000, 450), (200_000, 48), (400_000, 2))
    tail: Durations = ((100_000, 450), (260_000, 48), (400_000, 2))

    host = Host(harmless, total=2)
    host.run(15)
    host.harms, host.without = (lambda _way: less,), less
    host.run(40)
    host.harms = (lambda way: tail if way.kind == "everywhere" else less,)
    host.idle, began = tail, len(host.periods)
    host.run(30)
    since = host.periods[began:]
    assert 0 < since.count("nothing") < 10
    assert set(since) == {"everywhere", "nothing"}
    host.idle = less
    host.run(70)
    assert "everywhere" not in host.periods[-50:]


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


@pytest.mark.parametrize(
    ("answer_ns", "harmful", "entered"),
    [
        (0, ("everywhere",), {"part:1", "everywhere"}),
        (30_000, ("everywhere",), {"part:1", "everywhere"}),
        (60_000, (), {"everywhere"}),
        (60_000, ("everywhere",), {"everywhere"}),
    ],
)
def test_where_idle_cores_answer_late_none_is_kept_idle(
    answer_ns: int, harmful: tuple[str, ...], entered: set[str]
) -> None:
    host = Host(hurt_by(*harmful), total=2)
    host.answer_ns = answer_ns
    assert (host.run(60) == "everywhere") is not bool(harmful)
    assert set(host.periods) - {"nothing", "asleep"} == entered


@pytest.mark.parametrize(("answer_ns", "held"), [(60_000, "everywhere"), (30_000, "nothing")])
def test_where_idle_cores_answer_late_the_budget_is_a_share_of_that_too(
    answer_ns: int, held: str
) -> None:
    longer: Durations = ((114_000, 900), (214_000, 95), (414_000, 5))
    host = Host(lambda way: USUAL if way.kind == "nothing" else longer, total=2)
    host.answer_ns = answer_ns
    assert host.run(15).replace("asleep", "nothing") == held


@pytest.mark.parametrize(("total", "held"), [(2, "everywhere"), (TOTAL, "wait:100us")])
def test_of_few_cores_a_way_that_is_held_is_not_left_for_little(total: int, held: str) -> None:
    def harm(way: Way) -> Durations:
        longer = 6 + host.number % 2  # with five more 11.5 of 1,000: one and a half standard errors
        little = ((100_000, 900), (200_000, 95 - longer), (240_000, longer), (400_000, 5))
        return little if later and way.kind == "everywhere" else USUAL

    host = Host(harm, total=total)
    later = False
    host.run(15)
    later = True
    host.run(6)
    assert host.policy.way.short == held


def test_of_few_cores_a_trial_in_doubt_goes_on_until_it_fails() -> None:
    little = ((100_000, 900), (200_000, 89), (240_000, 6), (400_000, 5))
    host = Host(lambda way: USUAL if way.kind == "nothing" else little, total=2)
    host.run(6)
    assert TRIAL_PERIODS[1] <= host.periods.count("everywhere") <= TRIAL_PERIODS[1] + 2
    assert host.policy.way.kind != "everywhere"


def test_of_few_cores_a_trial_within_the_budget_is_held() -> None:
    little = ((100_000, 900), (200_000, 91), (240_000, 4), (400_000, 5))
    host = Host(lambda way: USUAL if way.kind == "nothing" else little, total=2)
    assert host.run(10) == "everywhere"


def test_of_few_cores_the_boldest_way_is_tried_first() -> None:
    host = Host(harmless, total=4)
    assert host.run(10) == "everywhere"
    assert set(host.periods) == {"nothing", "everywhere"}


def test_a_part_that_fails_puts_nothing_bolder_off() -> None:
    host = Host(lambda way: AWFUL if way.kind in awful else USUAL, total=2)
    awful = {"everywhere"}
    assert host.run(140) == "part:1"
    awful = {"part"}
    assert host.run(10) != "part:1"
    assert host.run(60) == "everywhere"


@pytest.mark.parametrize(("times", "put_off"), [(1.15, False), (1.5, True)])
def test_of_few_cores_one_that_fails_by_little_is_not_put_off_for_it(
    times: float, put_off: bool
) -> None:
    longer = tuple((round(ns * times), count) for ns, count in USUAL)
    host = Host(
        lambda way: longer if way.kind == "everywhere" else USUAL,
        total=2,
    )
    host.run(300)
    begun = sum(before != after == "everywhere" for before, after in pairwise(host.periods))
    failures, *_ = json.loads(host.policy.dump())["records"][0]
    assert (begun < 4, failures > 0) == (put_off, put_off)


@pytest.mark.parametrize(("far", "put_off"), [(9, True), (1, False)])
def test_of_few_cores_what_fails_by_more_over_many_trials_is_put_off(
    far: int, put_off: bool
) -> None:
    """Of each trial chance alone could make so much of it."""
    longer = ((100_000, 900), (200_000, 84 - far), (235_000, 11), (500_000, 5 + far))
    host = Host(lambda way: longer if way.kind == "everywhere" else USUAL, total=2)
    host.run(300)
    failures, *_ = json.loads(host.policy.dump())["records"][0]
    assert (failures > 0) == put_off


@pytest.mark.parametrize(("total", "held_after_s", "left_after_s"), [(2, 5, 20), (TOTAL, 9, 40)])
def test_what_makes_the_median_longer_without_a_wait_is_left(
    total: int, held_after_s: int, left_after_s: int
) -> None:
    """As a batch does that takes the caches."""
    cold: Durations = ((140_000, 900), (210_000, 95), (400_000, 5))
    host = Host(lambda way: cold if way.kind != "nothing" else USUAL, total=total)
    host.without, host.idle = cold, USUAL
    assert host.run(held_after_s) == "everywhere"
    said = set()
    for _ in range(10 * (left_after_s - held_after_s)):
        host.run(0.1)
        said.add(host.policy.explanation)
    assert "the batch runs everywhere under cpu.idle (median request +32% by a rest)" in said
    assert host.policy.way.kind != "everywhere"
    assert host.run(400 if total == TOTAL else 120).replace("asleep", "nothing") == "nothing"
    assert "32% longer than with nothing lent" in host.policy.explanation
    after = Host(*host.harms, total=total)
    after.policy.load(host.policy.dump())
    after.run(1)
    (told,) = json.loads(after.policy.dump())["slowdowns"]
    assert (told,) == tuple(json.loads(host.policy.dump())["slowdowns"])
    assert any(rests >= min(FEWER_PAIRS_ERRORS) and 0.3 < mean < 0.35 for _, rests, mean, _ in told)


def test_what_no_wait_shows_under_any_way_is_found_within_a_minute() -> None:
    cold: Durations = ((140_000, 900), (210_000, 95), (400_000, 5))
    host = Host(lambda way: cold if way.kind != "nothing" else USUAL, total=7, freezes=True)
    host.without, host.idle = cold, USUAL
    assert host.run(60).replace("asleep", "nothing") == "nothing"
    tried = {"everywhere", "part:3", "prediction", "minimum"}
    assert set(host.periods) - {"nothing", "asleep"} == tried
    # Each has failed by rests of its own.
    (told,) = json.loads(host.policy.dump())["slowdowns"]
    assert {rests >= min(FEWER_PAIRS_ERRORS) for _, rests, *_ in told} == {True}
    assert len(told) == len(tried)


def test_a_way_without_what_another_was_left_for_is_held() -> None:
    cold: Durations = ((140_000, 900), (210_000, 95), (400_000, 5))

    def harm(way: Way) -> Durations:
        host.without = cold if way.kind in ("everywhere", "part") else USUAL
        return host.without

    host = Host(harm, total=7, freezes=True)
    host.idle = USUAL
    assert host.run(60) == "prediction"
    later = len(host.periods)
    host.run(60)
    assert host.periods[later:].count("prediction") > 0.8 * 600


@pytest.mark.parametrize("total", [2, TOTAL])
def test_a_median_that_is_little_longer_is_no_reason_to_leave(total: int) -> None:
    cold: Durations = ((108_000, 900), (210_000, 95), (400_000, 5))
    host = Host(lambda way: cold if way.kind != "nothing" else USUAL, total=total)
    host.without, host.idle = cold, USUAL
    host.run(120)
    settled = host.periods[100:]
    assert settled.count("everywhere") > 0.93 * len(settled)
    assert set(settled) == {"everywhere", "nothing"}
