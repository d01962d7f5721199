"""The evaluation as a whole, on runs too short to mean anything."""

from __future__ import annotations

import csv
import re
from dataclasses import replace
from pathlib import Path

import pytest

from smartharvest.lab.reproduction import runner
from smartharvest.lab.reproduction.document import Conditions, page, write_part
from smartharvest.lab.reproduction.evaluation import PARTS, paper
from smartharvest.lab.reproduction.runner import Summary, mean_of, run_all
from smartharvest.lab.reproduction.section import Part
from smartharvest.lab.reproduction.setups import Run, Setup, run_setup
from smartharvest.lab.simulator.workloads import WORKLOADS

INDEXSERVE = WORKLOADS["indexserve"]
SHORT_S = 0.6


def made_run(**values: object) -> Run:
    return replace(Run(1.0, (110.0,), (100.0,), 1.0, 5.0, 3.0, 0, 0, 0), **values)  # type: ignore[arg-type]


def test_every_figure_and_table_of_section_5_is_there() -> None:
    names = [part.name for part in PARTS]
    assert names == [f"figure-{n}" for n in range(4, 16)] + [f"table-{n}" for n in (1, 2, 3)]


def test_the_paper_s_numbers_are_read() -> None:
    told = paper()
    assert told["limit"]["p99_change"] == 0.1
    assert set(told["table-1"]) == set(WORKLOADS)


def test_a_run_tells_what_the_policy_did() -> None:
    run = run_setup(Setup(INDEXSERVE, "fixed-buffer:2", seconds=2.0), 1)
    assert 4 < run.harvested < 9
    assert run.change > 0
    assert run == run_setup(Setup(INDEXSERVE, "fixed-buffer:2", seconds=2.0), 1)


def test_phases_are_told_apart() -> None:
    run = run_setup(Setup(INDEXSERVE, "no-harvest", seconds=3.0, phase_s=1.0), 1)
    assert len(run.phases_us) == 3
    assert len(set(run.phases_us)) == 3


def test_windows_are_kept_where_they_are_shown() -> None:
    run = run_setup(Setup(INDEXSERVE, "prev-peak", seconds=2.0, shown_s=(1.0, 1.5)), 1)
    assert len(run.windows) > 10
    assert all(1.0 <= end_s <= 1.5 for end_s, _, _ in run.windows)


def test_processes_side_by_side_find_what_one_finds() -> None:
    wanted = [Setup(INDEXSERVE, policy, seconds=0.5) for policy in ("prev-peak", "no-harvest")]
    told: list[tuple[int, int]] = []
    alone = run_all([*wanted, wanted[0]], (1, 2), 1, lambda *at: told.append(at))
    assert told == [(done, 4) for done in range(5)]
    assert run_all(wanted, (1, 2), 2, lambda *_: None) == alone


@pytest.mark.parametrize(
    ("ours", "theirs", "more"),
    [((2.0, 2.1), (1.0, 1.1), True), ((1.0, 2.0), (1.1, 1.0), False), ((1.0,), (2.0,), False)],
)
def test_more_means_more_than_the_seeds_differ(
    ours: tuple[float, ...], theirs: tuple[float, ...], more: bool
) -> None:
    mine, other = (
        Summary(tuple(made_run(harvested=cores) for cores in values)) for values in (ours, theirs)
    )
    assert mine.harvests_more(other) is more


def test_a_summary_averages_over_the_seeds() -> None:
    summary = Summary((made_run(p99_us=(110.0,)), made_run(p99_us=(130.0,))))
    assert summary.change.value == pytest.approx(0.2)
    assert summary.p99_us().value == 120
    assert mean_of([3.0]).spread == 0


@pytest.fixture(scope="module")
def short_results() -> runner.Results:
    """Every setup of the evaluation, for a moment."""
    results: runner.Results = {}
    for setup in dict.fromkeys(setup for part in PARTS for setup in part.setups()):
        shown = (0.1, 0.5) if setup.shown_s else None
        phase_s = SHORT_S / 3 if setup.phase_s else None
        short = replace(setup, seconds=SHORT_S, shown_s=shown, phase_s=phase_s)
        results[setup] = Summary((run_setup(short, 1),))
    return results


@pytest.mark.parametrize(
    "part", [part for part in PARTS if part.name != "table-3"], ids=lambda part: part.name
)
def test_a_part_becomes_data_a_figure_and_verdicts(
    part: Part, short_results: runner.Results, tmp_path: Path
) -> None:
    pytest.importorskip("matplotlib")
    finding = part.finish(short_results, paper())
    assert finding.verdicts
    write_part(part, finding, str(tmp_path))
    with open(tmp_path / f"{part.name}.csv", encoding="utf-8") as file:
        assert len(list(csv.DictReader(file))) == len(finding.rows) > 0
    figure = tmp_path / f"{part.name}.png"
    assert figure.exists() is part.name.startswith("figure")
    if figure.exists():
        assert figure.read_bytes().startswith(b"\x89PNG")
    text = page([(part, finding)], Conditions((1,), 1, 1, 1.0), "data")
    assert all(verdict.claim in text for verdict in finding.verdicts)
    for anchor in re.findall(r"\]\(#([^)]*)\)", text):
        headings = [
            re.sub(r"[^\w -]", "", line.removeprefix("## ").lower()).replace(" ", "-")
            for line in text.splitlines()
            if line.startswith("## ")
        ]
        assert anchor in headings


def test_a_claim_that_cannot_be_judged_says_why(short_results: runner.Results) -> None:
    told = paper()
    for part in PARTS:
        if part.name == "table-3":
            continue
        for verdict in part.finish(short_results, told).verdicts:
            if verdict.holds is None:
                assert verdict.why, verdict.claim


def test_learning_is_measured_here(monkeypatch: pytest.MonkeyPatch) -> None:
    from smartharvest.lab.reproduction import learning

    for name, value in (("CADENCE_S", 0.0), ("REPEATS", 3), ("HOT_REPEATS", 3)):
        monkeypatch.setattr(learning, name, value)
    found = learning.measure_learning()
    assert list(found) == ["features", "update", "inference"]
    assert all(cold.value > 0 and hot.value > 0 for cold, hot in found.values())
