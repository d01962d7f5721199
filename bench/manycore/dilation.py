"""How much slower a guest's time passes than the host's: the page that dilate.c reads."""

from __future__ import annotations

import mmap
import os
import struct
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.subject import NotMeasurableError

UNIT = 1000
"""A dilation of 1, as the page has it."""
AHEAD_NS = 20_000_000
"""A change is written so long before it holds: all readers know of it by then."""
_GENERATION = struct.Struct("=Q")
_RATE = struct.Struct("=qqqq")
MOST_VCPUS = 64
_PACE = struct.Struct(f"=iiii{MOST_VCPUS}i")
"""Until when wanted (s), us a slot, per cent, virtual CPUs, their threads."""
_ANSWER = struct.Struct("=ii")
"""How many host CPUs pace; an errno."""
_PACE_AT = _GENERATION.size + 2 * _RATE.size
_ANSWER_AT = _PACE_AT + _PACE.size
_BYTES = _ANSWER_AT + _ANSWER.size
PACED_S = 20.0
LEASE_S = 60
"""Seconds. Pacing ends if nobody calls ``keep_pacing`` for so long."""


@dataclass(frozen=True)
class Rate:
    """A guest's clock as a function of the host's (CLOCK_MONOTONIC), with one bend."""

    host_ns: int
    guest_ns: int
    """At ``host_ns``."""
    before: int
    after: int
    """How many times slower, in units of 1/UNIT, until and from ``host_ns``."""

    def at(self, host_ns: int) -> int:
        """The guest's time in ns, as dilate.c works it out."""
        since = host_ns - self.host_ns
        factor = self.before if since < 0 else self.after
        whole = abs(since) * UNIT // factor  # as C divides
        return self.guest_ns + (whole if since >= 0 else -whole)

    def changed(self, dilation: float, host_ns: int) -> Rate:
        """The clock that goes on as this one until ``host_ns``, which is not before its bend."""
        return Rate(host_ns, self.at(host_ns), self.after, round(dilation * UNIT))


class Dilation:
    """The page of one guest, in a file."""

    def __init__(self, path: Path, dilation: float = 1.0) -> None:
        self.path = path
        now_ns, factor = time.monotonic_ns(), round(dilation * UNIT)
        self._rate = Rate(now_ns, now_ns, factor, factor)
        self._generation = 0
        path.write_bytes(
            (_GENERATION.pack(0) + 2 * _RATE.pack(*self._words())).ljust(_BYTES, b"\0")
        )
        with path.open("r+b") as file:
            self._page = mmap.mmap(file.fileno(), _BYTES)

    def _words(self) -> tuple[int, int, int, int]:
        rate = self._rate
        return rate.host_ns, rate.guest_ns, rate.before, rate.after

    def set(self, dilation: float) -> None:
        """From now on; returns when it holds."""
        now_ns = time.monotonic_ns()
        begins_ns = max(now_ns, self._rate.host_ns) + AHEAD_NS
        self._rate = self._rate.changed(dilation, begins_ns)
        self._generation += 1
        place = _GENERATION.size + _RATE.size * (self._generation & 1)
        _RATE.pack_into(self._page, place, *self._words())
        _GENERATION.pack_into(self._page, 0, self._generation)
        time.sleep((begins_ns - now_ns) / 1e9)

    def pace(self, vcpus: Sequence[int], slot_us: int, share: int, lanes: int) -> None:
        """Has each thread of ``vcpus`` run at constant speed (pace.c), on ``lanes`` host CPUs.

        Raises NotMeasurableError where that is not allowed.
        """
        threads = [*vcpus, *[0] * (MOST_VCPUS - len(vcpus))]
        _ANSWER.pack_into(self._page, _ANSWER_AT, 0, 0)
        _PACE.pack_into(self._page, _PACE_AT, 0, slot_us, share, len(vcpus), *threads)
        self.keep_pacing()
        self._await(lanes)

    def keep_pacing(self) -> None:
        """To be called every few seconds: a harness that hangs does not keep the host busy."""
        self._want_until(int(time.monotonic()) + LEASE_S)

    def unpace(self) -> None:
        """Threads run as any others again."""
        self._want_until(0)
        self._await(0)

    def _want_until(self, monotonic_s: int) -> None:
        struct.pack_into("=i", self._page, _PACE_AT, monotonic_s)

    def _await(self, lanes: int) -> None:
        ends_s = time.monotonic() + PACED_S
        while True:
            pacing, failed = _ANSWER.unpack_from(self._page, _ANSWER_AT)
            if pacing == lanes:
                return
            if failed or time.monotonic() > ends_s:
                self._want_until(0)
                why = os.strerror(failed) if failed else f"not within {PACED_S:.0f} s"
                raise NotMeasurableError(f"real-time threads of QEMU: {why}; root is needed")
            time.sleep(0.005)

    def now_ns(self) -> int:
        """The guest's time."""
        return self._rate.at(time.monotonic_ns())

    def close(self) -> None:
        self._page.close()
