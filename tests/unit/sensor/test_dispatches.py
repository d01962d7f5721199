"""How dispatches are read: from the sensor that sees them, for a policy that asks."""

from __future__ import annotations

from typing import cast

import pytest

from smartharvest.algorithm.controller import Controller
from smartharvest.algorithm.harm import Durations
from smartharvest.algorithm.policy import Policy, make_policy
from smartharvest.algorithm.policy.base import (
    DISPATCHES_PERIOD_NS,
    PATIENT_PERIOD_NS,
    Dispatches,
)
from smartharvest.algorithm.policy.fallback import Fallback
from smartharvest.core._actuators import FakeActuator
from smartharvest.core._loop import Loop
from smartharvest.core._sensors import FakeSensor
from smartharvest.sensor.dispatches import DispatchReader


class Counted:
    """What a sensor has counted of one primary: a wait on each side."""

    idle_answer_ns = 0
    woken_by_own = 0

    def since(self, _earlier: Counted) -> Counted:
        return self

    def durations(self) -> Durations:
        return ()

    harmed = unharmed = durations

    def waits(self, side: str) -> Durations:
        return ((100 if side == "lent" else 200, 1),)

    wakes_to_sleeps = waits

    def harmed_waits(self) -> Durations:
        return ((100, 3),)

    def unharmed_waits(self) -> Durations:
        return ((1, 3),)


class Seeing:
    """A loop whose sensor sees all."""

    tells_waits = tells_harm = True
    harvested = 0

    @property
    def sensor(self) -> Seeing:
        return self

    def harm(self, _primary: int) -> Counted:
        return Counted()

    def waits(self) -> Counted:
        return Counted()

    runs = waits

    def moves(self) -> tuple[Durations]:
        return ((),)

    def counters(self) -> dict[str, int]:
        return {"harvested_core_ns": 0}


def test_of_each_primary_waits_count_whether_something_was_lent_in_them_or_not() -> None:
    controller = Controller(make_policy("adaptive", total=4, learner="native"), total=4)
    reader, seeing = DispatchReader(), cast(Loop, Seeing())
    reader.watch(2)
    assert reader.read(controller, seeing, DISPATCHES_PERIOD_NS) is None
    found = reader.read(controller, seeing, 2 * DISPATCHES_PERIOD_NS)
    assert found is not None
    assert [one.waits for one in found.spans] == [((100, 1), (200, 1))] * 2
    assert [one.harmed_waits for one in found.spans] == [((100, 3), (200, 1))] * 2
    assert [one.unharmed_waits for one in found.spans] == [((1, 3), (200, 1))] * 2


def loop() -> Loop:
    return Loop(sensor=FakeSensor([0]), actuator=FakeActuator(), total=4)


def test_a_sensor_that_does_not_see_dispatches_is_warned_of_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    policy = make_policy("adaptive-quiet", total=4)
    reader, controller = DispatchReader(), Controller(policy, total=4)
    for period in range(1, 4):
        assert reader.read(controller, loop(), period * DISPATCHES_PERIOD_NS) is None
    assert caplog.text.count("adaptive-quiet lends nothing without the in-kernel sensor") == 1
    assert policy.buffer == 4


def test_adaptive_is_the_papers_policy_on_such_a_sensor(caplog: pytest.LogCaptureFixture) -> None:
    controller = Controller(make_policy("adaptive", total=4, learner="native"), total=4)
    assert DispatchReader().read(controller, loop(), DISPATCHES_PERIOD_NS) is None
    assert "adaptive is the paper's smartharvest without the in-kernel sensor" in caplog.text


@pytest.mark.parametrize("chained", [False, True])
def test_for_a_policy_that_does_not_ask_nothing_is_read(
    chained: bool, caplog: pytest.LogCaptureFixture
) -> None:
    policy = make_policy("prev-peak", total=4)
    if chained:
        policy = Fallback(["prev-peak"], lambda spec: make_policy(spec, total=4), 4, print)
    controller = Controller(policy, total=4)
    assert DispatchReader().read(controller, loop(), DISPATCHES_PERIOD_NS) is None
    assert caplog.text == ""


class Patient:
    """A policy that is content with fewer looks, for now."""

    name = "patient"
    patient = True
    buffer = 0

    def observe_dispatches(self, _dispatches: Dispatches) -> None:
        self.patient = False


def test_once_a_policy_is_patient_no_more_the_next_look_is_soon() -> None:
    policy = Patient()
    reader, controller = DispatchReader(), Controller(cast(Policy, policy), total=4)
    reader.watch(1)
    seeing = cast(Loop, Seeing())
    assert reader.read(controller, seeing, PATIENT_PERIOD_NS) is None
    assert reader.left_ns(controller, PATIENT_PERIOD_NS) == PATIENT_PERIOD_NS
    assert reader.read(controller, seeing, PATIENT_PERIOD_NS + DISPATCHES_PERIOD_NS) is None
    seen = reader.read(controller, seeing, 2 * PATIENT_PERIOD_NS)
    assert seen is not None
    controller.on_dispatches(seen)
    assert reader.left_ns(controller, 2 * PATIENT_PERIOD_NS) == DISPATCHES_PERIOD_NS
