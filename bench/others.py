"""Who else runs on a CPU that is measured, and when the whole machine stood still."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import AbstractContextManager, suppress
from typing import Self

import numpy as np
from numpy.typing import NDArray

from bench.series import recorded
from bench.statistics import rounded
from smartharvest.core import _sensors
from smartharvest.host.cgroup.tree import CgroupTree, Group
from smartharvest.lab.demo.standstill import Interval, Standstills, touched

OTHERS_NS = 200_000
"""A sample in which others run for so long says how long they ran. Threads of the kernel, and those
that hold a core, take less."""


def milliseconds(standstills: Standstills) -> list[float] | None:
    """How long each was that there has been; None if they are not watched for."""
    if not standstills.watched:
        return None
    return [rounded((until_ns - from_ns) / 1e6) for from_ns, until_ns in standstills.so_far()]


def untouched(
    samples: Sequence[tuple[int, int]], standstills: Sequence[Interval]
) -> NDArray[np.int64]:
    """How long those (start, duration) took that no standstill touched; in ns, as these are."""
    kept = [
        took_ns
        for start_ns, took_ns in samples
        if not touched(start_ns, start_ns + took_ns, standstills)
    ]
    return np.array(kept, dtype=np.int64)


class Others:
    """CPU time of all that is in none of the groups; 0 where BPF cannot tell."""

    def __init__(self, tree: CgroupTree, groups: Sequence[Group]) -> None:
        hierarchy = "cpuset" if tree.version == 1 else "v2"
        targets = [(hierarchy, os.stat(group.path).st_ino, -1) for group in groups]
        targets.append((hierarchy, os.stat(tree.group("").path).st_ino, 0))
        self._sensor: _sensors.BpfSensor | None = None
        with suppress(OSError):
            self._sensor = _sensors.BpfSensor(targets, [os.cpu_count() or 1])

    @property
    def seen(self) -> bool:
        return self._sensor is not None

    def now_ns(self, cpu: int) -> int:
        """On ``cpu``, to its last context switch."""
        return self._sensor.primary_times_ns(cpu)[0] if self._sensor else 0

    def series(self, cpus: Sequence[int]) -> AbstractContextManager[list[tuple[int, int]]]:
        """What they have had on all of ``cpus``, moment by moment."""
        return recorded(lambda: sum(map(self.now_ns, cpus)))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._sensor:
            self._sensor.close()
