from __future__ import annotations

import pytest

from smartharvest.errors import ConfigError
from smartharvest.lab.demo.phases import (
    PHASES,
    plan_learning_s,
    plan_order,
    plan_rounds,
    plan_slice_s,
)


def test_the_phases_have_the_documented_names_in_order() -> None:
    assert [phase.name for phase in PHASES] == [
        "no-harvest",
        "sensing-only",
        "cpu-idle",
        "nice-19",
        "fixed-buffer:1",
        "smartharvest",
        "adaptive",
    ]


def test_only_phases_with_an_agent_lend() -> None:
    assert all(phase.policy for phase in PHASES if phase.batch == "lent")
    assert not any(phase.policy for phase in PHASES if phase.batch == "everywhere")


@pytest.mark.parametrize(("seconds", "rounds"), [(12, 2), (30, 2), (60, 3), (3600, 12)])
def test_longer_runs_have_more_rounds_up_to_a_limit(seconds: float, rounds: int) -> None:
    assert plan_rounds(seconds) == rounds


@pytest.mark.parametrize(
    ("seconds", "learning_s"),
    [
        (12, {}),
        (14, {"adaptive": 0.75 * 15 / 21}),
        (60, {"smartharvest": 18 * 6 / 21, "adaptive": 18 * 15 / 21}),
        (3600, {"smartharvest": 6, "adaptive": 15}),
    ],
)
def test_those_that_learn_have_a_part_of_the_time_beyond_the_minimum(
    seconds: float, learning_s: dict[str, float]
) -> None:
    planned = {phase.name: each_s for phase, each_s in plan_learning_s(seconds).items()}
    assert planned == pytest.approx(learning_s)


def test_too_few_seconds_are_refused_naming_the_least() -> None:
    with pytest.raises(ConfigError, match=r"--seconds: 11\.9 .* 12 or more"):
        plan_rounds(11.9)


def test_every_round_runs_every_phase_once() -> None:
    for order in plan_order(7, seed=1):
        assert sorted(phase.name for phase in order) == sorted(phase.name for phase in PHASES)


@pytest.mark.parametrize("rounds", [2, 3, 4, 6])
def test_no_phase_keeps_its_place_from_round_to_round(rounds: int) -> None:
    for phase in PHASES:
        places = [order.index(phase) for order in plan_order(rounds, seed=1)]
        assert len(set(places)) == rounds


def test_the_seed_decides_the_order() -> None:
    assert plan_order(2, seed=1) == plan_order(2, seed=1)
    assert len({tuple(plan_order(2, seed)) for seed in range(10)}) > 5


def test_slices_share_the_time_left_after_their_overhead() -> None:
    assert plan_slice_s(remaining_s=30.0, slices_left=12, overhead_s=0.3) == pytest.approx(2.2)


def test_a_slice_never_gets_shorter_than_its_minimum() -> None:
    assert plan_slice_s(remaining_s=-1.0, slices_left=12, overhead_s=0.3) == 0.5
