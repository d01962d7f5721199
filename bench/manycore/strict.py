"""``make strict-check``: a bully runs everywhere under ``--mechanism strict`` in a dilated guest.

On two CPUs a task wakes every millisecond, in turns with the bully stopped (``idle``), running
(``batch``), and with as many tasks of the fair class's lowest kind in its place (``idle_class``:
what it costs to take a CPU from anybody). Then the agent is killed. Of another one somebody ends
the scheduler.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from bench.manycore.disk import ready
from bench.manycore.guest import GuestEndedError, Shape, booted
from bench.statistics import rounded
from bench.subject import Figures
from tests.lab.kernels import Kernel

MODULE = "bench.manycore.strict_inside"
TRIES = 4
"""Linux patches its own text when a scheduler comes, which QEMU's threads may see half done."""
SILENT_S = 300.0
LATEST_FALLBACK_MS = 100
"""From when the batch is in the fair class, since somebody ended the scheduler, until it is
confined."""
WORST_RATIO, FEWEST = 1.1, 0.9
"""The P99 of waking with the batch over that without, at most; the batch's CPUs, at least."""


def check(shape: Shape, kernel: Kernel, say: Callable[[str], None]) -> Figures:
    """The figures of one guest that runs strict_inside.py.

    Raises GuestEndedError if it crashes at each of TRIES boots, NotMeasurableError without rights.
    """
    return figures_of(said_in_guest(shape, kernel, MODULE, say))


def said_in_guest(
    shape: Shape, kernel: Kernel, module: str, say: Callable[[str], None]
) -> list[dict[str, Any]]:
    """What a guest has said that runs ``module``. Raises as ``check`` does."""
    disk, initramfs = ready(kernel)
    drive = f"file={disk},if=virtio,format=raw,snapshot=on"
    for left in reversed(range(TRIES)):
        try:
            with booted(
                shape,
                kernel.image,
                initramfs,
                words=[f"lab.module={module}"],
                disks=[drive],
            ) as guest:
                said = list(guest.lines(SILENT_S))
                guest.ended_well()
            if said and "failed" not in said[-1]:
                return said
            raise GuestEndedError(str(said[-1:]))
        except GuestEndedError as error:
            if not left:
                raise
            say(f"the guest ended ({str(error)[-300:]}); another is booted")
    raise AssertionError


def figures_of(said: Sequence[Mapping[str, Any]]) -> Figures:
    """From what the guest said to the figures. Pure.

    Raises GuestEndedError if something is missing.
    """
    told: dict[str, Any] = {}
    for line in said:
        told |= line
    if "failed" in told or "restored" not in told:
        raise GuestEndedError(str(told.get("failed", f"it ended after {len(said)} lines")))
    late_us = {
        kind: [
            sorted(late for line in said if kind in line for late in line[kind][cpu])
            for cpu in range(told["waking"])
        ]
        for kind in KINDS
    }
    every = {kind: sorted(itertools.chain(*late)) for kind, late in late_us.items()}
    figures: Figures = {
        "kernel": told["kernel"],
        "mechanism": told["mechanism"],
        "wake_p99_us": {kind: quantile(late, 0.99) for kind, late in every.items()},
        "batch_cores": told["batch_cores"],
        "restored": told["restored"],
        "cpus": told["cpus"],
        "wakes": {kind: len(late) for kind, late in every.items()},
        "wake_p50_us": {kind: quantile(late, 0.5) for kind, late in every.items()},
        "wake_p99_us_of_cpu": {
            kind: [quantile(late, 0.99) for late in cpus] for kind, cpus in late_us.items()
        },
        "restored_ms": told["restored_ms"],
        "fallback_ms": told["fallback_ms"],
        "taken_back": told["taken_back"],
    }
    figures["missed"] = missed(figures)
    return figures


KINDS = ("idle", "batch", "idle_class")


def quantile(ascending: Sequence[float], share: float) -> float:
    return rounded(ascending[int(share * (len(ascending) - 1))])


def missed(figures: Mapping[str, Any]) -> list[str]:
    """What ``strict`` promises and does not hold."""
    found = []
    late_us, fallback_ms = figures["wake_p99_us"], figures["fallback_ms"]
    if (ratio := late_us["batch"] / late_us["idle"]) > WORST_RATIO:
        others = late_us["batch"] / late_us["idle_class"]
        found.append(
            f"waking takes {ratio:.2f} times as long with the batch as on idle CPUs, and "
            f"{others:.2f} times as long as with tasks of the idle class there"
        )
    if figures["taken_back"]:
        found.append(f"the agent took CPUs back in {figures['taken_back']} rounds")
    if figures["batch_cores"] < FEWEST * figures["cpus"]:
        found.append(f"the batch gets {figures['batch_cores']} of {figures['cpus']} CPUs")
    confined_ms, fair_ms = fallback_ms["confined"], fallback_ms["fair"]
    if confined_ms is None or fair_ms is None or confined_ms > fair_ms + LATEST_FALLBACK_MS:
        found.append(
            f"ended by somebody, the batch was in the fair class after {fair_ms} ms and confined "
            f"after {confined_ms} ms"
        )
    if not figures["restored"]:
        found.append("something is left after the agent's end")
    return found
