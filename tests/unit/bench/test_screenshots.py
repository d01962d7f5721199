"""What the pictures of the documentation show, without a browser that takes them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("PIL", reason="pillow is not installed")
pytest.importorskip("rich", reason="rich is not installed")

from bench import screenshots
from smartharvest.telemetry.day import DIED, read_day


class Browser:
    """Has no window."""

    def __init__(self) -> None:
        self.shown = ""

    def look(self, *_size: int) -> None: ...

    def open(self, address: str, _shown: str) -> None:
        self.shown = Path(address.removeprefix("file://")).read_text()

    def picture(self, _path: str) -> None: ...


def test_the_day_has_a_gap_a_death_and_a_pause() -> None:
    day = read_day(screenshots.logged_day())
    assert len(day.gaps) == 1
    assert DIED in [text for _, text in day.incidents]
    assert set(day.held_s) == {"paused by the operator"}


def test_top_shows_all_that_a_large_terminal_has_room_for(tmp_path: Path) -> None:
    browser: Any = Browser()
    screenshots.draw_top(browser, tmp_path, "top.png")
    for words in ("granted", "events", "primary cgroup:web", "cpu  15"):
        assert words in browser.shown, words
    first = browser.shown
    screenshots.draw_top(browser, tmp_path, "top.png")
    assert browser.shown == first
