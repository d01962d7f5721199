"""The page on adding a policy: its code runs as it is written."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from smartharvest.algorithm import policy
from smartharvest.algorithm.policy.base import PolicySettings
from smartharvest.lab.simulator.run import Experiment, run_policy
from smartharvest.lab.simulator.workloads import WORKLOADS
from tests.unit.algorithm.policy.windows import window

PAGE = (Path(__file__).parents[4] / "docs" / "design" / "adding-a-policy.md").read_text()
FILE, ENTRY, TEST = re.findall(r"^```python\n(.+?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.fixture
def written() -> dict[str, Any]:
    """What the page's file defines."""
    names: dict[str, Any] = {}
    exec(compile(FILE, "ewma_peak.py", "exec"), names)
    return names


def test_the_entry_names_the_file_and_its_class(written: dict[str, Any]) -> None:
    name, module, maker = re.fullmatch(r'\s*"([\w-]+)": "(\w+):(\w+)",\s*', ENTRY).groups()  # type: ignore[union-attr]
    assert written[maker](PolicySettings(total=4)).name == name
    assert f"policy/{module}.py" in PAGE
    assert all(":" in entry for entry in policy._PLAIN.values())  # the table it joins


def test_it_lends_on_a_simulated_server(written: dict[str, Any]) -> None:
    experiment = Experiment(WORKLOADS["memcached"], seconds=2.0)
    machine, _ = run_policy(
        experiment, make=lambda total: written["EwmaPeak"](PolicySettings(total=total))
    )
    assert machine.simulation.counters()["harvested_core_ns"] > 0


def test_its_test_passes(written: dict[str, Any]) -> None:
    names = {**written, "window": window}
    exec(compile(TEST, "test_ewma_peak.py", "exec"), names)
    names["test_a_quiet_primary_keeps_one_core_to_spare"]()
