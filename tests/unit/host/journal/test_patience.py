"""A disk that answers late, or not at all, while the agent journals."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from smartharvest.errors import RightsError
from smartharvest.host.journal import patience
from smartharvest.host.journal.contents import read_journal
from smartharvest.host.journal.journal import Journal
from smartharvest.host.journal.patience import PatientWriter
from tests.commands import LONGEST_S


class Disk:
    """Whose syncs wait until it is let go."""

    def __init__(self) -> None:
        self._sync = os.fsync
        self.asked, self.answers = threading.Event(), threading.Event()
        self.answers.set()

    def sync(self, fd: int) -> None:
        self.asked.set()
        assert self.answers.wait(LONGEST_S)
        self._sync(fd)


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Iterator[Disk]:
    one = Disk()
    monkeypatch.setattr(os, "fsync", one.sync)
    yield one
    one.answers.set()


@pytest.fixture
def journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Journal]:
    monkeypatch.setattr(patience, "STEP_S", 0.001)
    one = Journal(str(tmp_path / "state"))
    yield one
    one.release()


def test_an_agent_that_waits_for_its_disk_shows_life_and_then_goes_on(
    journal: Journal, disk: Disk
) -> None:
    signs: list[bool] = []

    def show_life() -> None:
        signs.append(disk.asked.is_set())
        if len(signs) == 20:
            disk.answers.set()

    disk.answers.clear()
    journal.while_waiting = show_life
    journal.record_affinity(7, 1, [0])
    assert len(signs) >= 20
    assert [entry.tid for entry in read_journal(journal.path).entries] == [7]  # type: ignore[union-attr]


def test_what_is_not_on_disk_in_time_is_refused_and_not_tried_again_before_it_answers(
    journal: Journal, disk: Disk
) -> None:
    disk.answers.clear()
    journal.while_waiting = lambda: None
    journal._patient = PatientWriter(journal.path, patience_s=0.01)
    for _ in range(2):
        with pytest.raises(RightsError, match="cannot be written: no answer from its disk for"):
            journal.record_affinity(7, 1, [0])
        assert journal.entries == ()
    disk.answers.set()
    assert journal._patient._late is not None
    journal._patient._late.join(LONGEST_S)
    journal._patient._patience_s = LONGEST_S
    journal.record_affinity(8, 1, [0])
    assert [entry.tid for entry in read_journal(journal.path).entries] == [8]  # type: ignore[union-attr]


def test_an_error_of_the_disk_is_the_writers(journal: Journal, tmp_path: Path) -> None:
    journal.while_waiting = lambda: None
    (tmp_path / "state").rename(tmp_path / "elsewhere")
    with pytest.raises(RightsError, match="the journal cannot be written: No such file"):
        journal.record_affinity(7, 1, [0])
    (tmp_path / "elsewhere").rename(tmp_path / "state")
