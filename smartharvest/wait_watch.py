"""Feeds the long-term safeguard once a period (section 3.4)."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass

from smartharvest import _core
from smartharvest.errors import TargetVanished
from smartharvest.host.waits import SchedstatWaits
from smartharvest.safeguard import LongTermSafeguard
from smartharvest.window import Window

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class PeriodWaits:
    """The primary's dispatches in one period."""

    dispatches: int
    long_waits: int
    """Longer than the threshold, those still going on included."""
    blamed: int
    """Those of them that the harvest may have caused."""


class WaitWatch:
    """Reads the primary's dispatch waits and has ``long_term`` judge them.

    ``attributed``: only waits that the harvest may have caused count. The in-kernel sensor knows
    which began while something was lent, behind nobody of the primary's own and unthrottled. /proc
    knows nothing of the kind, so all or none of a period's waits count there: all if cores were
    lent and the primary never wanted all of its ``total``, since it would then also wait for
    itself.
    """

    def __init__(self, long_term: LongTermSafeguard, total: int, *, attributed: bool) -> None:
        self._long_term = long_term
        self._total = total
        self._attributed = attributed
        self._schedstat = SchedstatWaits(long_term.wait_threshold_ns)
        self._sensor: _core.BpfSensor | None = None
        self._earlier: _core.BpfWaits | None = None
        self._period_end_ns = 0
        self._demand = 0
        self._lent = False

    def observe(
        self, window: Window, primary_threads: Callable[[], list[int]], sensor: _core.Sensor
    ) -> None:
        """Takes in a window; at the end of a period, reads the waits by the best means there is."""
        self._demand = max(self._demand, window.demand_max)
        self._lent |= window.primary_cores < self._total
        if window.end_ns < self._period_end_ns:
            return
        self._period_end_ns = window.end_ns + self._long_term.period_ns
        try:
            if isinstance(sensor, _core.BpfSensor) and sensor.sees_changes:
                waits = self._read_bpf(sensor)
            else:
                waits = self._read_schedstat(primary_threads)
        except (TargetVanished, OSError):
            return  # the loop's sensor meets it too, and halts
        if waits is not None:
            self._judge(window.end_ns, waits)
        self._demand, self._lent = 0, False

    def _read_bpf(self, sensor: _core.BpfSensor) -> PeriodWaits | None:
        now, earlier = sensor.waits(), self._earlier
        first = sensor is not self._sensor
        self._sensor, self._earlier = sensor, now
        if first or earlier is None:
            return None
        counts, pending = now.since(earlier).counts, sensor.pending()
        return PeriodWaits(
            counts["waits"] + pending["longer"],
            counts["longer"] + pending["longer"],
            counts["longer_blamed"] + pending["longer_blamed"],
        )

    def _read_schedstat(self, primary_threads: Callable[[], list[int]]) -> PeriodWaits:
        dispatches, long_waits = self._schedstat.read(primary_threads())
        blamed = long_waits if self._lent and self._demand < self._total else 0
        return PeriodWaits(dispatches, long_waits, blamed)

    def _judge(self, now_ns: int, waits: PeriodWaits) -> None:
        counted = waits.blamed if self._attributed else waits.long_waits
        if self._long_term.observe(now_ns, waits.dispatches, counted):
            _log.warning(
                "long-term safeguard: %d of %d dispatches waited longer than %d us; "
                "harvesting rests for %d s",
                counted,
                waits.dispatches,
                self._long_term.wait_threshold_ns // 1000,
                self._long_term.rest_ns // 1_000_000_000,
            )
