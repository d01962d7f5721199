"""Cores divided among groups: sums, bounds, fairness, monotony, few moves."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smartharvest.algorithm.division import Division, Share, divide, dues

WEIGHTS = st.sampled_from([0.5, 1.0, 1.0, 2.0, 3.0, 7.5])
MOST_CORES = 24


@st.composite
def share(draw: st.DrawFn, name: str, *, plain: bool = False) -> Share:
    weight = 1.0 if plain else draw(WEIGHTS)
    least = draw(st.integers(0, 3))
    more = draw(st.none() | st.integers(0, 6))
    return Share(
        name,
        weight,
        least,
        None if more is None else least + more,
        draw(st.none() | st.integers(0, 8)),
    )


@st.composite
def groups(draw: st.DrawFn, *, plain: bool = False) -> list[Share]:
    return [draw(share(f"g{number}", plain=plain)) for number in range(draw(st.integers(1, 6)))]


def single(cores: int) -> list[list[int]]:
    return [[cpu] for cpu in range(cores)]


def counts(division: Division, shares: list[Share], lent: int) -> list[int]:
    return [division.count(share.name, lent) for share in shares]


@given(groups(), st.integers(0, MOST_CORES))
def test_all_cores_that_anybody_may_have_are_given_out(shares: list[Share], cores: int) -> None:
    division = divide(single(cores), shares)
    for lent in range(cores + 1):
        assert sum(counts(division, shares, lent)) == min(lent, sum(one.most for one in shares))


@given(groups(), st.integers(0, MOST_CORES))
def test_nobody_has_more_than_its_maximum_and_minima_come_first(
    shares: list[Share], cores: int
) -> None:
    division = divide(single(cores), shares)
    for lent in range(cores + 1):
        have = counts(division, shares, lent)
        assert all(count <= one.most for count, one in zip(have, shares, strict=True))
        lacking = any(count < one.min for count, one in zip(have, shares, strict=True))
        beyond = any(count > one.min for count, one in zip(have, shares, strict=True))
        assert not (lacking and beyond)


@given(groups(plain=True), st.integers(0, MOST_CORES))
def test_with_equal_weights_nobody_is_a_core_from_its_due(shares: list[Share], cores: int) -> None:
    division = divide(single(cores), shares)
    for lent in range(cores + 1):
        due = dues(lent, shares)
        for count, mine in zip(counts(division, shares, lent), due, strict=True):
            assert abs(count - mine) < 1 + 1e-9


@given(st.lists(WEIGHTS, min_size=1, max_size=6), st.integers(0, MOST_CORES))
def test_with_weights_no_core_would_be_better_elsewhere(weights: list[float], cores: int) -> None:
    """Webster's condition."""
    shares = [Share(f"g{number}", weight) for number, weight in enumerate(weights)]
    division = divide(single(cores), shares)
    for lent in range(cores + 1):
        have = counts(division, shares, lent)
        for (mine, one), (theirs, other) in itertools.permutations(
            zip(have, shares, strict=True), 2
        ):
            assert (mine - 0.5) / one.weight <= (theirs + 0.5) / other.weight + 1e-9


@given(groups(), st.integers(1, MOST_CORES))
def test_what_is_taken_back_is_taken_from_whoever_is_furthest_above_its_due(
    shares: list[Share], cores: int
) -> None:
    """Nobody gains by a taking back; what goes is one core of one group."""
    division = divide(single(cores), shares)
    for lent in range(1, cores + 1):
        more, less = (counts(division, shares, number) for number in (lent, lent - 1))
        lost = [a - b for a, b in zip(more, less, strict=True)]
        assert min(lost) >= 0
        assert sum(lost) <= 1


@given(groups(), st.integers(0, MOST_CORES))
def test_the_same_groups_keep_the_same_cores(shares: list[Share], cores: int) -> None:
    division = divide(single(cores), shares)
    assert divide(single(cores), shares, division.owner_of) == division


