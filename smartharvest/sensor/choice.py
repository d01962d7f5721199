"""Which sensor watches the primaries: the best that works here, or the one that was asked for."""

from __future__ import annotations

import logging
from collections.abc import Collection
from dataclasses import dataclass

from smartharvest.config.settings import Settings
from smartharvest.core import _sensors
from smartharvest.errors import SensorError
from smartharvest.placement.snapshot import Survey

_log = logging.getLogger(__name__)

RANKING = ("bpf", "perf", "proc")
"""What ``auto`` tries, best first."""

_LIMITS = {"bpf-pull": "asked for; what its own look displaces from a CPU it does not see there"}


@dataclass(frozen=True)
class Sensing:
    """A sensor, which one it is, and why it and none better."""

    sensor: _sensors.Sensor
    name: str
    reason: str


def make_sensor(
    settings: Settings, survey: Survey, *, failed: Collection[str] = (), made_tree: bool = False
) -> Sensing:
    """The sensor of the settings for the host as surveyed.

    ``auto`` leaves out those that have ``failed`` and, on a made tree, those that ask the kernel
    about groups. Raises SensorError if the one that was asked for does not work here, and OSError
    as the host does.
    """
    if settings.sensor != "auto":
        try:
            sensor = _make(settings.sensor, settings, survey)
            return Sensing(sensor, settings.sensor, _LIMITS.get(settings.sensor, "asked for"))
        except OSError as error:
            if settings.sensor not in ("bpf", "bpf-pull", "perf"):
                raise
            raise SensorError(f"sensor {settings.sensor}: {error.strerror}") from error
    why_not = [f"{name} has failed" for name in RANKING if name in failed]
    for name in RANKING:
        if name in failed or (made_tree and name != "proc"):
            continue
        try:
            sensor = _make(name, settings, survey)
        except OSError as error:
            if name == RANKING[-1]:
                raise
            why_not.append(f"{name}: {error.strerror}")
        else:
            return Sensing(sensor, name, "; ".join(why_not) or "the best there is")
    raise SensorError(f"no sensor is left: {'; '.join(why_not)}")


def resync(sensor: _sensors.Sensor) -> int:
    """Has an in-kernel sensor put itself right by the run queues, which it needs once a second.

    By how much it was wrong, in CPUs and tasks.
    """
    if not isinstance(sensor, _sensors.BpfSensor):
        return 0
    try:
        drift = sensor.resync()
    except OSError as error:
        _log.warning("sensor: cannot be resynchronised: %s", error.strerror)
        return 0
    return drift["cpus"] + abs(drift["busy"]) + abs(drift["wanting"])


def _make(name: str, settings: Settings, survey: Survey) -> _sensors.Sensor:
    capacity = survey.capacity
    allocations = list(capacity.allocations)
    if name == "stat":
        lend_order = [*capacity.lendable, *sorted(set(capacity.pool) - set(capacity.lendable))]
        return _sensors.StatSensor(lend_order, capacity.elastic_min, sum(allocations))
    if name in ("bpf", "bpf-pull"):
        return _sensors.BpfSensor(
            list(survey.kernel_ids),
            allocations,
            pull=name == "bpf-pull",
            wait_threshold_ns=settings.long_term_threshold_ns,
            lend_order=capacity.lendable,
            elastic_min=capacity.elastic_min,
        )
    if name == "perf":
        return _sensors.PerfSensor(list(survey.sources), allocations)
    return _sensors.ProcSensor(list(survey.sources), allocations)
