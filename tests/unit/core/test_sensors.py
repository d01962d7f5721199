"""The binding of the sensors. What they count: tests/native."""

from __future__ import annotations

import errno
import os
import subprocess
import threading
from pathlib import Path

import pytest

from smartharvest.core._loop import monotonic_ns
from smartharvest.core._sensors import FakeSensor, ProcSensor, StatSensor

LONG_NS = 3_600_000_000_000


def test_a_fake_sensor_repeats_the_end_of_its_script() -> None:
    sensor = FakeSensor([1, 2, 3])
    seen = [(sensor.read(0), sensor.exhausted_script) for _ in range(5)]
    assert [reading for reading, _ in seen] == [(1, 1), (2, 2), (3, 3), (3, 3), (3, 3)]
    assert [exhausted for _, exhausted in seen] == [False, True, True, True, True]


def test_a_fake_sensor_fails_where_its_script_says() -> None:
    sensor = FakeSensor([1, -errno.ESRCH])
    assert sensor.read(0) == (1, 1)
    with pytest.raises(ProcessLookupError):
        sensor.read(0)


def test_an_empty_script_has_no_data() -> None:
    with pytest.raises(OSError, match=os.strerror(errno.ENODATA)):
        FakeSensor([]).read(0)


def test_a_fake_sensor_counts_the_cores_marked_busy() -> None:
    sensor = FakeSensor(core_count=64)
    for busy in (0, 5, 64, 3):
        sensor.set_busy(busy)
        assert sensor.read(0) == (busy, busy)
    sensor.set_busy(1000)
    assert sensor.read(0) == (64, 64)


def test_the_reading_thread_sees_itself_run() -> None:
    own = ProcSensor([("/proc/self/task", 0)], [1])
    assert own.read(monotonic_ns()) == (1, 1)
    assert own.tasks_seen >= 1
    assert ProcSensor([("/proc/self/task", 0)], [0]).read(monotonic_ns()) == (0, 0)


def test_threads_are_found_and_sleeping_ones_not_counted(tmp_path: Path) -> None:
    done = threading.Event()
    thread = threading.Thread(target=done.wait)
    thread.start()
    tasks = tmp_path / "tasks"
    tasks.write_text(f"{thread.native_id}\n")
    own = ProcSensor([("/proc/self/task", 0)], [64])
    group = ProcSensor([(str(tasks), 0)], [64])
    own.read(0)
    try:
        while group.read(0) != (0, 0):  # until it sleeps
            pass
        assert group.tasks_seen == 1
        assert own.tasks_seen == len(os.listdir("/proc/self/task"))
    finally:
        done.set()
        thread.join()


def test_a_process_that_vanishes_is_an_error() -> None:
    process = subprocess.Popen(["sleep", "3600"])
    try:
        sensor = ProcSensor([(f"/proc/{process.pid}/task", 0)], [1])
        sensor.read(0)
    finally:
        process.kill()
        process.wait()
    with pytest.raises(ProcessLookupError):
        sensor.read(LONG_NS)
    with pytest.raises(FileNotFoundError):
        ProcSensor([(f"/proc/{process.pid}/task", 0)], [1])


@pytest.mark.parametrize(
    ("primary", "allocations", "message"),
    [(1, 1, "primary 1"), (-1, 1, "primary -1"), (0, 0, "primary 0"), (0, 257, "primaries")],
)
def test_a_primary_without_allocation_is_refused(
    primary: int, allocations: int, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        ProcSensor([("/proc/self/task", primary)], [1] * allocations)


def test_the_first_look_at_proc_stat_finds_nobody_busy() -> None:
    cpus = sorted(os.sched_getaffinity(0))
    assert StatSensor(cpus, len(cpus)).read(monotonic_ns()) == (0, 0)


@pytest.mark.parametrize("pool", [[4096], [-1], [0] * 4097])
def test_cpus_beyond_the_stat_sensor_are_refused(pool: list[int]) -> None:
    with pytest.raises(ValueError, match="CPU"):
        StatSensor(pool, 1)


def test_a_sensor_that_cannot_tell_says_so_and_tells_nothing() -> None:
    sensor = ProcSensor([("/proc/self/task", 0)], [1])
    told = (sensor.tells_waits, sensor.tells_runners, sensor.tells_displacements)
    assert told == (False, False, False)
    assert not sensor.wants_visits
    assert (sensor.resync(), sensor.overruns, sensor.displacements) == (0, 0, 0)
    assert (sensor.primary_times_ns(0), sensor.runner(0)) == ((0, 0), "unknown")
    assert sensor.busy_core_ns() is None
