"""An agent goes on where somebody has used up the process ids, so that there are no threads."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from smartharvest.host.journal.patience import PatientWriter
from smartharvest.host.target.asking import Asker
from smartharvest.mechanism.memory_limit import Reclaimer
from tests.unit.algorithm.learning.test_kept_models import keeper, settings, taught


@pytest.fixture(autouse=True)
def used_up(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    def start(_thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", start)
        yield patch


def test_what_must_be_on_disk_is_written_all_the_same() -> None:
    written: list[bool] = []
    PatientWriter("journal").run(lambda: written.append(True), lambda: None)
    assert written == [True]


def test_a_disk_that_refuses_is_an_error_as_ever() -> None:
    def refuse() -> None:
        raise OSError("no space left")

    with pytest.raises(OSError, match="no space left"):
        PatientWriter("journal").run(refuse, lambda: None)


def test_nobody_answers_until_he_can_be_asked(used_up: pytest.MonkeyPatch) -> None:
    asker = Asker[str, int](len, 5.0)
    assert asker.answer("who?") is None
    used_up.undo()
    assert asker.answer("who?") == 4


def test_pages_are_taken_once_there_is_a_thread(used_up: pytest.MonkeyPatch) -> None:
    steps: list[int] = []

    def step(target: int) -> bool:
        steps.append(target)
        return False

    reclaimer = Reclaimer()
    reclaimer.start(step, 7)
    assert not reclaimer.runs
    used_up.undo()
    reclaimer.start(step, 7)
    reclaimer.join()
    assert steps == [7]


def test_a_model_is_kept_at_the_end(tmp_path: Path) -> None:
    model = taught("native")
    store = keeper(model, settings(tmp_path, learner="native"))
    store.save_if_due(0)
    store.save_if_due(1 << 60)
    assert not (tmp_path / "m").exists()
    store.save()
    after = taught("native", lessons=0)
    keeper(after, settings(tmp_path, learner="native")).load()
    assert after.lessons == model.lessons
