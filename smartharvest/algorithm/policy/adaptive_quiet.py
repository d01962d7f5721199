"""Adaptive Quiet: lend what is idle, after as long an idleness as this primary needs.

A core that is taken back must be waited for, whatever the mechanism. How often that happens depends
less on how many cores are kept idle than on how soon an idle one is lent: waiting a little avoids
most of the round trips, since a core that has just become idle is the one most likely to be wanted.
So the loop keeps one core idle, grows at once, and lends after a quiet time; and the quiet time,
only then the buffer, is tuned by what the waits do to the primary's own run times, beyond what they
do with nothing lent.
"""

from __future__ import annotations

from collections import deque
from itertools import pairwise

from smartharvest.algorithm.policy.alone import Alone
from smartharvest.algorithm.policy.base import Dispatches, PolicySettings
from smartharvest.algorithm.policy.strain import Strain
from smartharvest.algorithm.safeguard import BufferSafeguard, ShortTermSafeguard
from smartharvest.core.window import Window

SHORTEST_QUIET_NS = 50_000
LONGEST_QUIET_NS = 4_000_000
WITHOUT_BUFFER = 7
"""Quiet times tried without a buffer, each twice the one before; never for a primary that queues on
its own, since there what a wait for each core does is too little known."""
QUIET_STEP = 1.25
"""From a quiet time to the next longer one."""
MOST_INFLATION = 0.06
"""How much the waits may raise the median and the P99 of wait and run together; not 10 %, since
requests of several threads meet more of them than each thread. Where threads wake each other the
mean takes the median's place."""
ENOUGH_INFLATION = 0.042
"""Below this in both it lends sooner."""
MOST_DISASTERS = 0.001
"""Share of waits longer than the P99 of the run times: they are the tail, however few."""
ENOUGH_DISASTERS = 0.0005
CAREFUL_PERIODS = 10
"""After a disaster it lends sooner only every so many periods, twice as many after each further
one: where a core comes back late, finding the limit again and again would itself be the tail."""
MOST_CAREFUL_PERIODS = 1_280
STEPS_BACK = 2
FRESH_NS = 2_000_000_000
"""A disaster is believed if the primary's own queueing has been looked at since then."""
MEMORY_NS = 10_000_000_000
"""Where cores come back later than the primary's longest runs end, reacting is too late: what was
wanted at any moment since then stays."""
MIN_DISPATCHES = 20.0
"""With fewer remembered nothing is judged."""


class AdaptiveQuiet:
    """Tunes how long a core must be idle before it is lent, by the strain on the primary.

    It begins with nothing lent, and learns what the primary can do without.
    """

    def __init__(self, settings: PolicySettings) -> None:
        self.name = "adaptive-quiet"
        self.shared = False
        self._total = settings.total
        self._steps = steps(settings.total)
        self._step = len(self._steps) - 1
        self._recent = Strain()
        self._long = Strain(half_life_ns=10_000_000_000)
        self._alone = Alone()
        self._periods = 0
        self._careful_periods = 1
        self._in_disaster = False
        self._peaks: deque[tuple[int, int]] = deque()

    @property
    def buffer(self) -> int:
        return self._total if self._alone.resting else self._steps[self._step][0]

    @property
    def quiet_ns(self) -> int:
        return LONGEST_QUIET_NS if self._alone.resting else self._steps[self._step][1]

    @property
    def short_term(self) -> ShortTermSafeguard:
        return BufferSafeguard(self._total, self.buffer)

    def observe_dispatches(self, seen: Dispatches) -> None:
        if self._alone.is_withheld(seen):
            return
        self._periods += 1
        if self._alone.observe(seen):
            return
        recent, long, alone = self._recent, self._long, self._alone
        if self._step == len(self._steps) - 1 and not seen.lent:
            recent.forget_waits()  # they are no harm done by what is lent now
        recent.observe(seen)
        long.observe(seen)
        if recent.dispatches < MIN_DISPATCHES:
            return
        if alone.queues:
            if sum(count for _, count in seen.waits) < MIN_DISPATCHES:
                return  # nothing new
            if self._step == len(self._steps) - 1 and not seen.lent:
                self._in_disaster = False
                if self._periods % self._careful_periods == 0:
                    self._move(-STEPS_BACK)  # its waits are its own, whatever they are
                return
        inflation = max(alone.excess(recent, 0.5), alone.excess(recent, 0.99))
        limit_ns = recent.run_ns(0.99)
        # Those of long ago have been answered already.
        disaster = (
            alone.excess_beyond(long, limit_ns) > MOST_DISASTERS
            and alone.excess_beyond(recent, limit_ns) > MOST_DISASTERS
        )
        if disaster and not self._in_disaster:
            if alone.age_ns(seen.end_ns) > FRESH_NS:  # is it ours?
                alone.rest()
                return
            self._careful_periods = min(
                MOST_CAREFUL_PERIODS, max(CAREFUL_PERIODS, 2 * self._careful_periods)
            )
        self._in_disaster = disaster
        if disaster or inflation > MOST_INFLATION:
            self._move(STEPS_BACK)
        elif (
            inflation < ENOUGH_INFLATION
            and alone.excess_beyond(long, limit_ns) < ENOUGH_DISASTERS
            and self._periods % self._careful_periods == 0
        ):
            self._move(-STEPS_BACK if inflation < ENOUGH_INFLATION / 4 else -1)

    def _move(self, steps: int) -> None:
        boldest = WITHOUT_BUFFER if self._alone.queues else 0
        before, last = self._step, len(self._steps) - 1
        self._step = min(last, max(boldest, self._step + steps))
        if self._alone.queues and before < last - 1 and self._step == last:
            self._step = last - 1  # the most careful lending is judged by itself first
            self._recent.forget_waits()
        if steps > 0 and self._step == len(self._steps) - 1:
            self._alone.rest()  # nothing is lent anyway

    @property
    def _is_slow(self) -> bool:
        """Whether a core that is wanted comes back later than the longest runs end."""
        return self._long.move_ns(0.5) > self._long.run_ns(0.99)

    def learn(self, window: Window) -> int | None:
        self._peaks.append((window.end_ns, window.demand_max))
        while self._peaks[0][0] <= window.end_ns - MEMORY_NS:
            self._peaks.popleft()
        return None

    def predict(self, window: Window) -> int:
        if window.stale:
            return self._total
        if not self._is_slow:
            return 0
        return min(self._total, 1 + max(peak for _, peak in self._peaks))


def steps(total: int) -> list[tuple[int, int]]:
    """(buffer, quiet time in ns) from the boldest to the one that lends nothing.

    Without a buffer the loop grows once a task waits, which the sensor that sees dispatches
    notices; with few and long runs an occasional wait does not matter.
    """
    quiet_ns = [SHORTEST_QUIET_NS]
    while quiet_ns[-1] * QUIET_STEP < LONGEST_QUIET_NS:
        quiet_ns.append(round(quiet_ns[-1] * QUIET_STEP))
    quiet_ns.append(LONGEST_QUIET_NS)
    assert all(shorter < longer for shorter, longer in pairwise(quiet_ns))
    return (
        [(0, SHORTEST_QUIET_NS << n) for n in range(WITHOUT_BUFFER)]
        + [(1, quiet) for quiet in quiet_ns]
        + [(buffer, LONGEST_QUIET_NS) for buffer in range(2, total + 1)]
    )
