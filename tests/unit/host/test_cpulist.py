from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smartharvest.host.cpulist import format_cpulist, parse_cpulist


@pytest.mark.parametrize(
    ("text", "cpus"),
    [
        ("0-2,5", {0, 1, 2, 5}),
        ("3,1,0", {0, 1, 3}),
        ("7", {7}),
        ("", set()),
        ("\n", set()),
        ("0-1\n", {0, 1}),
        (" 0, 2 - 3".replace(" - ", "-"), {0, 2, 3}),
        ("1-3,2-4", {1, 2, 3, 4}),
    ],
)
def test_lists_as_people_and_the_kernel_write_them_are_read(text: str, cpus: set[int]) -> None:
    assert parse_cpulist(text) == cpus


@pytest.mark.parametrize("text", ["x", "1-", "-1", "3-1", "0,,1", "1;2", "0x1", "1-2-3", "²"])
def test_what_is_no_list_is_an_error_that_names_the_part(text: str) -> None:
    with pytest.raises(ValueError, match=r"'.*'"):
        parse_cpulist(text)


def test_a_typo_in_a_range_does_not_fill_memory() -> None:
    with pytest.raises(ValueError, match="highest possible"):
        parse_cpulist("0-99999999999")


@pytest.mark.parametrize(
    ("cpus", "text"), [([3, 1, 0], "0-1,3"), ([], ""), ([5], "5"), ([1, 2, 3, 7, 8], "1-3,7-8")]
)
def test_the_canonical_spelling_joins_neighbours(cpus: list[int], text: str) -> None:
    assert format_cpulist(cpus) == text


@given(st.sets(st.integers(0, 300)))
def test_formatting_and_parsing_are_inverse(cpus: set[int]) -> None:
    assert parse_cpulist(format_cpulist(cpus)) == cpus
