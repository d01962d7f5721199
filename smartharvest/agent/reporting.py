"""What a run reports, while it runs and at its end: status, capacity, metrics, closing report."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any

from smartharvest import __version__
from smartharvest.agent.arrangement import Arrangement
from smartharvest.agent.control_loop import ControlLoop
from smartharvest.agent.group_promise import of_one_group, why_held
from smartharvest.agent.group_sharing import GroupSharing
from smartharvest.agent.host_watch import HostWatch
from smartharvest.agent.promise import HarvestMonitor
from smartharvest.agent.report import Report
from smartharvest.algorithm.policy import is_shared
from smartharvest.core import _loop
from smartharvest.host.cpulist import format_cpulist
from smartharvest.telemetry.metrics import Metrics
from smartharvest.telemetry.status import (
    Warnings,
    cpus_by_runner,
    describe_budget,
    describe_harm,
    resident_bytes,
)

PUBLISH_S = 1.0
_COUNTED = (
    *("windows", "short_safeguards", "assignments", "polls", "late_polls", "missed_polls"),
    *("plans_expired", "stale_windows", "dropped_windows", "wake_ups"),
)
"""Of the loop's counters, what the closing report has by the same names."""
_OF_GROUPS = ("name", "mean_cores", "core_seconds", "cpu_seconds", "guarantee_violations")
"""Of a group's row in the status, what the closing report has."""


