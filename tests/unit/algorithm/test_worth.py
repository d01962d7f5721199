"""Cores where all groups together do most with them, learned in simulated time."""

from __future__ import annotations

import random
import statistics
from collections.abc import Callable

import pytest

from bench.groups.simulated import amdahl, gain
from smartharvest.algorithm.division import Share, divide
from smartharvest.algorithm.worth import Worth

SEEDS = range(10)


def run(worth: Worth, curves: dict[str, list[float]], total: int, turns: int) -> dict[str, int]:
    """The cores of each group after so many turns; a curve has the throughput by cores."""
    have: dict[str, int] = {}
    for _ in range(turns):
        shares = [Share(name, weight) for name, weight in worth.weights.items()]
        division = divide([[cpu] for cpu in range(total)], shares)
        have = {name: division.count(name, total) for name in curves}
        worth.turn({name: curves[name][have[name]] for name in curves}, float(total))
    return have


def test_cores_go_where_they_do_most() -> None:
    grows = [float(cores) for cores in range(9)]
    flat = [0.0, 1.0, *[1.1] * 7]
    have = run(Worth(["grows", "flat"], 8), {"grows": grows, "flat": flat}, 8, 200)
    assert have["flat"] <= 2
    assert have["grows"] >= 6


def test_who_has_more_does_not_get_more_for_that() -> None:
    same = [float(cores) for cores in range(9)]
    worth = Worth(["one", "other"], 8)
    assert run(worth, {"one": same, "other": same}, 8, 200) in (
        {"one": 4, "other": 4},
        {"one": 5, "other": 3},
        {"one": 3, "other": 5},
    )
    assert worth.changes == 0


def test_an_unknown_throughput_changes_nothing() -> None:
    worth = Worth(["one", "other"], 8)
    before = dict(worth.weights)
    for _ in range(50):
        worth.turn({"one": None, "other": 1.0}, 8.0)
    assert worth.weights == before


@pytest.mark.parametrize("total", [8, 16])
@pytest.mark.parametrize("parallel", [(0.99, 0.5), (0.99, 0.9), (0.9, 0.9)])
def test_it_comes_near_the_best_division_of_two_programs_and_loses_little_where_none_gains(
    total: int, parallel: tuple[float, float]
) -> None:
    found = [gain(total, parallel, 2000, seed) for seed in SEEDS]
    best = found[0][1]
    assert statistics.median(one for one, _ in found) >= 0.75 * best - 0.003
    assert min(one for one, _ in found) >= 0.7 * best - 0.003


def sudden(source: random.Random) -> Callable[[], float]:
    """What others leave, in each second any part."""
    return lambda: source.uniform(0.05, 0.4)


def lasting(source: random.Random) -> Callable[[], float]:
    """What others leave, for twenty seconds or so."""
    leaves = 0.9

    def now() -> float:
        nonlocal leaves
        if source.random() < 0.05:
            leaves = source.choice([0.9, 0.5, 0.2])
        return leaves

    return now


@pytest.mark.parametrize("others", [sudden, lasting])
@pytest.mark.parametrize("cpus", [2, 16])
def test_what_others_leave_teaches_it_nothing(
    others: Callable[[random.Random], Callable[[], float]], cpus: int
) -> None:
    """Every core is worth the same: what differs is by chance."""
    kept = []
    for seed in SEEDS:
        source, worth = random.Random(seed), Worth("abc", cpus)
        leaves = others(source)
        equal = dict(worth.weights)
        for _ in range(2000):
            there = leaves() * cpus / sum(worth.weights.values())
            worth.turn({name: there * cores for name, cores in worth.weights.items()}, cpus)
        kept.append(worth.changes)
        off = max(abs(worth.weights[name] - equal[name]) for name in equal)
        assert off < 1.01 * min(1.0, cpus / 6), "more than one step"
    assert sum(kept) <= 0.5 * len(SEEDS)


def test_a_change_of_what_cores_are_worth_is_learned_next_to_noise() -> None:
    """First they are worth most to one group, then to the other."""
    source, worth = random.Random(1), Worth("ab", 8)
    weights = []
    for parallel in ((0.99, 0.3), (0.3, 0.99)):
        for _ in range(2000):
            shares = [Share(name, weight) for name, weight in worth.weights.items()]
            division = divide([[cpu] for cpu in range(8)], shares)
            did = {
                name: amdahl(part, division.count(name, 8)) * source.gauss(1, 0.02)
                for name, part in zip("ab", parallel, strict=True)
            }
            worth.turn(did, 8)
        weights.append(dict(worth.weights))
    assert weights[0]["a"] > 4 > weights[0]["b"]
    assert weights[1]["b"] > 4 > weights[1]["a"]


def test_other_groups_keep_what_was_learned() -> None:
    grows = [float(cores) for cores in range(9)]
    flat = [0.0, 1.0, *[1.1] * 7]
    worth = Worth(["grows", "flat"], 8)
    run(worth, {"grows": grows, "flat": flat}, 8, 200)
    more = worth.of(["grows", "flat", "new"])
    assert more.weights["new"] == pytest.approx(sum(more.weights.values()) / 3)
    ratio = worth.weights["grows"] / worth.weights["flat"]
    assert more.weights["grows"] / more.weights["flat"] == pytest.approx(ratio)
    assert worth.of(["grows", "flat"]) is worth
    assert worth.of(["other", "another"]).weights == {"other": 4.0, "another": 4.0}
