"""Tells a policy that asks for it how the primary's tasks are dispatched, a period at a time."""

from __future__ import annotations

import logging

from smartharvest import _core
from smartharvest.policy.base import DISPATCHES_PERIOD_NS, Dispatches, DispatchesObserver, Policy

_log = logging.getLogger(__name__)


def judges_waits(policy: Policy) -> bool:
    """Whether the policy in force asks how the primary's tasks wait, and acts on it."""
    # A stand-in for one that failed may be one that does not.
    return isinstance(policy, DispatchesObserver) and getattr(policy, "wants_dispatches", True)


class DispatchWatch:
    """Reads the in-kernel sensor's histograms; no other sensor tells waits and run times."""

    def __init__(self) -> None:
        self._before: tuple[_core.BpfSensor, _core.BpfWaits, _core.BpfRuns] | None = None
        self._due_ns = 0
        self._told = False

    def look(self, policy: Policy, sensor: _core.Sensor, now_ns: int) -> None:
        """Once a period, and only for a policy that observes dispatches."""
        if now_ns < self._due_ns:
            return
        self._due_ns = now_ns + DISPATCHES_PERIOD_NS
        if not judges_waits(policy):  # too dear to be asked at every window
            return
        assert isinstance(policy, DispatchesObserver)
        if not isinstance(sensor, _core.BpfSensor):
            if not self._told:
                _log.warning(
                    "policy: %s lends nothing without the in-kernel sensor, which tells how long "
                    "tasks wait and run; use --sensor bpf or another --policy",
                    policy.name,
                )
            self._told = True
            return
        waits, runs = sensor.waits(), sensor.runs()
        if self._before is not None and self._before[0] is sensor:
            _, waits_before, runs_before = self._before
            policy.observe_dispatches(
                Dispatches(
                    now_ns,
                    waits.since(waits_before).durations(),
                    runs.since(runs_before).durations(),
                )
            )
        self._before = sensor, waits, runs
