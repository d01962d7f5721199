"""Signals between two supervisors."""

from __future__ import annotations

import signal
from collections.abc import Callable
from typing import Any

import pytest

from smartharvest.agent.lifecycle import _Signals
from smartharvest.guardian import stacks


class Asked:
    """What a supervisor was asked."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    def ask_reload(self) -> None:
        self.heard.append("ask_reload")

    def ask_reexec(self) -> None:
        self.heard.append("ask_reexec")


@pytest.fixture
def handlers(monkeypatch: pytest.MonkeyPatch) -> dict[int, Callable[[], None]]:
    """What would be called by a signal, by its number."""
    found: dict[int, Callable[[], None]] = {}

    def take(number: int, handler: Callable[[], None]) -> None:
        found[number] = handler

    monkeypatch.setattr(signal, "signal", take)
    monkeypatch.setattr(signal, "pthread_sigmask", lambda *_: set())
    monkeypatch.setattr(stacks, "answer", lambda: None)
    return found


def test_a_signal_between_two_supervisors_reaches_the_next(
    handlers: dict[int, Callable[[], None]],
) -> None:
    signals, asked, later = _Signals(), Asked(), Asked()
    handlers[signal.SIGUSR2]()
    handlers[signal.SIGHUP]()
    reach(signals, asked)
    reach(signals, later)
    assert (asked.heard, later.heard) == (["ask_reload", "ask_reexec"], [])


def test_one_that_a_supervisor_has_not_answered_reaches_the_next(
    handlers: dict[int, Callable[[], None]],
) -> None:
    signals, asked, later = _Signals(), Asked(), Asked()
    reach(signals, asked)
    handlers[signal.SIGUSR2]()
    signals.ask_again({"ask_reexec"})
    reach(signals, later)
    assert asked.heard == later.heard == ["ask_reexec"]


def reach(signals: _Signals, supervisor: Any) -> None:
    signals.reach(supervisor)
