"""The binding of the loop, poll by poll and as a thread. The rules themselves: tests/native."""

from __future__ import annotations

import errno
import gc
import itertools
import os
import signal
import time
import weakref
from collections.abc import Iterator
from pathlib import Path

import pytest

from smartharvest.core._actuators import Actuator, CpusetActuator, FakeActuator
from smartharvest.core._loop import MAX_CORES, Loop, monotonic_ns
from smartharvest.core._sensors import FakeSensor
from smartharvest.core.plan import Plan
from smartharvest.core.window import Window
from smartharvest.host.journal.shared_page import SharedPage
from tests.unit.core.made_files import MadeFiles

POLL_NS = 50_000
WINDOW_NS = 10 * POLL_NS
LONG_NS = 3_600_000_000_000
TOTAL = 8


def make_loop(
    script: list[int],
    actuator: FakeActuator | None = None,
    *,
    whole_harvests: list[int] | None = None,
) -> Loop:
    return Loop(
        sensor=FakeSensor(script),
        actuator=actuator or FakeActuator(),
        total=TOTAL,
        window_ns=WINDOW_NS,
        poll_ns=POLL_NS,
        whole_harvests=whole_harvests,
    )


def poll(loop: Loop, times: int = 1) -> None:
    for now_ns in range(1, times + 1):
        deadline_ns = loop.counters()["polls"] * POLL_NS + POLL_NS
        assert loop.step(deadline_ns, deadline_ns) == 0, now_ns


def test_a_window_carries_what_was_polled() -> None:
    loop = make_loop([1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3])
    poll(loop, 10)
    assert loop.take() is None
    poll(loop)
    window = loop.take()
    assert window is not None
    assert loop.take() is None
    assert (window.seq, window.polls) == (1, 11)
    assert (window.start_ns, window.end_ns) == (POLL_NS, 11 * POLL_NS)
    assert (window.busy_min, window.busy_max, window.busy_last) == (0, 3, 3)
    assert window.busy_mean == pytest.approx(18 / 11)
    assert window.busy_median == 2
    assert window.demand_max == 3
    assert window.primary_cores == TOTAL
    assert not window.exhausted
    assert not window.stale


def test_a_sequence_number_beyond_24_bits_is_posted_by_its_low_ones() -> None:
    loop = make_loop([0])
    poll(loop)
    loop.post(Plan((1 << 40) + 7, primary_cores=2, safe_cores=2))
    poll(loop)
    assert loop.primary_cores == 2


def test_cores_of_two_threads_are_lent_and_given_back_whole() -> None:
    loop = make_loop([0, 0, 3, 5], whole_harvests=[0, 0, 2, 2, 4, 4, 6, 6, 8])
    poll(loop)
    loop.post(Plan(0, primary_cores=3, safe_cores=5))
    poll(loop)
    assert loop.harvested == 4  # of 5
    poll(loop, 2)
    assert loop.harvested == 2  # busy + 1 are 6


@pytest.mark.parametrize("wrong", [[0] * TOTAL, [0, 2, *range(2, TOTAL + 1)]])
def test_whole_harvests_that_cannot_be_are_refused(wrong: list[int]) -> None:
    with pytest.raises(ValueError, match=r"whole harvests|cannot be lent"):
        make_loop([0], whole_harvests=wrong)


def test_a_halt_says_what_failed() -> None:
    loop = make_loop([0, 0, -errno.EIO])
    poll(loop)
    loop.post(Plan(0, primary_cores=2, safe_cores=2))
    poll(loop)
    assert loop.halt is None
    assert loop.step(3 * POLL_NS, 3 * POLL_NS) == -errno.EIO
    assert loop.halt == ("sensor", errno.EIO)
    assert loop.harvested == 0
    window = loop.take()
    assert window is not None
    assert window.stale


def test_lateness_is_kept_exactly_at_the_maximum() -> None:
    loop = make_loop([0])
    loop.step(1000, 1000)
    loop.step(2000, 2000 + 123_457)
    assert loop.lateness_ns(1.0) == 123_457
    assert loop.lateness_ns(0.5) == 0
    assert loop.counters()["missed_polls"] == 2


