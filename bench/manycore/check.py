"""Whether a dilated guest is the machine it is taken for: clock, speeds, wake-ups."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.compiling import build_program
from bench.manycore.guest import HERE, GuestEndedError, Shape, booted
from bench.statistics import rounded
from bench.subject import Figures
from tests.lab.kernels import Kernel

LARGEST_SPREAD, LATEST_US, LARGEST_DRIFT = 0.03, 250.0, 0.001
TRIES = 3
"""Emulation with several threads and a kernel that patches itself: now and then a boot dies."""
SILENT_S = 90.0
MEMORY_MIB = 512


def check(shape: Shape, kernel: Kernel) -> Figures:
    """The figures of one guest that runs machine_check.c.

    Raises GuestEndedError if it crashes at each of TRIES boots, and NotMeasurableError without
    rights.
    """
    small = Shape(shape.cpus, shape.dilation, shape.slot_us, shape.share, MEMORY_MIB)
    for left in reversed(range(TRIES)):
        try:
            with tempfile.TemporaryDirectory(prefix="smartharvest-manycore-") as made:
                initramfs = _initramfs(Path(made))
                with booted(small, kernel.image, initramfs) as guest:
                    said = list(guest.lines(SILENT_S))
                    guest.ended_well()
            return figures_of(said, shape.dilation)
        except GuestEndedError:
            if not left:
                raise
    raise AssertionError


def _initramfs(directory: Path) -> Path:
    """The program alone: a guest with nothing else boots in seconds."""
    program = build_program(HERE / "machine_check.c", "-pthread", "-static")
    shutil.copy(program, directory / "init")
    archive = directory / "initramfs"
    with archive.open("wb") as file:
        command = ["cpio", "--quiet", "-o", "-H", "newc"]
        subprocess.run(command, cwd=directory, input=b"init\n", stdout=file, check=True)
    return archive


def figures_of(said: Sequence[Mapping[str, Any]], dilation: float) -> Figures:
    """From what the guest said to the figures. Pure.

    ``speed_spread`` has, for each number of busy CPUs, the farthest that a CPU's speed is from the
    mean of all that was measured: a machine that is faster when little runs shows, too.
    ``clock_drift`` is how much more (or less) time went by than the dilation makes it. Raises
    GuestEndedError if something is missing.
    """
    told: dict[str, Any] = {}
    for line in said:
        told |= line
    rates = {line["speeds"]: line["rates"] for line in said if "speeds" in line}
    late = {line["wake_us"]: line for line in said if "wake_us" in line}
    ping = next((line for line in said if "ping_us" in line), None)
    if not (told.get("complete") and rates.keys() >= {"1", "half", "all"} and "busy" in late):
        raise GuestEndedError(f"it ended after {len(said)} lines")
    every = [rate for group in rates.values() for rate in group]
    mean = sum(every) / len(every)
    figures: Figures = {
        "cpus": told["cpus"],
        "dilation": dilation,
        "kernel": told["kernel"],
        "speed_spread": {
            name: rounded(max(abs(rate / mean - 1) for rate in group))
            for name, group in rates.items()
        },
        "wake_us": {key: late["busy"][key] for key in ("p50", "p90", "p99", "max", "samples")},
        "clock_drift": rounded(drift(said, dilation)),
        "wake_idle_us": {key: late["idle"][key] for key in ("p50", "p90", "p99", "max")},
        "speeds": {name: rounded(sum(group) / len(group)) for name, group in rates.items()},
        "steal_s": told["steal_s"],
        **{key: told[key] for key in ("clock", "preempt", "hz", "base_slice_ns") if key in told},
    }
    if ping is not None:
        figures["ping_us"] = {key: ping[key] for key in ("p50", "p99")}
    figures["missed"] = missed(figures)
    return figures


def drift(said: Sequence[Mapping[str, Any]], dilation: float) -> float:
    """(guest's time * dilation / host's) - 1, between the first and the last group of its stamps.

    The host may read a stamp late, never early: of each group the one read soonest counts.
    """
    stamps = [(line["clock_ns"], line["host_ns"]) for line in said if "clock_ns" in line]
    half = len(stamps) // 2
    if not half:
        return float("inf")
    first, last = (
        min(group, key=lambda stamp: stamp[1] - stamp[0] * dilation)
        for group in (stamps[:half], stamps[half:])
    )
    return float((last[0] - first[0]) * dilation / (last[1] - first[1]) - 1)


def missed(figures: Mapping[str, Any]) -> list[str]:
    """What keeps the machine from being believed."""
    found = [
        f"speeds differ by {spread:.1%} with {name} busy"
        for name, spread in figures["speed_spread"].items()
        if spread > LARGEST_SPREAD
    ]
    if figures["wake_us"]["p99"] > LATEST_US:
        found.append(f"wake-ups are late by {figures['wake_us']['p99']:.0f} us at P99")
    if abs(figures["clock_drift"]) > LARGEST_DRIFT:
        found.append(f"the clock drifts by {figures['clock_drift']:.2%}")
    return found
