"""Threads that others have pinned, a part of them in each look."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import cast

import pytest

from smartharvest.core import _actuators
from smartharvest.host.foreign.pins import MOST_AT_ONCE, GivenThreads
from smartharvest.host.process import tasks

GIVEN, OTHER = frozenset({0}), frozenset({1})
BEGAN = 100


class Actuator:
    """Has given all threads the same; ``strays`` have got something else since."""

    def __init__(self) -> None:
        self.strays_now: set[int] = set()
        self.asked: list[int] = []
        self.moving = False
        self.strays: list[tuple[int, frozenset[int], frozenset[int]]] = []

    def strays_at_rest(
        self, tids: Sequence[int], _online: Collection[int]
    ) -> list[tuple[int, frozenset[int], frozenset[int]]] | None:
        self.asked.append(len(tids))
        if self.moving:
            return None
        return [(tid, OTHER, GIVEN) for tid in tids if tid in self.strays_now]

    def given(self, _tid: int) -> frozenset[int]:
        return GIVEN


@pytest.fixture
def actuator() -> Actuator:
    return Actuator()


@pytest.fixture(autouse=True)
def host(monkeypatch: pytest.MonkeyPatch, actuator: Actuator) -> None:
    monkeypatch.setattr(tasks, "online_cpus", lambda: GIVEN | OTHER)
    monkeypatch.setattr(tasks, "start_time_of_newcomers", lambda: BEGAN)
    monkeypatch.setattr(tasks, "start_time", lambda tid: BEGAN + (tid >= 1_000_000))
    monkeypatch.setattr(
        tasks, "affinity", lambda tid: OTHER if tid in actuator.strays_now else GIVEN
    )


def given(actuator: Actuator, count: int) -> GivenThreads:
    return GivenThreads(cast("_actuators.ThreadsActuator", actuator), range(1, count + 1))


def test_many_threads_are_looked_at_part_by_part_and_none_is_left_out(actuator: Actuator) -> None:
    threads = given(actuator, 20_000)
    actuator.strays_now = {19_999}
    looks = 1
    while not (pins := threads.pinned_at_rest()):
        looks += 1
    assert [pin.tid for pin in pins] == [19_999]
    assert looks == 5
    assert max(actuator.asked) == MOST_AT_ONCE


def test_before_all_are_confined_again_all_are_looked_at(actuator: Actuator) -> None:
    threads = given(actuator, 20_000)
    threads.pinned_at_rest()  # a look in parts is under way
    actuator.strays_now = {1}
    assert [pin.tid for pin in threads.pinned_at_rest(everybody=True)] == [1]


def test_one_that_was_pinned_is_looked_at_again_the_next_time(actuator: Actuator) -> None:
    threads = given(actuator, 20_000)
    actuator.strays_now = {1}
    assert [[pin.tid for pin in threads.pinned_at_rest()] for _ in range(3)] == [[1]] * 3
    actuator.strays_now = set()
    assert threads.pinned_at_rest() == []


def test_nobody_is_pinned_while_threads_are_moved(actuator: Actuator) -> None:
    threads = given(actuator, 10)
    actuator.strays_now = {1}
    actuator.moving = True
    assert threads.pinned_at_rest() == []
    actuator.moving = False
    assert threads.pinned_at_rest()


def test_a_later_thread_with_the_same_number_is_none_of_them(actuator: Actuator) -> None:
    threads = GivenThreads(cast("_actuators.ThreadsActuator", actuator), [1_000_000])
    actuator.strays_now = {1_000_000}
    assert threads.pinned_at_rest() == []


def test_only_those_that_came_later_are_confined_again(actuator: Actuator) -> None:
    threads = given(actuator, 2)
    actuator.strays_now = {1, 3}
    assert threads.foreign_tasks([1, 2, 3, 4]) == [3]
