"""The machine the figures are of, and how much of it others had meanwhile."""

from __future__ import annotations

import os
import platform
from importlib.metadata import version
from types import TracebackType
from typing import Self

from bench.statistics import rounded
from bench.subject import Figures
from smartharvest import __version__
from smartharvest.host.tasks import online_cpus


def describe() -> Figures:
    return {
        "cpu_model": _cpu_model(),
        "cpus": len(online_cpus()),
        "kernel": platform.release(),
        "python": platform.python_version(),
        "versions": {
            "smartharvest": __version__,
            **{name: version(name) for name in ("vowpalwabbit", "numpy")},
        },
    }


def _cpu_model() -> str:
    with open("/proc/cpuinfo") as file:
        for line in file:
            name, _, value = line.partition(":")
            if name.strip() == "model name":
                return value.strip()
    return platform.machine()


class Disturbance:
    """A context manager; ``figures`` holds for the time inside it."""

    figures: Figures

    def __enter__(self) -> Self:
        self._load_before = os.getloadavg()
        self._times_before = _cpu_times()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.figures = {
            "load_average_before": [rounded(load) for load in self._load_before],
            "load_average_after": [rounded(load) for load in os.getloadavg()],
            "steal_share": steal_share(self._times_before, _cpu_times()),
        }


def steal_share(before: list[int], after: list[int]) -> float:
    """What the hypervisor withheld, of all CPU time between two ``cpu`` lines of /proc/stat."""
    spent = [b - a for a, b in zip(before, after, strict=True)]
    return rounded(spent[7] / max(1, sum(spent)))


def _cpu_times() -> list[int]:
    with open("/proc/stat") as file:
        # guest and guest_nice, the last two, are contained in user and nice.
        return [int(field) for field in file.readline().split()[1:9]]
