from __future__ import annotations

import os

import pytest

from smartharvest.core._rescue import Rescue
from smartharvest.core._sensors import FakeSensor


def test_a_sensor_that_tells_no_displacements_cannot_be_listened_to() -> None:
    sensor = FakeSensor([0])
    threads = os.listdir("/proc/self/task")
    assert not sensor.tells_displacements
    with pytest.raises(OSError, match="not supported"):
        Rescue(sensor, [0], 0)
    assert os.listdir("/proc/self/task") == threads
