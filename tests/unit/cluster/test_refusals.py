"""Work that refuses to be ended: what goes in its place, and when it is asked again."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from smartharvest.cluster.refusals import LONGEST_PAUSE_S, Refusals, Refused, Work
from smartharvest.errors import EngineError

WORKS = tuple(Work(f"job {n}", 1) for n in range(5))


class Clock:
    now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


class Ender:
    """Ends everything but what is in ``guarded``; notes what it was asked to end."""

    def __init__(self, *guarded: str) -> None:
        self.guarded = set(guarded)
        self.asked: list[str] = []

    def __call__(self, work: Work) -> None:
        self.asked.append(work.name)
        if work.name in self.guarded:
            raise Refused("it may not be requeued")


def made(clock: Callable[[], float] | None = None) -> Refusals:
    return Refusals("job", "requeued", clock or Clock())


def test_the_next_ones_go_in_place_of_one_that_refuses() -> None:
    end = Ender("job 0")
    made().end(WORKS, 2, end)
    assert end.asked == ["job 0", "job 1", "job 2"]


def test_if_too_much_is_left_the_refusers_are_named_at_the_end() -> None:
    end = Ender("job 0", "job 3")
    with pytest.raises(EngineError) as told:
        made().end(WORKS, 5, end)
    assert len(end.asked) == 5
    assert str(told.value) == (
        "2 jobs above the capacity cannot be requeued: job 0: it may not be requeued; "
        "job 3: it may not be requeued"
    )


def test_one_that_refuses_is_asked_ever_more_seldom() -> None:
    clock, end = Clock(), Ender("job 0")
    refusals = made(clock)
    for tick in range(2 * 600):
        clock.now_s = tick / 2
        with pytest.raises(EngineError):
            refusals.end(WORKS[:1], 1, end)
    assert len(end.asked) == pytest.approx(600 / LONGEST_PAUSE_S, abs=6)


def test_one_that_no_longer_refuses_is_ended_and_forgotten() -> None:
    clock, end = Clock(), Ender("job 0")
    refusals = made(clock)
    with pytest.raises(EngineError):
        refusals.end(WORKS[:1], 1, end)
    end.guarded.clear()
    clock.now_s = 2.0
    refusals.end(WORKS[:1], 1, end)
    refusals.end(WORKS[:1], 1, end)
    assert end.asked == ["job 0"] * 3


def test_only_what_runs_is_remembered() -> None:
    refusals, end = made(), Ender(*(f"job {n}" for n in range(1000)))
    for n in range(1000):
        with pytest.raises(EngineError, match="1 job above"):
            refusals.end([Work(f"job {n}", 1)], 1, end)
    refusals.end([], 1, end)


def test_an_engine_that_does_not_answer_is_not_asked_on() -> None:
    asked = []

    def end(work: Work) -> None:
        asked.append(work.name)
        raise EngineError("no answer within 10 s")

    with pytest.raises(EngineError, match="no answer"):
        made().end(WORKS, 5, end)
    assert asked == ["job 0"]
