"""The choice of a sensor: the best that works here, or the configured one."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import NamedTuple

from smartharvest.config.settings import Settings
from smartharvest.core import _sensors
from smartharvest.errors import SensorError
from smartharvest.placement.snapshot import HostSnapshot

_log = logging.getLogger(__name__)


POLLING_CPU_PERCENT = 15
"""Of a CPU, for a loop whose sensor looks at each task of the primaries at each poll."""
LOOKS_A_WINDOW = 5
"""So often it polls at least, whatever that takes."""


@dataclass(frozen=True)
class Sensing:
    """A sensor, its name, and why it was chosen."""

    sensor: _sensors.Sensor
    name: str
    reason: str
    made_with: object = None
    """What of the settings went into it."""

    def fits(self, settings: Settings) -> bool:
        """Whether ``settings``, which ask for no other kind, make no other of its kind."""
        entry = SENSORS.get(self.name)
        return entry is None or entry.made_with(settings) == self.made_with

    @property
    def most_cpu_percent(self) -> int:
        """What a loop may take of a CPU with it; 0: any share."""
        return 0 if self.sensor.sees_changes else POLLING_CPU_PERCENT


class Entry(NamedTuple):
    """One sensor: how to create it, and what to know before."""

    make: Callable[[Settings, HostSnapshot], _sensors.Sensor]
    asks_kernel: bool = False
    """It asks the kernel about groups, which may refuse, and has no fake trees."""
    is_automatic: bool = False
    """``auto`` tries it."""
    reason: str = "asked for"
    made_with: Callable[[Settings], object] = lambda _settings: None
    """What of the settings goes into it: with another value it is another sensor."""


JUDGE_HARM = ("adaptive", "adaptive-quiet")
"""These policies judge harm, so the sensor has to tell it."""


def wants_harm(settings: Settings) -> bool:
    """Whether the sensor is to tell what lending costs."""
    return settings.harm or settings.policy in JUDGE_HARM


def _bpf_made_with(settings: Settings) -> tuple[list[str], int]:
    parts = [part for part in _sensors.BPF_PARTS if part != "harm" or wants_harm(settings)]
    return parts, settings.long_term_threshold_ns


def _make_bpf(settings: Settings, snapshot: HostSnapshot) -> _sensors.Sensor:
    parts, wait_threshold_ns = _bpf_made_with(settings)
    return _sensors.BpfSensor(
        list(snapshot.kernel_ids),
        list(snapshot.capacity.allocations),
        wait_threshold_ns=wait_threshold_ns,
        used_cpus=snapshot.capacity.lendable if settings.order == "dynamic" else (),
        parts=parts,
        pool=snapshot.capacity.pool,
    )


def _make_perf(_settings: Settings, snapshot: HostSnapshot) -> _sensors.Sensor:
    return _sensors.PerfSensor(list(snapshot.sources), list(snapshot.capacity.allocations))


def _make_proc(_settings: Settings, snapshot: HostSnapshot) -> _sensors.Sensor:
    return _sensors.ProcSensor(list(snapshot.sources), list(snapshot.capacity.allocations))


def _make_stat(_settings: Settings, snapshot: HostSnapshot) -> _sensors.Sensor:
    return _sensors.StatSensor(snapshot.capacity.pool, sum(snapshot.capacity.allocations))


SENSORS = {
    "bpf": Entry(_make_bpf, asks_kernel=True, is_automatic=True, made_with=_bpf_made_with),
    "perf": Entry(_make_perf, asks_kernel=True, is_automatic=True),
    "proc": Entry(_make_proc, is_automatic=True),
    "stat": Entry(_make_stat),
}
"""A sensor is C, its binding and an entry here."""
RANKING = tuple(name for name, entry in SENSORS.items() if entry.is_automatic)
"""What ``auto`` tries, best first."""


def make_sensor(
    settings: Settings,
    snapshot: HostSnapshot,
    *,
    failed: Collection[str] = (),
    fake_tree: bool = False,
) -> Sensing:
    """The sensor of the settings for the host as last seen.

    ``auto`` leaves out those that have ``failed`` and, on a fake tree, those that ask the kernel
    about groups. Raises SensorError if the one that was asked for does not work here, and OSError
    as the host does.
    """
    if settings.sensor != "auto":
        entry = SENSORS[settings.sensor]
        try:
            sensor = entry.make(settings, snapshot)
        except OSError as error:
            if not entry.asks_kernel:
                raise
            raise SensorError(f"sensor {settings.sensor}: {error.strerror}") from error
        return Sensing(sensor, settings.sensor, entry.reason, entry.made_with(settings))
    why_not = [f"{name} has failed" for name in RANKING if name in failed]
    for name in RANKING:
        entry = SENSORS[name]
        if name in failed or (fake_tree and entry.asks_kernel):
            continue
        try:
            sensor = entry.make(settings, snapshot)
        except OSError as error:
            if name == RANKING[-1]:
                raise
            why_not.append(f"{name}: {error.strerror}")
        else:
            reason = "; ".join(why_not) or "selected automatically"
            return Sensing(sensor, name, reason, entry.made_with(settings))
    raise SensorError(f"no sensor is left: {'; '.join(why_not)}")


def resync(sensor: _sensors.Sensor) -> int:
    """Has an in-kernel sensor put itself right by the run queues, which it needs once a second.

    By how much it was wrong, in CPUs and tasks.
    """
    try:
        return sensor.resync()
    except OSError as error:
        _log.warning("sensor: resynchronising failed: %s", error.strerror)
        return 0
