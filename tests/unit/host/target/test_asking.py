"""Whoever does not answer keeps nobody waiting."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest

from smartharvest.host.target.asking import Asker
from tests.commands import LONGEST_S


@pytest.fixture
def goes_on() -> Iterator[threading.Event]:
    """Whoever waits for it answers; it happens when the test is over at the latest."""
    event = threading.Event()
    yield event
    event.set()


def in_time(asker: Asker[str, int], question: str) -> int | None:
    """The answer, once there is one."""
    deadline = time.monotonic() + LONGEST_S
    while (answer := asker.answer(question)) is None:
        assert time.monotonic() < deadline
        time.sleep(0.001)
    return answer


def test_the_first_answer_is_waited_for() -> None:
    def ask(_question: str) -> int:
        time.sleep(0.01)
        return 7

    assert Asker(ask, LONGEST_S).answer("who?") == 7


def test_a_mute_one_costs_all_patience_once_and_holds_up_no_other(
    goes_on: threading.Event,
) -> None:
    asked: list[str] = []

    def ask(question: str) -> int | None:
        asked.append(question)
        if question.startswith("mute"):
            assert goes_on.wait(LONGEST_S)
        return len(question)

    asker = Asker(ask, 0.01)
    names = [f"mute {number}" for number in range(100)]
    assert [asker.answer(name) for name in names] == [None] * 100
    assert in_time(asker, "other") == 5
    assert [asker.answer(name) for name in names] == [None] * 100
    assert sorted(asked) == sorted([*names, "other"])  # one question each
    goes_on.set()
    assert in_time(asker, names[0]) == 6


def test_an_answer_is_given_once_and_asked_for_again() -> None:
    answers = iter([1, 2])
    asker: Asker[str, int] = Asker(lambda _: next(answers), LONGEST_S)
    assert asker.answer("who?") == 1
    assert in_time(asker, "who?") == 2
