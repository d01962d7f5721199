"""The long-term safeguard's judge, with waits that are handed to it."""

from __future__ import annotations

import pytest

from smartharvest.algorithm.safeguard import LongTermSafeguard
from smartharvest.core import _sensors
from smartharvest.sensor.waits import PeriodWaits, WaitWatch

PERIOD_NS = 500_000_000
STUCK_NS = 500_000_000


def judged(
    monkeypatch: pytest.MonkeyPatch,
    waits: PeriodWaits,
    *,
    only_stuck: bool,
    attributed: bool = True,
) -> list[bool]:
    """What four periods of the same waits lead to."""
    watch = WaitWatch(
        LongTermSafeguard(periods=2, period_ns=PERIOD_NS, stuck_ns=STUCK_NS),
        4,
        attributed=attributed,
    )
    monkeypatch.setattr(watch, "_read", lambda *_: waits)
    sensor = _sensors.FakeSensor([4])
    return [watch.judge(n * PERIOD_NS, list, sensor, 1, only_stuck=only_stuck) for n in range(4)]


LONG = PeriodWaits("sensor", dispatches=1000, long_waits=100, blamed=50)
STUCK = PeriodWaits(
    "sensor", dispatches=10, long_waits=1, blamed=1, longest_pending_us=STUCK_NS / 1e3 + 1
)


def test_long_waits_trip_it_unless_the_policy_judges_them(monkeypatch: pytest.MonkeyPatch) -> None:
    assert any(judged(monkeypatch, LONG, only_stuck=False))
    assert not any(judged(monkeypatch, LONG, only_stuck=True))


def test_a_stuck_task_trips_it_whoever_judges(monkeypatch: pytest.MonkeyPatch) -> None:
    assert any(judged(monkeypatch, STUCK, only_stuck=False))
    assert any(judged(monkeypatch, STUCK, only_stuck=True))
