"""What ``top`` draws: all of it in 80x24, nothing wider or longer than the terminal."""

from __future__ import annotations

import pytest

pytest.importorskip("rich")

from smartharvest.telemetry.top_history import History, changes
from smartharvest.telemetry.view import draw
from smartharvest.telemetry.view_large import time_axis
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


def cores(**changes: object) -> dict[str, object]:
    return {**status()["cores"], **changes}


def test_the_map_tells_who_runs_on_each_core_and_which_are_lent() -> None:
    lines = drawn()
    (at,) = [number for number, line in enumerate(lines) if line.startswith("cpus")]
    assert lines[at : at + 2] == ["cpus    0 P··E", "lent        ^^"]


def test_the_map_of_many_cores_stands_in_groups_and_rows() -> None:
    runs = {"primary": "0-63", "other": "64-99", "idle": "100-255"}
    many = cores(pool="0-255", elastic_cpus="96-255", runs=runs)
    lines = drawn(cores=many)
    first, second = [line for line in lines if line.startswith("cpus")]
    assert first == "cpus    0 " + " ".join(["PPPPPPPP"] * 7)
    assert second.startswith("cpus   56 PPPPPPPP oooooooo")
    assert second.endswith(" …")
    assert "q quit" in lines[-1]
    assert any(line.startswith("agent ") for line in lines)


def test_a_sensor_that_sees_no_cores_leaves_the_map_open() -> None:
    (line,) = [line for line in drawn(cores=cores(runs=None)) if line.startswith("cpus")]
    assert line == "cpus    0 ????"


def test_a_terminal_that_knows_ascii_alone_gets_no_more() -> None:
    seen = status(primary=["cgroup:grün"])
    history = History()
    history.add(seen)
    lines = draw(seen, history, 80, 24, ascii_only=True)
    text = "\n".join(line.plain for line in lines)
    assert text.isascii()
    assert "cgroup:gr?n > cgroup:batch" in text
    assert "cpus    0 P..E" in text


def test_why_nothing_is_lent_is_told() -> None:
    held = status()["safeguards"] | {"lends_nothing_because": "paused by the operator"}
    assert "now    lends nothing: paused by the operator" in drawn(safeguards=held)


def test_expanded_it_tells_of_doubts_and_warnings() -> None:
    warned = [{"age_s": 65.0, "text": "the disk\x1b[2J is full"}]
    text = "\n".join(drawn(height=40, expanded=True, warnings=warned))
    assert "safety give-backs: starved 2" in text
    assert "1min 05s ago: the disk?[2J is full" in text


def test_a_large_terminal_also_shows_a_time_axis_the_groups_and_each_cpu() -> None:
    lines = drawn(130, 45)
    assert sum("now╵" in line for line in lines) == 2  # below the curves, below the CPUs
    (row,) = [line for line in lines if line.startswith("cpu   3^")]
    assert set(row.removeprefix("cpu   3^")) == {"E"}
    assert any(line.startswith("elastic cgroup:batch") for line in lines)
    assert not any("╵" in line or line.startswith("cpu   ") for line in drawn(130, 24))


def test_what_changed_between_two_answers_is_an_event() -> None:
    before = status()
    guards = {**before["safeguards"], "short_term": 5, "lends_nothing_because": "paused"}
    later = status(
        safeguards=guards,
        harvested={**before["harvested"], "now": 0},
        warnings=[{"age_s": 1.0, "text": "a warning"}],
    )
    assert changes(before, before) == []
    assert changes(before, later) == [
        "lent 1 → 0 (predicted)",
        "short-term safeguard, 2 times",
        "lends nothing: paused",
        "a warning",
    ]


def test_the_time_axis_tells_how_long_ago_each_column_was() -> None:
    history = History()
    for second in range(40):
        history.add(status(), at_s=float(second))
    axis = time_axis(history, 80).plain
    assert axis.index("╵now") == 8 + 39
    assert axis.index("╵-15s") == 8 + 24
    assert axis.index("╵-30s") == 8 + 9
