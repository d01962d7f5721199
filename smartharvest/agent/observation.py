"""What a service needs: demand, peaks and dispatch waits, watched without changing anything."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NoReturn

from smartharvest.config.settings import Settings
from smartharvest.core import _actuators, _loop, _sensors
from smartharvest.errors import ConfigError, RightsError, SensorError, TargetVanished
from smartharvest.host.cgroup.tree import CgroupTree
from smartharvest.host.process.waits import ThreadWaits, open_wait_source
from smartharvest.host.target.base import Target
from smartharvest.mechanism.choice import needs_of
from smartharvest.placement.snapshot import HostSnapshot, take_snapshot
from smartharvest.placement.target_set import open_targets
from smartharvest.sensor.choice import LOOKS_A_WINDOW, Sensing, make_sensor, resync
from smartharvest.sensor.waits import DispatchSensor, tells_waits

_log = logging.getLogger(__name__)

RESYNC_S = 1.0


@dataclass(frozen=True)
class Observation:
    """Cores are means over the time watched, peaks the highest number at any moment."""

    seconds: float
    sensor: str
    sensor_reason: str
    sensor_drift: int
    """By how much resynchronisations found an in-kernel sensor wrong, in CPUs and tasks."""
    sensor_cpu: float
    """Cores this process used while it watched; a program in the kernel is paid by the switches."""
    total: int
    """Cores the primaries may use."""
    mean_busy: float
    mean_demand: float
    peak_busy: int
    peak_demand: int
    window_peaks: dict[int, int]
    """Peak of a window -> number of windows with it."""
    wait_us: dict[str, float | None]
    """p50, p99 and max of the dispatch waits; None where the sensor does not tell."""
    wait_mean_us: float | None
    """Mean wait of the dispatches; None if there was none."""
    wait_source: str
    """``sensor``, or where the totals of the threads were read; ``none`` if nowhere."""
    dispatches: int


def open_primaries(settings: Settings) -> tuple[list[Target], HostSnapshot, Sensing]:
    """The primaries of ``settings``, what they may use, and a sensor that watches them.

    Raises ConfigError, TargetError or SensorError.
    """
    if not settings.primary:
        raise ConfigError("primary: no target given; use --primary cgroup:PATH or pid:N")
    tree = CgroupTree.discover(settings.cgroup_root)
    primaries = open_targets(settings, tree, None).primaries
    seen = take_snapshot(settings, tree, primaries, None, needs=needs_of(settings))
    return primaries, seen, make_sensor(settings, seen, fake_tree=not tree.runs_tasks)


def explain_sensor_halt(primaries: Sequence[Target], sensing: Sensing) -> NoReturn:
    """What a sensor that failed while it watched ``primaries`` means."""
    gone = [str(primary.spec) for primary in primaries if not primary.alive()]
    if gone:
        raise TargetVanished(f"{', '.join(gone)}: is gone")
    raise SensorError(f"sensor {sensing.name}: no longer works")


def observe(settings: Settings, seconds: float) -> Observation:
    """Watches the primaries of ``settings`` for ``seconds``, or until ctrl-C; writes nothing.

    Raises ConfigError, TargetError, TargetVanished or SensorError.
    """
    primaries, seen, sensing = open_primaries(settings)
    exact = sensing.sensor.sees_changes and settings.accounting == "exact"
    loop = _loop.Loop(
        sensor=sensing.sensor,
        actuator=_actuators.FakeActuator(),
        total=seen.capacity.total + seen.capacity.elastic_min,
        window_ns=settings.window_ns,
        poll_ns=settings.poll_ns,
        max_harvest=0,
        exact=exact,
        event_driven=exact and sensing.sensor.wakes and settings.events,
        most_cpu_percent=sensing.most_cpu_percent,
        most_rest_ns=settings.window_ns // LOOKS_A_WINDOW,
    )
    waits = _Waits(settings, sensing.sensor, primaries)
    peaks: Counter[int] = Counter()
    peak_demand = 0
    cpu_s, began = time.process_time(), time.monotonic()
    loop.start()
    next_resync_s, drift = began + RESYNC_S, 0
    try:
        while (left_s := began + seconds - time.monotonic()) > 0 and loop.halt is None:
            loop.wait(max(1, min(100, int(left_s * 1000))))
            sensing.sensor.attend()
            if time.monotonic() >= next_resync_s:
                next_resync_s += RESYNC_S
                drift += resync(sensing.sensor)
            while (window := loop.take()) is not None:
                if not window.stale:
                    peaks[window.busy_max] += 1
                    peak_demand = max(peak_demand, window.demand_max)
    except KeyboardInterrupt:
        _log.debug("interrupted: the figures are those so far")
    finally:
        loop.stop()
    elapsed_s = time.monotonic() - began
    cpu_s = time.process_time() - cpu_s
    if loop.halt is not None:
        explain_sensor_halt(primaries, sensing)
    counters = loop.counters()
    polled_ns = max(1, counters["polled_ns"])
    waited = waits.read()
    waits.close()
    return Observation(
        seconds=elapsed_s,
        sensor=sensing.name,
        sensor_reason=sensing.reason,
        sensor_drift=drift,
        sensor_cpu=cpu_s / elapsed_s,
        total=loop.total,
        mean_busy=counters["busy_core_ns"] / polled_ns,
        mean_demand=counters["demand_core_ns"] / polled_ns,
        peak_busy=max(peaks, default=0),
        peak_demand=peak_demand,
        window_peaks=dict(sorted(peaks.items())),
        wait_us=waited.quantiles_us,
        wait_mean_us=waited.waited_ns / waited.dispatches / 1e3 if waited.dispatches else None,
        wait_source=waits.source,
        dispatches=waited.dispatches,
    )


@dataclass(frozen=True)
class _Waited:
    quantiles_us: dict[str, float | None]
    waited_ns: int
    dispatches: int


class _Waits:
    """Dispatch waits from now on, by the best means there is."""

    def __init__(
        self,
        settings: Settings,
        sensor: _sensors.Sensor,
        primaries: Sequence[Target],
    ) -> None:
        self._primaries = primaries
        self._bpf: DispatchSensor | None = None
        self._threads: ThreadWaits | None = None
        self._close: Callable[[], None] = lambda: None
        self.source = "none"
        if tells_waits(sensor):
            self._bpf, self.source = sensor, "sensor"
            self._earlier = sensor.waits()
            return
        try:
            source = open_wait_source(settings.waits)
        except RightsError as error:
            _log.warning("%s", error)
            return
        self.source, self._close = source.name, source.close
        self._threads = ThreadWaits(0, source.read)
        self._threads.read(self._tids())

    def read(self) -> _Waited:
        """What happened since the start."""
        nothing: dict[str, float | None] = {"p50": None, "p99": None, "max": None}
        if self._bpf is not None:
            waits, pending = self._bpf.waits().since(self._earlier), self._bpf.pending()
            longest = max(waits.quantile_ns(1.0), pending["longest_ns"])
            quantiles_us: dict[str, float | None] = {
                "p50": waits.quantile_ns(0.5) / 1e3,
                "p99": waits.quantile_ns(0.99) / 1e3,
                "max": longest / 1e3,
            }
            return _Waited(quantiles_us, waits.counts["total_ns"], waits.counts["waits"])
        if self._threads is None:
            return _Waited(nothing, 0, 0)
        dispatches, _ = self._threads.read(self._tids())
        return _Waited(nothing, self._threads.waited_ns, dispatches)

    def close(self) -> None:
        self._close()

    def _tids(self) -> list[int]:
        return [tid for primary in self._primaries for tid in primary.threads()]
