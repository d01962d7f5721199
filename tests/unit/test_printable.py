"""Names that others chose, in messages and in commands that a message suggests."""

from __future__ import annotations

import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smartharvest.printable import one_line, printable, quoted, spoken_span, spoken_wait

NAMES = ("web", "a b", "`id`", "$(id)", "it's", "a\nb", "\x1b[2J", "a'b\nc\\d", "é\t", "\udc80", "")


@pytest.mark.parametrize("name", NAMES)
def test_a_quoted_name_is_one_word_to_a_shell(name: str) -> None:
    said = subprocess.run(
        ["bash", "-c", f"printf %s {quoted(name)}"], capture_output=True, check=True
    )
    assert said.stdout == name.encode(errors="surrogateescape")


@given(st.text())
def test_a_quoted_name_moves_no_cursor_and_makes_no_line(name: str) -> None:
    assert quoted(name).isprintable()
    assert "\n" not in one_line(name)
    assert one_line(name).isprintable()
    assert printable(name).count("\n") == name.count("\n")


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0.4, "0 s"), (59.6, "1 min 0 s"), (125, "2 min 5 s"), (7260, "2 h 1 min"), (9e4, "1 d 1 h")],
)
def test_a_span_of_time_has_its_two_largest_units(seconds: float, said: str) -> None:
    assert spoken_span(seconds) == said


@pytest.mark.parametrize(
    ("microseconds", "said"),
    [
        (0, "0 us"),
        (1.54, "1.5 us"),
        (45.4, "45 us"),
        (1671.2, "1.7 ms"),
        (73400, "73.4 ms"),
        (2.1e6, "2.1 s"),
    ],
)
def test_a_wait_has_the_unit_that_people_think_in(microseconds: float, said: str) -> None:
    assert spoken_wait(microseconds) == said
