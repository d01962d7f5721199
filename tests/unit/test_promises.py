"""The page shows what guests told of each kernel and preemption mode."""

from __future__ import annotations

from typing import Any

from tests.lab.promises import BEGIN, END, PAGE, WORK, gathered, page_with
from tests.lab.promises_inside import KINDS

SOON, LATE = {"p50": 12.0, "p90": 13.0, "max": 20.0}, {"p50": 2000.0, "p90": 3600.0, "max": 4010.0}


def told(mode: str, default: bool) -> dict[str, Any]:
    cases = {f"{kind}, {work}": {"timer": SOON, "afar": LATE} for kind in KINDS for work in WORK}
    return {
        "kernel": "6.1",
        "mode": mode,
        "default": default,
        "hz": 250,
        "sched": {"min_granularity_ns": "3000000"},
        "late_us": {"nobody": {"timer": SOON, "afar": SOON}, **cases},
    }


def test_what_strict_adds_is_that_of_all_its_programs() -> None:
    own = {"turns": 400, "turn": 1500, "programs": {"running": {"runs": 800, "mean_ns": 100}}}
    names = [f"{what}, {n} spare" for what in ("primaries hand over", "wakes") for n in (0, 2)]
    prices = {"primaries hand over, no scheduler": {"turn": 1490}, **dict.fromkeys(names, own)}
    text = page_with(f"{BEGIN}{END}", [{**told("full", True), "strict": prices}])
    assert "| wakes | 200 | 200 | `running` 200 |" in text
    assert "1,490 instructions a turn without the scheduler, 1,500 and 1,500 with it." in text


def test_the_page_shows_what_was_told() -> None:
    page = PAGE.read_text()
    assert page_with(page, gathered()) == page


def test_a_mode_has_a_row_in_each_table_and_who_waits_for_a_tick_stands_out() -> None:
    text = page_with(f"before\n{BEGIN}old\n{END}after\n", [told("none", False), told("full", True)])
    assert text.startswith(f"before\n{BEGIN}A batch in user mode:\n")
    assert text.endswith(f"{END}after\n")
    assert text.count("| 6.1, full (default) | ") == len(WORK) + 1
    assert "| 6.1, none | 12, 13; **2,000**, 3,600 | " in text
    assert "| 6.1, none | 250 | 3 | 12, 13; 12, 13 |" in text
