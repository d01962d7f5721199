"""The binding of the actuators. The order of the writes: tests/native/test_cpuset.c."""

from __future__ import annotations

import errno
import gc
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from smartharvest.core._actuators import (
    EFFECTIVE_MISMATCH,
    AffinityActuator,
    CpusetActuator,
    FakeActuator,
)
from tests.cpus import needs_two_cpus
from tests.unit.core.made_files import MadeFiles

GROUP = "batch/cpuset.cpus"
CHILD = "batch/job/cpuset.cpus"
FREEZER = "batch/freezer.state"
MASKS = ["3", "2-3", "1-3"]
ADDED = [-1, 2, 1]


def make(files: MadeFiles, *, freezer: bool = False) -> CpusetActuator:
    return CpusetActuator(
        [(GROUP, f"{GROUP}.effective", MASKS), (CHILD, None, ["3", "2-3", "2-3"])],
        ADDED,
        freezer=(FREEZER, "FROZEN", "THAWED") if freezer else None,
        kernel_files=files,
    )


def test_writes_go_to_the_given_files_in_order() -> None:
    files = MadeFiles()
    actuator = make(files)
    actuator.assign(0)
    files.written.clear()
    actuator.assign(1)
    assert files.written == [(GROUP, "2-3"), (CHILD, "2-3")]
    files.written.clear()
    actuator.assign(2)
    assert files.written == [(GROUP, "1-3")]
    assert actuator.skipped == 1
    files.written.clear()
    actuator.assign(0)
    assert files.written == [(CHILD, "3"), (GROUP, "3")]


def test_a_refusal_carries_its_error_and_names_file_and_value() -> None:
    files = MadeFiles()
    actuator = make(files)
    actuator.assign(0)
    files.refuse(CHILD, errno.ENOSPC)
    with pytest.raises(OSError, match=os.strerror(errno.ENOSPC)) as caught:
        actuator.assign(2)
    assert caught.value.errno == errno.ENOSPC
    assert actuator.failure() == (CHILD, "2-3")


@pytest.mark.parametrize("error", [OSError("no number"), RuntimeError(), UnicodeError()])
def test_an_exception_without_number_is_an_io_error(error: Exception) -> None:
    files = MadeFiles()
    actuator = make(files)
    files.refusals[GROUP] = error
    with pytest.raises(OSError, match=os.strerror(errno.EIO)) as caught:
        actuator.assign(1)
    assert caught.value.errno == errno.EIO
    assert actuator.failure() == (GROUP, "2-3")


def test_an_effective_set_that_differs_is_a_mismatch() -> None:
    files = MadeFiles()
    actuator = make(files)
    actuator.assign(0)
    files.effective_stays = True
    with pytest.raises(OSError, match=r".") as caught:
        actuator.assign(1)
    assert caught.value.errno == EFFECTIVE_MISMATCH
    assert actuator.failure() == (GROUP, "2-3")


def test_an_effective_set_that_cannot_be_read_says_why() -> None:
    files = MadeFiles()
    actuator = make(files)
    actuator.assign(0)
    files.refuse(f"{GROUP}.effective", errno.ENODEV)
    with pytest.raises(OSError, match=r".") as caught:
        actuator.assign(1)
    assert caught.value.errno == errno.ENODEV
    assert actuator.failure() == (GROUP, "2-3")


def test_the_freezer_parks_and_is_named_when_it_refuses() -> None:
    files = MadeFiles()
    actuator = make(files, freezer=True)
    actuator.assign(0)
    assert files.contents[FREEZER] == "FROZEN\n"
    actuator.assign(1)
    assert files.contents[FREEZER] == "THAWED\n"
    files.refuse(FREEZER, errno.EPERM)
    with pytest.raises(PermissionError):
        actuator.assign(0)
    assert actuator.failure() == (FREEZER, "FROZEN")


def test_plain_files_are_written_in_place(tmp_path: Path) -> None:
    cpus, effective = tmp_path / "cpuset.cpus", tmp_path / "cpuset.cpus.effective"
    cpus.write_text("0-1\n")
    effective.write_text("2-3\n")
    inode = cpus.stat().st_ino
    actuator = CpusetActuator([(str(cpus), str(effective), MASKS)], ADDED)
    actuator.assign(1)
    assert cpus.read_text() == "2-3\n"
    assert cpus.stat().st_ino == inode
    assert actuator.writes == 1
    with pytest.raises(OSError, match=r".") as caught:
        actuator.assign(2)
    assert caught.value.errno == EFFECTIVE_MISMATCH
    assert actuator.failure() == (str(cpus), "1-3")


