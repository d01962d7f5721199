"""The progress of long commands."""

from __future__ import annotations

import io
import sys

import pytest

from smartharvest.cli.progress import Progress, left

ERASE = "\r\x1b[K"


class Clock:
    now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """To be called within the test: pytest puts its own file there before."""
    found = Terminal()
    monkeypatch.setattr(sys, "stderr", found)
    return found


def work(progress: Progress, clock: Clock, steps: int = 20) -> None:
    for done in range(steps + 1):
        clock.now_s = 3.0 * done
        progress(done, steps)


def test_a_terminal_shows_the_time_left_in_one_line_that_goes_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    terminal = on_a_terminal(monkeypatch)
    clock = Clock()
    with Progress("runs", clock=clock) as progress:
        work(progress, clock)
    drawn = terminal.getvalue().split(ERASE)
    assert drawn[:2] == ["", "1 of 20 runs, about 57 s left"]  # nothing in the first second
    assert drawn[10] == "10 of 20 runs, about 30 s left"
    assert drawn[-2:] == ["20 of 20 runs", ""]
    assert not any("\n" in line for line in drawn)


def test_the_line_goes_away_when_the_work_is_interrupted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    terminal = on_a_terminal(monkeypatch)
    clock = Clock()

    def interrupted() -> None:
        with Progress("runs", clock=clock) as progress:
            work(progress, clock, steps=3)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert terminal.getvalue().endswith(ERASE)


def test_it_is_drawn_ten_times_a_second_at_most(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    terminal = on_a_terminal(monkeypatch)
    clock = Clock()
    progress = Progress("runs", clock=clock)
    for done in range(2001):
        clock.now_s = done / 1000
        progress(done, 2000)
    assert terminal.getvalue().count(ERASE) <= 11


def test_nothing_is_shown_next_to_json(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    terminal = on_a_terminal(monkeypatch)
    clock = Clock()
    with Progress("runs", wanted=False, clock=clock) as progress:
        work(progress, clock)
    assert terminal.getvalue() == ""


def test_nothing_is_shown_without_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    clock = Clock()
    with Progress("runs", clock=clock) as progress:
        work(progress, clock)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("passed_s", "done", "total", "said"),
    [(0.1, 9, 10, "1 s"), (60.0, 1, 4, "3 min"), (3600.0, 1, 5, "4 h")],
)
def test_the_time_left_has_a_sensible_unit(
    passed_s: float, done: int, total: int, said: str
) -> None:
    assert left(passed_s, done, total) == f"about {said}"
