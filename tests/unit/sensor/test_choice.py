"""Which sensor is taken, and what is said about the better ones."""

from __future__ import annotations

import errno
import os
from functools import partial
from typing import cast, get_args

import pytest

from smartharvest.config.loading import load_settings
from smartharvest.config.settings import SensorName, Settings
from smartharvest.core import _sensors
from smartharvest.errors import SensorError
from smartharvest.placement.snapshot import HostSnapshot
from smartharvest.sensor import choice as sensing
from smartharvest.sensor.choice import Sensing

HOST = cast(HostSnapshot, None)


@pytest.fixture
def refused(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Sensors that this host refuses; the others work."""
    names: set[str] = set()

    def make(name: str, _settings: Settings, _snapshot: HostSnapshot) -> _sensors.Sensor:
        if name in names:
            raise OSError(errno.EPERM, f"loading it: {os.strerror(errno.EPERM)}")
        return _sensors.FakeSensor([0])

    for name, entry in sensing.SENSORS.items():
        monkeypatch.setitem(sensing.SENSORS, name, entry._replace(make=partial(make, name)))
    return names


def test_harm_is_told_if_it_is_asked_for_or_a_policy_lives_by_it() -> None:
    assert sensing.wants_harm(load_settings({}))
    assert sensing.wants_harm(load_settings({"policy": "adaptive-quiet"}))
    assert not sensing.wants_harm(load_settings({"policy": "prev-peak"}))
    assert sensing.wants_harm(load_settings({"policy": "prev-peak", "harm": True}))


def test_another_sensor_is_needed_only_where_the_settings_make_another(refused: set[str]) -> None:
    sensing = take()
    assert sensing.fits(load_settings({"max_harvest": 2}))
    assert not sensing.fits(load_settings({"policy": "prev-peak"}))
    assert not sensing.fits(load_settings({"long_term_threshold": "1ms"}))
    refused.update(("bpf", "perf"))
    assert take().fits(load_settings({"policy": "prev-peak"}))  # it tells nobody's harm


def test_the_settings_know_every_sensor() -> None:
    assert set(get_args(SensorName)) == {"auto", *sensing.SENSORS}
    assert sensing.RANKING == ("bpf", "perf", "proc")


def take(sensor: str = "auto", failed: set[str] | None = None, fake_tree: bool = False) -> Sensing:
    settings = load_settings({"sensor": sensor})
    return sensing.make_sensor(settings, HOST, failed=failed or (), fake_tree=fake_tree)


def test_auto_steps_down_from_bpf_over_perf_to_proc_and_says_why(refused: set[str]) -> None:
    assert take().name == "bpf"
    refused.add("bpf")
    second = take()
    assert (second.name, second.reason) == ("perf", "bpf: loading it: Operation not permitted")
    refused.add("perf")
    third = take()
    assert third.name == "proc"
    assert third.reason.startswith("bpf: ")
    assert "; perf: " in third.reason


def test_a_sensor_that_has_failed_is_not_taken_again(refused: set[str]) -> None:
    assert take(failed={"bpf"}).name == "perf"
    assert take(failed={"bpf"}).reason == "bpf has failed"
    assert take(failed={"perf"}).name == "bpf"
    refused.add("bpf")
    assert take(failed={"perf"}).name == "proc"


def test_the_kernel_is_not_asked_about_a_fake_tree(refused: set[str]) -> None:
    assert not refused
    assert take(fake_tree=True).name == "proc"


@pytest.mark.parametrize("name", ["bpf", "perf"])
def test_what_was_asked_for_is_taken_or_refused(refused: set[str], name: str) -> None:
    assert take(name).reason == "asked for"
    refused.add(name)
    with pytest.raises(SensorError, match=f"sensor {name}: loading it"):
        take(name)
