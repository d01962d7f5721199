"""Records what the primaries of a host do, to try policies on it later."""

from __future__ import annotations

import platform
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from smartharvest import __version__
from smartharvest.agent.loop_builder import FIFO_PRIORITY
from smartharvest.agent.observation import explain_sensor_halt, open_primaries
from smartharvest.algorithm.policy.base import Dispatches
from smartharvest.config.settings import Settings
from smartharvest.core import _actuators, _loop, _sensors, _trace
from smartharvest.lab.trace.format import Header
from smartharvest.lab.trace.writer import TraceWriter
from smartharvest.sensor.waits import tells_waits

GAP_POLLS = 10
"""Polls that are this many periods apart leave a gap in the trace, ..."""
LEAST_GAP_NS = 2_000_000
"""... unless they are closer than this."""
MOST_CPU_PERCENT = 10
ATTEND_S = 0.1
"""How often the sensor's chores run outside its thread, and waits are read."""
WRITE_S = 0.5
"""How often the trace is written: at most this much is lost when the recorder is killed."""
MOST_AT_ONCE = 1 << 15


@dataclass(frozen=True)
class Recording:
    """The figures of a recording."""

    path: str
    seconds: float
    sensor: str
    sensor_reason: str
    cores: int
    mean_busy: float
    changes: int
    gaps: int
    """Times without polls, or without room to keep what was seen."""
    lost: int
    """Changes that were not written in time."""
    polls: int
    lateness_us: dict[str, float]
    bytes: int
    cpu: float
    """Cores the recorder used."""


def record(
    settings: Settings,
    path: str,
    seconds: float | None,
    *,
    most_cpu_percent: int = MOST_CPU_PERCENT,
    overwrite: bool = False,
    stopped: Callable[[], bool] = lambda: False,
) -> Recording:
    """Records the primaries of ``settings`` into ``path`` for ``seconds`` (None: until stopped).

    It polls as often as the settings say, but takes at most ``most_cpu_percent`` of a CPU for it
    (100: any), unless that would leave gaps in the trace.
    Writes only the trace. Raises ConfigError, TargetError, TargetVanished, SensorError or
    TraceError; what was recorded until then stays readable.
    """
    primaries, seen, sensing = open_primaries(settings)
    cores = min(seen.capacity.total + seen.capacity.elastic_min, sum(seen.capacity.allocations))
    gap_ns = max(GAP_POLLS * settings.poll_ns, LEAST_GAP_NS)
    sensor = _trace.RecordingSensor(sensing.sensor, settings.poll_ns, gap_ns)
    loop = _loop.Loop(
        sensor=sensor,
        actuator=_actuators.FakeActuator(),
        total=cores,
        window_ns=max(settings.window_ns, settings.poll_ns),
        poll_ns=settings.poll_ns,
        max_harvest=0,
        pacing=settings.pacing,
        fifo_priority=FIFO_PRIORITY if settings.realtime and settings.pacing != "spin" else 0,
        most_cpu_percent=most_cpu_percent,
        most_rest_ns=gap_ns // 2,
    )
    start_ns = _loop.monotonic_ns()
    header = Header(
        cores=cores,
        poll_ns=settings.poll_ns,
        gap_ns=gap_ns,
        start_ns=start_ns,
        started=datetime.now(UTC).isoformat(timespec="milliseconds"),
        host=platform.node(),
        kernel=platform.release(),
        sensor=sensing.name,
        sensor_reason=sensing.reason,
        primaries=tuple(str(primary.spec) for primary in primaries),
        writer=f"smartharvest {__version__}",
    )
    cpu_s, began = time.process_time(), time.monotonic()
    reason, next_write = "complete", began + WRITE_S
    waits = _Waits(sensing.sensor)
    with TraceWriter(path, header, overwrite=overwrite) as writer:
        loop.start()
        try:
            while seconds is None or time.monotonic() - began < seconds:
                if stopped():
                    reason = "stopped"
                    break
                if loop.halt is not None:
                    reason = "the sensor failed"
                    break
                left_s = ATTEND_S if seconds is None else began + seconds - time.monotonic()
                time.sleep(max(0.0, min(ATTEND_S, left_s)))
                sensor.attend()
                waits.poll()
                if time.monotonic() >= next_write:
                    _write(sensor, waits, writer)
                    next_write += WRITE_S
        finally:
            loop.stop()
            sensor.close()
        _write(sensor, waits, writer)
        elapsed_s = time.monotonic() - began
        counters, counts = loop.counters(), sensor.counts
        recording = Recording(
            path=path,
            seconds=elapsed_s,
            sensor=sensing.name,
            sensor_reason=sensing.reason,
            cores=cores,
            mean_busy=counters["busy_core_ns"] / max(1, counters["polled_ns"]),
            changes=counts["changes"],
            gaps=counts["gaps"],
            lost=counts["lost"],
            polls=counters["polls"],
            lateness_us={
                name: loop.lateness_ns(q) / 1e3
                for name, q in (("p50", 0.5), ("p99", 0.99), ("max", 1.0))
            },
            bytes=writer.bytes,
            cpu=(time.process_time() - cpu_s) / max(elapsed_s, 1e-9),
        )
        writer.close(
            reason=reason,
            gaps=recording.gaps,
            lost=recording.lost,
            polls=recording.polls,
            late_us=recording.lateness_us,
        )
    if loop.halt is not None:
        explain_sensor_halt(primaries, sensing)
    return recording


class _Waits:
    """How the primaries' tasks wait and run, a period at a time, where the sensor sees it."""

    def __init__(self, sensor: _sensors.Sensor) -> None:
        self._sensor = sensor if tells_waits(sensor) else None
        self._before: tuple[_sensors.BpfWaits, _sensors.BpfRuns] | None = None
        self._seen: deque[Dispatches] = deque()

    def poll(self) -> None:
        if self._sensor is None:
            return
        end_ns, before = _loop.monotonic_ns(), self._before
        waits, runs = self._before = self._sensor.waits(), self._sensor.runs()
        if before is not None:
            self._seen.append(
                Dispatches(
                    end_ns,
                    waits=waits.since(before[0]).durations(),
                    runs=runs.since(before[1]).durations(),
                    lent=False,
                )
            )

    def write(self, writer: TraceWriter, until_ns: int) -> None:
        """Writes the periods that end by ``until_ns``."""
        while self._seen and self._seen[0].end_ns <= until_ns:
            writer.append_dispatches(self._seen.popleft())


def _write(sensor: _trace.RecordingSensor, waits: _Waits, writer: TraceWriter) -> None:
    """Writes what happened since the last call."""
    while True:
        changes, until_ns = sensor.take(MOST_AT_ONCE)
        waits.write(writer, until_ns)
        writer.append(changes, until_ns)
        if len(changes) < MOST_AT_ONCE:
            return
