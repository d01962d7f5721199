"""Who may be taken cores from where the kernel lets the batch keep them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import pytest

from smartharvest.config.loading import load_settings
from smartharvest.config.settings import Placement, Settings
from smartharvest.host.target.spec import TargetSpec
from smartharvest.placement.capacity import Capacity
from smartharvest.placement.choice import PlacementChoice, lends_minimum, why_shared
from smartharvest.placement.target_set import TargetSet


@dataclass
class _Target:
    spec: TargetSpec
    group: object | None


WEB, BATCH = (_Target(TargetSpec("cgroup", name), object()) for name in ("web", "batch"))
PROCESS = _Target(TargetSpec("pid", "42"), None)


@dataclass
class _Targets:
    both: list[_Target]
    may_change: bool

    def all(self) -> list[_Target]:
        return self.both


def why(
    settings: Settings,
    *targets: _Target,
    elastic_min: int = 1,
    may_change: bool = False,
) -> str | None:
    those = _Targets(list(targets or (WEB, BATCH)), may_change)
    capacity = Capacity(
        pool=(0, 1, 2, 3),
        elastic_min=elastic_min,
        lendable=(3, 2, 1),
        allocations=(4,),
        max_harvest=2,
        max_shared=3,
        keep_idle=1,
    )
    return why_shared(settings, cast("TargetSet", those), capacity)


def test_nothing_speaks_against_two_plain_groups() -> None:
    assert why(Settings(placement="auto")) is None


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"placement": "shared"}, "placement = shared"),
        ({"policy": "smartharvest"}, "not smartharvest"),
        ({"mechanism": "strict"}, "mechanism strict"),
        ({"mechanism": "affinity"}, "mechanism affinity"),
        ({"order": "dynamic"}, "order = dynamic"),
        ({"park": "freeze"}, "park = freeze"),
        ({"unallocated": True}, "CPUs of nobody"),
    ],
)
def test_what_needs_shared_placement_keeps_it(more: dict[str, Any], reason: str) -> None:
    assert reason in (why(load_settings({"placement": "auto"} | more)) or "")


def test_a_process_has_no_cpuset_to_write() -> None:
    assert why(Settings(placement="auto"), WEB, PROCESS) == "pid:42 is no group"


def test_primaries_that_come_and_go_keep_their_cpusets() -> None:
    assert "may come and go" in (why(Settings(placement="auto"), may_change=True) or "")


def test_a_batch_without_a_core_of_its_own_would_meet_the_primary_all_the_same() -> None:
    assert "no core for itself" in (why(Settings(placement="auto"), elastic_min=0) or "")


def test_what_is_chosen_is_in_force_until_it_is_to_be_seen_again() -> None:
    choice = PlacementChoice(Settings(placement="auto"))
    choice.make("exclusive")
    choice.take(Settings(placement="auto", max_harvest=3))
    assert (choice.settings.placement, choice.settings.max_harvest) == ("exclusive", 3)
    choice.make(None)
    assert choice.settings.placement == "auto"


@pytest.mark.parametrize(
    ("more", "lends"),
    [
        ({}, True),
        ({"placement": "shared"}, False),
        ({"policy": "smartharvest"}, False),  # the paper's minimum stays
        ({"elastic_min": 1}, False),
        ({"elastic_min": 0}, False),
        ({"park": "idle"}, False),
        ({"mechanism": "cpugroups"}, False),
        ({"unallocated": True}, False),
    ],
)
def test_a_minimum_is_lent_only_where_its_harm_is_measured_and_nobody_chose_it(
    more: dict[str, Any], lends: bool
) -> None:
    assert lends_minimum(load_settings({"placement": "exclusive"} | more)) is lends


def minimum_of(choice: PlacementChoice) -> tuple[int | None, str]:
    return choice.settings.elastic_min, choice.settings.park


def test_a_minimum_is_lent_once_exclusive_placement_is_in_force_whatever_policy_follows() -> None:
    choice = PlacementChoice(Settings(placement="auto"))
    choice.know_freezer(is_there=True)
    assert minimum_of(choice) == (None, "auto")
    choice.make("exclusive")
    assert minimum_of(choice) == (0, "freeze")
    choice.take(Settings(placement="auto", policy="smartharvest"))
    assert choice.settings.policy == "smartharvest"
    assert minimum_of(choice) == (0, "freeze")
    choice.make("exclusive")  # seen again
    assert minimum_of(choice) == (None, "auto")
    choice.take(Settings(placement="auto"))
    assert minimum_of(choice) == (None, "auto")


def test_a_host_without_a_freezer_keeps_the_minimum() -> None:
    choice = PlacementChoice(Settings(placement="exclusive"))
    choice.know_freezer(is_there=False)
    assert minimum_of(choice) == (None, "auto")


@pytest.mark.parametrize("placement", ["shared", "exclusive"])
def test_a_placement_that_is_named_is_not_chosen_otherwise(placement: Placement) -> None:
    other: Placement = "exclusive" if placement == "shared" else "shared"
    choice = PlacementChoice(Settings(placement=placement), made=other)
    assert not choice.is_open
    assert choice.settings.placement == placement