def test_a_missing_file_is_met_when_it_is_opened(tmp_path: Path) -> None:
    gc.collect()  # what earlier tests have left behind must not be closed meanwhile
    descriptors = len(os.listdir("/proc/self/fd"))
    present = tmp_path / "cpuset.cpus"
    present.write_text("")
    with pytest.raises(FileNotFoundError, match=r"cpuset\.missing"):
        CpusetActuator([(str(present), str(tmp_path / "cpuset.missing"), MASKS)], ADDED)
    assert len(os.listdir("/proc/self/fd")) == descriptors


def test_the_nudge_slot_must_hold_a_thread_id() -> None:
    files: list[tuple[str, str | None, list[str]]] = [(GROUP, None, MASKS)]
    with pytest.raises(ValueError, match="slot of 3 bytes"):
        CpusetActuator(files, ADDED, kernel_files=MadeFiles(), nudge_slot=bytearray(3))
    with pytest.raises(BufferError):
        CpusetActuator(files, ADDED, kernel_files=MadeFiles(), nudge_slot=bytes(4))
    slot = bytearray(4)
    actuator = CpusetActuator(files, ADDED, kernel_files=MadeFiles(), nudge_slot=slot)
    with pytest.raises(BufferError):
        slot.clear()  # the actuator may write into it
    del actuator
    slot.clear()


def test_a_fake_actuator_keeps_the_last_4096() -> None:
    actuator = FakeActuator()
    for level in range(5000):
        actuator.assign(level)
    assert actuator.assigned == list(range(5000 - 4096, 5000))


def test_a_fake_actuator_fails_when_told() -> None:
    actuator = FakeActuator()
    actuator.fail(1, errno.EBUSY)
    actuator.assign(4)
    with pytest.raises(OSError, match=os.strerror(errno.EBUSY)):
        actuator.assign(5)
    actuator.assign(6)
    assert actuator.assigned == [4, 5, 6]


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(["sleep", "3600"])
    yield process
    process.kill()
    process.wait()


def test_affinity_moves_a_process_between_levels(sleeper: subprocess.Popen[bytes]) -> None:
    own = sorted(os.sched_getaffinity(0))
    actuator = AffinityActuator([sleeper.pid], [own[-1:], own])
    actuator.assign(0)
    assert os.sched_getaffinity(sleeper.pid) == {own[-1]}
    actuator.assign(1)
    assert os.sched_getaffinity(sleeper.pid) == set(own)
    assert actuator.failure()[0] == "sched_setaffinity"


def test_a_pinned_thread_stays_on_its_cpu_among_those_it_is_given(
    sleeper: subprocess.Popen[bytes],
) -> None:
    own = sorted(os.sched_getaffinity(0))
    actuator = AffinityActuator([sleeper.pid], [own[-1:], own], {sleeper.pid: own[:1]})
    actuator.assign(1)
    assert os.sched_getaffinity(sleeper.pid) == set(own[:1])
    actuator.assign(0)
    assert os.sched_getaffinity(sleeper.pid) == set(own[-1:])


@needs_two_cpus
def test_those_that_have_other_cpus_than_they_were_given_are_found_at_rest(
    sleeper: subprocess.Popen[bytes],
) -> None:
    own = sorted(os.sched_getaffinity(0))
    first, gone = frozenset(own[:1]), 4_194_305
    actuator = AffinityActuator([sleeper.pid], [own[-1:], own])
    assert actuator.strays_at_rest([sleeper.pid], own) is None  # nothing was given yet
    actuator.assign(1)
    assert actuator.strays_at_rest([sleeper.pid, gone], own) == []
    os.sched_setaffinity(sleeper.pid, first)
    found = actuator.strays_at_rest([sleeper.pid, gone], own)
    assert found == [(sleeper.pid, first, frozenset(own))]
    assert actuator.strays_at_rest([sleeper.pid], first) == []  # the others are offline


def test_a_move_of_threads_shows_that_the_loop_lives(sleeper: subprocess.Popen[bytes]) -> None:
    beat = bytearray(8)
    actuator = AffinityActuator(
        [sleeper.pid], [sorted(os.sched_getaffinity(0))], beat_slot=memoryview(beat)
    )
    actuator.assign(0)
    assert int.from_bytes(beat, "little") > 0


def test_affinity_of_a_process_that_is_gone_is_an_error(sleeper: subprocess.Popen[bytes]) -> None:
    actuator = AffinityActuator([sleeper.pid], [sorted(os.sched_getaffinity(0))])
    sleeper.kill()
    sleeper.wait()
    with pytest.raises(ProcessLookupError):
        actuator.assign(0)
    with pytest.raises(FileNotFoundError):
        AffinityActuator([sleeper.pid], [[0]])


@pytest.mark.parametrize("cpu", [-1, 8192])
def test_affinity_refuses_cpus_beyond_its_mask(cpu: int) -> None:
    with pytest.raises(ValueError, match="beyond the affinity mask"):
        AffinityActuator([], [[cpu]])
