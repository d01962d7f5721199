"""The machine the figures are of, and how much of it others had meanwhile."""

from __future__ import annotations

import os
import platform
import subprocess
import time
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Self

from bench import probe
from bench.statistics import rounded
from bench.subject import Figures
from smartharvest import __version__
from smartharvest.host.kernels import wakes_on_busy_cpus
from smartharvest.host.process.tasks import online_cpus
from smartharvest.lab.demo.groups import why_not_here


def describe() -> Figures:
    return {
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "commit": commit(),
        "cpu_model": cpu_model(),
        "cpus": len(online_cpus()),
        "kernel": platform.release(),
        "wakes_on_busy_cpus": wakes_on_busy_cpus(Path("/proc/cmdline").read_text()),
        "python": platform.python_version(),
        "versions": {
            "smartharvest": __version__,
            **{name: version(name) for name in ("vowpalwabbit", "numpy")},
        },
    }


@cache
def commit() -> str | None:
    """The checkout that is measured; None outside of one."""
    try:
        asked = subprocess.run(
            ["git", "-C", os.path.dirname(__file__), "rev-parse", "--short", "HEAD"],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
    except (OSError, subprocess.CalledProcessError):
        return None
    return asked.stdout.strip()


GLANCE_S = 1.0
MOST_BUSY_CORES = 0.25
MOST_STEAL = 0.01
FEWEST_CPUS = 2


def shortcomings(glance_s: float = GLANCE_S) -> list[str]:
    """What will make the figures of this machine worse than they could be, or be missing.

    Looks for ``glance_s`` at what others use of it.
    """
    found = []
    before = _cpu_times()
    time.sleep(glance_s)
    after = _cpu_times()
    cpus = len(online_cpus())
    if cpus < FEWEST_CPUS:
        found.append(f"too small: {cpus} CPU, and whoever lends one needs {FEWEST_CPUS}")
    busy = busy_cores(before, after, cpus)
    if busy > MOST_BUSY_CORES:
        found.append(f"too busy: others use {busy:.1f} of {cpus} cores; tails will be theirs")
    steal = steal_share(before, after)
    if steal > MOST_STEAL:
        found.append(f"too busy: the hypervisor withholds {steal:.0%} of the CPU time")
    missing = why_not_here()
    if missing is not None:
        found.append(f"without rights: {missing}; what needs them is skipped")
    elif not probe.fifo_allowed():
        found.append("without rights: SCHED_FIFO is refused; the loop runs as an ordinary thread")
    return found


def busy_cores(before: list[int], after: list[int], cpus: int) -> float:
    """Cores in use, on average, between two ``cpu`` lines of /proc/stat."""
    spent = [b - a for a, b in zip(before, after, strict=True)]
    total = sum(spent)
    return cpus * (total - spent[3] - spent[4]) / max(1, total)


def cpu_model() -> str:
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

    def __exit__(self, *_: object) -> None:
        self.figures = {
            "load_average_before": [rounded(load) for load in self._load_before],
            "load_average_after": [rounded(load) for load in os.getloadavg()],
            "steal_share": steal_share(self._times_before, _cpu_times()),
        }


def steal_share(before: list[int], after: list[int]) -> float:
    """What the hypervisor withheld, of all CPU time between two ``cpu`` lines of /proc/stat."""
    spent = [b - a for a, b in zip(before, after, strict=True)]
    return rounded(spent[7] / max(1, sum(spent)))


def steal_s() -> float:
    """What the hypervisor has withheld since boot, of all CPUs, in steps of a clock tick."""
    return _cpu_times()[7] / os.sysconf("SC_CLK_TCK")


def _cpu_times() -> list[int]:
    with open("/proc/stat") as file:
        # guest and guest_nice, the last two, are contained in user and nice.
        return [int(field) for field in file.readline().split()[1:9]]
