"""The reader of harm: periods, one sensor after the other, and sensors that do not tell."""

from __future__ import annotations

from typing import Any

from smartharvest.core import _sensors
from smartharvest.sensor.harm import PERIOD_NS, HarmMeter

COUNTS = ("wait_ns", "wake_to_sleep_ns", "agent_ns", "long_waits", "behind_elastic",
          "behind_elastic_here", "unjudged")  # fmt: skip


class Copy:
    """What a sensor has seen of one primary: so many dispatches while something was lent."""

    def __init__(self, dispatches: int) -> None:
        self.dispatches = dispatches
        self.lost = 0

    def since(self, earlier: Copy) -> Copy:
        return Copy(self.dispatches - earlier.dispatches)

    def counts(self, side: str) -> dict[str, int]:
        return dict.fromkeys(COUNTS, self.dispatches if side == "lent" else 0)

    def waits(self, side: str) -> tuple[tuple[int, int], ...]:
        return ((1000, self.dispatches),) if side == "lent" else ()

    wakes_to_sleeps = waits

    def unharmed(self) -> tuple[tuple[int, int], ...]:
        return self.waits("lent")


class Telling:
    tells_harm = True

    def __init__(self, *dispatches: int) -> None:
        self.dispatches = list(dispatches)

    def harm(self, primary: int) -> Copy:
        return Copy(self.dispatches[primary])


def watching(*dispatches: int, names: tuple[str, ...]) -> tuple[HarmMeter, Any]:
    sensor: Any = Telling(*dispatches)
    meter = HarmMeter()
    meter.watch(sensor, names)
    return meter, sensor


def test_a_sensor_that_does_not_tell_makes_nothing_known() -> None:
    meter = HarmMeter()
    meter.watch(_sensors.FakeSensor([1]), ["web"])
    assert meter.read_period(1) is None
    assert meter.total() is None
    meter.keep()
    assert meter.total() is None


def test_a_period_is_what_was_added_in_it() -> None:
    meter, sensor = watching(5, 7, names=("web", "db"))
    assert meter.read_period(0) is None
    sensor.dispatches = [15, 7]
    assert meter.read_period(PERIOD_NS - 1) is None
    period = meter.read_period(PERIOD_NS)
    assert period is not None
    assert {name: harm.lent.dispatches for name, harm in period.items()} == {"web": 10, "db": 0}
    assert meter.period is period


def test_the_total_goes_on_with_the_next_sensor_for_those_that_are_still_there() -> None:
    meter, _ = watching(5, 7, names=("web", "db"))
    meter.keep()
    following: Any = Telling(3, 4)
    meter.watch(following, ["db", "new"])
    total = meter.total()
    assert total is not None
    assert {name: harm.lent.dispatches for name, harm in total.items()} == {"db": 10, "new": 4}
    assert meter.read_period(2 * PERIOD_NS) is None  # nothing of this sensor to compare with
