"""Reads what lending costs each primary, where the sensor tells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, TypeGuard

from smartharvest.algorithm.harm import Harm, HarmSide
from smartharvest.core import _sensors

PERIOD_NS = 10_000_000_000


class HarmSensor(Protocol):
    """A sensor that sees it."""

    def harm(self, primary: int) -> _sensors.Harm: ...


def tells_harm(sensor: _sensors.Sensor) -> TypeGuard[HarmSensor]:
    """Whether the sensor sees what lending costs."""
    return sensor.tells_harm


class HarmMeter:
    """What one sensor after the other has seen of each primary, by its name.

    Of primaries that have gone nothing is kept. All answers are None while no sensor tells.
    """

    def __init__(self) -> None:
        self._past: Mapping[str, Harm] = {}
        self._sensor: HarmSensor | None = None
        self._names: Sequence[str] = ()
        self._earlier: Mapping[str, _sensors.Harm] | None = None
        self._due_ns = 0
        self.period: Mapping[str, Harm] | None = None
        """What the last whole period of PERIOD_NS added."""

    def watch(self, sensor: _sensors.Sensor, names: Sequence[str]) -> None:
        """Reads ``sensor`` from now on; ``names`` are its primaries', in its order."""
        self._sensor = sensor if tells_harm(sensor) else None
        self._names = tuple(names)
        self._earlier = None

    def read_period(self, now_ns: int) -> Mapping[str, Harm] | None:
        """What the period added, once it is over, else None; to be called often."""
        if now_ns < self._due_ns or self._sensor is None:
            return None
        self._due_ns = now_ns + PERIOD_NS
        now, earlier = self._copies(), self._earlier
        self._earlier = now
        if earlier is None:
            return None
        self.period = {name: _plain(one.since(earlier[name])) for name, one in now.items()}
        return self.period

    def total(self) -> Mapping[str, Harm] | None:
        """Since the start."""
        if self._sensor is None:
            return self._past or None
        now = {name: _plain(one) for name, one in self._copies().items()}
        return {name: self._past.get(name, Harm()).plus(one) for name, one in now.items()}

    def keep(self) -> None:
        """Takes in what the sensor has seen, which is about to be closed."""
        self._past = self.total() or {}
        self._sensor = None

    def _copies(self) -> Mapping[str, _sensors.Harm]:
        assert self._sensor is not None
        return {name: self._sensor.harm(i) for i, name in enumerate(self._names)}


def _plain(harm: _sensors.Harm) -> Harm:
    return Harm(_side(harm, "lent"), _side(harm, "not_lent"), harm.lost)


def _side(harm: _sensors.Harm, side: str) -> HarmSide:
    counts = harm.counts(side)
    return HarmSide(
        waits=harm.waits(side),
        wakes_to_sleeps=harm.wakes_to_sleeps(side),
        wait_ns=counts["wait_ns"],
        wake_to_sleep_ns=counts["wake_to_sleep_ns"],
        long_waits=counts["long_waits"],
        behind_elastic=counts["behind_elastic"],
        here=counts["behind_elastic_here"],
        unjudged=counts["unjudged"],
        agent_ns=counts["agent_ns"],
    )
