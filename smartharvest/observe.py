"""What a service needs: demand, peaks and dispatch waits, watched without changing anything."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from smartharvest import _core
from smartharvest.config import Settings
from smartharvest.errors import ConfigError, SensorError, TargetVanished
from smartharvest.host.cgroup import CgroupTree
from smartharvest.host.fake_kernel import FakeKernel
from smartharvest.host.targets import CgroupTarget, PidTarget, check_apart, resolve_target
from smartharvest.host.waits import SchedstatWaits
from smartharvest.sensing import make_sensor
from smartharvest.survey import survey


@dataclass(frozen=True)
class Observation:
    """Cores are means over the time watched, peaks the highest number at any moment."""

    seconds: float
    sensor: str
    sensor_reason: str
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
    dispatches: int


def observe(settings: Settings, seconds: float) -> Observation:
    """Watches the primaries of ``settings`` for ``seconds``; writes nothing to the host.

    Raises ConfigError, TargetError, TargetVanished or SensorError.
    """
    if not settings.primary:
        raise ConfigError("primary: no target given; use --primary cgroup:PATH or pid:N")
    tree = CgroupTree.discover(settings.cgroup_root)
    primaries = [resolve_target(spec, tree) for spec in settings.primary]
    check_apart(primaries, None)
    seen = survey(settings, tree, primaries, None)
    made_tree = isinstance(tree.files, FakeKernel)
    sensing = make_sensor(settings, seen, made_tree=made_tree)
    exact = sensing.sensor.sees_changes and settings.accounting == "exact"
    loop = _core.Loop(
        sensor=sensing.sensor,
        actuator=_core.FakeActuator(),
        total=seen.capacity.total + seen.capacity.elastic_min,
        window_ns=settings.window_ns,
        poll_ns=settings.poll_ns,
        max_harvest=0,
        exact=exact,
        event_driven=exact and settings.events,
    )
    waits = _Waits(sensing.sensor, primaries)
    peaks: Counter[int] = Counter()
    peak_demand = 0
    cpu_s, began = time.process_time(), time.monotonic()
    loop.start()
    try:
        while (left_s := began + seconds - time.monotonic()) > 0 and loop.halt is None:
            loop.wait(max(1, min(1000, int(left_s * 1000))))
            while (window := loop.take()) is not None:
                if not window.stale:
                    peaks[window.busy_max] += 1
                    peak_demand = max(peak_demand, window.demand_max)
    finally:
        loop.stop()
    elapsed_s = time.monotonic() - began
    cpu_s = time.process_time() - cpu_s
    if loop.halt is not None:
        gone = [str(primary.spec) for primary in primaries if not primary.alive()]
        if gone:
            raise TargetVanished(f"{', '.join(gone)}: is gone")
        raise SensorError(f"sensor {sensing.name}: no longer works")
    counters = loop.counters()
    polled_ns = max(1, counters["polled_ns"])
    wait_us, dispatches = waits.read()
    return Observation(
        seconds=elapsed_s,
        sensor=sensing.name,
        sensor_reason=sensing.reason,
        sensor_cpu=cpu_s / elapsed_s,
        total=loop.total,
        mean_busy=counters["busy_core_ns"] / polled_ns,
        mean_demand=counters["demand_core_ns"] / polled_ns,
        peak_busy=max(peaks, default=0),
        peak_demand=peak_demand,
        window_peaks=dict(sorted(peaks.items())),
        wait_us=wait_us,
        dispatches=dispatches,
    )


class _Waits:
    """Dispatch waits from now on."""

    def __init__(self, sensor: _core.Sensor, primaries: Sequence[CgroupTarget | PidTarget]) -> None:
        self._primaries = primaries
        self._bpf = sensor if isinstance(sensor, _core.BpfSensor) and sensor.sees_changes else None
        self._earlier = self._bpf.waits() if self._bpf else None
        self._schedstat = SchedstatWaits(0)
        if self._bpf is None:
            self._schedstat.read(self._threads())

    def read(self) -> tuple[dict[str, float | None], int]:
        """(p50, p99 and max in us, number of dispatches) since the start."""
        if self._bpf is not None and self._earlier is not None:
            waits, pending = self._bpf.waits().since(self._earlier), self._bpf.pending()
            longest = max(waits.quantile_ns(1.0), pending["longest_ns"])
            found: dict[str, float | None] = {
                "p50": waits.quantile_ns(0.5) / 1e3,
                "p99": waits.quantile_ns(0.99) / 1e3,
                "max": longest / 1e3,
            }
            return found, waits.counts["waits"]
        dispatches, _ = self._schedstat.read(self._threads())
        return {"p50": None, "p99": None, "max": None}, dispatches

    def _threads(self) -> list[int]:
        return [tid for primary in self._primaries for tid in primary.threads()]