@pytest.mark.parametrize(
    ("total", "window_ns", "poll_ns"),
    [(0, WINDOW_NS, POLL_NS), (MAX_CORES + 1, WINDOW_NS, POLL_NS), (4, 10, 20), (4, 10, 0)],
)
def test_settings_out_of_range_are_refused(total: int, window_ns: int, poll_ns: int) -> None:
    with pytest.raises(ValueError, match="loop settings"):
        Loop(
            sensor=FakeSensor([0]),
            actuator=FakeActuator(),
            total=total,
            window_ns=window_ns,
            poll_ns=poll_ns,
        )


# --- as a thread ----------------------------------------------------------------------------------

MASKS = ["3", "2-3", "1-3"]


def writing_into(files: MadeFiles) -> CpusetActuator:
    return CpusetActuator(
        [("cpuset.cpus", "cpuset.cpus.effective", MASKS)], [-1, 2, 1], kernel_files=files
    )


def running_loop(actuator: Actuator, beat_slot: memoryview | None = None) -> Loop:
    """A loop with a thread that never doubts a busy machine."""
    loop = Loop(
        sensor=FakeSensor([0]),
        actuator=actuator,
        total=2,
        window_ns=1_000_000,
        poll_ns=100_000,
        plan_ttl_ns=LONG_NS,
        stale_ns=LONG_NS,
        beat_slot=beat_slot,
    )
    loop.start()
    return loop


def lend(loop: Loop, primary_cores: int) -> None:
    loop.post(Plan(0, primary_cores=primary_cores, safe_cores=2))
    while loop.primary_cores != primary_cores:
        assert loop.halt is None
        loop.wait(1)


def test_a_thread_lends_through_python_files_and_gives_back_when_stopped() -> None:
    files = MadeFiles()
    loop = running_loop(writing_into(files))
    lend(loop, 1)
    assert files.contents["cpuset.cpus"] == "2-3\n"
    loop.stop()
    assert files.contents["cpuset.cpus"] == "3\n"
    assert loop.halt is None
    assert loop.harvested == 0
    assert loop.scheduling in ("fifo", "short-slice", "other")
    assert loop.tid > 0
    assert loop.cpu_ns > 0
    loop.stop()


def test_a_loop_that_is_forgotten_gives_back() -> None:
    files = MadeFiles()
    loop = running_loop(writing_into(files))
    lend(loop, 1)
    del loop
    assert files.contents["cpuset.cpus"] == "3\n"


class Owner:
    """In a cycle, with all it owns."""

    def __init__(self, *owned: object) -> None:
        self.owned = owned
        self.itself = self


def test_a_running_loop_that_a_garbage_cycle_holds_gives_back(tmp_path: Path) -> None:
    gc.collect()
    cpus = tmp_path / "cpuset.cpus"
    cpus.write_text("0-3\n")
    loop = running_loop(CpusetActuator([(str(cpus), None, ["0-3", "2-3", "1-3"])], [-1, 2, 1]))
    lend(loop, 1)
    assert cpus.read_text() == "2-3\n"
    owner = Owner(loop)
    gone = weakref.ref(owner)
    descriptors = len(os.listdir("/proc/self/fd"))
    del owner, loop
    gc.collect()
    assert gone() is None
    assert cpus.read_text() == "0-3\n"
    assert (
        len(os.listdir("/proc/self/fd")) == descriptors - 3
    )  # the cpuset and the loop's two events


class Lingering:
    """Unknown to the collector, which comes upon it only when it empties what is around it."""

    __slots__ = ()

    def __del__(self) -> None:
        time.sleep(0.005)  # fifty polls


def test_a_running_loop_in_a_garbage_cycle_beats_into_no_memory_that_is_gone(
    tmp_path: Path,
) -> None:
    # What is older than the owner the collector empties before it: here the views of the page.
    page = SharedPage(str(tmp_path / "page"), create=True)
    loop = running_loop(FakeActuator(), beat_slot=page.beat_slot)
    while page.loop_beat == 0:
        loop.wait(1)
    owner = Owner([Lingering()], page, loop)
    gone = weakref.ref(owner)
    del owner, page, loop
    gc.collect()
    assert gone() is None


