"""Holds what the sensor saw against what the kernel has charged the primaries.

The charge (cpu.stat, cpuacct.usage, /proc/PID/stat) tells no moment, but its sum is right. A sensor
that sees much less than was charged misses tasks: short-lived ones between two listings, a frozen
map, a group it does not look into. It must not say who is idle then.
"""

from __future__ import annotations

MISSED_CORES = 0.25
MISSED_SHARE = 0.25
"""It is blind if it missed more than both: so many cores, and such a share of what was charged."""
SHORTEST_NS = 500_000_000
SHORTEST_WINDOWS = 10
"""What was seen in a window is only known when it ends."""


class SensorCheck:
    """A state machine without a clock; ``observe`` wants running totals, about once a second."""

    def __init__(self, window_ns: int = 0) -> None:
        self._shortest_ns = max(SHORTEST_NS, SHORTEST_WINDOWS * window_ns)
        self._base: tuple[int, int, int] | None = None
        self.blind: str | None = None
        """Why the sensor is not to be believed, from the last comparison."""
        self.checks = 0
        self.blind_checks = 0
        self.blind_in_a_row = 0

    def start_anew(self) -> None:
        """The totals are of other tasks from now on, or another sensor's."""
        self._base = None
        self.blind = None
        self.blind_in_a_row = 0

    def observe(self, now_ns: int, seen_core_ns: int, charged_ns: int | None) -> str | None:
        """Compares since the last comparison; ``charged_ns`` is None where nothing tells it.

        Totals that fall are those of another group by the same name: a new base.
        """
        if charged_ns is None:
            self._base = None
            self.blind = None
            return None
        base, new = self._base, (now_ns, seen_core_ns, charged_ns)
        if base is None or seen_core_ns < base[1] or charged_ns < base[2]:
            self._base = new
            return self.blind
        passed_ns = now_ns - base[0]
        if passed_ns < self._shortest_ns:
            return self.blind
        self._base = new
        seen, charged = (seen_core_ns - base[1]) / passed_ns, (charged_ns - base[2]) / passed_ns
        missed = charged - seen
        self.checks += 1
        self.blind = None
        self.blind_in_a_row += 1
        if missed > MISSED_CORES and missed > MISSED_SHARE * charged:
            self.blind_checks += 1
            self.blind = (
                f"the sensor saw {seen:.2f} of the {charged:.2f} cores that the primary used"
            )
        else:
            self.blind_in_a_row = 0
        return self.blind
