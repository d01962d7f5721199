"""Which groups lose their minimum, when, and when they have it again."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smartharvest.algorithm.eviction import TURNS, Evictable, Evictions, needed_cores

S = 1_000_000_000
NOTICE_NS = 30 * S


def evictions(*cores: int, notice_ns: int = NOTICE_NS) -> Evictions:
    return Evictions(Evictable(f"g{n}", count, notice_ns) for n, count in enumerate(cores))


def run(decides: Evictions, needs: list[int], emergency: bool = False) -> list[tuple[int, str]]:
    """(second, what became of whom) of a turn a second."""
    return [
        (second, f"{change.name} {change.now}")
        for second, needed in enumerate(needs)
        for change in decides.turn(second * S, needed, emergency)
    ]


@pytest.mark.parametrize(
    ("total", "demand", "lent", "expected"),
    [
        (7, 6.5, 0.0, 0),
        (7, 7.0, 0.0, 1),
        (7, 8.0, 0.0, 1),
        (7, 8.2, 0.0, 2),
        (7, 9.0, 1.0, 0),
        (7, 6.96, 0.04, 1),
    ],
)
def test_a_minimum_is_needed_once_the_primaries_use_all_the_rest(
    total: int, demand: float, lent: float, expected: int
) -> None:
    assert needed_cores(total, demand, lent) == expected


def test_a_need_that_stands_brings_a_notice_and_the_eviction_when_that_has_passed() -> None:
    decides = evictions(1)
    assert run(decides, [1] * 60) == [(TURNS - 1, "g0 noticed"), (TURNS + 29, "g0 evicted")]
    case = decides.cases["g0"]
    assert (case.notices, case.evictions, case.withdrawn, case.at_once) == (1, 1, 0, 0)


def test_a_need_that_ends_before_the_notice_has_passed_withdraws_it() -> None:
    decides = evictions(1)
    told = run(decides, [1] * 10 + [0] * 40)
    assert told == [(TURNS - 1, "g0 noticed"), (9 + TURNS, "g0 kept")]
    assert decides.cases["g0"].withdrawn == 1
    assert decides.noticed_cores == 0


def test_an_evicted_group_has_its_minimum_again_once_the_need_is_over() -> None:
    decides = evictions(2)
    told = run(decides, [1] * 40 + [0] * 10)
    assert told[-1] == (39 + TURNS, "g0 kept")
    assert decides.cases["g0"].withdrawn == 0


def test_a_burst_brings_no_notice() -> None:
    assert run(evictions(1), ([1] * (TURNS - 1) + [0]) * 20) == []


def test_an_emergency_has_neither_patience_nor_notice() -> None:
    decides = evictions(1)
    assert run(decides, [1], emergency=True) == [(0, "g0 evicted")]
    assert decides.cases["g0"].at_once == 1


def test_an_emergency_cuts_a_notice_short() -> None:
    decides = evictions(1)
    run(decides, [1] * 10)
    assert [change.at_once for change in decides.turn(10 * S, 1, emergency=True)] == [True]
    assert decides.cases["g0"].left_ns(10 * S) == 0


def test_the_lightest_goes_first_and_no_more_than_are_needed() -> None:
    decides = Evictions(
        [Evictable("a", 1, S, 1.0), Evictable("b", 2, S, 0.5), Evictable("c", 1, S, 1.0)]
    )
    run(decides, [2] * 20)
    assert {name for name, one in decides.cases.items() if one.stage == "evicted"} == {"b"}
    run(decides, [3] * 20)
    assert {name for name, one in decides.cases.items() if one.stage == "evicted"} == {"b", "c"}


def test_other_groups_are_taken_up_and_those_that_are_gone_are_returned() -> None:
    decides = evictions(1, 1, notice_ns=S)
    run(decides, [2] * 10)
    ended = decides.take_up([Evictable("g0", 1, S)])
    assert [(change.name, change.before) for change in ended] == [("g1", "evicted")]
    assert decides.cases["g0"].stage == "evicted"


needs = st.lists(st.integers(0, 6), min_size=1, max_size=80)
groups = st.lists(
    st.builds(
        lambda cores, notice_s, weight: (cores, notice_s * S, weight),
        st.integers(1, 3),
        st.integers(1, 20),
        st.sampled_from([0.5, 1.0, 2.0]),
    ),
    min_size=1,
    max_size=5,
)


@given(groups, needs)
def test_nobody_is_evicted_without_his_whole_notice_but_in_an_emergency(
    made: list[tuple[int, int, float]], needed: list[int]
) -> None:
    decides = Evictions(Evictable(f"g{n}", *one) for n, one in enumerate(made))
    noticed: dict[str, int] = {}
    for second, cores in enumerate(needed):
        for change in decides.turn(second * S, cores):
            if change.now == "noticed":
                noticed[change.name] = second * S
            elif change.now == "evicted":
                assert not change.at_once
                notice_ns = decides.cases[change.name].group.notice_ns
                assert second * S - noticed[change.name] >= notice_ns


@given(groups, needs, st.lists(st.booleans(), min_size=80, max_size=80))
def test_no_more_than_was_needed_lately_is_taken_and_all_is_back_after_the_need(
    made: list[tuple[int, int, float]], needed: list[int], emergencies: list[bool]
) -> None:
    decides = Evictions(Evictable(f"g{n}", *one) for n, one in enumerate(made))
    for second, cores in enumerate(needed):
        decides.turn(second * S, cores, emergencies[second])
        gone = [one.group.cores for one in decides.cases.values() if one.stage != "kept"]
        most = max(needed[max(0, second + 1 - TURNS) : second + 1])
        assert not gone or sum(gone) - max(gone) < most
        for case in decides.cases.values():
            assert case.notices + case.at_once >= case.evictions
    for second in range(len(needed), len(needed) + TURNS):
        decides.turn(second * S, 0)
    assert decides.noticed_cores == 0
