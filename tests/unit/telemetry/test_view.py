"""What ``top`` draws: all of it in 80x24, nothing wider or longer than the terminal."""

from __future__ import annotations

import pytest

pytest.importorskip("rich")

from smartharvest.telemetry.view import History, draw
from tests.unit.telemetry.test_metrics import status


def drawn(
    width: int = 80, height: int = 24, expanded: bool = False, **changes: object
) -> list[str]:
    seen = status(**changes)
    history = History()
    for _ in range(200):
        history.add(seen)
    return [line.plain for line in draw(seen, history, width, height, expanded=expanded)]


def test_all_there_is_to_see_fits_an_old_terminal() -> None:
    text = "\n".join(drawn())
    for word in (
        "agent 7", "cgroup:web", "predicted", "cpus", "busy", "demand", "granted", "buffer",
        "lent", "waits", "safeguards", "learner", "q quit",
    ):  # fmt: skip
        assert word in text


@pytest.mark.parametrize(("width", "height"), [(80, 24), (40, 10), (20, 5), (200, 60), (1, 1)])
@pytest.mark.parametrize("expanded", [False, True])
def test_it_never_overflows(width: int, height: int, expanded: bool) -> None:
    lines = drawn(width, height, expanded)
    assert len(lines) <= height
    assert all(len(line) <= width for line in lines)


def test_the_map_tells_whose_each_core_is() -> None:
    (line,) = [line for line in drawn() if line.startswith("cpus")]
    assert line.split()[1:] == ["0P", "1P", "2E", "3E"]


def test_why_nothing_is_lent_is_told() -> None:
    held = status()["safeguards"] | {"lends_nothing_because": "paused by the operator"}
    assert "now    lends nothing: paused by the operator" in drawn(safeguards=held)


def test_expanded_it_tells_of_doubts_and_warnings() -> None:
    warned = [{"age_s": 65.0, "text": "the disk\x1b[2J is full"}]
    text = "\n".join(drawn(height=40, expanded=True, warnings=warned))
    assert "given back  starved 2" in text
    assert "1min 05s ago: the disk?[2J is full" in text
