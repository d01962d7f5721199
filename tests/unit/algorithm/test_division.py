"""Cores divided among groups: sums, bounds, fairness, monotony, few moves."""

from __future__ import annotations

import itertools

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