@given(st.integers(1, 6), st.integers(1, MOST_CORES))
def test_a_group_that_appears_moves_nobody_elses_cores(there: int, cores: int) -> None:
    before = [Share(f"g{number}") for number in range(there)]
    now = [*before, Share("new")]
    old = divide(single(cores), before)
    new = divide(single(cores), now, old.owner_of)
    changed = [owner for owner, was in zip(new.owners, old.owners, strict=True) if owner != was]
    assert set(changed) <= {"new"}
    assert abs(len(changed) - cores / (there + 1)) < 1
    back = divide(single(cores), before, new.owner_of)
    kept = zip(new.owners, back.owners, strict=True)
    assert all(owner == was for was, owner in kept if was != "new")


@given(groups(), groups(), st.integers(0, MOST_CORES))
def test_whoever_owned_cores_before_the_bounds_hold(
    old: list[Share], shares: list[Share], cores: int
) -> None:
    before = divide(single(cores), old).owner_of
    division = divide(single(cores), shares, before)
    for lent in range(cores + 1):
        have = counts(division, shares, lent)
        assert sum(have) == min(lent, sum(one.most for one in shares))
        assert all(count <= one.most for count, one in zip(have, shares, strict=True))


@given(st.integers(1, 5), st.integers(0, 12))
def test_hardware_threads_of_a_core_stay_together(there: int, cores: int) -> None:
    shares = [Share(f"g{number}") for number in range(there)]
    division = divide([[2 * core, 2 * core + 1] for core in range(cores)], shares)
    assert division.owners[::2] == division.owners[1::2]
    have = counts(division, shares, 2 * cores)
    assert max(have) - min(have) <= 2


def test_a_group_gets_only_the_cpus_it_can_be_given() -> None:
    shares = [Share("left", cpus=frozenset({0, 1})), Share("right")]
    division = divide(single(6), shares)
    assert division.cpus("left") == {0, 1} - division.cpus("right")
    assert division.cpus("left") | division.cpus("right") == set(range(6))
    assert division.cpus("left")


def test_cores_that_one_cannot_use_go_to_the_others() -> None:
    shares = [Share("small", demand=1), Share("large")]
    assert counts(divide(single(8), shares), shares, 8) == [1, 7]
    assert dues(8, shares) == [1.0, 7.0]


def test_what_nobody_can_use_is_still_given_out_up_to_the_maxima() -> None:
    shares = [Share("a", demand=1, max=3), Share("b", demand=1, max=2)]
    division = divide(single(8), shares)
    assert counts(division, shares, 8) == [3, 2]
    assert division.owners[5:] == (None, None, None)
    assert dues(8, shares) == [3, 2]


# --- monotony -------------------------------------------------------------------------------


@st.composite
def one_asks_for_more(draw: st.DrawFn) -> tuple[list[Share], list[Share], int]:
    """Groups, the same with one that may have more in one way, and which one that is."""
    shares = draw(groups())
    index = draw(st.integers(0, len(shares) - 1))
    mine = shares[index]
    more = draw(st.integers(1, 6))
    now = draw(
        st.sampled_from(
            [
                replace(mine, weight=mine.weight * (1 + more / 4)),
                replace(mine, min=min(mine.min + more, mine.most)),
                replace(mine, max=None if mine.max is None else mine.max + more),
                replace(mine, max=None),
                replace(mine, demand=None if mine.demand is None else mine.demand + more),
                replace(mine, demand=None),
            ]
        )
    )
    return shares, [*shares[:index], now, *shares[index + 1 :]], index


def no_loss_but_to(index: int, before: Sequence[float], now: Sequence[float]) -> bool:
    """Whether that one has no less than before, and nobody else has more."""
    changes = [b - a for a, b in zip(before, now, strict=True)]
    return changes[index] >= -1e-9 and all(
        change <= 1e-9 for other, change in enumerate(changes) if other != index
    )


def paired(cores: int) -> list[list[int]]:
    return [[2 * core, 2 * core + 1] for core in range(cores)]


@given(groups(), st.floats(0, 30), st.floats(0, 5))
def test_more_that_is_lent_lowers_nobodys_due(
    shares: list[Share], total: float, more: float
) -> None:
    pairs = zip(dues(total, shares), dues(total + more, shares), strict=True)
    assert all(now >= before - 1e-9 for before, now in pairs)


