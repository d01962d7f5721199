"""The two levels of safeguards of section 3.4 as state machines without a clock.

The first level reacts to one exhausted window; the second stops harvesting where the primary keeps
waiting for cores in spite of it. Time comes in with the windows and the calls.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Protocol

from smartharvest.algorithm.evidence import NOTHING_USUAL, Usual, surely_more
from smartharvest.core.window import Window


class ShortTermSafeguard(Protocol):
    """What the primary gets when the idle buffer ran out (lines 12-13 of Algorithm 1)."""

    def observe(self, window: Window, /) -> None:
        """Take in a window; called for every one, exhausted or not, in order."""

    def safe_cores(self, primary_cores: int, /) -> int:
        """GetSafePrimaryCores: cores for the primary if it exhausts ``primary_cores``.

        More than ``primary_cores`` (0..total) unless that is the total already, which is the most.
        """


class ConservativeSafeguard:
    """One core more than the peak of the last second (section 3.4; the default).

    The exhausting sample belongs to that second, so the peak is at least ``primary_cores``. A
    window counts as long as any part of it lies within the horizon. Before the first window nothing
    is known and everything goes back.
    """

    def __init__(self, total: int, horizon_ns: int = 1_000_000_000) -> None:
        self._total = total
        self._horizon_ns = horizon_ns
        # (end_ns, peak), peaks falling: exhausted windows are short, a second may hold thousands.
        self._peaks: deque[tuple[int, int]] = deque()

    def observe(self, window: Window) -> None:
        peaks = self._peaks
        while peaks and peaks[-1][1] <= window.busy_max:
            peaks.pop()
        peaks.append((window.end_ns, window.busy_max))
        while peaks[0][0] <= window.end_ns - self._horizon_ns:
            peaks.popleft()

    def safe_cores(self, primary_cores: int) -> int:
        if not self._peaks:
            return self._total
        return min(self._total, max(self._peaks[0][1], primary_cores) + 1)


class AggressiveSafeguard:
    """All cores (sections 4 and 5.5): costs harvest, but the next window has its true peak."""

    def __init__(self, total: int) -> None:
        self._total = total

    def observe(self, _window: Window) -> None:
        """Nothing to remember."""

    def safe_cores(self, _primary_cores: int) -> int:
        return self._total


SHORT_TERM_SAFEGUARDS: dict[str, type[ConservativeSafeguard] | type[AggressiveSafeguard]] = {
    "conservative": ConservativeSafeguard,
    "aggressive": AggressiveSafeguard,
}
"""The two a user chooses between."""


class OneAtATimeSafeguard:
    """One core more than was held (PrevPeakN, section 5.3)."""

    def __init__(self, total: int) -> None:
        self._total = total

    def observe(self, _window: Window) -> None:
        """Nothing to remember."""

    def safe_cores(self, primary_cores: int) -> int:
        return min(self._total, primary_cores + 1)


class BufferSafeguard:
    """The whole buffer again: ``buffer`` cores more than were held (Fixed Buffer, section 5.1)."""

    def __init__(self, total: int, buffer: int) -> None:
        self._total = total
        self._buffer = buffer

    def observe(self, _window: Window) -> None:
        """Nothing to remember."""

    def safe_cores(self, primary_cores: int) -> int:
        return min(self._total, primary_cores + self._buffer)


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
    lent: bool = True
    """Whether anything was lent in it."""
    circumstantial: bool = False
    """Whether they are blamed for when they were alone, so that some would be long anyway."""
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

    @property
    def unlent(self) -> int:
        """Long ones that neither lending nor the primary's quota may have caused."""
        return max(0, self.long_waits - self.blamed - (self.throttled or 0))


_SPARSE_NS = 10_000_000_000


class LongTermSafeguard:
    """Stops harvesting while the primary's threads wait too long for a CPU (section 3.4).

    Trips when at least ``share`` of the dispatches waited longer than ``wait_threshold_ns`` in
    ``periods`` consecutive periods of ``period_ns``; harvesting then rests for ``rest_ns``. Periods
    that began during the rest are not judged: with all cores given back, waits are not the
    harvest's doing.

    Not in the paper: a period with fewer than ``min_dispatches`` is judged together with those just
    before it that had as few, 10 s back at most, and only by what cannot be chance, since a single
    slow dispatch could be its 1 %. One without any dispatch changes nothing. One in which some task
    has waited for ``stuck_ns`` and more shows enough: where nobody gets a CPU there are no
    dispatches to count.
    """

    def __init__(
        self,
        *,
        wait_threshold_ns: int = 50_000,
        share: float = 0.01,
        periods: int = 2,
        period_ns: int = 500_000_000,
        rest_ns: int = 10_000_000_000,
        min_dispatches: int = 200,
        stuck_ns: int = 500_000_000,
    ) -> None:
        self.wait_threshold_ns = wait_threshold_ns
        self.share = share
        self.periods = periods
        self.period_ns = period_ns
        self.rest_ns = rest_ns
        self.min_dispatches = max(1, min_dispatches)
        self.stuck_ns = stuck_ns
        self.trips = 0
        self._bad_periods = 0
        self._rest_until_ns: int | None = None
        self._sparse: deque[tuple[int, int]] = deque(maxlen=max(1, _SPARSE_NS // period_ns))
        """(dispatches, long waits) of the last periods, all of which had few."""

    def observe(
        self,
        now_ns: int,
        dispatches: int,
        long_waits: int,
        longest_pending_ns: int = 0,
        usual: Usual = NOTHING_USUAL,
    ) -> bool:
        """Judge the period that ended at ``now_ns``; True if harvesting must stop now.

        ``dispatches`` counts the primary's dispatches in the period, ``long_waits`` those of them
        that waited longer than ``wait_threshold_ns``; waits that still go on are among both.
        ``longest_pending_ns`` is the longest of those. ``usual`` is what waits too long
        without lending: only what is beyond it, and not by chance, is the harvest's doing.
        """
        if not self.harvesting(now_ns - self.period_ns):
            return False
        if dispatches > 0:
            stuck = longest_pending_ns >= self.stuck_ns
            bad = self._is_bad(dispatches, long_waits, stuck, usual)
            self._bad_periods = self._bad_periods + 1 if bad else 0
        else:
            self._sparse.append((0, 0))
        if self._bad_periods < self.periods:
            return False
        self.trips += 1
        self._bad_periods = 0
        self._sparse.clear()
        self._rest_until_ns = now_ns + self.rest_ns
        return True

    def _is_bad(self, dispatches: int, long_waits: int, stuck: bool, usual: Usual) -> bool:
        # Divided, not multiplied: 14 of 200 are 0.07 to the bit, but 0.07 * 200 is above 14.
        share = long_waits / dispatches
        if dispatches < self.min_dispatches:
            self._sparse.append((dispatches, long_waits))
            if long_waits and not stuck:
                count, long = (sum(column) for column in zip(*self._sparse, strict=True))
                return surely_more(long, count, self.share + usual.share, usual.spread)
            return stuck and share >= self.share + usual.share
        self._sparse.clear()
        if share < self.share + usual.share:
            return False
        return stuck or surely_more(long_waits, dispatches, usual.share, usual.spread)

    def harvesting(self, now_ns: int) -> bool:
        """Whether cores may be lent; False while resting."""
        return self.rest_left_ns(now_ns) == 0

    def rest_left_ns(self, now_ns: int) -> int:
        """How long it still rests; 0 while it does not."""
        return 0 if self._rest_until_ns is None else max(0, self._rest_until_ns - now_ns)
