"""A policy is simulated under the conditions that it was made for."""

from __future__ import annotations

import json

import pytest

from smartharvest.algorithm.policy import POLICY_NAMES
from smartharvest.errors import ConfigError
from smartharvest.lab.simulator.conditions import (
    PAPERS_CONDITIONS,
    Conditions,
    check_conditions,
    made_for,
)
from tests.commands import smartharvest_here


def simulate(*more: str) -> tuple[dict[str, object], str]:
    done = smartharvest_here("simulate", "--seconds", "2", "--json", *more)
    assert done.code == 0, done.err
    return json.loads(done.out), done.err


def test_the_papers_policies_have_the_papers_conditions() -> None:
    for policy in ("smartharvest", "prev-peak:10", "fixed-buffer:2", "no-harvest", "instant"):
        assert made_for(policy) == PAPERS_CONDITIONS


def test_policies_that_judge_waits_act_on_events_under_a_mechanism_of_linux() -> None:
    assert made_for("adaptive-quiet") == Conditions(True, "demand", "auto", "linux")
    for policy in ("adaptive", "everywhere", "part:3", "wait:500us"):
        assert made_for(policy) == Conditions(True, "demand", "auto", "cpu-idle")


@pytest.mark.parametrize("policy", [name for name in POLICY_NAMES if ":" not in name])
def test_every_policy_passes_under_its_own_conditions(policy: str) -> None:
    check_conditions(policy, made_for(policy))


def test_a_policy_that_needs_events_refuses_to_be_sampled() -> None:
    with pytest.raises(ConfigError, match=r"^policy: adaptive-quiet acts on events"):
        check_conditions("adaptive-quiet", PAPERS_CONDITIONS)


def test_what_is_not_asked_for_is_as_the_policy_was_made_for_and_the_command_says_so() -> None:
    alone, said = simulate("--policy", "adaptive-quiet")
    words = ["--events", "--label", "demand", "--long-term", "auto", "--mechanism", "linux"]
    assert said.strip() == f"adaptive-quiet runs under {' '.join(words)}"
    assert simulate("--policy", "adaptive-quiet", *words)[0] == alone


def test_a_simulated_policy_is_told_harm_and_spends_the_budget_it_is_given() -> None:
    cores = []
    kernel = ("--mechanism", "cpu-idle-kernel")
    for protect in ("0.01%", "10%"):
        told, _ = simulate("--policy", "adaptive", *kernel, "--seconds", "5", "--protect", protect)
        cores.append(float(str(told["harvested_cores"])))
    assert cores[0] < cores[1]


def test_what_is_asked_for_is_kept() -> None:
    _, said = simulate("--policy", "adaptive-quiet", "--mechanism", "ipi", "--long-term", "off")
    assert "--long-term off --mechanism ipi" in said


def test_nothing_is_said_of_the_papers_own_conditions() -> None:
    assert simulate("--policy", "prev-peak")[1] == ""


def test_the_command_refuses_conditions_under_which_the_policy_cannot_work() -> None:
    done = smartharvest_here("simulate", "--policy", "everywhere", "--sampled")
    assert done.code == 2
    assert done.err.startswith("smartharvest: policy: everywhere acts on events")
