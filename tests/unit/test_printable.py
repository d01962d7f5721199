"""Names that others chose, in messages and in commands that a message suggests."""

from __future__ import annotations

import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smartharvest.printable import one_line, printable, quoted

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
