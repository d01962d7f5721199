"""What a run reports, while it runs and at its end: status, capacity, metrics, closing report."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from smartharvest.agent.arrangement import Arrangement
from smartharvest.agent.control_loop import ControlLoop
from smartharvest.agent.host_watch import HostWatch
from smartharvest.agent.promise import HarvestMonitor
from smartharvest.agent.report import Report
from smartharvest.core import _loop
from smartharvest.telemetry.metrics import Metrics
from smartharvest.telemetry.status import AgentState, Warnings, describe

PUBLISH_S = 1.0


class Reporting:
    """Describes one run; it reads the parts that it is given and changes none of them.

    ``restart_refused`` says why the last restart did not come about, None if it did.
    """

    def __init__(
        self,
        arrangement: Arrangement,
        control: ControlLoop,
        watch: HostWatch,
        warnings: Warnings,
        metrics: Metrics | None,
        restart_refused: Callable[[], str | None],
    ) -> None:
        settings = arrangement.settings
        self._arrangement = arrangement
        self._control = control
        self._watch = watch
        self._warnings = warnings
        self._metrics = metrics
        self._restart_refused = restart_refused
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
        self._monitor.observe(now_ns, control.counters()["harvested_core_ns"], withdrawn)
        return self._monitor.told(
            now_ns, control.loop.harvested, self._arrangement.capacity.max_harvest
        )

    def describe(self) -> dict[str, Any]:
        """The state of the run as ``smartharvest status`` has it."""
        return describe(self._state())

    def _state(self) -> AgentState:
        control, arrangement, watch = self._control, self._arrangement, self._watch
        waits, births = control.waits, arrangement.mechanism.births
        return AgentState(
            settings=self._arrangement.settings,
            snapshot=arrangement.snapshot,
            controller=control.controller,
            loop=control.loop,
            counters=control.counters(),
            sensing=None if arrangement.built is None else arrangement.built.sensing,
            failed_sensors=frozenset(watch.failed_sensors),
            drift=watch.drift,
            check=watch.check,
            waits=None if waits is None else waits.last,
            waits_unreadable="long_term is off" if waits is None else waits.unreadable,
            primary_on_lent_ns=control.on_lent_ns(self._arrangement.capacity.pool),
            give_backs=self._give_backs(),
            seconds=self.elapsed_s,
            cpu_seconds=self.cpu_s,
            births=None if births is None else births.told(),
            generation=arrangement.generation,
            restart_refused=self._restart_refused(),
            warnings=self._warnings,
        )

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
            windows=n["windows"],
            harvested_cores=n["harvested_core_ns"] / polled_ns,
            busy_cores=n["busy_core_ns"] / polled_ns,
            short_safeguards=n["short_safeguards"],
            long_safeguards=long_term.trips if long_term else 0,
            assignments=n["assignments"],
            polls=n["polls"],
            late_polls=n["late_polls"],
            missed_polls=n["missed_polls"],
            lateness_us={
                name: loop.lateness_ns(q) / 1e3
                for name, q in (("p50", 0.5), ("p99", 0.99), ("max", 1.0))
            },
            plans_expired=n["plans_expired"],
            stale_windows=n["stale_windows"],
            dropped_windows=n["dropped_windows"],
            wake_ups=n["wake_ups"],
            lessons=controller.lessons,
            agent_cpu_seconds=cpu_s,
            fallbacks=controller.fallbacks,
            give_backs=self._give_backs(),
        )
