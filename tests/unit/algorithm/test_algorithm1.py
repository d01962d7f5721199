"""Algorithm 1 by hand: ten cores between the two sides, one window after the other."""

from __future__ import annotations

import dataclasses
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smartharvest.algorithm.algorithm1 import Algorithm1, Decision
from smartharvest.algorithm.learning.options import LearningOptions
from smartharvest.algorithm.policy import make_policy
from smartharvest.algorithm.safeguard import (
    AggressiveSafeguard,
    ConservativeSafeguard,
    LongTermSafeguard,
    ShortTermSafeguard,
)
from smartharvest.core.window import Window
from tests.unit.algorithm.policy.windows import WINDOW_NS, window, windows

TOTAL = 10


class Foretold:
    """A policy with a fixed prediction that notes what it is asked."""

    name = "foretold"

    def __init__(
        self, cores: int, short_term: ShortTermSafeguard | None = None, buffer: int = 0
    ) -> None:
        self.short_term = short_term or ConservativeSafeguard(TOTAL)
        self.buffer = buffer
        self.quiet_ns: int | None = None
        self.shared = False
        self.learned: list[Window] = []
        self.predicted_for: list[Window] = []
        self._cores = cores

    def learn(self, seen: Window) -> int | None:
        self.learned.append(seen)
        return None if seen.exhausted or seen.stale else seen.busy_max

    def predict(self, seen: Window) -> int:
        self.predicted_for.append(seen)
        return self._cores


def decide(policy: Foretold, seen: Window, keep_idle: int = 1) -> Decision:
    return Algorithm1(policy, total=TOTAL, keep_idle=keep_idle).decide(seen)


# Lines 14-19: a full window is learned from and answered with a prediction.


def test_a_full_window_is_learned_and_the_prediction_assigned() -> None:
    policy = Foretold(6)
    seen = window([2, 5, 3], primary_cores=8)
    decision = decide(policy, seen)
    assert policy.learned == [seen]
    assert policy.predicted_for == [seen]
    assert decision == Decision(
        seq=1,
        primary_cores=6,
        harvest_cores=4,  # line 21: total - primary
        safe_cores=7,  # 1 + the larger of the second's peak, 5, and the assignment, 6
        buffer=0,
        quiet_ns=None,
        reason="predicted",
        label=5,
        label_kind="busy",
        busy_peak=5,
        demand_peak=5,
    )


def test_a_decision_tells_the_windows_peaks_and_what_a_label_is() -> None:
    seen = dataclasses.replace(window([2, 5, 3], primary_cores=8), demand_max=9)
    decision = Algorithm1(Foretold(6), total=TOTAL, label_kind="demand").decide(seen)
    assert (decision.busy_peak, decision.demand_peak, decision.label_kind) == (5, 9, "demand")
    assert json.loads(json.dumps(dataclasses.asdict(decision)))["demand_peak"] == 9


# Line 20: never fewer than busy + 1, busy being the last sample.


@pytest.mark.parametrize(
    ("last", "predicted", "assigned"), [(4, 2, 5), (4, 5, 5), (4, 6, 6), (0, 0, 1), (9, 0, 10)]
)
def test_the_primary_gets_busy_plus_one_or_the_prediction(
    last: int, predicted: int, assigned: int
) -> None:
    assert decide(Foretold(predicted), window([8, last])).primary_cores == assigned


@pytest.mark.parametrize("last", [10, 11, 13])
def test_more_than_there_is_cannot_be_assigned(last: int) -> None:
    decision = decide(Foretold(0), window([last]))
    assert (decision.primary_cores, decision.harvest_cores) == (TOTAL, 0)


@pytest.mark.parametrize(("keep_idle", "assigned"), [(0, 5), (1, 5), (3, 7), (6, 10), (9, 10)])
def test_the_floor_is_busy_plus_keep_idle_and_at_least_one(keep_idle: int, assigned: int) -> None:
    decision = decide(Foretold(0), window([4]), keep_idle=keep_idle)
    assert decision.primary_cores == assigned


# Lines 12-13: an exhausted window is answered by the short-term safeguard.


def test_an_exhausted_window_gets_one_more_than_the_last_seconds_peak() -> None:
    policy = Foretold(1)
    agent = Algorithm1(policy, total=TOTAL)
    agent.decide(window([7, 2], end_ns=WINDOW_NS))
    broken = window([2, 3, 4], primary_cores=4, exhausted=True, end_ns=2 * WINDOW_NS)
    decision = agent.decide(broken)
    assert decision.primary_cores == 8
    assert decision.reason == "short-term safeguard"
    assert decision.label is None
    assert policy.predicted_for == [window([7, 2], end_ns=WINDOW_NS)]


def test_a_peak_of_more_than_a_second_ago_is_forgotten() -> None:
    agent = Algorithm1(Foretold(1), total=TOTAL)
    agent.decide(window([9], end_ns=WINDOW_NS))
    broken = window([4], primary_cores=4, exhausted=True, end_ns=WINDOW_NS + 1_000_000_000)
    assert agent.decide(broken).primary_cores == 5


def test_the_aggressive_safeguard_gives_everything() -> None:
    broken = window([4], primary_cores=4, exhausted=True)
    decision = decide(Foretold(1, AggressiveSafeguard(TOTAL)), broken)
    assert (decision.primary_cores, decision.safe_cores) == (TOTAL, TOTAL)


def test_a_safe_answer_keeps_to_the_floor_as_well() -> None:
    broken = window([4], primary_cores=4, exhausted=True)
    assert decide(Foretold(1), broken, keep_idle=3).primary_cores == 7


