"""Moments in which the whole machine stood still, to leave them out of comparisons.

A hypervisor may stop a virtual machine for tens of milliseconds; while its CPUs are idle steal time
does not show it. One such moment decides the P99 of the row it falls into.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Self

from smartharvest.core._demo import StandstillWatch

_log = logging.getLogger(__name__)

PERIOD_NS = 4_000_000
LEAST_LATE_NS = 4_000_000
"""All standstills of twice this and more are seen, shorter ones by chance."""

Interval = tuple[int, int]
"""From and until, nanoseconds of CLOCK_MONOTONIC."""


def common(gaps: Sequence[Sequence[Interval]]) -> list[Interval]:
    """When all CPUs missed their wake-ups at once; ``gaps`` has each CPU's, ascending."""
    found = list(gaps[0]) if gaps else []
    for others in gaps[1:]:
        found = [
            (max(one[0], other[0]), min(one[1], other[1]))
            for one in found
            for other in others
            if min(one[1], other[1]) - max(one[0], other[0]) > LEAST_LATE_NS
        ]
    return found


def touched(began_ns: int, ended_ns: int, standstills: Sequence[Interval]) -> bool:
    """Whether something lasted into one of them, or began in it or soon after.

    Working off what has piled up takes about as long again.
    """
    return any(
        began_ns <= until_ns + (until_ns - from_ns) and ended_ns >= from_ns
        for from_ns, until_ns in standstills
    )


class Standstills:
    """Watches ``cpus``, if any, while it is entered; sees nothing without real-time rights."""

    def __init__(self, cpus: Sequence[int]) -> None:
        self._cpus = cpus
        self._watch: StandstillWatch | None = None

    @property
    def watched(self) -> bool:
        """Whether it can see any."""
        return self._watch is not None

    def __enter__(self) -> Self:
        try:
            if self._cpus:
                self._watch = StandstillWatch(self._cpus, PERIOD_NS, LEAST_LATE_NS)
        except OSError as error:
            _log.debug("no watch for standstills: %s", error.strerror)
        return self

    def __exit__(self, *_: object) -> None:
        if self._watch is not None:
            self._watch.stop()

    def so_far(self) -> list[Interval]:
        """All since it was entered, ascending."""
        return [] if self._watch is None else common(self._watch.gaps())
