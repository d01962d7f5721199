"""The progress of long commands."""

from __future__ import annotations

import pytest

from smartharvest.cli.progress import Progress, left


def test_each_tenth_has_a_line_with_the_time_left(capsys: pytest.CaptureFixture[str]) -> None:
    now = [0.0]
    progress = Progress("runs", clock=lambda: now[0])
    for done in range(21):
        now[0] = 3.0 * done
        progress(done, 20)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "0 of 20 runs"
    assert lines[5] == "10 of 20 runs, about 30 s left"
    assert lines[-1] == "20 of 20 runs"
    assert len(lines) == 11


@pytest.mark.parametrize(
    ("passed_s", "done", "total", "said"),
    [(0.1, 9, 10, "1 s"), (60.0, 1, 4, "3 min"), (3600.0, 1, 5, "4 h")],
)
def test_the_time_left_has_a_sensible_unit(
    passed_s: float, done: int, total: int, said: str
) -> None:
    assert left(passed_s, done, total) == f"about {said}"
