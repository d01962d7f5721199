"""Exact windows and the event-driven loop, over a sensor that is told of every change."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smartharvest.core._actuators import FakeActuator
from smartharvest.core._loop import Loop, monotonic_ns
from smartharvest.core._sensors import FakeEvents, FakeSensor
from smartharvest.core.plan import Plan
from smartharvest.core.window import Window
from tests.integration.processes import wait_until

WINDOW_NS = 1_000_000
POLL_NS = 50_000


@given(st.lists(st.tuples(st.integers(1, 400_000), st.integers(0, 8)), min_size=1, max_size=60))
def test_an_exact_window_weighs_each_number_of_cores_by_its_time(
    changes: list[tuple[int, int]],
) -> None:
    sensor = FakeEvents()
    loop = Loop(
        sensor=sensor, actuator=FakeActuator(), total=10, window_ns=WINDOW_NS, exact=True,
        stale_ns=100 * WINDOW_NS,
    )  # fmt: skip
    loop.step(0, 0)
    now_ns, busy, levels, durations = 0, 0, [], []
    for after_ns, next_busy in changes:
        if now_ns + after_ns >= WINDOW_NS:
            break
        levels.append(busy)
        durations.append(after_ns)
        now_ns, busy = now_ns + after_ns, next_busy
        sensor.set_busy(now_ns, busy)
    levels.append(busy)
    durations.append(WINDOW_NS - now_ns)
    loop.step(WINDOW_NS, WINDOW_NS)
    window = loop.take()
    assert window is not None
    mean = float(np.average(levels, weights=durations))
    variance = float(np.average((np.array(levels) - mean) ** 2, weights=durations))
    assert window.busy_max == max(levels)
    assert window.busy_min == min(levels)
    assert window.busy_mean == pytest.approx(mean)
    assert window.busy_std == pytest.approx(variance**0.5, abs=1e-6)
    assert window.busy_median == np.median(np.repeat(levels, durations))


def test_a_peak_between_two_looks_is_in_the_exact_window_and_not_in_the_sampled_one() -> None:
    windows: dict[bool, Window | None] = {}
    for exact in (False, True):
        sensor = FakeEvents()
        loop = Loop(
            sensor=sensor, actuator=FakeActuator(), total=10, window_ns=WINDOW_NS, exact=exact
        )
        for now_ns in range(0, WINDOW_NS + 1, POLL_NS):
            loop.step(now_ns, now_ns)
            sensor.set_busy(now_ns + 1_000, 7, demand=9)
            sensor.set_busy(now_ns + 2_000, 1)
        windows[exact] = loop.take()
    sampled, exact_window = windows[False], windows[True]
    assert sampled is not None
    assert exact_window is not None
    assert (sampled.busy_max, sampled.demand_max) == (1, 1)
    assert (exact_window.busy_max, exact_window.demand_max) == (7, 9)


def event_driven(
    sensor: FakeEvents, actuator: FakeActuator, *, window_ns: int, keep_idle: int = 1
) -> Loop:
    return Loop(
        sensor=sensor, actuator=actuator, total=10, exact=True, event_driven=True,
        plan_ttl_ns=60 * 10**9, stale_ns=60 * 10**9, window_ns=window_ns, keep_idle=keep_idle,
    )  # fmt: skip


@contextmanager
def running(
    sensor: FakeEvents, actuator: FakeActuator, *, window_ns: int, keep_idle: int = 1
) -> Iterator[Loop]:
    with started(event_driven(sensor, actuator, window_ns=window_ns, keep_idle=keep_idle)) as loop:
        yield loop


@contextmanager
def started(loop: Loop) -> Iterator[Loop]:
    loop.start()
    try:
        yield loop
    finally:
        loop.stop()


def wait_until_harvested(loop: Loop, cores: int) -> None:
    wait_until(lambda: loop.harvested == cores, lambda: f"{loop.harvested} are lent, not {cores}")


def wait_until_it_rests(loop: Loop) -> None:
    """No polls for a thousand times as long as between two of a loop that polls."""

    def rests() -> bool:
        polls = loop.counters()["polls"]
        time.sleep(0.05)
        return loop.counters()["polls"] == polls

    wait_until(rests)


def test_an_event_driven_loop_takes_up_a_plan_at_once_and_reacts_to_the_alarm() -> None:
    sensor, actuator = FakeEvents(monotonic_ns()), FakeActuator()
    with running(sensor, actuator, window_ns=30 * 10**9) as loop:
        loop.post(Plan(1, primary_cores=2, safe_cores=4))
        wait_until_harvested(loop, 8)
        sensor.set_busy(monotonic_ns(), 2)
        wait_until_harvested(loop, 6)
        window = loop.take()
        counters = loop.counters()
    assert window is not None
    assert window.exhausted
    assert window.primary_cores == 2
    assert counters["polls"] < 20  # a window of 30 s polled every 50 us would have many more


def test_the_alarm_rings_below_the_assignment_if_idle_cores_are_to_be_kept() -> None:
    sensor, actuator = FakeEvents(monotonic_ns()), FakeActuator()
    with running(sensor, actuator, window_ns=30 * 10**9, keep_idle=3) as loop:
        loop.post(Plan(1, primary_cores=5, safe_cores=6))
        wait_until_harvested(loop, 5)
        sensor.set_busy(monotonic_ns(), 4)
        wait_until_harvested(loop, 3)


def test_a_plain_buffer_is_kept_without_polling() -> None:
    sensor, actuator = FakeEvents(monotonic_ns()), FakeActuator()
    with running(sensor, actuator, window_ns=30 * 10**9) as loop:
        loop.post(Plan(1, primary_cores=1, safe_cores=1, buffer=2))
        wait_until_harvested(loop, 8)
        for busy in (1, 4, 7):
            sensor.set_busy(monotonic_ns(), busy)
            wait_until_harvested(loop, 8 - busy)
        sensor.set_busy(monotonic_ns(), 3)  # rings nobody: the loop looks by itself
        wait_until_harvested(loop, 5)
        sensor.set_busy(monotonic_ns(), 0)
        wait_until_harvested(loop, 8)
        wait_until_it_rests(loop)


def test_what_became_busy_before_the_alarm_was_set_is_reacted_to() -> None:
    sensor, actuator = FakeEvents(monotonic_ns()), FakeActuator()
    with running(sensor, actuator, window_ns=30 * 10**9) as loop:
        for seq in range(1, 200):
            sensor.set_busy(monotonic_ns(), 0)
            loop.post(Plan(seq, primary_cores=1, safe_cores=1))
            sensor.set_busy(monotonic_ns(), 6)  # before, while or after the plan is taken up
        wait_until(lambda: loop.primary_cores > 6)


def test_a_task_that_the_loop_has_displaced_still_counts() -> None:
    sensor, actuator = FakeEvents(monotonic_ns()), FakeActuator()
    with running(sensor, actuator, window_ns=30 * 10**9) as loop:
        loop.post(Plan(1, primary_cores=2, safe_cores=4))
        wait_until_harvested(loop, 8)
        now_ns = monotonic_ns()
        sensor.set_busy(now_ns, 2)  # rings,
        sensor.set_busy(now_ns, 1, demand=2)  # and one of the two waits when the loop looks
        wait_until_harvested(loop, 6)


def test_a_plan_with_a_buffer_is_polled_for() -> None:
    sensor, actuator = FakeEvents(monotonic_ns()), FakeActuator()
    with running(sensor, actuator, window_ns=30 * 10**9) as loop:
        loop.post(Plan(1, primary_cores=2, safe_cores=2, buffer=2))
        wait_until_harvested(loop, 8)
        sensor.set_busy(monotonic_ns(), 5)
        wait_until_harvested(loop, 3)
        sensor.set_busy(monotonic_ns(), 1)
        wait_until_harvested(loop, 7)


class Ends:
    """A revocation as a scheduler of the kernel's gives it: once said, it stays readable."""

    def __init__(self) -> None:
        self.slot = memoryview(bytearray(4))
        self.fd = os.eventfd(0)

    def say(self) -> None:
        self.slot[0] = 1
        os.eventfd_write(self.fd, 1)

    def __del__(self) -> None:
        os.close(self.fd)


