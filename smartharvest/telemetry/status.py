"""What the state of a running agent is put together from (agent/reporting.py)."""

from __future__ import annotations

import logging
import os
import time
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from smartharvest.algorithm.policy.base import Spent
from smartharvest.core import _loop, _sensors
from smartharvest.host.cpulist import format_cpulist
from smartharvest.sensor.harm import PERIOD_NS, HarmMeter
from smartharvest.sensor.waits import tells_waits
from smartharvest.telemetry.audit import AuditLog
from smartharvest.telemetry.histogram import Histogram, histogram

REMEMBERED_WARNINGS = 20


def cpus_by_runner(sensor: _sensors.Sensor, pool: Iterable[int]) -> dict[str, str] | None:
    """The CPUs by what runs there now (``primary``, ``elastic``, ``other``, ``idle``, ``unknown``).

    None if the sensor does not see it.
    """
    if not sensor.tells_runners:
        return None
    found: dict[str, list[int]] = {}
    for cpu in pool:
        found.setdefault(sensor.runner(cpu), []).append(cpu)
    return {runner: format_cpulist(cpus) for runner, cpus in found.items()}


def loop_histograms(loop: _loop.Loop) -> dict[str, Histogram | None]:
    """Of this loop alone, whatever its sensor."""
    return {"moves": histogram(*loop.moves()), "lateness": histogram(*loop.lateness())}


def sensor_histograms(sensor: _sensors.Sensor) -> dict[str, Histogram | None]:
    """Of this sensor alone; waits only where it sees them."""
    waits = sensor.waits() if tells_waits(sensor) else None
    return {"waits": histogram(waits.durations(), waits.counts["total_ns"]) if waits else None}


def describe_harm(meter: HarmMeter) -> dict[str, Any] | None:
    """What lending costs each primary, over the run and in the last period; None if not known."""
    total, period = meter.total(), meter.period or {}
    if total is None:
        return None
    return {
        "period_s": PERIOD_NS / 1e9,
        "primaries": {
            name: {
                **harm.describe(),
                "period": period[name].describe() if name in period else None,
                "histograms": {
                    side: {
                        "wait": histogram(seen.waits, seen.wait_ns),
                        "wake_to_sleep": histogram(seen.wakes_to_sleeps, seen.wake_to_sleep_ns),
                    }
                    for side, seen in (("lent", harm.lent), ("not_lent", harm.not_lent))
                },
            }
            for name, harm in total.items()
        },
    }


def describe_budget(spent: Mapping[str, Spent] | None) -> dict[str, Any] | None:
    """What lending has cost each primary as the policy judges it; None if it does not."""
    return None if spent is None else {name: asdict(one) for name, one in spent.items()}


def resident_bytes() -> int:
    """Memory of this process that is resident."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Warnings(logging.Handler):
    """Keeps the last warnings of this package."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self._last: deque[tuple[float, str]] = deque(maxlen=REMEMBERED_WARNINGS)
        self._audit: AuditLog | None = None

    def record_in(self, audit: AuditLog) -> None:
        """Notes the warnings so far and those to come in ``audit``, too."""
        self._audit = audit
        for _, text in self._last:
            audit.event("warning", text=text)

    def emit(self, record: logging.LogRecord) -> None:
        if self._audit is not None:
            self._audit.event("warning", text=record.getMessage())
        self._last.append((time.monotonic(), record.getMessage()))

    def recent(self) -> list[dict[str, Any]]:
        """Oldest first, each with how long ago it was."""
        now_s = time.monotonic()
        return [{"age_s": now_s - at_s, "text": text} for at_s, text in self._last]
