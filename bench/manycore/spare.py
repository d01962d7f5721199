"""What CPUs kept idle are worth to a task that would queue while the batch runs elsewhere.

A task wakes where another computes, and computes as well: one of them waits until it runs on
another CPU. With the batch stopped (``alone``), and next to the batch with none, one and two CPUs
kept idle by the scheduler of ``strict``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from bench.manycore.guest import GuestEndedError, Shape
from bench.manycore.strict import quantile, said_in_guest
from bench.subject import Figures
from tests.lab.kernels import Kernel

MODULE = "bench.manycore.spare_inside"
KINDS = ("alone", "0 spare", "1 spare", "2 spare")


def measure(shape: Shape, kernel: Kernel, say: Callable[[str], None]) -> Figures:
    """The figures of one guest that runs spare_inside.py; raises as ``strict.check`` does."""
    return figures_of(said_in_guest(shape, kernel, MODULE, say))


def figures_of(said: Sequence[Mapping[str, Any]]) -> Figures:
    """From what the guest said to the figures. Pure.

    Raises GuestEndedError if something is missing.
    """
    told: dict[str, Any] = {}
    for line in said:
        told |= line
    if not told.get("complete"):
        raise GuestEndedError(str(told.get("failed", f"it ended after {len(said)} lines")))
    figures: Figures = {}
    for kind in KINDS:
        lines = [line for line in said if line.get("kind") == kind]
        wakes = [wake for line in lines for wake in line.get("wakes", ())]
        took_us, waited_us = (sorted(column) for column in zip(*wakes, strict=True))
        figures[kind] = {
            "wakes": len(wakes),
            "took_us": {name: quantile(took_us, q) for name, q in QUANTILES.items()},
            "waited_us": {name: quantile(waited_us, q) for name, q in QUANTILES.items()},
            "counts": _sum(line["counts"] for line in lines if "counts" in line),
        }
    figures["programs"] = told["programs"]
    figures["share_of_a_cpu"] = told["share_of_a_cpu"]
    return figures


QUANTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "max": 1.0}


def _sum(counts: Any) -> dict[str, int]:
    total: dict[str, int] = {}
    for one in counts:
        for name, value in one.items():
            total[name] = total.get(name, 0) + value
    return total
