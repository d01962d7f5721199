"""Tells a policy that asks for it how the primary's tasks are dispatched, a period at a time."""

from __future__ import annotations

import logging

from smartharvest.algorithm.policy.base import (
    DISPATCHES_PERIOD_NS,
    Dispatches,
    DispatchesObserver,
    Policy,
)
from smartharvest.core import _loop, _sensors

_log = logging.getLogger(__name__)


def judges_waits(policy: Policy) -> bool:
    """Whether the policy in force asks how the primary's tasks wait, and acts on it."""
    # A stand-in for one that failed may be one that does not.
    return isinstance(policy, DispatchesObserver) and getattr(policy, "wants_dispatches", True)


class DispatchWatch:
    """Reads the in-kernel sensor's histograms; no other sensor tells waits and run times."""

    def __init__(self) -> None:
        self._before: _Seen | None = None
        self._due_ns = 0
        self._told = False

    def look(self, policy: Policy, loop: _loop.Loop, now_ns: int) -> None:
        """Once a period, and only for a policy that observes dispatches."""
        if now_ns < self._due_ns:
            return
        self._due_ns = now_ns + DISPATCHES_PERIOD_NS
        if not judges_waits(policy):  # too dear to be asked at every window
            return
        assert isinstance(policy, DispatchesObserver)
        sensor = loop.sensor
        if not isinstance(sensor, _sensors.BpfSensor):
            if not self._told:
                _log.warning(
                    "policy: %s lends nothing without the in-kernel sensor, which tells how long "
                    "tasks wait and run; use --sensor bpf or another --policy",
                    policy.name,
                )
            self._told = True
            return
        seen, before = _Seen(loop, sensor), self._before
        if before is not None and before.loop is loop:
            policy.observe_dispatches(seen.since(before, now_ns))
        self._before = seen


class _Seen:
    """Everything a loop and its sensor have counted up to now."""

    def __init__(self, loop: _loop.Loop, sensor: _sensors.BpfSensor) -> None:
        self.loop = loop
        self.waits, self.runs = sensor.waits(), sensor.runs()
        self.moves = dict(loop.moves()[0])
        self.lent_core_ns = loop.counters()["harvested_core_ns"]
        self.lends = loop.harvested > 0

    def since(self, before: _Seen, now_ns: int) -> Dispatches:
        moves = {edge: count - before.moves.get(edge, 0) for edge, count in self.moves.items()}
        return Dispatches(
            end_ns=now_ns,
            waits=self.waits.since(before.waits).durations(),
            runs=self.runs.since(before.runs).durations(),
            # The loop counts what is lent at its next look.
            lent=self.lends or before.lends or self.lent_core_ns > before.lent_core_ns,
            moves=tuple((edge, count) for edge, count in moves.items() if count),
        )
