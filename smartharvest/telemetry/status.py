"""The state of a running agent, as ``smartharvest status`` shows it."""

from __future__ import annotations

import logging
import os
import time
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from smartharvest import __version__
from smartharvest.algorithm.controller import Controller
from smartharvest.algorithm.safeguard import PeriodWaits
from smartharvest.config.settings import Settings
from smartharvest.core import _loop, _sensors
from smartharvest.host.cpulist import format_cpulist
from smartharvest.placement.snapshot import HostSnapshot
from smartharvest.sensor.check import SensorCheck
from smartharvest.sensor.choice import Sensing
from smartharvest.sensor.waits import tells_waits
from smartharvest.telemetry.audit import AuditLog
from smartharvest.telemetry.histogram import Histogram, histogram

REMEMBERED_WARNINGS = 20


@dataclass(frozen=True)
class AgentState:
    """What ``describe`` reads; gathered for each request."""

    settings: Settings
    snapshot: HostSnapshot
    controller: Controller
    loop: _loop.Loop
    counters: Mapping[str, int]
    """Of all loops of this run (csrc/loop/loop.h, struct sh_counters)."""
    sensing: Sensing | None
    failed_sensors: frozenset[str]
    drift: int
    check: SensorCheck
    waits: PeriodWaits | None
    waits_unreadable: str | None
    primary_on_lent_ns: int
    """How long primary tasks have run on lent cores; 0 where the in-kernel sensor is missing."""
    give_backs: Mapping[str, int]
    """Reason -> how often a safety check took the cores back."""
    seconds: float
    cpu_seconds: float
    births: Mapping[str, Any] | None
    generation: int
    """How often a new program has replaced the agent's."""
    restart_refused: str | None
    warnings: Warnings


def describe(state: AgentState) -> dict[str, Any]:
    """A JSON document. Keys are added, never renamed; cores are cores of the pool beyond the
    elastic minimum unless said otherwise, means are over the time since the start."""
    loop, controller, n = state.loop, state.controller, state.counters
    long_term = controller.long_term
    capacity = state.snapshot.capacity
    polled_ns = max(1, n["polled_ns"])
    window, decision = controller.last or (None, None)
    now_ns = _loop.monotonic_ns()
    order = loop.actuator.order
    return {
        "version": __version__,
        "pid": os.getpid(),
        "seconds": state.seconds,
        "primary": [str(spec) for spec in state.settings.primary],
        "elastic": str(state.settings.elastic),
        "cores": {
            "pool": format_cpulist(capacity.pool),
            "total": capacity.total,
            "elastic_min": capacity.elastic_min,
            "max_harvest": capacity.max_harvest,
            "lend_order": list(order.cpus if order else capacity.lendable),
            "order_because": list(capacity.remarks),
            "elastic_cpus": (
                order.masks[0]
                if order
                else format_cpulist(capacity.elastic_cpus(min(loop.harvested, capacity.max_shared)))
            ),
            "runs": cpus_by_runner(loop.sensor, capacity.pool),
        },
        "sensor": {
            "name": state.sensing.name if state.sensing else "none",
            "reason": state.sensing.reason if state.sensing else "",
            "failed": sorted(state.failed_sensors),
            "drift": state.drift,
            "blind": state.check.blind,
            "checks": state.check.checks,
            "blind_checks": state.check.blind_checks,
            "overruns": loop.sensor.overruns,
        },
        "policy": {
            "name": controller.policy.name,
            "label": controller.label_kind,
            "lessons": controller.lessons,
            "fallbacks": controller.fallbacks,
            "explanation": controller.explanation,
        },
        "mechanism": {
            "name": "affinity" if loop.actuator.moves_threads else state.settings.mechanism,
            "writes": loop.actuator.writes,
        },
        "primary_on_lent_cores": state.primary_on_lent_ns / polled_ns,
        "harvested": {
            "now": loop.harvested,
            "mean": n["harvested_core_ns"] / polled_ns,
            "core_seconds": n["harvested_core_ns"] / 1e9,
        },
        "busy": {
            "now": window.busy_last if window else 0,
            "peak": window.busy_max if window else 0,
            "mean": n["busy_core_ns"] / polled_ns,
            "core_seconds": n["busy_core_ns"] / 1e9,
        },
        "demand": {
            "peak": window.demand_max if window else 0,
            "mean": n["demand_core_ns"] / polled_ns,
            "core_seconds": n["demand_core_ns"] / 1e9,
        },
        "decision": asdict(decision) if decision else None,
        "safeguards": {
            "short_term": n["short_safeguards"],
            "long_term": long_term.trips if long_term else 0,
            "resting_s": long_term.rest_left_ns(now_ns) / 1e9 if long_term else 0.0,
            "plans_expired": n["plans_expired"],
            "stale_windows": n["stale_windows"],
            "lends_nothing_because": controller.inhibited.reason,
            "give_backs": dict(state.give_backs),
        },
        "waits": {
            "period": asdict(state.waits) if state.waits else None,
            "unreadable": state.waits_unreadable,
        },
        "histograms": _histograms(loop),
        "births": state.births,
        "loop": {
            "scheduling": loop.scheduling,
            "windows": n["windows"],
            "dropped_windows": n["dropped_windows"],
            "assignments": n["assignments"],
            "polls": n["polls"],
            "late_polls": n["late_polls"],
            "missed_polls": n["missed_polls"],
            "wake_ups": n["wake_ups"],
            "lateness_us": {
                name: loop.lateness_ns(q) / 1e3
                for name, q in (("p50", 0.5), ("p99", 0.99), ("max", 1.0))
            },
        },
        "agent": {
            "generation": state.generation,
            "restart_refused": state.restart_refused,
            "cpu_seconds": state.cpu_seconds,
            "cpu": state.cpu_seconds / max(state.seconds, 1e-9),
            "rss_bytes": resident_bytes(),
        },
        "warnings": state.warnings.recent(),
    }


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


def _histograms(loop: _loop.Loop) -> dict[str, Histogram | None]:
    """Since the loop was last built; waits only where the sensor sees them."""
    waits = loop.sensor.waits() if tells_waits(loop.sensor) else None
    return {
        "moves": histogram(*loop.moves()),
        "lateness": histogram(*loop.lateness()),
        "waits": histogram(waits.durations(), waits.counts["total_ns"]) if waits else None,
    }


def resident_bytes() -> int:
    """Memory of this process that is resident."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Warnings(logging.Handler):
    """Keeps the last warnings of this package."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self._last: deque[tuple[float, str]] = deque(maxlen=REMEMBERED_WARNINGS)
        self.audit: AuditLog | None = None

    def emit(self, record: logging.LogRecord) -> None:
        if self.audit is not None:
            self.audit.event("warning", text=record.getMessage())
        self._last.append((time.monotonic(), record.getMessage()))

    def recent(self) -> list[dict[str, Any]]:
        """Oldest first, each with how long ago it was."""
        now_s = time.monotonic()
        return [{"age_s": now_s - at_s, "text": text} for at_s, text in self._last]
