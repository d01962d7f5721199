"""Groups that whole cores cannot give what they are due, in a kernel that divides by weights."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smartharvest.algorithm.division import Division, Share, divide, dues
from smartharvest.algorithm.guarantee import Curve, Guarantee, Keeper
from smartharvest.algorithm.time_sharing import (
    ENTER_TURNS,
    LADDER,
    TimeSharing,
    as_kernel_value,
    due_of,
    had,
    weights,
)
from smartharvest.algorithm.worth import Worth


class Kernel:
    """``cpus`` CPUs, and groups that always have work on each of them.

    A CPU's time goes to the groups that may use it by their weights; a group that owns none of the
    lent CPUs may use them all.
    """

    def __init__(self, cpus: int, shares: Sequence[Share]) -> None:
        self.cores = [[cpu] for cpu in range(cpus)]
        self.shares = list(shares)
        self.sharing = TimeSharing()
        self.division = divide(self.cores, self.shares)
        self.parts: Mapping[str, float] = {}
        self.moves = 0

    def second(self, lent: Sequence[int]) -> dict[str, float]:
        """Core-seconds of each group, with so many lent in each equal part of the second."""
        used = dict.fromkeys([share.name for share in self.shares], 0.0)
        for number in lent:
            for name, cores in self._used(number).items():
                used[name] += cores / len(lent)
        self.divide(sum(lent) / len(lent))
        return used

    def divide(self, mean: float) -> None:
        before = [self.division.cpus(share.name) for share in self.shares]
        self.parts = weights(self.shares, mean)
        together = self.sharing.turn(self.cores, self.division, self.shares, mean)
        self.division = divide(self.cores, self.shares, self.division.owner_of, together)
        self.moves += before != [self.division.cpus(share.name) for share in self.shares]

    def _used(self, number: int) -> dict[str, float]:
        lent = frozenset(range(number))
        may = {one.name: (self.division.cpus(one.name) & lent) or lent for one in self.shares}
        value = {one.name: float(as_kernel_value(self.parts.get(one.name, 1.0), 2))
                 for one in self.shares}  # fmt: skip
        used = dict.fromkeys(may, 0.0)
        for cpu in lent:
            here = [name for name, cpus in may.items() if cpu in cpus]
            for name in here:
                used[name] += value[name] / sum(value[other] for other in here)
        return used


def off_after_10_s(kernel: Kernel, pattern: Sequence[Sequence[int]]) -> float:
    """The furthest that a group's part of the last ten of twenty seconds is from what is due."""
    used = dict.fromkeys([share.name for share in kernel.shares], 0.0)
    due = dict(used)
    for second in range(20):
        lent = pattern[second % len(pattern)]
        took = kernel.second(lent)
        if second >= 10:
            mean = sum(lent) / len(lent)
            for name, cores in zip(used, dues(mean, kernel.shares), strict=True):
                used[name] += took[name]
                due[name] += cores
    total = sum(due.values())
    return max(abs(used[name] - due[name]) / total for name in due)


WEIGHTS = {
    "fair": (1.0, 1.0, 1.0),
    "weight": (2.0, 1.0, 1.0),
    "uneven": (5.0, 2.0, 1.0),
}


@pytest.mark.parametrize("way", WEIGHTS)
@pytest.mark.parametrize("cpus", [2, 3, 4, 7, 16])
@pytest.mark.parametrize("lending", ["all", "half of the time", "any"])
def test_shares_are_within_3_percent_of_what_is_due_over_10_s(
    way: str, cpus: int, lending: str
) -> None:
    shares = [Share(name, weight) for name, weight in zip("abc", WEIGHTS[way], strict=True)]
    source = random.Random(cpus)
    pattern = {
        "all": [[cpus]],
        "half of the time": [[cpus, 0]],
        "any": [[source.randint(1, cpus) for _ in range(40)] for _ in range(20)],
    }[lending]
    assert off_after_10_s(Kernel(cpus, shares), pattern) < 0.03


@pytest.mark.parametrize("cpus", [2, 3, 4, 16])
@pytest.mark.parametrize("others", [False, True], ids=["alone", "others take most of the time"])
def test_shares_by_throughput_are_within_3_percent_of_what_is_due_while_trials_change_it(
    cpus: int, others: bool
) -> None:
    kernel = Kernel(cpus, [Share(name) for name in "abc"])
    source, worth = random.Random(1), Worth("abc", cpus)
    errors: list[dict[str, float]] = []
    for _ in range(300):
        there = source.uniform(0.05, 0.4) if others else 1.0
        used = {name: there * cores for name, cores in kernel._used(cpus).items()}
        due = due_of(sum(used.values()), kernel.shares, cpus)
        total = sum(used.values())
        errors.append({n: (used[n] - mine) / total for n, mine in zip(used, due, strict=True)})
        did = used | {"b": min(used["b"], 0.15 * cpus)}  # which scales badly
        worth.turn({name: source.uniform(0.99, 1.01) * did[name] for name in did}, cpus)
        kernel.shares = [replace(one, weight=worth.weights[one.name]) for one in kernel.shares]
        kernel.divide(cpus)
    assert others or worth.changes
    for start in range(ENTER_TURNS, len(errors) - 10):
        for name in "abc":
            assert abs(sum(row[name] for row in errors[start : start + 10])) / 10 < 0.03


def test_whole_cores_stay_whole_where_they_are_what_is_due() -> None:
    kernel = Kernel(8, [Share("a", 2.0), Share("b"), Share("c")])
    for _ in range(20):
        kernel.second([8])
    assert not kernel.division.together
    assert [kernel.division.owned(name) for name in "abc"] == [4, 2, 2]


