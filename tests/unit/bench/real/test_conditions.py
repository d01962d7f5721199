"""What the real experiments put an agent through exists and is one thing each."""

from __future__ import annotations

import dataclasses

import pytest

from bench.real import ablations
from bench.real.batch import BATCHES
from bench.real.conditions import (
    BASELINE,
    CONDITIONS,
    EXPERIMENTS,
    RECOMMENDED,
    RIVAL,
    Condition,
)
from bench.real.primaries import PRIMARIES
from bench.real.without import PATCHES, without
from smartharvest.algorithm import safeguard
from smartharvest.algorithm.policy import check_policy
from smartharvest.config.settings import Settings
from smartharvest.mechanism.cpuset import CpusetMechanism

EVERY = (*CONDITIONS, *ablations.CONDITIONS)


@pytest.mark.parametrize("condition", EVERY, ids=lambda condition: condition.name)
def test_policies_and_settings_exist(condition: Condition) -> None:
    if condition.policy is not None:
        check_policy(condition.policy)
    dataclasses.replace(Settings(), **condition.settings)  # type: ignore[arg-type]
    assert condition.without in (None, *PATCHES)


@pytest.mark.parametrize("conditions", [CONDITIONS, ablations.CONDITIONS])
def test_rows_are_named_once_and_the_yardsticks_are_among_them(
    conditions: tuple[Condition, ...],
) -> None:
    names = [condition.name for condition in conditions]
    assert len(set(names)) == len(names)
    assert {BASELINE, RIVAL} <= set(names)


def test_the_recommended_policy_is_measured() -> None:
    assert RECOMMENDED in {condition.name for condition in CONDITIONS}


def test_every_primary_and_every_batch_is_in_an_experiment() -> None:
    assert {one.primary for one in EXPERIMENTS} == set(PRIMARIES)
    assert {one.batch for one in EXPERIMENTS} == set(BATCHES)


def test_a_part_is_switched_off_inside_and_back_outside() -> None:
    before = dict(safeguard.SHORT_TERM_SAFEGUARDS)
    with without("short-term safeguard"):
        made = safeguard.SHORT_TERM_SAFEGUARDS["none"](4)
        assert made.safe_cores(3) == 3
    assert before == safeguard.SHORT_TERM_SAFEGUARDS
    with without("nudge"):
        side = object.__new__(CpusetMechanism)
        side.may_nudge = True
        assert not side.may_nudge
    side.may_nudge = True
    assert side.may_nudge
