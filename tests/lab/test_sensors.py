"""The sensors on this kernel: which work, and whether they order loads as they are."""

from __future__ import annotations

import errno
import os
import signal
import time

import pytest

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