def test_who_has_what_it_is_due_of_whole_cores_does_not_share_them() -> None:
    kernel = Kernel(5, [Share("a", 2.0), Share("b", 1.5), Share("c", 1.5)])
    for _ in range(20):
        kernel.second([5])
    assert kernel.division.together.keys() == {"b", "c"}
    assert kernel.division.cpus("a").isdisjoint(kernel.division.cpus("b"))


def test_masks_move_only_when_the_way_of_sharing_changes() -> None:
    kernel = Kernel(2, [Share("a"), Share("b"), Share("c")])
    for _ in range(60):
        kernel.second([2, 1])
    assert kernel.moves <= 2


def test_whole_cores_return_once_they_do() -> None:
    kernel = Kernel(6, [Share("a"), Share("b"), Share("c")])
    for _ in range(20):
        kernel.second([4])
    assert kernel.division.together
    for _ in range(15):
        kernel.second([6])
    assert not kernel.division.together


def test_a_maximum_bounds_the_cpus_and_a_minimum_the_time() -> None:
    shares = [Share("a", max=1), Share("b", min=2), Share("c")]
    division = divide([[cpu] for cpu in range(4)], shares, together=["a", "b", "c"])
    assert len(division.cpus("a")) == 1
    parts = weights(shares, 4.0)
    assert parts["b"] / parts["c"] == pytest.approx(2.0, rel=0.02)
    everyone = sum(had(division, name, frozenset(range(4)), parts) for name in "abc")
    assert everyone == pytest.approx(4.0, abs=0.01)


def test_a_group_without_work_keeps_its_weight_for_when_it_has_some() -> None:
    assert weights([Share("a", demand=0), Share("b")], 2.0) == {"a": 1.0, "b": 1.0}


def test_a_group_that_is_to_have_nothing_has_the_least_weight() -> None:
    parts = weights([Share("a", max=0, demand=0), Share("b")], 2.0)
    assert (as_kernel_value(parts["a"], 1), as_kernel_value(parts["a"], 2)) == ("10", "1")


def test_a_group_that_others_minima_leave_nothing_can_show_that_it_has_work() -> None:
    parts = weights([Share("a", min=4), Share("b")], 2.0)
    assert parts["a"] == 1.0
    assert parts["b"] == pytest.approx(0.01, rel=0.02)


@given(
    st.lists(st.tuples(st.floats(0.1, 10), st.integers(0, 3)), min_size=2, max_size=6),
    st.sampled_from(["weight", "min"]),
    st.floats(1, 16),
)
def test_a_group_that_may_have_more_has_no_less_of_the_time(
    of: list[tuple[float, int]], what: str, lent: float
) -> None:
    """But for what the ladder of weights rounds: half a rung at each of two weights, twice."""
    shares = [Share(f"g{number}", *bounds) for number, bounds in enumerate(of)]
    more = {what: getattr(shares[0], what) + 1}
    parts = []
    for now in (shares, [replace(shares[0], **more), *shares[1:]]):
        found = weights(now, lent)
        parts.append(found["g0"] / sum(found.values()))
    assert parts[1] >= parts[0] / LADDER**2


def test_few_different_weights_are_ever_written() -> None:
    written = {
        as_kernel_value(weights([Share("a", weight), Share("b")], 2.0)["a"], 2)
        for weight in (number / 1000 for number in range(1, 3000))
    }
    assert len(written) < 500


@pytest.mark.parametrize("cpus", [2, 16])
@pytest.mark.parametrize("share", ["70%", "rate"])
def test_a_guarantee_that_a_change_of_load_violates_is_met_again_within_2_s(
    cpus: int, share: str
) -> None:
    kernel = Kernel(cpus, [Share("kept"), Share("b"), Share("c")])
    for _ in range(12):
        kernel.second([cpus])
    per_core = 300.0
    before = per_core * cpus / 3
    guarantee = Guarantee(rate=0.6 * before) if share == "rate" else Guarantee(equal_share=0.7)
    keeper, curve = Keeper(guarantee), Curve()
    curve.note(cpus / 3, before)
    per_core /= 2  # each unit of work takes twice as long from now on
    verdicts = []
    for _ in range(8):
        have = kernel._used(cpus)["kept"]
        keeper.turn(per_core * have, have, curve.at(cpus / 3), cpus)
        kernel.shares = [replace(kernel.shares[0], min=keeper.floor), *kernel.shares[1:]]
        kernel.divide(cpus)
        verdicts.append(keeper.met)
    assert verdicts[0] is False
    assert all(verdicts[2:]), "met at the third look, 1.5 s after the change, and from then on"


def test_learning_what_a_core_is_worth_goes_on_where_there_are_fewer_cores_than_groups() -> None:
    worth = Worth(["grows", "flat", "other"], 2.0)
    for _ in range(200):
        shares = [Share(name, weight) for name, weight in worth.weights.items()]
        have = dict(zip(worth.weights, dues(2.0, shares), strict=True))
        worth.turn(
            {"grows": have["grows"], "flat": min(have["flat"], 0.2), "other": have["other"] * 0.9},
            2.0,
        )
    assert worth.weights["flat"] < worth.weights["grows"]


def test_an_exclusive_division_tells_whole_numbers() -> None:
    division = divide([[0], [1]], [Share("a"), Share("b")])
    assert isinstance(division, Division)
    assert had(division, "a", frozenset((0, 1)), {}) == 1
