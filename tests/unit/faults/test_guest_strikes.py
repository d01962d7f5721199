"""Strikes in guests are gathered, and the page shows all of them."""

from __future__ import annotations

from tests.lab.faults import PAGE, gathered, next_slices, page_with


def test_a_guest_is_asked_for_each_slice_in_turn_with_seeds_it_has_not_had() -> None:
    before = [{"kernel": "6.12", "slice": "host,merge,shared"}] * 2
    asked = next_slices(before, "6.12", ["host,merge,shared", "pid,merge,shared"], 5, 2)
    assert asked == [
        *("host,5,3,merge,shared", "pid,5,1,merge,shared"),
        *("host,5,4,merge,shared", "pid,5,2,merge,shared"),
    ]
    assert next_slices(before, "6.1", ["host,merge,shared"], 5, 1) == ["host,5,1,merge,shared"]


def test_the_page_shows_what_was_gathered() -> None:
    page = PAGE.read_text()
    assert page_with(page, gathered()) == page
