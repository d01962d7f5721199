"""Reads how the primary's tasks are dispatched, for a policy that asks for it."""

from __future__ import annotations

import logging

from smartharvest.algorithm.controller import Controller
from smartharvest.algorithm.policy.base import (
    DISPATCHES_PERIOD_NS,
    PATIENT_PERIOD_NS,
    Dispatches,
    Spans,
)
from smartharvest.algorithm.policy.fallback import is_patient, note_blind, wants_spans_alone
from smartharvest.core import _loop, _sensors
from smartharvest.sensor.harm import tells_harm
from smartharvest.sensor.waits import DispatchSensor, tells_waits

_log = logging.getLogger(__name__)


class DispatchReader:
    """Reads the in-kernel sensor's histograms; no other sensor sees waits and run times."""

    def __init__(self) -> None:
        self._before: _Seen | None = None
        self._looked_ns: int | None = None
        self._warned = False
        self._primaries = 0

    def watch(self, primaries: int) -> None:
        """How many primaries the sensors see from now on."""
        self._primaries = primaries

    def left_ns(self, controller: Controller, now_ns: int) -> int:
        """Until a period ends, which is long as long as the policy is patient; 0 once it has."""
        if self._looked_ns is None:
            return 0
        patient = is_patient(controller.policy)
        period_ns = PATIENT_PERIOD_NS if patient else DISPATCHES_PERIOD_NS
        return max(0, self._looked_ns + period_ns - now_ns)

    def read(self, controller: Controller, loop: _loop.Loop, now_ns: int) -> Dispatches | None:
        """Once a period, and only if the policy asks for dispatches; None otherwise."""
        if self.left_ns(controller, now_ns) > 0:
            return None
        self._looked_ns = now_ns
        if not controller.wants_dispatches:  # too expensive for every window
            self._before = None
            return None
        sensor = loop.sensor
        if not tells_waits(sensor):
            if not self._warned:
                name = controller.policy.name
                _log.warning(
                    "policy: %s %s without the in-kernel sensor, which sees how long tasks wait "
                    "and run; use --sensor bpf or another --policy",
                    name,
                    "is the paper's smartharvest" if name == "adaptive" else "lends nothing",
                )
            self._warned = True
            note_blind(controller.policy)
            return None
        alone = tells_harm(loop.sensor) and wants_spans_alone(controller.policy)
        seen, before = _Seen(loop, sensor, self._primaries, now_ns), self._before
        self._before = seen
        if before is None or before.sensor is not sensor:
            return None
        return seen.since(before, spans_alone=alone)


class _Seen:
    """Everything a loop and its sensor have counted up to now."""

    def __init__(
        self, loop: _loop.Loop, sensor: DispatchSensor, primaries: int, now_ns: int
    ) -> None:
        self.sensor = sensor
        self.now_ns = now_ns
        self.waits, self.runs = sensor.waits(), sensor.runs()
        self.harm = (
            [loop.sensor.harm(i) for i in range(primaries)] if tells_harm(loop.sensor) else []
        )
        self.moves = dict(loop.moves()[0])
        self.lent_core_ns = loop.counters()["harvested_core_ns"]
        self.lends = loop.harvested > 0

    def since(self, before: _Seen, *, spans_alone: bool) -> Dispatches:
        moves = {edge: count - before.moves.get(edge, 0) for edge, count in self.moves.items()}
        return Dispatches(
            end_ns=self.now_ns,
            period_ns=self.now_ns - before.now_ns,
            waits=() if spans_alone else self.waits.since(before.waits).durations(),
            runs=() if spans_alone else self.runs.since(before.runs).durations(),
            # The loop counts what is lent at its next look.
            lent=self.lends or before.lends or self.lent_core_ns > before.lent_core_ns,
            spans=tuple(
                _spans(now.since(then)) for now, then in zip(self.harm, before.harm, strict=True)
            ),
            moves=tuple((edge, count) for edge, count in moves.items() if count),
        )


def _spans(harm: _sensors.Harm) -> Spans:
    not_lent = harm.waits("not_lent")
    return Spans(
        harm.harmed(),
        harm.wakes_to_sleeps("not_lent"),
        harm.unharmed(),
        harm.idle_answer_ns,
        harm.waits("lent") + not_lent,
        harm.harmed_waits() + not_lent,
        harm.unharmed_waits() + not_lent,
        harm.woken_by_own,
    )