@given(groups(), groups(), st.integers(0, MOST_CORES), st.integers(0, MOST_CORES))
def test_more_that_is_lent_lowers_nobodys_cores(
    old: list[Share], shares: list[Share], cores: int, fewer: int
) -> None:
    """Of one division, and of one made for fewer cores, whoever owned them before."""
    before = divide(single(cores), old).owner_of
    division = divide(single(cores), shares, before)
    fewer = min(fewer, cores)
    assert divide(single(fewer), shares, before).owners == division.owners[:fewer]


@given(one_asks_for_more(), st.floats(0, 30))
def test_a_group_that_may_have_more_is_due_no_less_and_nobody_else_is_due_more(
    change: tuple[list[Share], list[Share], int], total: float
) -> None:
    before, now, index = change
    assert no_loss_but_to(index, dues(total, before), dues(total, now))


@pytest.mark.parametrize("keeps", [False, True], ids=["from nothing", "from what they own"])
@given(one_asks_for_more(), st.integers(0, MOST_CORES), st.sampled_from([single, paired]))
def test_a_group_that_may_have_more_has_no_fewer_cores_and_nobody_else_has_more(
    keeps: bool, change: tuple[list[Share], list[Share], int], cores: int, made_of: Any
) -> None:
    """Of cores of one size that every group may have: the smallest keys get them, its own fall,
    and a group that keeps a core was next to get it before."""
    before, now, index = change
    old = divide(made_of(cores), before)
    new = divide(made_of(cores), now, old.owner_of if keeps else None)
    for lent in range(len(old.order) + 1):
        assert no_loss_but_to(index, counts(old, before, lent), counts(new, now, lent))


@given(groups(), share("new"), st.integers(0, MOST_CORES))
def test_a_group_that_appears_raises_nobody_elses_part(
    shares: list[Share], new: Share, cores: int
) -> None:
    every = [*shares, new]
    old = divide(single(cores), shares)
    now = divide(single(cores), every, old.owner_of)
    for lent in range(cores + 1):
        index = len(shares)
        assert no_loss_but_to(index, [*dues(lent, shares), 0], dues(lent, every))
        assert no_loss_but_to(index, [*counts(old, shares, lent), 0], counts(now, every, lent))


def test_a_larger_weight_can_cost_a_thread_where_cores_differ_in_size() -> None:
    """It has the turn of the smaller core, and the larger one goes to the other."""
    cores = [[0], [1, 2]]
    a, b = Share("a"), Share("b")
    assert counts(divide(cores, [a, b]), [a, b], 3) == [1, 2]
    heavier = [a, replace(b, weight=1.1)]
    assert counts(divide(cores, heavier), heavier, 3) == [2, 1]


def test_a_larger_minimum_can_cost_a_core_beyond_it_where_cpus_are_not_for_everybody() -> None:
    """It is served before the others, from a core that is all one of them may have."""
    a = Share("a", 0.9, 1, cpus=frozenset({0, 2}))
    b = Share("b")
    c = Share("c", 0.8, cpus=frozenset({1}))
    assert counts(divide(single(3), [a, b, c]), [a, b, c], 3) == [1, 2, 0]
    now = [a, replace(b, min=1), c]
    assert counts(divide(single(3), now), now, 3) == [1, 1, 1]


@settings(max_examples=50)
@given(groups(), st.floats(0, 30))
def test_dues_add_up_and_keep_the_bounds(shares: list[Share], total: float) -> None:
    due = dues(total, shares)
    most = sum(one.most for one in shares)
    assert abs(sum(due) - min(total, most)) < 1e-6
    for mine, one in zip(due, shares, strict=True):
        assert -1e-9 <= mine <= one.most + 1e-9


def test_nobody_divides_nothing() -> None:
    assert divide([], [Share("a")]) == Division()
    assert divide(single(2), []).owners == (None, None)
    assert dues(3.0, []) == []
