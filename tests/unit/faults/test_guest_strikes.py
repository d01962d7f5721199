"""Strikes in guests are gathered, and the page shows all of them."""

from __future__ import annotations

from tests.lab.faults import PAGE, gathered, next_slices, page_with


def test_a_guest_is_asked_for_each_slice_in_turn() -> None:
    asked = next_slices([], "6.12", ["host,merge,shared", "pid,merge,shared"], 5, 2)
    assert [_without_seed(one) for one in asked] == [
        "host,5,merge,shared",
        "pid,5,merge,shared",
    ] * 2


def test_no_seed_comes_twice_whatever_was_struck_before() -> None:
    slices = ["host,merge,shared", "pid,merge,shared"]
    asked = [
        one
        for kernel in ("6.1", "6.12")
        for had in (0, 2)
        for one in next_slices(
            [{"kernel": kernel, "slice": name} for name in slices] * had, kernel, slices, 5, 2
        )
    ]
    assert len({one.split(",")[2] for one in asked}) == len(asked)


def _without_seed(asked: str) -> str:
    place, strikes, _, mechanism, placement = asked.split(",")
    return f"{place},{strikes},{mechanism},{placement}"


def test_the_page_shows_what_was_gathered() -> None:
    page = PAGE.read_text()
    assert page_with(page, gathered()) == page
