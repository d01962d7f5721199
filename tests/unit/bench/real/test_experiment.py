"""Rounds of an experiment of which not everything goes well."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from bench.real import experiment
from bench.real.conditions import ALONE, CPU_IDLE, Condition, Experiment
from bench.real.experiment import Plan, Stage, run
from bench.real.figures import Slice
from bench.subject import NotMeasurableError, Watch
from smartharvest.errors import TargetError
from smartharvest.lab.demo.standstill import Standstills

ROWS = (ALONE, CPU_IDLE, Condition("smartharvest", "made", policy="smartharvest"))
PLAN = Plan(Experiment("made", "memcached", "bully", 0.3, "Made."), ROWS, 3, 9.0, 1)


def made_slice(seed: int, **other: Any) -> Slice:
    rng = np.random.default_rng(seed)
    arrivals = np.sort(rng.integers(0, 1_200_000_000, 400))
    return Slice(arrivals, rng.integers(1, 9, 400) * 100_000, 1.2, 12, 1.2, None, **other)


Measure = Callable[[Condition, int], Slice]


@pytest.fixture
def stage(monkeypatch: pytest.MonkeyPatch) -> Callable[[Measure], None]:
    groups, server = SimpleNamespace(cpus=(0, 1)), SimpleNamespace(cost_s=lambda _seed: 1e-4)
    monkeypatch.setattr(experiment, "watching", lambda: nullcontext(SimpleNamespace(seen=True)))
    monkeypatch.setattr(experiment, "demo_groups", lambda: nullcontext(groups))
    monkeypatch.setattr(experiment, "Standstills", lambda _cpus: Standstills([]))
    monkeypatch.setattr(experiment, "serving", lambda _plan, _groups: nullcontext(server))
    monkeypatch.setattr(experiment, "batch_unit", lambda _name, _groups: 10.0)
    monkeypatch.setattr(experiment, "against", lambda *_sides: {})  # a bootstrap takes its time

    def measured_by(measure: Measure) -> None:
        monkeypatch.setattr(
            Stage, "measure", lambda _self, condition, _load, seed: measure(condition, seed)
        )

    return measured_by


def test_a_row_that_cannot_be_measured_costs_no_other(
    stage: Callable[[Measure], None],
) -> None:
    def measure(condition: Condition, seed: int) -> Slice:
        if condition.policy:
            raise TargetError("cgroup:/elastic: has vanished")
        return made_slice(seed)

    stage(measure)
    figures: Any = run(PLAN, Watch())
    assert figures["rounds"] == 3
    assert list(figures["conditions"]) == ["alone", "cpu.idle"]
    assert figures["failed"] == {"smartharvest": "cgroup:/elastic: has vanished"}


def test_a_policy_that_remembers_learns_before_the_first_round_within_a_share_of_the_time(
    stage: Callable[[Measure], None],
) -> None:
    met: list[str] = []

    def measure(condition: Condition, seed: int) -> Slice:
        met.append(condition.name)
        return made_slice(seed)

    stage(measure)
    learner = Condition("adaptive", "made", policy="adaptive", warm_up_s=0.1, learns_s=30.0)
    plan = dataclasses.replace(PLAN, conditions=(*ROWS, learner))
    ((learning, seconds),) = plan.learning()
    assert (learning.name, learning.warm_up_s) == ("adaptive", 0.0)
    assert seconds == pytest.approx(experiment.MOST_LEARNING * plan.budget_s)
    figures: Any = run(plan, Watch())
    assert met[0] == "adaptive"
    assert met.count("adaptive") == 1 + 3
    assert figures["rounds"] == 3


def test_a_missing_library_is_named_before_anything_is_started(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(experiment, "find_spec", lambda _name: None)
    plan = dataclasses.replace(PLAN, experiment=Experiment("made", "digits", "bully", 0.3, "Made."))
    with pytest.raises(NotMeasurableError, match="scikit-learn is not installed"):
        run(plan, Watch())


def test_after_ctrl_c_the_whole_rounds_are_kept(stage: Callable[[Measure], None]) -> None:
    begun = []

    def measure(_condition: Condition, seed: int) -> Slice:
        begun.append(seed)
        if len(begun) == 2 * (ALONE.slices + 2) + 3:
            raise KeyboardInterrupt
        return made_slice(seed)

    stage(measure)
    watch = Watch()
    figures: Any = run(PLAN, watch)
    assert watch.interrupted
    assert figures["rounds"] == 2


def test_blocks_in_which_the_machine_stood_still_are_left_out_of_their_row_and_counted(
    stage: Callable[[Measure], None],
) -> None:
    def measure(condition: Condition, seed: int) -> Slice:
        if condition is not CPU_IDLE:
            return made_slice(seed)
        return made_slice(seed, stood_still=np.array([0, 1, 2]), standstills_ms=(40.0,))

    stage(measure)
    rows: Any = run(PLAN, Watch())["conditions"]
    assert rows["alone"]["left_out"] == 0.0
    assert rows["cpu.idle"]["left_out"] == pytest.approx(0.25, abs=0.05)
    assert rows["cpu.idle"]["standstills_ms"] == [40.0] * 3