# Windows the loop missed.


def test_a_stale_window_gives_everything_back_and_is_no_lesson() -> None:
    policy = Foretold(3, buffer=2)
    decision = decide(policy, window([1], stale=True))
    assert (decision.primary_cores, decision.buffer) == (TOTAL, 0)
    assert decision.reason == "stale window"
    assert decision.label is None
    assert policy.predicted_for == []


def test_stale_outweighs_exhausted() -> None:
    assert decide(Foretold(3), window([4], exhausted=True, stale=True)).primary_cores == TOTAL


# Line 22: the long-term safeguard.


def resting_until(rest_ns: int) -> LongTermSafeguard:
    long_term = LongTermSafeguard(periods=1, rest_ns=rest_ns)
    assert long_term.observe(0, dispatches=1000, long_waits=1000)
    return long_term


def test_nothing_is_lent_while_resting_but_learning_goes_on() -> None:
    policy = Foretold(3, buffer=2)
    agent = Algorithm1(policy, total=TOTAL, long_term=resting_until(2 * WINDOW_NS))
    resting = agent.decide(window([2], end_ns=WINDOW_NS))
    assert (resting.primary_cores, resting.harvest_cores, resting.buffer) == (TOTAL, 0, 0)
    assert resting.reason == "long-term safeguard"
    assert resting.label == 2
    assert len(policy.predicted_for) == 1
    again = agent.decide(window([2], end_ns=2 * WINDOW_NS))
    assert (again.primary_cores, again.buffer, again.reason) == (3, 2, "predicted")


def test_the_real_learner_is_ready_when_the_rest_is_over() -> None:
    agent = Algorithm1(
        make_policy("smartharvest", total=TOTAL),
        total=TOTAL,
        long_term=resting_until(400 * WINDOW_NS),
    )
    decisions = [
        agent.decide(window([2, 3, 2], end_ns=number * WINDOW_NS)) for number in range(1, 402)
    ]
    assert {decision.primary_cores for decision in decisions[:399]} == {TOTAL}
    assert [decision.label for decision in decisions[:3]] == [None, 3, 3]
    assert decisions[-1].primary_cores < TOTAL


# The choices the paper leaves open.


def test_a_peak_at_the_assignment_is_a_label_only_with_nothing_lent() -> None:
    agent = Algorithm1(make_policy("smartharvest", total=TOTAL), total=TOTAL)
    agent.decide(window([1]))
    lent = window([4], primary_cores=4, exhausted=True)
    assert agent.decide(lent).label is None
    all_held = window([TOTAL], primary_cores=TOTAL)
    assert agent.decide(all_held).label == TOTAL


def test_exhausted_windows_can_be_trained() -> None:
    options = LearningOptions(exhausted_windows="trained")
    agent = Algorithm1(make_policy("smartharvest", total=TOTAL, options=options), total=TOTAL)
    agent.decide(window([1]))
    assert agent.decide(window([4], primary_cores=4, exhausted=True)).label == 4


# What holds for every window and policy.

POLICIES = st.sampled_from(
    ["no-harvest", "fixed-buffer:1", "fixed-buffer:30", "prev-peak", "prev-peak:3", "smartharvest"]
)


@given(
    spec=POLICIES,
    keep_idle=st.integers(0, 12),
    safeguard=st.sampled_from(["conservative", "aggressive"]),
    resting=st.booleans(),
    seen=st.lists(windows(TOTAL), min_size=1, max_size=6),
)
def test_never_fewer_than_busy_plus_one_and_everything_adds_up(
    spec: str, keep_idle: int, safeguard: str, resting: bool, seen: list[Window]
) -> None:
    agent = Algorithm1(
        make_policy(spec, total=TOTAL, safeguard=safeguard),
        total=TOTAL,
        keep_idle=keep_idle,
        long_term=resting_until(3 * WINDOW_NS) if resting else None,
    )
    for number, one in enumerate(seen, start=1):
        decision = agent.decide(
            dataclasses.replace(one, seq=number, start_ns=0, end_ns=number * WINDOW_NS)
        )
        assert decision.seq == number
        assert 0 <= decision.primary_cores <= TOTAL
        assert decision.harvest_cores + decision.primary_cores == TOTAL
        assert decision.primary_cores >= min(TOTAL, one.busy_last + max(1, keep_idle))
        assert min(TOTAL, decision.primary_cores + 1) <= decision.safe_cores <= TOTAL
        assert decision.buffer >= 0
        if one.stale:
            assert (decision.harvest_cores, decision.label) == (0, None)
        if decision.label is not None:
            assert 0 <= decision.label <= TOTAL


# A patient buffer: the loop follows demand, the decision says how many cores stay at least.


def patient(cores: int) -> Foretold:
    policy = Foretold(cores, buffer=2)
    policy.quiet_ns = 250_000
    return policy


def test_a_patient_policys_cores_are_not_raised_to_the_last_look() -> None:
    decision = decide(patient(0), window([5, 5, 5], primary_cores=8))
    assert (decision.primary_cores, decision.buffer, decision.quiet_ns) == (0, 2, 250_000)


def test_a_stale_window_ends_a_patient_buffer() -> None:
    seen = dataclasses.replace(window([5, 5], primary_cores=8), stale=True)
    decision = decide(patient(0), seen)
    assert (decision.primary_cores, decision.buffer, decision.quiet_ns) == (TOTAL, 0, None)
