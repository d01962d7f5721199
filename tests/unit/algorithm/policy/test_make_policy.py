from __future__ import annotations

from typing import Any

import pytest

from smartharvest.algorithm.learning.options import LearningOptions
from smartharvest.algorithm.policy import POLICY_NAMES, make_policy
from smartharvest.algorithm.safeguard import (
    AggressiveSafeguard,
    BufferSafeguard,
    ConservativeSafeguard,
    OneAtATimeSafeguard,
)
from smartharvest.errors import ConfigError


@pytest.mark.parametrize("spelling", POLICY_NAMES)
def test_every_advertised_spelling_makes_the_policy_of_that_name(spelling: str) -> None:
    spec = spelling.replace(":N", ":3")
    assert make_policy(spec, total=10).name == spec


@pytest.mark.parametrize(
    ("spec", "safeguard", "buffer"),
    [
        ("smartharvest", ConservativeSafeguard, 0),
        ("no-harvest", AggressiveSafeguard, 0),
        ("fixed-buffer:3", BufferSafeguard, 3),
        ("prev-peak", AggressiveSafeguard, 0),
        ("prev-peak:10", OneAtATimeSafeguard, 0),
        ("part:3", BufferSafeguard, 0),
        ("wait:500us", BufferSafeguard, 0),
    ],
)
def test_each_policy_reacts_to_exhaustion_in_its_own_way(
    spec: str, safeguard: type, buffer: int
) -> None:
    policy = make_policy(spec, total=10)
    assert type(policy.short_term) is safeguard
    assert policy.buffer == buffer


def test_smartharvest_takes_the_chosen_safeguard() -> None:
    policy = make_policy("smartharvest", total=10, safeguard="aggressive")
    assert type(policy.short_term) is AggressiveSafeguard


@pytest.mark.parametrize(
    "spec",
    [
        *("", ":", "greedy", "smartharvest:2", "no-harvest:", "fixed-buffer", "prev-peak:"),
        *("fixed-buffer:0", "fixed-buffer:-1", "fixed-buffer:x", "fixed-buffer: 3", "prev-peak:٣"),
        *("prev-peak:0", "prev-peak:99999999999999999999", "Smartharvest"),
        *("wait:500", "wait:5ms", "wait:us", "wait:0us", "part:1us", "fixed-buffer:3us", "part"),
    ],
)
def test_a_spelling_that_is_no_policy_is_refused_by_name(spec: str) -> None:
    with pytest.raises(ConfigError, match=r"policy: .* is unknown; use one of smartharvest,") as e:
        make_policy(spec, total=10)
    assert repr(spec) in str(e.value)


@pytest.mark.parametrize("policy", ["smartharvest", "no-harvest"])
@pytest.mark.parametrize("key", ["cost", "safeguard"])
def test_an_unknown_cost_or_safeguard_is_refused_whatever_the_policy(policy: str, key: str) -> None:
    names: dict[str, Any] = {key: "none"}
    with pytest.raises(ConfigError, match=f"{key}: 'none' is unknown; use one of"):
        make_policy(policy, total=10, **names)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        *(("learning_rate", rate) for rate in (0.0, -0.1, float("nan"), float("inf"))),
        ("features_after_exhaustion", "both"),
        ("exhausted_windows", "sometimes"),
    ],
)
def test_a_learning_option_that_cannot_be_is_refused(key: str, value: Any) -> None:
    with pytest.raises(ConfigError, match=f"{key}: "):
        LearningOptions(**{key: value})
