"""Several elastic groups in simulated time: what each has of the cores that a policy lends.

They are divided by the agent's own division, once a simulated second. Every group takes all that it
gets.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from smartharvest.algorithm.division import Division, Share, divide, dues
from smartharvest.algorithm.time_sharing import TimeSharing, had, weights
from smartharvest.config.elastic_groups import ElasticGroup
from smartharvest.core.window import Window
from smartharvest.errors import ConfigError
from smartharvest.lab.simulator.machine import Machine

TURN_NS = 1_000_000_000


class SharedCores:
    """Of one run. Raises ConfigError for a way of sharing that programs are needed for.

    The groups' minima come on top of what is lent of the primaries' ``cores``.
    """

    def __init__(self, groups: Sequence[ElasticGroup], share: str, cores: int) -> None:
        if share == "throughput":
            raise ConfigError(
                "share: throughput is learned from what programs do, and a simulation has none; "
                "use fair or weight"
            )
        self._shares = [
            Share(one.name, one.weight if share == "weight" else 1.0, one.min, one.max)
            for one in groups
        ]
        self._least = sum(one.min for one in groups)
        self._cores = [[cpu] for cpu in range(cores + self._least)]
        self._division: Division = divide(self._cores, self._shares)
        self._time_sharing = TimeSharing()
        self._parts: dict[str, float] = {}
        self._last_ns = self._lent_ns = 0
        self._had = dict.fromkeys([one.name for one in groups], 0.0)
        self._due = dict(self._had)
        self._machine: Machine | None = None

    def started(self, machine: Machine) -> None:
        """Before it runs."""
        self._machine = machine

    def window_ended(self, window: Window) -> None:
        """Divides once a second."""
        assert self._machine is not None
        elapsed_ns = window.end_ns - self._last_ns
        if elapsed_ns < TURN_NS:
            return
        lent_ns = self._machine.simulation.totals()["elastic_core_ns"]
        self.turn((lent_ns - self._lent_ns) / elapsed_ns, elapsed_ns / 1e9)
        self._last_ns, self._lent_ns = window.end_ns, lent_ns

    def turn(self, lent: float, seconds: float = 1.0) -> None:
        """``lent`` cores on average of the last ``seconds``."""
        total = lent + self._least
        low = math.floor(total)
        for number, part in ((low, 1 - (total - low)), (low + 1, total - low)):
            cpus = frozenset(self._division.order[:number])
            for name in self._had if part > 0 else ():
                cores = had(self._division, name, cpus, self._parts)
                self._had[name] += cores * part * seconds
        for share, due in zip(self._shares, dues(total, self._shares), strict=True):
            self._due[share.name] += due * seconds
        self._parts = weights(self._shares, total)
        together = self._time_sharing.turn(self._cores, self._division, self._shares, total)
        before = self._division.owner_of
        self._division = divide(self._cores, self._shares, before, together)

    def describe(self) -> list[dict[str, Any]]:
        """A row for each group: cores on average, and what was due."""
        seconds = max(1e-9, self._last_ns / 1e9)
        return [
            {
                "name": share.name,
                "mean_cores": self._had[share.name] / seconds,
                "due": self._due[share.name] / seconds,
                "min": int(share.min),
                "max": share.max,
            }
            for share in self._shares
        ]
