"""A policy that asks is told how the primary's tasks fare, by the sensor that can tell."""

from __future__ import annotations

import pytest

from smartharvest.algorithm.policy import make_policy
from smartharvest.algorithm.policy.base import DISPATCHES_PERIOD_NS
from smartharvest.algorithm.policy.fallback import Fallback
from smartharvest.core._actuators import FakeActuator
from smartharvest.core._loop import Loop
from smartharvest.core._sensors import FakeSensor
from smartharvest.sensor.dispatches import DispatchWatch


def loop() -> Loop:
    return Loop(sensor=FakeSensor([0]), actuator=FakeActuator(), total=4)


def test_a_sensor_that_cannot_tell_is_told_of_once(caplog: pytest.LogCaptureFixture) -> None:
    watch, policy = DispatchWatch(), make_policy("adaptive-quiet", total=4)
    for period in range(1, 4):
        watch.look(policy, loop(), period * DISPATCHES_PERIOD_NS)
    assert caplog.text.count("adaptive-quiet lends nothing without the in-kernel sensor") == 1
    assert policy.buffer == 4


@pytest.mark.parametrize("chained", [False, True])
def test_a_policy_that_does_not_ask_is_left_alone(
    chained: bool, caplog: pytest.LogCaptureFixture
) -> None:
    policy = make_policy("prev-peak", total=4)
    if chained:
        policy = Fallback(["prev-peak"], lambda spec: make_policy(spec, total=4), 4, print)
    DispatchWatch().look(policy, loop(), DISPATCHES_PERIOD_NS)
    assert caplog.text == ""