class Reporting:
    """Describes one run; it reads the parts that it is given and changes none of them.

    ``restart_refused`` says why the last restart did not come about, None if it did; ``overrides``
    what an operator has set over the configuration.
    """

    def __init__(
        self,
        arrangement: Arrangement,
        control: ControlLoop,
        groups: GroupSharing,
        watch: HostWatch,
        warnings: Warnings,
        metrics: Metrics | None,
        restart_refused: Callable[[], str | None],
        overrides: Callable[[], Mapping[str, Any]],
    ) -> None:
        settings = arrangement.settings
        self._arrangement = arrangement
        self._control = control
        self._groups = groups
        self._watch = watch
        self._warnings = warnings
        self._metrics = metrics
        self._restart_refused = restart_refused
        self._overrides = overrides
        self._monitor = HarvestMonitor(
            arrangement.capacity.elastic_min,
            settings.promise_hold_ns // 1_000_000_000,
            settings.promise_probability,
        )
        self._publish_s = 0.0
        self._began_s, self._began_cpu_s = time.monotonic(), time.process_time()

    @property
    def elapsed_s(self) -> float:
        return time.monotonic() - self._began_s

    @property
    def cpu_s(self) -> float:
        """CPU time that this process has used since."""
        return time.process_time() - self._began_cpu_s

    def publish(self) -> None:
        """Once a second: to the Harvest Monitor and the metrics."""
        if time.monotonic() < self._publish_s:
            return
        self._publish_s = time.monotonic() + PUBLISH_S
        seen = self.describe_capacity()
        if self._metrics is not None:
            self._metrics.update(self.describe(), seen)

    def describe_capacity(self) -> dict[str, Any]:
        """What this node can promise a cluster engine (agent/promise.py)."""
        now_ns, control = _loop.monotonic_ns(), self._control
        long_term = control.controller.long_term
        withdrawn = control.controller.inhibited.reason
        if withdrawn is None and long_term is not None and long_term.rest_left_ns(now_ns) > 0:
            withdrawn = "the long-term safeguard rests"
        capacity, held = self._arrangement.capacity, self._arrangement.held_groups
        shares = is_shared(control.controller.policy.name)
        most = capacity.max_shared if shares else capacity.max_harvest
        groups, gone = self._groups.cores_now(most), self._groups.evictions.noticed_cores
        if len(groups) == 1 and (how := held.get(groups[0].name)) is not None:
            withdrawn = withdrawn or why_held(how)
            gone = capacity.elastic_min if how == "evicted" else gone
        if self._arrangement.mechanism.frozen:
            gone = capacity.elastic_min
        self._monitor.notice(now_ns, gone)
        self._monitor.observe(now_ns, control.counters()["harvested_core_ns"], withdrawn)
        seen = self._monitor.describe(now_ns, control.loop.harvested, most)
        notices = self._groups.evictions.notices()
        seen["eviction_notices"] = notices
        if len(groups) == 1:
            rows = of_one_group(seen, groups[0].name, groups[0].target)
            return seen | {"groups": self._groups.memories.with_memory(rows)}
        noticed = {one["group"]: int(one["cores"]) for one in notices}
        rows = self._groups.promises.describe(now_ns, groups, withdrawn, noticed, held)
        return seen | {"groups": self._groups.memories.with_memory(rows)}

    def describe(self) -> dict[str, Any]:
        """The state of the run as ``smartharvest status`` has it: a JSON document.

        Keys are added, never renamed; cores are cores of the pool beyond the elastic minimum unless
        said otherwise, means are over the time since the start.
        """
        arrangement, control, watch = self._arrangement, self._control, self._watch
        loop, controller, n = control.loop, control.controller, control.counters()
        capacity, long_term = arrangement.capacity, controller.long_term
        waits, births = control.waits, arrangement.mechanism.births
        last = None if waits is None else waits.last
        sensing = None if arrangement.built is None else arrangement.built.sensing
        polled_ns = max(1, n["polled_ns"])
        window, decision = controller.last or (None, None)
        now_ns = _loop.monotonic_ns()
        order = loop.actuator.order
        elapsed_s, cpu_s = self.elapsed_s, self.cpu_s
        return {
            "version": __version__,
            "pid": os.getpid(),
            "seconds": elapsed_s,
            "primary": [str(spec) for spec in arrangement.settings.primary],
            "elastic": self._describe_groups(),
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
                    else format_cpulist(
                        capacity.elastic_cpus(min(loop.harvested, capacity.max_shared))
                    )
                ),
                "runs": cpus_by_runner(loop.sensor, capacity.pool),
            },
            "sensor": {
                "name": sensing.name if sensing else "none",
                "reason": sensing.reason if sensing else "",
                "failed": sorted(watch.failed_sensors),
                "drift": watch.drift,
                "blind": watch.check.blind,
                "checks": watch.check.checks,
                "blind_checks": watch.check.blind_checks,
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
                "name": "affinity" if loop.actuator.moves_threads else arrangement.mechanism.name,
                "placement": "exclusive"
                if arrangement.settings.placement == "exclusive"
                else "shared",
                "writes": loop.actuator.writes,
                "ends": arrangement.mechanism.ends,
                "spare": arrangement.mechanism.spare,
                "frozen": arrangement.mechanism.frozen,
                "preemption": arrangement.preemption.describe(),
            },
            "primary_on_lent_cores": control.on_lent_ns(capacity.pool) / polled_ns,
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
                "give_backs": self._give_backs(),
            },
            "waits": {
                "period": asdict(last) if last else None,
                "unreadable": waits.unreadable if waits else "long_term is off",
                "budget": long_term.share if long_term else None,
            },
            "harm": describe_harm(control.harm),
            "budget": describe_budget(controller.budget),
            "histograms": control.histograms(),
            "births": births.describe() if births else None,
            "loop": {
                "scheduling": loop.scheduling,
                "windows": n["windows"],
                "dropped_windows": n["dropped_windows"],
                "assignments": n["assignments"],
                "polls": n["polls"],
                "late_polls": n["late_polls"],
                "missed_polls": n["missed_polls"],
                "wake_ups": n["wake_ups"],
                "lateness_us": _lateness_us(loop),
            },
            "guardian": arrangement.describe_guardian(),
            "agent": {
                "generation": arrangement.generation,
                "restart_refused": self._restart_refused(),
                "cpu_seconds": cpu_s,
                "cpu": cpu_s / max(elapsed_s, 1e-9),
                "rss_bytes": resident_bytes(),
            },
            "overrides": dict(self._overrides()),
            "warnings": self._warnings.recent(),
        }

    def _describe_groups(self) -> list[dict[str, Any]]:
        """A row for each elastic group, with what it is promised."""
        rows = self._groups.describe()
        alone = self._monitor.promised if len(rows) == 1 else None
        promised = self._groups.promises.promised
        return [
            row | {"promised": promised(row["name"]) if alone is None else alone} for row in rows
        ]

    def _give_backs(self) -> dict[str, int]:
        """How often doubt took the cores back, by reason."""
        counters = self._control.counters()
        return {
            "plan expired": counters["plans_expired"],
            "stale window": counters["stale_windows"],
            **self._arrangement.guardian_counts(),
            **self._control.controller.inhibited.counts,
        }

    def report(self, elapsed_s: float, cpu_s: float) -> Report:
        """What the run did, in ``elapsed_s`` and with ``cpu_s`` of CPU time."""
        control = self._control
        loop, controller, n = control.loop, control.controller, control.counters()
        polled_ns = max(1, n["polled_ns"])
        long_term, built = controller.long_term, self._arrangement.built
        return Report(
            policy=controller.policy.name,
            sensor="none" if built is None else built.sensing.name,
            sensor_drift=self._watch.drift,
            displacements=control.displacements,
            primary_on_lent_cores=control.on_lent_ns(self._arrangement.capacity.pool) / polled_ns,
            scheduling=loop.scheduling or "none",
            seconds=elapsed_s,
            total=controller.total,
            **{name: n[name] for name in _COUNTED},
            harvested_cores=n["harvested_core_ns"] / polled_ns,
            busy_cores=n["busy_core_ns"] / polled_ns,
            long_safeguards=long_term.trips if long_term else 0,
            lateness_us=_lateness_us(loop),
            lessons=controller.lessons,
            agent_cpu_seconds=cpu_s,
            fallbacks=controller.fallbacks,
            give_backs=self._give_backs(),
            groups=[{key: row[key] for key in _OF_GROUPS} for row in self._groups.describe()],
        )


def _lateness_us(loop: _loop.Loop) -> dict[str, float]:
    quantiles = {"p50": 0.5, "p99": 0.99, "max": 1.0}
    return {name: loop.lateness_ns(q) / 1e3 for name, q in quantiles.items()}
