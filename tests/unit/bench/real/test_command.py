"""``python -m bench.real`` where nothing, or not everything, can be measured."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from bench.real import __main__ as command
from bench.real.experiment import Plan
from bench.subject import Figures, NotMeasurableError, Watch
from smartharvest.errors import RightsError


def bench(*arguments: str) -> Result:
    return CliRunner().invoke(command.main, ["--minutes", "1", *arguments])


@pytest.fixture(autouse=True)
def no_glance(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "why_not_here", lambda: None)
    monkeypatch.setattr(command, "shortcomings", lambda: ["too busy: others use 1.5 of 2 cores"])


def no_memcached(plan: Plan, _watch: Watch) -> Figures:
    if plan.experiment.primary == "memcached":
        raise NotMeasurableError("memcached is not installed; apt install memcached")
    return {"rounds": 5}


def refused(_plan: Plan, _watch: Watch) -> Figures:
    raise RightsError("demo: a group could not be made")


def test_a_program_that_is_missing_costs_only_its_own_experiments(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(command, "run", no_memcached)
    result = bench("--out", str(tmp_path / "real.json"))
    assert result.exit_code == 0, result.output
    document = json.loads((tmp_path / "real.json").read_text())
    skipped = document["experiments"]["memcached-build-30"]["skipped"]
    assert skipped == "memcached is not installed; apt install memcached"
    assert document["experiments"]["search-sort-40"] == {"rounds": 5}
    assert document["warnings"] == ["too busy: others use 1.5 of 2 cores"]
    assert "careful: this machine is too busy: others use 1.5 of 2 cores" in result.stderr


def test_a_run_that_measured_nothing_leaves_the_earlier_result(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    out = tmp_path / "real.json"
    out.write_text("earlier")
    monkeypatch.setattr(command, "run", refused)
    result = bench("--out", str(out))
    assert result.exit_code == RightsError.exit_code
    assert out.read_text() == "earlier"
    assert "skipped: demo: a group could not be made" in result.stderr
    assert result.stderr.endswith(f"bench: nothing was measured; {out} is left as it was\n")


def test_without_rights_it_says_so_once_and_measures_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(command, "why_not_here", lambda: "this machine lacks root")
    result = bench()
    assert result.exit_code == RightsError.exit_code
    assert result.output == "bench: this machine lacks root; nothing can be measured\n"
