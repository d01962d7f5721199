"""What counts as moved between two results."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from bench.cases import find_cases, find_values
from bench.compare import Figure, Move, compare, main, warnings_of
from bench.statistics import across_rounds
from bench.statistics import compare as measured


def made(median: float, spread: tuple[float, float], cpu: str = "a") -> dict[str, object]:
    case = {"median_us": median, "p99_us": median, "max_us": median, "samples": 5}
    return {
        "machine": {"cpu_model": cpu, "cpus": 2, "kernel": "6.1", "python": "3.11"},
        "subjects": {"poll": {"cores": 4, "inner": {"case": {**case, "spread_us": list(spread)}}}},
    }


def test_cases_are_found_at_any_depth_with_where_they_stand() -> None:
    (case,) = find_cases(made(1.0, (0.9, 1.1)))
    assert case.path == "poll.inner.case"


@pytest.mark.parametrize(
    ("median", "spread", "moved"),
    [
        (1.0, (0.9, 1.1), False),
        (1.5, (1.05, 1.6), False),  # the rounds overlap
        (1.5, (1.2, 1.6), True),
        (0.5, (0.4, 0.6), True),
        (1.08, (1.101, 1.12), False),  # too little
    ],
)
def test_a_case_moves_when_its_rounds_part_and_the_median_differs_enough(
    median: float, spread: tuple[float, float], moved: bool
) -> None:
    (move,) = compare(made(1.0, (0.9, 1.1)), made(median, spread))
    assert move.beyond_noise is moved


def test_few_rounds_must_part_by_as_much_as_they_spread() -> None:
    old, near, far = (made(m, (m - 0.1, m + 0.1)) for m in (1.0, 1.35, 1.5))
    for rounds, moved in ((5, [True, True]), (3, [False, True])):
        for document in (old, near, far):
            document["rounds"] = rounds
        found = [compare(old, new)[0].beyond_noise for new in (near, far)]
        assert found == moved


def test_of_real_services_the_p99_over_alone_is_compared() -> None:
    def document(ratio: float) -> dict[str, object]:
        p99 = {"ratio": ratio, "interval": [ratio * 0.9, ratio * 1.2]}
        rows = {"alone": {}, "cpu.idle": {"to_alone": {"p99": p99}}}
        return {"experiments": {"one": {"conditions": rows}, "two": {"skipped": "no server"}}}

    (move,) = compare(document(1.0), document(2.0))
    assert (move.path, move.beyond_noise) == ("one.cpu.idle.p99 of alone", True)
    assert not compare(document(1.0), document(1.3))[0].beyond_noise


def test_a_case_that_only_one_has_is_no_move() -> None:
    new = made(1.0, (0.9, 1.1))
    new["subjects"] = {}
    assert compare(made(1.0, (0.9, 1.1)), new) == []


def test_values_move_as_times_do() -> None:
    old, new = made(1.0, (0.9, 1.1)), made(1.0, (0.9, 1.1))
    for document, value in ((old, 0.1), (new, 0.3)):
        document["subjects"] = {"loop": {"sleep": {"cpu_share": across_rounds([value])}}}
    assert [value.path for value in find_values(old)] == ["loop.sleep.cpu_share"]
    (move,) = compare(old, new)
    assert (move.path, move.beyond_noise, move.change) == (
        "loop.sleep.cpu_share",
        True,
        "3.00x more",
    )


def test_a_figure_that_becomes_nothing_or_less_is_told_without_a_ratio() -> None:
    move = Move("x", Figure(1.0, 1.0, 1.0), Figure(0.0, 0.0, 0.0))
    assert move.beyond_noise
    assert move.change == "from or to nothing"


def test_machines_are_compared_by_ratios_to_floors_alone() -> None:
    def document(slower: int) -> dict[str, object]:
        floor = [[1000 * slower, 1000 * slower]] * 2
        own = [[3000 * slower, 3000 * slower], [4000 * slower, 4000 * slower]]
        cases = measured({"own": own, "floor": floor}, {"own": "floor"})
        return {"subjects": {"poll": {**cases, "share": across_rounds([0.1 * slower])}}}

    (move,) = compare(document(1), document(5), ratios=True)
    assert (move.path, move.ratio) == ("poll.own", 1.0)
    assert (move.old.low, move.old.high) == (3.0, 4.0)


def test_another_machine_is_warned_of() -> None:
    assert warnings_of(made(1, (1, 1), "a"), made(1, (1, 1), "b")) == ["cpu_model differs: a and b"]


def test_a_partial_or_disturbed_result_is_warned_of() -> None:
    partial = {**made(1, (1, 1)), "interrupted": "poll", "warnings": ["too busy: load"]}
    assert warnings_of(made(1, (1, 1)), partial) == [
        "the new one's machine was too busy: load",
        "the new one is partial: it was interrupted",
    ]


def test_the_command_shows_what_moved_and_never_fails(tmp_path: Path) -> None:
    for name, document in (("old", made(1.0, (0.9, 1.1))), ("new", made(3.0, (2.5, 3.5)))):
        (tmp_path / name).write_text(json.dumps(document))
    done = CliRunner().invoke(main, [str(tmp_path / "old"), str(tmp_path / "new")])
    assert done.exit_code == 0
    assert "poll.inner.case: 1 -> 3 us, 3.00x more" in done.output


def test_what_is_no_result_is_told_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("{")
    done = CliRunner().invoke(main, [str(tmp_path / "x"), str(tmp_path / "x")])
    assert done.exit_code == 1
    assert "is no result of a bench" in done.output
