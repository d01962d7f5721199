"""The sensors on this kernel: which work, and whether they order loads as they are."""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import time

import pytest

from bench.logged_wave import LoggedWave
from smartharvest.algorithm.harm import quantile
from smartharvest.core import _loop, _sensors
from smartharvest.host.cgroup.tree import Group
from tests.integration.hosts import Host
from tests.integration.processes import Processes

pytestmark = [pytest.mark.timing, pytest.mark.lab]
TRIES = 5


def make(name: str, group: Group, cores: int) -> _sensors.Sensor:
    if name == "proc":
        return _sensors.ProcSensor([(group.tasks_file, 0)], [cores])
    if name == "perf":
        return _sensors.PerfSensor([(group.tasks_file, 0)], [cores])
    inode = os.stat(group.path).st_ino
    return _sensors.BpfSensor([("v2", inode, 0)], [cores])


@pytest.mark.parametrize("name", ["bpf", "perf", "proc"])
def test_a_sensor_counts_the_spinners_of_its_group_and_no_others(
    host: Host, processes: Processes, name: str
) -> None:
    cores = len(host.tree.online_cpus())
    os.kill(host.spinner, signal.SIGKILL)
    host.place(processes.spinning(), host.web)
    try:
        sensor = make(name, host.web, cores)
    except OSError as error:
        if error.errno != errno.ENOTSUP:
            raise
        pytest.skip(f"the sensor refuses this kernel: {error}")

    def most() -> int:
        # A guest's CPU may itself stand still, so what is seen is at most what is wanted.
        seen = []
        for _ in range(60):
            sensor.attend()
            seen.append(sensor.read(_loop.monotonic_ns())[0])
            time.sleep(0.002)
        return sorted(seen)[len(seen) // 2]

    try:
        one = most()
        host.place(processes.spinning(), host.web)
        for _ in range(TRIES):  # both may share a CPU until they are balanced
            time.sleep(0.2)
            if (two := most()) == 2:
                break
    finally:
        sensor.close()
    assert (one, two) == (1, 2)


# --- what lending costs ---------------------------------------------------------------------------

ON_NS, OFF_NS = 3_000_000, 5_000_000
MINE, THEIRS = 1, 2
"""CPUs of the guest, which has others; nothing else runs there."""


def on(cpu: int, pid: int, policy: int = os.SCHED_OTHER) -> int:
    os.sched_setaffinity(pid, {cpu})
    os.sched_setscheduler(pid, policy, os.sched_param(0))
    return pid


def watching(targets: list[tuple[str, int, int]], pool: set[int]) -> _sensors.BpfSensor:
    sensor = _sensors.BpfSensor(targets, [1], pool=pool)
    assert sensor.tells_harm
    return sensor


def await_long_waits(sensor: _sensors.BpfSensor, count: int) -> dict[str, int]:
    """What has been added when there are so many more long waits."""
    before = sensor.harm(0)
    while (seen := sensor.harm(0).since(before).counts("not_lent"))["long_waits"] < count:
        time.sleep(0.01)
    return seen


def test_the_time_from_waking_up_to_sleeping_is_that_of_the_log(processes: Processes) -> None:
    with LoggedWave(MINE, ON_NS, OFF_NS) as wave:
        batch = on(MINE, processes.spinning(), os.SCHED_IDLE)
        sensor = watching([("pid", wave.pid, 0), ("pid", batch, -1)], {MINE})
        time.sleep(0.5)
        harm, (waits, ended) = sensor.harm(0), (sensor.waits(), len(wave.spans()))
        spans = wave.spans()[max(0, ended - 30) : ended]
        sensor.close()
    logged = sorted(spans[:, 2] - spans[:, 0])[len(spans) // 2]
    woken = harm.wakes_to_sleeps("not_lent")
    assert sum(count for _, count in woken) >= 30
    # Waking up and going to sleep are no part of what the thread itself can log.
    assert 0.97 * logged <= quantile(woken, 0.5) <= 1.2 * logged
    assert quantile(harm.waits("not_lent"), 0.5) + 512 >= waits.quantile_ns(0.5)


def test_long_waits_are_held_against_elastic_tasks_unless_a_cpu_was_idle(
    processes: Processes,
) -> None:
    # Two of the primary share one CPU and wait for each other all the time.
    primary = [on(MINE, processes.spinning()) for _ in range(2)]
    batch = on(THEIRS, processes.spinning())
    targets = [*(("pid", pid, 0) for pid in primary), ("pid", batch, -1)]
    sensor = watching(targets, {MINE, THEIRS})
    seen = await_long_waits(sensor, 20)
    sensor.close()
    assert seen["behind_elastic"] >= 0.8 * seen["long_waits"]
    assert seen["behind_elastic_here"] == 0
    sensor = watching(targets, {MINE, THEIRS, THEIRS + 1})  # the last is idle
    seen = await_long_waits(sensor, 20)
    sensor.close()
    assert seen["behind_elastic"] <= 0.2 * seen["long_waits"]


def test_long_waits_are_held_against_elastic_tasks_on_the_same_cpu(processes: Processes) -> None:
    primary, batch = (on(MINE, processes.spinning()) for _ in range(2))
    sensor = watching([("pid", primary, 0), ("pid", batch, -1)], {MINE})
    seen = await_long_waits(sensor, 20)
    sensor.close()
    assert seen["behind_elastic_here"] >= 0.8 * seen["long_waits"]


def test_who_waits_for_its_own_on_cpus_without_the_batch_is_not_held_up(
    processes: Processes,
) -> None:
    # Four tasks want two and a half CPUs and may use two; the batch runs on another.
    with contextlib.ExitStack() as stack:
        waves = [
            stack.enter_context(LoggedWave(MINE, 2 * ON_NS, ON_NS, seed=seed)) for seed in range(4)
        ]
        for wave in waves:
            os.sched_setaffinity(wave.pid, {MINE, THEIRS})
        batch = on(THEIRS + 1, processes.spinning())
        targets = [*(("pid", wave.pid, 0) for wave in waves), ("pid", batch, -1)]
        sensor = watching(targets, {MINE, THEIRS, THEIRS + 1})
        sensor.count_minimum(True)  # as if that were lent
        kept = {}
        for minds in (True, False):
            sensor.mind_affinity(minds)
            before = sensor.harm(0)
            time.sleep(1.0)
            seen = sensor.harm(0).since(before)
            assert quantile(seen.waits("lent"), 0.9) > 1_000_000  # for each other
            taken, without = seen.harmed(), seen.unharmed()
            assert sum(count for _, count in taken) >= 100
            kept[minds] = quantile(without, 0.9) / quantile(taken, 0.9)
        sensor.close()
    assert kept[True] >= 0.95
    assert kept[False] <= 0.8  # that CPU is taken from them, as exclusive placement does
