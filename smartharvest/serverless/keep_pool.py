"""The loop of the Resource Monitor: looks at the pool, and asks its autoscaler."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable

from smartharvest.errors import EngineError
from smartharvest.printable import counted
from smartharvest.serverless.autoscaler import Autoscaler
from smartharvest.serverless.pool import PoolSettings, ResourceMonitor

_log = logging.getLogger(__name__)

_LONGEST_PAUSE_S = 300.0
_MOST_DOUBLINGS = 32
_POLL_S = 0.1


class PoolKeeper:
    """One pool, a turn at a time."""

    def __init__(self, autoscaler: Autoscaler, settings: PoolSettings, *, dry_run: bool) -> None:
        self._autoscaler = autoscaler
        self._monitor = ResourceMonitor(settings)
        self._dry_run = dry_run
        self._failures = 0
        self._said: str | None = None
        self._trouble: str | None = None

    def turn(self, now_s: float, interval_s: float) -> float:
        """Seconds to wait until the next turn: longer while the autoscaler fails."""
        try:
            autoscaler = self._autoscaler
            verdict = self._monitor.step(now_s, autoscaler.nodes(), autoscaler.asked())
            text = verdict.why
            if verdict.ask is not None:
                would = "would ask" if self._dry_run else "asking"
                text += f"; {would} for {counted(verdict.ask, 'node')}"
                if not self._dry_run:
                    autoscaler.ask(verdict.ask)
        except EngineError as error:
            self._failures += 1
            if str(error) != self._trouble:
                self._trouble = str(error)
                _log.warning("%s", error)
            pause_s = math.ldexp(interval_s, min(self._failures, _MOST_DOUBLINGS))
            return max(interval_s, min(pause_s, _LONGEST_PAUSE_S))
        if self._trouble is not None:
            _log.info("the autoscaler answers again")
        self._failures, self._trouble = 0, None
        if text != self._said:
            self._said = text
            _log.info("%s", text)
        return interval_s


def keep_pool(
    autoscaler: Autoscaler,
    settings: PoolSettings,
    interval_s: float,
    until: Callable[[], bool],
    *,
    dry_run: bool = False,
) -> None:
    """Takes a turn every ``interval_s`` until ``until`` is true; the autoscaler keeps its goal."""
    keeper = PoolKeeper(autoscaler, settings, dry_run=dry_run)
    try:
        while not until():
            next_s = time.monotonic()
            next_s += keeper.turn(next_s, interval_s)
            while not until() and (left_s := next_s - time.monotonic()) > 0:
                time.sleep(min(left_s, _POLL_S))
    finally:
        autoscaler.close()
