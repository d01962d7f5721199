"""Who else runs on a CPU that is measured: an idle machine is not what everybody has."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from types import TracebackType
from typing import Self

from smartharvest import _core
from smartharvest.host.cgroup import CgroupTree, Group

OTHERS_NS = 200_000
"""A sample in which others run for so long says how long they ran. Threads of the kernel, and those
that hold a core, take less."""


class Others:
    """CPU time on one CPU of all that is in none of the groups; 0 where BPF cannot tell."""

    def __init__(self, tree: CgroupTree, groups: Sequence[Group], cpu: int) -> None:
        hierarchy = "cpuset" if tree.version == 1 else "v2"
        targets = [(hierarchy, os.stat(group.path).st_ino, -1) for group in groups]
        targets.append((hierarchy, os.stat(tree.group("").path).st_ino, 0))
        self._sensor: _core.BpfSensor | None = None
        with suppress(OSError):
            self._sensor = _core.BpfSensor(targets, [os.cpu_count() or 1])
        self._cpu = cpu

    @property
    def seen(self) -> bool:
        return self._sensor is not None

    def now_ns(self) -> int:
        """To the last context switch."""
        return self._sensor.primary_times_ns(self._cpu)[0] if self._sensor else 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._sensor:
            self._sensor.close()
