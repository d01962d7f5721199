from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest

from bench.subject import Effort, goal, interleave


def test_every_case_runs_once_a_round() -> None:
    order: list[str] = []
    cases = {name: lambda name=name: order.append(name) for name in "abc"}
    results = interleave(cases, Effort(rounds=6, share=1.0, seed=3))
    assert {name: len(rounds) for name, rounds in results.items()} == {"a": 6, "b": 6, "c": 6}
    assert all(sorted(order[i : i + 3]) == ["a", "b", "c"] for i in range(0, 18, 3))
    assert any(order[i : i + 3] != ["a", "b", "c"] for i in range(0, 18, 3))


def test_the_seed_decides_the_order() -> None:
    def order(seed: int) -> list[str]:
        names: list[str] = []
        cases = {name: lambda name=name: names.append(name) for name in "abcd"}
        interleave(cases, Effort(rounds=5, share=1.0, seed=seed))
        return names

    assert order(1) == order(1)
    assert order(1) != order(2)


def test_a_small_share_still_takes_a_sample() -> None:
    effort = Effort(rounds=5, share=0.2, seed=1)
    assert effort.samples(50) == 10
    assert effort.samples(1) == 1


def test_a_goal_is_met_up_to_and_including_its_limit() -> None:
    assert goal(1.0, 1.0) == {"goal": 1.0, "value": 1.0, "met": True}
    assert goal(1.0, 1.01)["met"] is False


def interrupted_at(turn: int) -> dict[str, Callable[[], int]]:
    turns = itertools.count()

    def run() -> int:
        now = next(turns)
        if now == turn:
            raise KeyboardInterrupt
        return now

    return {"a": run, "b": run}


def test_interrupted_the_whole_rounds_are_kept_and_no_more_is_begun() -> None:
    effort = Effort(rounds=5, share=1.0, seed=1)
    results = interleave(interrupted_at(5), effort)
    assert {name: len(rounds) for name, rounds in results.items()} == {"a": 2, "b": 2}
    assert effort.watch.interrupted
    with pytest.raises(KeyboardInterrupt):
        interleave(interrupted_at(-1), effort)


def test_interrupted_in_the_first_round_there_is_nothing_to_keep() -> None:
    with pytest.raises(KeyboardInterrupt):
        interleave(interrupted_at(1), Effort(rounds=5, share=1.0, seed=1))