def test_a_revocation_takes_everything_back_without_the_control_plane() -> None:
    sensor, actuator, ends = FakeEvents(monotonic_ns()), FakeActuator(), Ends()
    loop = event_driven(sensor, actuator, window_ns=30 * 10**9)
    loop.lend_until(ends)
    with started(loop):
        loop.post(Plan(1, primary_cores=2, safe_cores=4))
        wait_until_harvested(loop, 8)
        ends.say()
        wait_until_harvested(loop, 0)
        wait_until_it_rests(loop)  # though the descriptor stays readable
        loop.post(Plan(2, primary_cores=3, safe_cores=4))
        wait_until_it_rests(loop)
        assert loop.harvested == 0
        os.eventfd_read(ends.fd)
        ends.slot[0] = 0
        loop.post(Plan(3, primary_cores=4, safe_cores=4))
        wait_until_harvested(loop, 6)


def test_a_sensor_that_sees_no_changes_cannot_drive_the_loop() -> None:
    with pytest.raises(ValueError, match="does not wake anybody"):
        Loop(sensor=FakeSensor(core_count=2), actuator=FakeActuator(), total=2, event_driven=True)
    with pytest.raises(ValueError, match="does not see every change"):
        Loop(sensor=FakeSensor(core_count=2), actuator=FakeActuator(), total=2, exact=True)


def test_a_patient_buffer_follows_demand_by_alarms_and_quiet_times_without_polling() -> None:
    sensor, actuator = FakeEvents(monotonic_ns()), FakeActuator()
    with running(sensor, actuator, window_ns=30 * 10**9) as loop:
        loop.post(Plan(1, primary_cores=0, safe_cores=10, buffer=2, quiet_ns=1_000_000))
        wait_until_harvested(loop, 8)
        wait_until_it_rests(loop)
        sensor.set_busy(monotonic_ns(), 1)  # the buffer begins to be used
        wait_until_harvested(loop, 7)
        sensor.set_busy(monotonic_ns(), 6)
        wait_until_harvested(loop, 2)
        sensor.set_busy(monotonic_ns(), 0)  # rings no alarm: seen after the quiet time
        wait_until_harvested(loop, 8)
    assert actuator.assigned[-2:] == [8, 0]
