"""Who may be taken cores from where the kernel lets the batch keep them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import pytest

from smartharvest.config.loading import load_settings
from smartharvest.config.settings import Settings
from smartharvest.host.target.base import Target
from smartharvest.host.target.spec import TargetSpec
from smartharvest.placement.choice import why_shared


@dataclass
class _Target:
    spec: TargetSpec
    group: object | None


WEB, BATCH = (_Target(TargetSpec("cgroup", name), object()) for name in ("web", "batch"))
PROCESS = _Target(TargetSpec("pid", "42"), None)


def why(
    settings: Settings,
    *targets: _Target,
    elastic_min: int = 1,
    may_change: bool = False,
) -> str | None:
    both = cast("list[Target]", list(targets or (WEB, BATCH)))
    return why_shared(settings, both, elastic_min=elastic_min, may_change=may_change)


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
