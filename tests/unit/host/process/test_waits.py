"""Waits of threads where the sensor sees none: which source, and what it tells."""

from __future__ import annotations

import itertools
import threading
from pathlib import Path

import pytest

from smartharvest.errors import RightsError
from smartharvest.host.process import waits
from smartharvest.host.process.waits import (
    Taskstats,
    ThreadWaits,
    delay_accounting,
    open_wait_source,
    read_schedstat,
)


def taskstats() -> Taskstats:
    source = Taskstats()
    try:
        source.read(threading.get_native_id())
    except RightsError as error:
        source.close()
        pytest.skip(str(error))
    return source


class Totals:
    """What each thread has waited, and how often it was dispatched."""

    def __init__(self, **threads: tuple[int, int]) -> None:
        self.of = {int(name.removeprefix("t")): totals for name, totals in threads.items()}

    def read(self, tid: int) -> tuple[int, int] | None:
        return self.of.get(tid)


def test_the_means_of_threads_are_held_against_the_threshold() -> None:
    totals = Totals(t1=(1000, 10), t2=(0, 0), t3=(5, 1))
    thread_waits = ThreadWaits(50, totals.read)
    assert thread_waits.read([1, 2, 3]) == (0, 0)  # the base
    totals.of = {1: (1000 + 4 * 50, 14), 2: (3 * 51, 3), 4: (10**9, 1)}
    assert thread_waits.read([1, 2, 3, 4]) == (7, 3)  # 4 is new, 3 has ended
    assert thread_waits.waited_ns == 353


def test_of_very_many_threads_a_sample_is_read_and_the_same_one_again() -> None:
    asked: list[int] = []
    dispatched = itertools.count()

    def read(tid: int) -> tuple[int, int]:
        asked.append(tid)
        return (0, next(dispatched))

    thread_waits = ThreadWaits(50, read)
    crowd = range(1, 3 * waits.MOST_THREADS)
    thread_waits.read(crowd)
    first, asked[:] = asked.copy(), []
    dispatches, _ = thread_waits.read(reversed(crowd))
    assert sorted(asked) == sorted(first) == list(crowd[: waits.MOST_THREADS])
    assert dispatches > 0


def test_schedstat_comes_before_taskstats() -> None:
    assert open_wait_source().name == "schedstat"


def test_without_schedstat_it_is_taskstats_and_the_reason_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    taskstats().close()
    monkeypatch.setattr(waits, "read_schedstat", lambda _tid: None)
    source = open_wait_source()
    try:
        assert source.name == "taskstats"
        assert source.reason.startswith("schedstat: shows nothing of this thread")
        assert ("kernel.task_delayacct is off" in source.reason) == (delay_accounting() is False)
    finally:
        source.close()


def test_without_either_it_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    def closed() -> Taskstats:
        raise RightsError("taskstats: no such family")

    monkeypatch.setattr(waits, "read_schedstat", lambda _tid: (0, 0))
    monkeypatch.setattr(waits, "Taskstats", closed)
    with pytest.raises(RightsError, match=r"schedstat: shows nothing.*taskstats: no such family"):
        open_wait_source()


def test_both_tell_the_same_of_a_thread_that_does_not_run() -> None:
    source = taskstats()
    resting, done = threading.Event(), threading.Event()

    def rest() -> None:
        resting.set()
        done.wait()

    thread = threading.Thread(target=rest)
    thread.start()
    try:
        resting.wait()
        assert thread.native_id is not None
        seen: set[tuple[int, int] | None] = set()
        while len(seen) != 1:  # until it has gone to sleep
            seen = {
                read(thread.native_id) for read in (read_schedstat, source.read, read_schedstat)
            }
        assert None not in seen
    finally:
        done.set()
        thread.join()
        source.close()


def test_a_thread_that_is_gone_has_no_waits() -> None:
    source = taskstats()
    gone = 2**22 - 3  # no pid of a host with the usual limit
    assert read_schedstat(gone) is None
    assert source.read(gone) is None
    source.close()


@pytest.mark.parametrize(("text", "on"), [("0\n", False), ("1\n", True), ("", None)])
def test_the_switch_of_delay_accounting_is_read(tmp_path: Path, text: str, on: bool | None) -> None:
    switch = tmp_path / "task_delayacct"
    switch.write_text(text)
    assert delay_accounting(str(switch)) is on
    assert delay_accounting(str(tmp_path / "missing")) is None
