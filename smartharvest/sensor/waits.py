"""Feeds the long-term safeguard once a period (section 3.4)."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeGuard

from smartharvest.algorithm.safeguard import LongTermSafeguard
from smartharvest.core import _sensors
from smartharvest.core.window import Window
from smartharvest.errors import RightsError, TargetVanished
from smartharvest.host.process.waits import ThreadWaits, WaitSource, open_wait_source

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class PeriodWaits:
    """The primary's dispatches in one period.

    Long ones waited more than the threshold, those still going on included. What the source cannot
    tell is None.
    """

    source: str
    dispatches: int
    long_waits: int
    blamed: int
    """Long ones that the harvest may have caused: what ``--long-term attributed`` counts."""
    while_lent: int | None = None
    """Long ones that began while something was lent, of those that have ended."""
    after_elastic: int | None = None
    """Long ones that ended when an elastic task left the CPU."""
    throttled: int | None = None
    """Long ones during which the primary's own quota held it back."""
    pending: int | None = None
    """Long ones that still go on."""
    longest_pending_us: float | None = None
    """The longest of those; of the blamed ones where only they count."""
    p50_us: float | None = None
    p99_us: float | None = None
    max_us: float | None = None


def tells_waits(sensor: _sensors.Sensor) -> TypeGuard[_sensors.BpfSensor]:
    """Whether the sensor itself sees each wait."""
    return isinstance(sensor, _sensors.BpfSensor) and sensor.sees_changes


class WaitWatch:
    """Reads the primary's dispatch waits and has ``long_term`` judge them.

    ``attributed``: only waits that the harvest may have caused count. The in-kernel sensor knows
    which began while something was lent, behind nobody of the primary's own and unthrottled. The
    threads' totals know nothing of the kind, so all or none of a period's waits count there: all if
    cores were lent and the primary never wanted all of its ``total``, since it would then also wait
    for itself.
    """

    def __init__(
        self,
        long_term: LongTermSafeguard,
        total: int,
        *,
        attributed: bool,
        wait_source: str = "auto",
    ) -> None:
        self._long_term = long_term
        self._total = total
        self._attributed = attributed
        self._wanted_source = wait_source
        self._source: WaitSource | None = None
        self._threads: ThreadWaits | None = None
        self._sensor: _sensors.BpfSensor | None = None
        self._earlier: _sensors.BpfWaits | None = None
        self._period_end_ns: int | None = None
        self._demand = 0
        self._lent = False
        self.last: PeriodWaits | None = None
        """The period judged last."""
        self.unreadable: str | None = None
        """Why no waits can be read."""

    def note(self, window: Window) -> None:
        """Takes in what the primary wanted and whether anything was lent."""
        self._demand = max(self._demand, window.demand_max)
        self._lent |= window.primary_cores < self._total

    def left_ns(self, now_ns: int) -> int:
        """Until the period ends; 0 once it has."""
        if self._period_end_ns is None:
            return 0
        return max(0, self._period_end_ns - now_ns)

    def judge(
        self,
        now_ns: int,
        primary_threads: Callable[[], list[int]],
        sensor: _sensors.Sensor,
        harvested: int,
        *,
        only_stuck: bool = False,
    ) -> bool:
        """Ends the period: reads the waits by the best means there is and judges them.

        ``harvested`` is what is lent now; with ``only_stuck`` the policy judges the waits that end,
        and what is left to judge is a task that waits on. True if all cores must go back at once.
        """
        self._lent |= harvested > 0
        self._period_end_ns = now_ns + self._long_term.period_ns
        try:
            waits = self._read(primary_threads, sensor)
        except (TargetVanished, OSError):
            return False  # the loop's sensor meets it too, and halts
        except RightsError as error:
            if self.unreadable is None:
                _log.warning("%s; the long-term safeguard cannot judge", error)
            self.unreadable = str(error)
            return False
        self._demand, self._lent = 0, False
        if waits is None:
            return False
        self.last = waits
        return self._judge(now_ns, waits, only_stuck)

    def _read(
        self, primary_threads: Callable[[], list[int]], sensor: _sensors.Sensor
    ) -> PeriodWaits | None:
        if tells_waits(sensor):
            return self._read_bpf(sensor)
        return self._read_threads(primary_threads)

    def _read_bpf(self, sensor: _sensors.BpfSensor) -> PeriodWaits | None:
        now, earlier = sensor.waits(), self._earlier
        first = sensor is not self._sensor
        self._sensor, self._earlier = sensor, now
        if first or earlier is None:
            return None
        ended, pending = now.since(earlier), sensor.pending()
        counts = ended.counts
        longest = "blamed_longest_ns" if self._attributed else "longest_ns"
        return PeriodWaits(
            source="sensor",
            dispatches=counts["waits"] + pending["longer"],
            long_waits=counts["longer"] + pending["longer"],
            blamed=counts["longer_blamed"] + pending["longer_blamed"],
            while_lent=counts["longer_while_lent"],
            after_elastic=counts["longer_after_elastic"],
            throttled=counts["longer_throttled"] + pending["longer_throttled"],
            pending=pending["longer"],
            longest_pending_us=pending[longest] / 1e3,
            p50_us=ended.quantile_ns(0.5) / 1e3,
            p99_us=ended.quantile_ns(0.99) / 1e3,
            max_us=max(ended.quantile_ns(1.0), pending["longest_ns"]) / 1e3,
        )

    def _read_threads(self, primary_threads: Callable[[], list[int]]) -> PeriodWaits | None:
        self._sensor = self._earlier = None
        first = self._threads is None
        if self._source is None or self._threads is None:
            self._source = open_wait_source(self._wanted_source)
            self._threads = ThreadWaits(self._long_term.wait_threshold_ns, self._source.read)
            _log.info(
                "waits: per-thread means from %s (%s)", self._source.name, self._source.reason
            )
        dispatches, long_waits = self._threads.read(primary_threads())
        if first:
            return None
        blamed = long_waits if self._lent and self._demand < self._total else 0
        return PeriodWaits(self._source.name, dispatches, long_waits, blamed)

    def _judge(self, now_ns: int, waits: PeriodWaits, only_stuck: bool) -> bool:
        dispatches = waits.dispatches
        counted = waits.blamed if self._attributed else waits.long_waits
        longest_ns = int((waits.longest_pending_us or 0) * 1000)
        if only_stuck:
            dispatches = counted = int(longest_ns >= self._long_term.stuck_ns)
        tripped = self._long_term.observe(now_ns, dispatches, counted, longest_ns)
        if tripped:
            _log.warning(
                "long-term safeguard: %d of %d dispatches waited longer than %d us; "
                "harvesting rests for %g s",
                counted,
                dispatches,
                self._long_term.wait_threshold_ns // 1000,
                self._long_term.rest_ns / 1e9,
            )
        return tripped

    def close(self) -> None:
        if self._source is not None:
            self._source.close()
            self._source = None
