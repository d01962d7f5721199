"""The primary's own queueing: its waits while nothing is lent.

The threads of a primary wait for each other, the more so the fewer CPUs there are, and no sensor
distinguishes such a wait from one that lending has caused: most of those are behind the primary's
own tasks, which pile up where they did not before. So a policy that judges waits lends nothing for
half a second, and does not count the waits it sees then against lending.
"""

from __future__ import annotations

import math

from smartharvest.algorithm.policy.base import DISPATCHES_PERIOD_NS, Dispatches
from smartharvest.algorithm.policy.strain import Strain

REST_PERIODS = 5
QUEUEING_PERIODS = 10
"""... of a primary that queues on its own, which differs from moment to moment."""
ENOUGH_DISPATCHES = 500
MOST_REST_PERIODS = 20
"""The longest rest, with too few dispatches."""
REST_AGAIN_NS = 60_000_000_000
"""Time until the next rest of a primary that queues on its own,"""
LOAD_PERIODS = 20
"""A load is the mean of about this many: it may change several times a second."""
LIGHTER = 0.6
"""... or the part of its load below which that comes earlier."""
NEGLIGIBLE = 0.01
"""Less inflation than this, and a hundredth of it of waits beyond the P99 of the runs, is no
queueing."""
NOISE = 3.0
"""Standard errors by which a share of long waits must differ,"""
BURST = 10.0
"""... where this many dispatches count as one: they come in bursts and wait for each other. One
that waits for a core to come back delays at most this many."""


class Alone:
    """Asks for rests and remembers the waits in them."""

    def __init__(self) -> None:
        self.strain = Strain(half_life_ns=REST_AGAIN_NS)
        self.resting = True
        """Nothing must be lent now."""
        self._periods = 0
        self._counted = 0
        self._dispatches = 0
        self._was_lent = self._withheld = False
        self._tells_moves = False
        self._seen_ns = 0
        self._load = self._recent_load = 0.0
        self.queues = False
        """The primary waits for itself, with nothing lent."""

    def rest(self) -> None:
        """Look again."""
        if not self.resting:
            self.resting = True
            self._periods = self._counted = self._dispatches = 0

    def age_ns(self, now_ns: int) -> int:
        """Since the last rest."""
        return now_ns - self._seen_ns

    def is_withheld(self, seen: Dispatches) -> bool:
        """Whether something else decided that nothing was lent: then the period tells nothing, nor
        does the next one, a part of which may be of it. Called for each, before ``observe``."""
        before, self._withheld = self._withheld, seen.inhibited
        return before or seen.inhibited

    def observe(self, seen: Dispatches) -> bool:
        """Whether the period is part of a rest, and nothing to be judged."""
        load = sum(edge_ns * count for edge_ns, count in seen.runs) / DISPATCHES_PERIOD_NS
        self._recent_load += (load - self._recent_load) / LOAD_PERIODS
        self._tells_moves |= bool(seen.moves)
        # What waited when the cores came back has waited for them.
        clean = not seen.lent and not self._was_lent
        self._was_lent = seen.lent
        if not self.resting:
            if self.queues and (
                self.age_ns(seen.end_ns) > REST_AGAIN_NS or self._recent_load < LIGHTER * self._load
            ):
                self.rest()
            return self.resting
        self._periods += 1
        if clean:
            self._counted += 1
            self._dispatches += sum(count for _, count in seen.waits)
            self.strain.observe(seen)
        periods = QUEUEING_PERIODS if self._is_queueing() else REST_PERIODS
        enough = self._counted >= periods and self._dispatches >= ENOUGH_DISPATCHES
        if enough or self._periods >= MOST_REST_PERIODS:
            self.resting = False
            self._seen_ns = seen.end_ns
            self._load = self._recent_load
            self.queues = self._is_queueing()
        return True

    def excess(self, seen: Strain, q: float) -> float:
        """By what share quantile ``q`` of wait and run is higher than it would be alone.

        Where the primary queues on its own that comes and goes with its load; what is more than the
        cores that came back can have brought about is not theirs. Of a primary whose tasks wake
        each other the median is that of their sum.
        """
        together = seen.wakes_itself
        alone = 1 + self.strain.inflation(q, together=together)
        excess = (1 + seen.inflation(q, together=together)) / alone - 1
        if not self.queues or excess <= 0 or not self._tells_moves:
            return excess
        held_up = min(1.0, BURST * seen.returns / seen.dispatches)
        delay_ns = seen.move_ns(0.99)
        most = (1 + self.strain.inflation(q, held_up, delay_ns, together=together)) / alone - 1
        return min(excess, most)

    def excess_beyond(self, seen: Strain, limit_ns: float) -> float:
        """The share of waits beyond a limit that are more than those alone, and chance."""
        alone = self.strain.waits_beyond(limit_ns)
        if alone == 0:
            return seen.waits_beyond(limit_ns)
        samples = 1 / (1 / max(1.0, seen.dispatches) + 1 / max(1.0, self.strain.dispatches))
        chance = NOISE * math.sqrt(alone * BURST / samples)
        return max(0.0, seen.waits_beyond(limit_ns) - alone - chance)

    def _is_queueing(self) -> bool:
        strain = self.strain
        return (
            max(strain.inflation(0.5, together=strain.wakes_itself), strain.inflation(0.99))
            > NEGLIGIBLE
            or strain.waits_beyond(strain.run_ns(0.99)) > NEGLIGIBLE / 100
        )
