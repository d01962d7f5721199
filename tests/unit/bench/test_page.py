"""The page that shows a document."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from bench import pictures
from bench.page import main, write_page
from bench.statistics import across_rounds, summarize

Lines = dict[str, list[tuple[float, float, tuple[float, float]]]]


def document() -> dict[str, object]:
    return {
        "machine": {
            "cpu_model": "made",
            "cpus": 2,
            "kernel": "6.1",
            "python": "3.11",
            "steal_share": 0.01,
            "load_average_before": [0.5],
            "load_average_after": [0.6],
        },
        "seed": 1,
        "rounds": 2,
        "seconds": 3.0,
        "goals": {"poll_us": {"goal": 1.0, "value": 2.0, "met": False}},
        "subjects": {
            "poll": {
                "cores": 4,
                "fast": summarize([[1000, 2000], [1500, 2500]]),
                "slow": {**summarize([[5000, 9000], [6000, 8000]]), "floor": "fast"},
            },
            "loop": {
                "sleep": {"late_us": across_rounds([1.0, 3.0]), "missed": across_rounds([0.0])},
                "spin": {"late_us": across_rounds([0.5]), "missed": across_rounds([0.25])},
            },
            "speed": {"native": {**across_rounds([2.0, 4.0, 3.0]), "ratio": 1.5, "runs": 3}},
            "gone": {"skipped": "needs root"},
        },
    }


def test_every_case_and_every_goal_is_on_the_page(tmp_path: Path) -> None:
    write_page(tmp_path / "page.md", bench=document())
    text = (tmp_path / "page.md").read_text()
    assert "| poll us | 1 | 2 | **missed** |" in text
    assert "| fast | 1.75 |" in text
    assert "| slow | 7 |" in text
    assert "Skipped: needs root" in text
    assert "| sleep | 2 (1..3) | 0 (0..0) |" in text
    assert "| native | 3 | 2..4 | 1.5 | 3 |" in text


def test_pictures_are_drawn_and_old_ones_go(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    (tmp_path / "page").mkdir()
    (tmp_path / "page" / "stale.png").write_bytes(b"")
    write_page(tmp_path / "page.md", bench=document())
    assert [path.name for path in (tmp_path / "page").iterdir()] == ["poll.png"]
    assert "![poll](page/poll.png)" in (tmp_path / "page.md").read_text()


def test_a_partial_run_and_a_busy_machine_are_told(tmp_path: Path) -> None:
    partial = {**document(), "interrupted": "poll", "warnings": ["too busy: somebody else"]}
    write_page(tmp_path / "page.md", bench=partial)
    text = (tmp_path / "page.md").read_text()
    assert "**Partial:** the run was interrupted in poll." in text
    assert "**Careful:** the machine was too busy: somebody else." in text


def test_lines_are_drawn_over_the_numbers_in_the_names(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    drawn: Lines = {
        "read": [(1.0, 2.0, (1.0, 3.0)), (10.0, 4.0, (3.0, 5.0))],
        "one": [(1.0, 1.0, (1, 1))],
    }
    assert pictures.draw_lines(drawn, tmp_path / "lines.png", x="tasks", unit="us")
    assert not pictures.draw_lines({"one": drawn["one"]}, tmp_path / "no.png", x="tasks", unit="us")
    assert [file.name for file in tmp_path.iterdir()] == ["lines.png"]


def test_the_command_says_what_is_missing(tmp_path: Path) -> None:
    done = CliRunner().invoke(main, ["--results", str(tmp_path), "--out", str(tmp_path / "p.md")])
    assert done.exit_code == 1
    assert "run make bench first" in done.output
