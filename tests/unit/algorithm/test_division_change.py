"""Why a group owns more or fewer cores than before."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smartharvest.algorithm.division import Share, divide
from smartharvest.algorithm.division_change import Moved, moved

ONE, TWO = Share("one"), Share("two")


@pytest.mark.parametrize(
    ("was", "now", "why", "others_why"),
    [
        (ONE, replace(ONE, min=3), "its guarantee or minimum asks for 3 cores", "one took cores"),
        (replace(ONE, demand=1), ONE, "it can use more", "one took cores"),
        (ONE, replace(ONE, weight=3.0), "its weight went from 1 to 3", "one took cores"),
        (replace(ONE, max=2), ONE, "its maximum is all there are now", "one took cores"),
    ],
)
def test_what_of_a_group_itself_changed_is_why_it_has_more(
    was: Share, now: Share, why: str, others_why: str
) -> None:
    found = moved({"one": 2, "two": 2}, {"one": 3, "two": 1}, [was, TWO], [now, TWO])
    assert found == [Moved("one", 2, 3, why), Moved("two", 2, 1, others_why)]


@pytest.mark.parametrize(
    ("was", "now", "why"),
    [
        (ONE, replace(ONE, demand=0), "it had no work"),
        (ONE, replace(ONE, demand=1), "it used less than it had"),
        (replace(ONE, min=2), replace(ONE, min=1), "its guarantee or minimum asks for 1 core only"),
        (ONE, replace(ONE, max=1), "its maximum is 1 now"),
    ],
)
def test_what_of_a_group_itself_changed_is_why_it_has_fewer(
    was: Share, now: Share, why: str
) -> None:
    found = moved({"one": 2, "two": 2}, {"one": 1, "two": 3}, [was, TWO], [now, TWO])
    assert found == [Moved("one", 2, 1, why), Moved("two", 2, 3, "one left cores")]


def test_groups_that_come_and_go_are_why() -> None:
    found = moved({"one": 4}, {"two": 4}, [ONE], [TWO])
    assert {(one.group, one.why) for one in found} == {
        ("one", "it was removed"),
        ("two", "it was added"),
    }


def test_without_a_reason_of_a_group_it_is_the_cores_that_changed() -> None:
    (found,) = moved({"one": 2, "two": 2}, {"one": 3, "two": 2}, [ONE, TWO], [ONE, TWO])
    assert found.why == "the cores to divide, or the groups that exist, changed"


SHARES = st.lists(
    st.builds(
        Share,
        st.sampled_from("abcdef"),
        weight=st.floats(0.1, 10),
        min=st.integers(0, 3),
        max=st.none() | st.integers(3, 8),
        demand=st.none() | st.integers(0, 8),
    ),
    max_size=6,
    unique_by=lambda share: share.name,
)


@given(SHARES, SHARES, st.integers(0, 16))
def test_every_group_whose_cores_changed_is_named_once_with_a_reason(
    before: list[Share], now: list[Share], cores: int
) -> None:
    counted = []
    for shares in (before, now):
        division = divide([[cpu] for cpu in range(cores)], shares)
        counted.append({share.name: len(division.cpus(share.name)) for share in shares})
    found = moved(counted[0], counted[1], before, now)
    names = {share.name for share in [*before, *now]}
    differ = {name for name in names if counted[0].get(name, 0) != counted[1].get(name, 0)}
    assert sorted(one.group for one in found) == sorted(differ)
    assert all(one.why for one in found)
