"""Guarantees held in closed loop, and what a group can use."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smartharvest.algorithm.demand import demand_of, largest
from smartharvest.algorithm.division import Share, divide, dues
from smartharvest.algorithm.guarantee import Curve, Guarantee, Keeper, parse_guarantee


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("70%", Guarantee(equal_share=0.7)),
        ("100 %", Guarantee(equal_share=1.0)),
        ("4/s", Guarantee(rate=4.0)),
        ("0.5 / s", Guarantee(rate=0.5)),
        *[(text, None) for text in ("0%", "101%", "70", "0/s", "4", "-1/s", "x%", "")],
    ],
)
def test_a_guarantee_is_a_part_of_an_equal_share_or_a_rate(
    text: str, expected: Guarantee | None
) -> None:
    assert parse_guarantee(text) == expected
    if expected is not None:
        assert parse_guarantee(str(expected)) == expected


def cores_of(keeper: Keeper, others: int, total: int) -> int:
    shares = [Share("kept", min=keeper.floor), *(Share(f"o{n}") for n in range(others))]
    return divide([[cpu] for cpu in range(total)], shares).count("kept", total)


def test_a_violated_guarantee_is_answered_at_the_next_turn_and_met_again() -> None:
    keeper = Keeper(Guarantee(rate=4.0))
    cores = cores_of(keeper, 3, 16)
    keeper.turn(4.4, cores, None, 16)
    assert (keeper.met, keeper.floor) == (True, 0)
    history = []
    for _ in range(4):  # each unit of work takes twice as long from now on
        keeper.turn(0.55 * cores, cores, None, 16)
        history.append((keeper.met, cores))
        cores = cores_of(keeper, 3, 16)
    assert history[0] == (False, 4)
    assert history[1][1] > 4
    assert keeper.met
    assert keeper.violations == 1


def test_what_one_guarantee_takes_violates_no_other_that_is_met() -> None:
    kept, other = Keeper(Guarantee(rate=4.0)), Keeper(Guarantee(rate=100.0))
    for _ in range(4):  # three beats a second and core; the other does not reach its own
        shares = [
            Share("kept", min=kept.least(pressed=other.floor > 0)),
            Share("other", min=other.least(pressed=kept.floor > 0)),
        ]
        has = dict(zip(("kept", "other"), dues(4.0, shares), strict=True))
        kept.turn(3.0 * has["kept"], has["kept"], None, 4)
        other.turn(3.0 * has["other"], has["other"], None, 4)
        assert kept.met
    assert has["other"] > 2
    assert kept.floor == 0


@given(st.lists(st.floats(4, 4.4), min_size=2, max_size=20))
def test_what_a_met_guarantee_needs_is_enough_and_steady(rates: list[float]) -> None:
    keeper, seen = Keeper(Guarantee(rate=1.0)), set()
    for rate in rates:
        keeper.turn(rate, 2.0, None, 4)
        assert 0.5 * 4 / rate <= keeper.least(pressed=True) <= 1.3 * 0.5 * 4 / rate
        seen.add(keeper.needs)
        assert keeper.least(pressed=False) == 0
    assert len(seen) <= 2


def test_cores_go_back_little_by_little_once_it_has_been_met_for_a_while() -> None:
    keeper = Keeper(Guarantee(rate=4.0))
    keeper.turn(2.0, 4, None, 16)
    floor = keeper.floor
    for _ in range(200):
        keeper.turn(100.0, keeper.floor, None, 16)
    assert floor > 0
    assert keeper.floor == 0


def test_a_part_of_an_equal_share_is_held_against_what_the_group_does_with_one() -> None:
    keeper, curve = Keeper(Guarantee(equal_share=0.7)), Curve()
    curve.note(4.0, 8.0)
    keeper.turn(6.0, 3, curve.at(4), 16)
    assert keeper.met
    keeper.turn(5.0, 2.5, curve.at(4), 16)
    assert keeper.met is False


def test_without_a_measure_nothing_is_said() -> None:
    keeper = Keeper(Guarantee(rate=4.0))
    keeper.turn(None, 4, None, 16)
    assert (keeper.met, keeper.floor) == (None, 0)
    assert Curve().at(3) is None


@given(st.lists(st.floats(0, 20), max_size=60), st.integers(0, 16))
def test_it_never_asks_for_more_than_there_is(rates: list[float], most: int) -> None:
    keeper = Keeper(Guarantee(rate=4.0))
    for rate in rates:
        keeper.turn(rate, min(most, keeper.floor + 1), None, most)
        assert 0 <= keeper.floor <= most


def test_cores_are_left_to_a_group_as_long_as_it_could_use_them_a_moment_ago() -> None:
    assert largest([1, 3, 2]) == 3
    assert largest([1, None, 2]) is None
    assert largest([]) is None


@pytest.mark.parametrize(
    ("used", "had", "expected"),
    [(None, 4, None), (3.8, 4, None), (1.0, 4, 2), (0.3, 4, 1 + 1), (0.0, 4, 0), (0.5, 0, None)],
)
def test_what_a_group_can_use_follows_from_what_it_used(
    used: float | None, had: float, expected: int | None
) -> None:
    assert demand_of(used, had) == expected
