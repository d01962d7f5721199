"""Compares what the sensor saw with the CPU time of the primaries as the kernel counts it.

That count (cpu.stat, cpuacct.usage, /proc/PID/stat) shows no moment, but its total is exact. A
sensor that sees much less misses tasks: short-lived ones between two listings, a frozen map, a
group it does not read. Then its idle cores must not be lent.
"""

from __future__ import annotations

MISSED_CORES = 0.25
MISSED_SHARE = 0.25
"""It is blind if it missed more than both: this many cores, and this share of the CPU time."""
SHORTEST_NS = 500_000_000
SHORTEST_WINDOWS = 10
"""What a loop has seen in a window is known only when it ends."""


class SensorCheck:
    """A state machine without a clock; ``observe`` wants running totals, about once a second."""

    def __init__(self, window_ns: int = 0) -> None:
        self._shortest_ns = max(SHORTEST_NS, SHORTEST_WINDOWS * window_ns)
        self._base: tuple[int, int, int] | None = None
        self.blind: str | None = None
        """Why the sensor is not trusted, from the last comparison."""
        self.checks = 0
        self.blind_checks = 0
        self.blind_in_a_row = 0

    def start_again(self) -> None:
        """From now on the totals are of other tasks, or from another sensor."""
        self._base = None
        self.blind = None
        self.blind_in_a_row = 0

    def observe(self, now_ns: int, seen_core_ns: int, used_ns: int | None) -> str | None:
        """Compares since the last comparison; ``used_ns`` is None if unknown.

        Totals that fall are those of another group of the same name: a new base.
        """
        if used_ns is None:
            self._base = None
            self.blind = None
            return None
        base, new = self._base, (now_ns, seen_core_ns, used_ns)
        if base is None or seen_core_ns < base[1] or used_ns < base[2]:
            self._base = new
            return self.blind
        passed_ns = now_ns - base[0]
        if passed_ns < self._shortest_ns:
            return self.blind
        self._base = new
        seen, used = (seen_core_ns - base[1]) / passed_ns, (used_ns - base[2]) / passed_ns
        missed = used - seen
        self.checks += 1
        self.blind = None
        self.blind_in_a_row += 1
        if missed > MISSED_CORES and missed > MISSED_SHARE * used:
            self.blind_checks += 1
            self.blind = f"the sensor saw {seen:.2f} of the {used:.2f} cores that the primary used"
        else:
            self.blind_in_a_row = 0
        return self.blind
