"""Reads the primary's dispatch waits once a period, for the long-term safeguard (section 3.4)."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Protocol, TypeGuard

from smartharvest.algorithm.safeguard import PeriodWaits
from smartharvest.core import _sensors
from smartharvest.core.window import Window
from smartharvest.errors import RightsError, TargetVanished
from smartharvest.host.process.waits import ThreadWaits, WaitSource, open_wait_source

_log = logging.getLogger(__name__)


class DispatchSensor(Protocol):
    """A sensor that sees each dispatch."""

    def waits(self) -> _sensors.BpfWaits: ...

    def runs(self) -> _sensors.BpfRuns: ...

    def pending(self) -> dict[str, int]: ...


def tells_waits(sensor: _sensors.Sensor) -> TypeGuard[DispatchSensor]:
    """Whether the sensor itself sees each wait."""
    return sensor.tells_waits


class WaitReader:
    """Reads what ``Controller.on_period`` judges.

    Which waits lending may have caused depends on what is lent. Shared, the primary may use a lent
    core, so it is those behind others: the in-kernel sensor sees which began while something was
    lent, behind no other task of the primary and unthrottled. ``exclusive``, it queues behind its
    own tasks on fewer cores: all that began while something was lent, unthrottled.
    The threads' totals show neither, so all or none of a period's waits count there: all if cores
    were lent and, shared, the primary never wanted all of its ``total``, since then it also waits
    for itself.
    """

    def __init__(
        self,
        *,
        total: int,
        period_ns: int,
        threshold_ns: int,
        attributed: bool,
        exclusive: bool = False,
        wait_source: str = "auto",
    ) -> None:
        self._total = total
        self._period_ns = period_ns
        self._threshold_ns = threshold_ns
        self._exclusive = exclusive
        self._longest = "blamed_longest_ns" if attributed and not exclusive else "longest_ns"
        self._wanted_source = wait_source
        self._source: WaitSource | None = None
        self._threads: ThreadWaits | None = None
        self._sensor: DispatchSensor | None = None
        self._earlier: _sensors.BpfWaits | None = None
        self._period_end_ns: int | None = None
        self._demand = 0
        self._lent = False
        self.last: PeriodWaits | None = None
        """The last period that was read."""
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

    def read(
        self,
        now_ns: int,
        primary_threads: Callable[[], list[int]],
        sensor: _sensors.Sensor,
        harvested: int,
    ) -> PeriodWaits | None:
        """Ends the period and reads its waits by the best means there is.

        ``harvested`` is what is lent now. None where nothing can be read, or nothing to compare
        with has been read before.
        """
        self._lent |= harvested > 0
        self._period_end_ns = now_ns + self._period_ns
        try:
            waits = self._read(primary_threads, sensor)
        except (TargetVanished, OSError):
            return None  # the loop's sensor meets it too, and halts
        except RightsError as error:
            if self.unreadable is None:
                _log.warning("%s; the long-term safeguard cannot judge", error)
            self.unreadable = str(error)
            return None
        self._demand, self._lent = 0, False
        if waits is not None:
            self.last = waits
        return waits

    def _read(
        self, primary_threads: Callable[[], list[int]], sensor: _sensors.Sensor
    ) -> PeriodWaits | None:
        if tells_waits(sensor):
            return self._read_bpf(sensor)
        return self._read_threads(primary_threads)

    def _read_bpf(self, sensor: DispatchSensor) -> PeriodWaits | None:
        now, earlier = sensor.waits(), self._earlier
        first = sensor is not self._sensor
        self._sensor, self._earlier = sensor, now
        if first or earlier is None:
            return None
        ended, pending = now.since(earlier), sensor.pending()
        counts = ended.counts
        blamed = counts["longer_blamed"] + pending["longer_blamed"]
        throttled = counts["longer_throttled"] + pending["longer_throttled"]
        if self._exclusive:
            while_lent = counts["longer_while_lent"] + (pending["longer"] if self._lent else 0)
            blamed = max(blamed, while_lent - throttled)
        return PeriodWaits(
            source="sensor",
            dispatches=counts["waits"] + pending["longer"],
            long_waits=counts["longer"] + pending["longer"],
            blamed=blamed,
            lent=self._lent,
            circumstantial=self._exclusive,
            while_lent=counts["longer_while_lent"],
            after_elastic=counts["longer_after_elastic"],
            throttled=throttled,
            pending=pending["longer"],
            longest_pending_us=pending[self._longest] / 1e3,
            p50_us=ended.quantile_ns(0.5) / 1e3,
            p99_us=ended.quantile_ns(0.99) / 1e3,
            max_us=max(ended.quantile_ns(1.0), pending["longest_ns"]) / 1e3,
        )

    def _read_threads(self, primary_threads: Callable[[], list[int]]) -> PeriodWaits | None:
        self._sensor = self._earlier = None
        first = self._threads is None
        if self._source is None or self._threads is None:
            self._source = open_wait_source(self._wanted_source)
            self._threads = ThreadWaits(self._threshold_ns, self._source.read)
            _log.info(
                "waits: per-thread means from %s (%s)", self._source.name, self._source.reason
            )
        dispatches, long_waits = self._threads.read(primary_threads())
        if first:
            return None
        by_itself = not self._exclusive and self._demand >= self._total
        return PeriodWaits(
            self._source.name,
            dispatches,
            long_waits,
            blamed=long_waits if self._lent and not by_itself else 0,
            lent=self._lent,
            circumstantial=True,
        )

    def close(self) -> None:
        if self._source is not None:
            self._source.close()
            self._source = None
