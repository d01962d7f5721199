"""What the real experiments put an agent through exists and is one thing each."""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace
from typing import Any

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
from bench.real.without import PARTS, WithoutNudge, without
from smartharvest.algorithm.policy import check_policy, make_policy
from smartharvest.config.settings import Settings
from smartharvest.mechanism.choice import make_mechanism

EVERY = (*CONDITIONS, *ablations.CONDITIONS)


@pytest.mark.parametrize("condition", EVERY, ids=lambda condition: condition.name)
def test_policies_and_settings_exist(condition: Condition) -> None:
    if condition.policy is not None:
        check_policy(condition.policy)
    dataclasses.replace(Settings(), **condition.settings)  # type: ignore[arg-type]
    assert condition.without in (None, *PARTS)


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


def test_without_its_short_term_safeguard_an_exhausted_buffer_stays_as_it_is() -> None:
    policy = without("short-term safeguard").wrap(make_policy("prev-peak", total=4))
    assert policy.short_term.safe_cores(3) == 3
    assert (policy.name, policy.buffer, policy.quiet_ns) == ("prev-peak", 0, None)


def test_without_a_nudge_what_arranging_found_does_not_count() -> None:
    found = SimpleNamespace(may_nudge=False, idle_file="cpu.idle")
    found.arrange = lambda *_: setattr(found, "may_nudge", True)
    mechanism: Any = WithoutNudge(found)
    mechanism.arrange(None)
    assert (mechanism.may_nudge, mechanism.idle_file) == (False, "cpu.idle")
    assert without(None).make_mechanism is make_mechanism
