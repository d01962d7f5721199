"""The demo where this machine does not allow the real one."""

from __future__ import annotations

import json
import os

import pytest

from smartharvest.lab.demo import groups
from smartharvest.lab.demo.simulated import run_simulated_demo
from smartharvest.lab.demo.table import format_table
from tests.commands import smartharvest_here


def test_it_says_that_it_is_simulated_and_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    outcome = smartharvest_here("demo", "--seconds", "12")
    assert outcome.code == 0
    assert "Simulated, not measured: this machine lacks root (run it with sudo)" in outcome.out
    assert "using a simulated server" in outcome.err
    assert "smartharvest" in outcome.out


def test_its_document_has_the_demos_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(groups, "why_not_here", lambda: "no")
    document = json.loads(smartharvest_here("demo", "--seconds", "12", "--json").out)
    assert document["simulated"] == "no"
    by_name = {phase["name"]: phase for phase in document["phases"]}
    assert list(by_name) == [
        "no-harvest",
        "fixed-buffer:1",
        "smartharvest",
        "adaptive",
    ]
    assert by_name["no-harvest"]["harvested_cores"] == 0
    assert by_name["smartharvest"]["harvested_cores"] > 0.5
    assert len({phase["requests"] for phase in document["phases"]}) == 1


def test_the_same_seed_gives_the_same_demo() -> None:
    first, second = (
        run_simulated_demo(seconds=12, seed=4, reason="no", progress=lambda _: None)
        for _ in range(2)
    )
    first["seconds"] = second["seconds"] = 0.0
    assert first == second
    assert max(map(len, format_table(first).splitlines())) <= 120