def test_a_running_loop_in_a_garbage_cycle_gives_back_by_what_is_in_it_too() -> None:
    files = MadeFiles()
    contents = files.contents
    loop = running_loop(writing_into(files))
    lend(loop, 1)
    assert contents["cpuset.cpus"] == "2-3\n"
    files.owner = Owner(files, loop)  # type: ignore[attr-defined]
    del files, loop
    gc.collect()
    assert contents["cpuset.cpus"] == "3\n"


def test_a_refusal_in_the_thread_wakes_the_listener() -> None:
    files = MadeFiles()
    loop = running_loop(writing_into(files))
    lend(loop, 1)
    files.refuse("cpuset.cpus", errno.ENODEV)
    loop.post(Plan(1, primary_cores=2, safe_cores=2))
    while loop.halt is None:
        loop.wait(1000)
    assert loop.halt == ("actuator", errno.ENODEV)
    loop.stop()
    assert loop.actuator.failure() == ("cpuset.cpus", "3")


class Interrupted(Exception):
    pass


@pytest.fixture
def alarms() -> Iterator[None]:
    """SIGALRM until one was noticed."""
    noticed = itertools.count()

    def notice(_number: int, _frame: object) -> None:
        if next(noticed) == 0:
            raise Interrupted

    before = signal.signal(signal.SIGALRM, notice)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.usefixtures("alarms")
@pytest.mark.timeout(120, func_only=False)  # whose alarm the fixture then replaces
def test_signals_are_handled_while_waiting() -> None:
    loop = make_loop([0])

    def wait_while_alarms_come() -> None:
        signal.setitimer(signal.ITIMER_REAL, 0.02, 0.02)
        loop.wait(3_600_000)

    with pytest.raises(Interrupted):
        wait_while_alarms_come()


def test_the_clock_is_the_one_of_the_windows() -> None:
    began_ns = monotonic_ns()
    loop = running_loop(FakeActuator())
    windows: list[Window] = []
    while len(windows) < 3:
        loop.wait(1000)
        while (window := loop.take()) is not None:
            windows.append(window)
    loop.stop()
    assert windows[-1].end_ns <= monotonic_ns()
    assert windows[-1].end_ns > began_ns


def test_under_a_shared_plan_busy_cores_move_nothing_until_another_plan_comes() -> None:
    actuator = FakeActuator()
    loop = make_loop([1, 1, TOTAL, TOTAL + 2, 3], actuator)
    poll(loop)
    loop.post(Plan(0, primary_cores=2, safe_cores=TOTAL, shared=True))
    poll(loop, 3)
    assert actuator.assigned == [0, TOTAL - 2]
    assert loop.counters()["short_safeguards"] == 0
    loop.post(Plan(0, primary_cores=0, safe_cores=TOTAL, shared=True))
    poll(loop)
    assert loop.harvested == TOTAL
    loop.post(Plan(0, primary_cores=2, safe_cores=TOTAL))
    poll(loop)
    assert loop.primary_cores == 4  # busy + 1 again


def test_a_shared_plan_has_a_limit_of_its_own_and_runs_out_like_any() -> None:
    loop = Loop(
        sensor=FakeSensor([1]),
        actuator=FakeActuator(),
        total=TOTAL,
        window_ns=LONG_NS,
        poll_ns=POLL_NS,
        plan_ttl_ns=5 * POLL_NS,
        max_harvest=3,
        max_shared=6,
    )
    poll(loop)
    loop.post(Plan(0, primary_cores=0, safe_cores=TOTAL, shared=True))
    poll(loop)
    assert loop.harvested == 6
    poll(loop, 6)
    assert (loop.harvested, loop.counters()["plans_expired"]) == (0, 1)


def test_a_patient_plan_without_a_buffer_grows_when_a_task_waits_and_not_before() -> None:
    script = [2, 2, 4, 4, 5, 5, 4]
    actuator = FakeActuator()
    loop = make_loop(script, actuator)
    poll(loop)
    loop.post(Plan(0, primary_cores=4, safe_cores=TOTAL, buffer=0, quiet_ns=0))
    poll(loop, 3)
    assert loop.primary_cores == 4
    assert loop.counters()["short_safeguards"] == 0
    poll(loop)
    assert loop.primary_cores == 5
    assert loop.counters()["short_safeguards"] == 1
    window = loop.take()
    assert window is None or not window.exhausted
