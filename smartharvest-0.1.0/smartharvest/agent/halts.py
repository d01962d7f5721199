"""Why a loop has halted, in the user's words."""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence

from smartharvest.core import _actuators
from smartharvest.errors import SensorError, SmartHarvestError, TargetVanished, WriteRefused
from smartharvest.host.foreign.writes import ForeignWrite, likely_writers
from smartharvest.host.target.base import Target

GONE = (errno.ENOENT, errno.ENODEV, errno.ESRCH)


def actuator_halt(
    error: int,
    failure: tuple[str, str],
    elastic: Target,
    last_writer: str | None,
) -> SmartHarvestError:
    """What a loop halted on whose actuator failed with ``error``, an errno.

    ``failure`` is the path and the value of the write, ``last_writer`` who else wrote that file.
    """
    path, value = elastic.name_failure(*failure)
    if error in GONE or not elastic.alive():
        return TargetVanished(f"{path or elastic.spec}: is gone; all was given back")
    if error == _actuators.EFFECTIVE_MISMATCH:
        return ForeignWrite(
            f"{path}: {value!r} was written but another set is in force; does somebody else "
            f"manage this group? ({f'last: {last_writer}' if last_writer else likely_writers()})"
        )
    return WriteRefused(path, value, error)


def sensor_halt(error: int, primaries: Sequence[Target], sensor: str | None) -> SmartHarvestError:
    """What a loop halted on whose sensor, called ``sensor``, failed with ``error``, an errno."""
    if error in GONE:
        gone = [str(target.spec) for target in primaries if not target.alive()]
        return TargetVanished(f"{', '.join(gone) or 'a primary'}: is gone; all was given back")
    if error == errno.EOVERFLOW:
        return SensorError("the primaries have more threads than can be watched through /proc")
    if error == errno.ENOLINK and sensor is not None:
        return SensorError(
            f"sensor {sensor}: has been detached by somebody; "
            "with --sensor auto the next one takes over"
        )
    return other_halt("sensor", error)


def other_halt(what: str, error: int) -> SmartHarvestError:
    """What a loop halted on whose ``what`` failed with ``error``, an errno."""
    return SensorError(f"the {what} of the polling loop failed: {os.strerror(error)}")
