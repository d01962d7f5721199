"""Weights in closed loop, in a kernel that has threads where they happen to be."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import pytest

from smartharvest.algorithm.division import Share
from smartharvest.algorithm.guarantee import Curve, Guarantee, Keeper
from smartharvest.algorithm.time_sharing import (
    LADDER,
    MOST_STEPS,
    STEP_RUNGS,
    Lags,
    as_kernel_value,
    due_of,
    weights,
)
from smartharvest.algorithm.worth import Worth
from tests.unit.algorithm.uneven_kernel import UnevenKernel

MOST = LADDER ** (STEP_RUNGS * MOST_STEPS)
"""What a weight is multiplied by at most."""
SECONDS = 150
SEEDS = range(3)
WAYS = {"fair": (1.0, 1.0, 1.0), "weight": (2.0, 1.0, 1.0)}
Use = Callable[[Mapping[str, float]], dict[str, float]]
"""Core-seconds that each group uses in a second with these weights of the kernel."""


class Host:
    """Groups that always share all CPUs by time."""

    def __init__(
        self, cpus: int, shares: Sequence[Share], use: Use, *, closed_loop: bool = True
    ) -> None:
        self.cpus, self.shares, self.closed_loop = cpus, list(shares), closed_loop
        self._use = use
        self.lags = Lags()
        self.written: list[dict[str, str]] = []
        self.used: list[dict[str, float]] = []
        self.off: list[dict[str, float]] = []
        """What each used in each second, less what it was due."""

    def second(self) -> dict[str, float]:
        parts = weights(self.shares, self.cpus)
        if self.closed_loop:
            parts = self.lags.corrected(parts)
        values = {name: as_kernel_value(part, 2) for name, part in parts.items()}
        used = self._use({name: float(value) for name, value in values.items()})
        names = [share.name for share in self.shares]
        found = due_of(sum(used.values()), self.shares, self.cpus)
        due = dict(zip(names, found, strict=True))
        self.lags.turn(used, due)
        self.written.append(values)
        self.used.append(used)
        self.off.append({name: used[name] - due[name] for name in names})
        return used

    def run(self, seconds: int) -> None:
        for _ in range(seconds):
            self.second()

    def off_over_10_s(self) -> list[float]:
        """Of each ten seconds: how far the furthest is from its due, as a part of what all used."""
        return [
            max(
                abs(sum(row[share.name] for row in self.off[at : at + 10])) for share in self.shares
            )
            / sum(sum(row.values()) for row in self.used[at : at + 10])
            for at in range(10, len(self.off) - 9)
        ]

    @property
    def writes(self) -> int:
        return sum(
            now[name] != before[name]
            for before, now in zip(self.written, self.written[1:], strict=False)
            for name in now
        )


def uneven(cpus: int, way: str, seed: int, *, closed_loop: bool = True) -> Host:
    kernel = UnevenKernel(cpus, "abc", seed, moves=5 * cpus)
    shares = [Share(name, weight) for name, weight in zip("abc", WAYS[way], strict=True)]
    return Host(cpus, shares, kernel.second, closed_loop=closed_loop)


def exactly(cpus: int) -> Use:
    """Every CPU divided by weights."""
    return lambda values: {name: cpus * one / sum(values.values()) for name, one in values.items()}


@pytest.mark.parametrize("cpus", [2, 4, 16])
@pytest.mark.parametrize("way", WAYS)
def test_nine_of_ten_times_shares_over_10_s_are_within_3_percent_of_what_is_due(
    cpus: int, way: str
) -> None:
    off: list[float] = []
    for seed in SEEDS:
        host = uneven(cpus, way, seed)
        host.run(SECONDS)
        off += host.off_over_10_s()
        assert host.writes < 2 * SECONDS
    assert sum(one < 0.03 for one in off) > 0.9 * len(off)


@pytest.mark.parametrize("cpus", [2, 4, 16])
def test_weights_alone_leave_them_further_away_most_of_the_time(cpus: int) -> None:
    off: list[float] = []
    for seed in SEEDS:
        host = uneven(cpus, "weight", seed, closed_loop=False)
        host.run(SECONDS)
        off += host.off_over_10_s()
    assert sum(one < 0.03 for one in off) < 0.4 * len(off)


@pytest.mark.parametrize("way", WAYS)
def test_nothing_is_written_where_the_kernel_gives_what_is_due(way: str) -> None:
    shares = [Share(name, weight) for name, weight in zip("abc", WAYS[way], strict=True)]
    host = Host(4, shares, exactly(4))
    host.run(60)
    assert host.writes == 0


def test_a_kernel_that_always_favours_one_is_made_up_for_with_few_writes() -> None:
    """A group's weight counts double there."""
    host = Host(
        2,
        [Share(name) for name in "abc"],
        lambda values: exactly(2)({**values, "a": 2 * values["a"]}),
    )
    host.run(100)
    assert max(host.off_over_10_s()[20:]) < 0.03
    assert host.writes < 60


