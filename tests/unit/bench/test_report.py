"""The page that shows a document."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.report import write_report
from bench.statistics import summarize


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
            "gone": {"skipped": "needs root"},
        },
    }


def test_every_case_and_every_goal_is_on_the_page(tmp_path: Path) -> None:
    write_report(document(), tmp_path / "page.md")
    text = (tmp_path / "page.md").read_text()
    assert "| poll us | 1 | 2 | **missed** |" in text
    assert "| fast | 1.75 |" in text
    assert "| slow | 7 |" in text
    assert "skipped: needs root" in text


def test_pictures_are_drawn_and_old_ones_go(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    (tmp_path / "page").mkdir()
    (tmp_path / "page" / "stale.png").write_bytes(b"")
    write_report(document(), tmp_path / "page.md")
    assert [path.name for path in (tmp_path / "page").iterdir()] == ["poll.png"]
    assert "![poll](page/poll.png)" in (tmp_path / "page.md").read_text()
