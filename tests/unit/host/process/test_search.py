"""Processes that are searched for by a property."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from smartharvest.host.process import search, tasks
from smartharvest.host.process.search import MOST_FOUND, ProcessSearch


def test_the_first_look_finds_all_and_a_later_one_leaves_out_those_that_have_gone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wanted = {30, 10}
    monkeypatch.setattr(tasks, "process_ids", lambda _root: iter([30, 20, 10]))
    found = ProcessSearch(lambda pid: pid in wanted)
    assert found.look() == [10, 30]
    wanted.remove(30)
    assert found.look() == [10]


def test_a_crowd_that_is_called_the_same_is_remembered_in_part(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = 0

    def wanted(_pid: int) -> bool:
        nonlocal asked
        asked += 1
        return True

    monkeypatch.setattr(tasks, "process_ids", lambda _root: iter(range(100_000)))
    found = ProcessSearch(wanted)
    assert len(found.look()) == asked == MOST_FOUND


def test_a_later_look_goes_through_a_part_of_a_crowd(monkeypatch: pytest.MonkeyPatch) -> None:
    listed = 0

    def process_ids(_root: str) -> Iterator[int]:
        nonlocal listed
        for pid in range(1_000_000):
            listed += 1
            yield pid

    monkeypatch.setattr(tasks, "process_ids", process_ids)
    monkeypatch.setattr(search, "PAUSE_NS", 0)
    monkeypatch.setattr(search, "MOST_NS", 100_000)
    found = ProcessSearch(lambda _pid: False)
    found.look()
    listed = 0
    for _ in range(10):
        assert found.look() == []
    assert listed < 500_000