def test_corrections_are_bounded_and_few_whatever_was_used() -> None:
    source = random.Random(1)
    for _ in range(20):
        lags = Lags()
        names = "abcdef"[: source.randint(1, 6)]
        found: set[float] = set()
        for _ in range(300):
            scale = source.choice([0.0, 1e-9, 0.01, 1.0, 1e3])
            used = {name: scale * source.choice([0.0, 0.1, 1.0, 5.0]) for name in names}
            due = {name: source.choice([0.0, 1e-6, 0.5, 3.0]) for name in names}
            lags.turn(used, due)
            parts = lags.corrected(dict.fromkeys(names, 1.0))
            assert all(MOST**-2 * 0.999 < part <= 1 for part in parts.values())
            assert math.isfinite(sum(parts.values()))
            found |= set(parts.values())
        assert len(found) <= 2 * MOST_STEPS + 1


def test_groups_that_no_longer_share_are_forgotten() -> None:
    lags = Lags()
    for _ in range(5):
        lags.turn({"a": 0.1, "b": 1.9}, {"a": 1.0, "b": 1.0})
    assert lags.corrected({"a": 1.0})["a"] > 1 / MOST
    lags.turn({}, {})
    parts = lags.corrected({"a": 1.0, "b": 1.0})
    assert parts["a"] == parts["b"] == pytest.approx(1 / MOST)


def test_a_group_that_was_idle_has_its_part_at_once_and_no_more() -> None:
    host = Host(2, [Share(name) for name in "abc"], exactly(2))
    host.run(5)
    at_work, host._use = host._use, lambda _: {"a": 0.0, "b": 1.0, "c": 1.0}
    host.run(60)
    host._use = at_work
    assert host.second() == pytest.approx(dict.fromkeys("abc", 2 / 3), rel=0.05)


@pytest.mark.parametrize("threads", [1, 2])
def test_a_group_that_could_not_use_its_due_claims_a_second_or_two_of_it(threads: int) -> None:
    """The other two share what it leaves evenly meanwhile."""
    kernel = UnevenKernel(8, "abc", 1, moves=40)
    working: dict[str, int] = {"a": threads}
    host = Host(8, [Share(name) for name in "abc"], lambda values: kernel.second(values, working))
    host.run(100)
    used = [sum(row[name] for row in host.used[-50:]) for name in "abc"]
    assert used[1] == pytest.approx(used[2], rel=0.03)
    assert used[0] > 50 * 0.9 * threads
    working.clear()
    host.run(12)
    others = [8 - row["a"] for row in host.used[-12:]]
    due = 8 * 2 / 3
    assert sum(due - have for have in others[:3]) < 2 * 8 / 3, "less than two seconds of its due"
    assert sum(others[3:]) > 0.97 * 9 * due


def test_what_a_group_is_owed_is_what_was_due_to_it_then() -> None:
    """Dues that change every four seconds, as trials change them."""
    host = uneven(4, "fair", 1)
    for second in range(SECONDS):
        weight = 1.5 if second // 4 % 2 else 1.0
        host.shares = [replace(host.shares[0], weight=weight), *host.shares[1:]]
        host.second()
    off = host.off_over_10_s()
    assert sum(one < 0.03 for one in off) > 0.9 * len(off)


def test_others_that_leave_the_groups_a_varying_part_do_not_spoil_it() -> None:
    source, kernel = random.Random(1), UnevenKernel(4, "abc", 1, moves=20)

    def left(values: Mapping[str, float]) -> dict[str, float]:
        there = source.uniform(0.05, 0.4)
        return {name: there * used for name, used in kernel.second(values).items()}

    host = Host(4, [Share("a", 2.0), Share("b"), Share("c")], left)
    host.run(SECONDS)
    off = host.off_over_10_s()
    assert sum(one < 0.03 for one in off) > 0.8 * len(off)


@pytest.mark.parametrize("cpus", [2, 8])
def test_a_guarantee_is_held_as_well_as_without(cpus: int) -> None:
    violated = {}
    for closed_loop in (False, True):
        violated[closed_loop] = 0
        for seed in SEEDS:
            host = uneven(cpus, "fair", seed, closed_loop=closed_loop)
            keeper, curve = Keeper(Guarantee(rate=0.6 * cpus / 3)), Curve()
            for second in range(SECONDS):
                did = host.second()["a"] / (2 if second > 50 else 1)  # a unit is more work then
                keeper.turn(did, host.cpus / 3, curve.at(cpus / 3), cpus)
                host.shares = [replace(host.shares[0], min=keeper.floor), *host.shares[1:]]
                violated[closed_loop] += not keeper.met
    assert violated[True] < 1.5 * violated[False] + 5


def test_what_a_core_is_worth_is_learned_while_lags_are_made_up_for() -> None:
    host = uneven(4, "fair", 1)
    worth = Worth("abc", 4)
    for _ in range(600):
        used = host.second()
        worth.turn(used | {"b": min(used["b"], 0.6)}, 4)  # which scales badly
        host.shares = [replace(one, weight=worth.weights[one.name]) for one in host.shares]
    assert worth.weights["b"] < 1
    off = host.off_over_10_s()
    assert sum(one < 0.03 for one in off) > 0.85 * len(off)
