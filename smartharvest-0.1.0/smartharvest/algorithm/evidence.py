"""How much a count of long waits shows: more than chance, and more than there is without lending.

Pure, without a clock, as the safeguards that ask it are.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass

CHANCE = 0.001
"""What is less probable than this is no chance."""


def surely_more(long_waits: int, dispatches: int, share: float, spread: float = 1.0) -> bool:
    """Whether so many of ``dispatches`` cannot be chance if each is long with probability
    ``share`` (0..1). ``spread`` (1 or more) is by how much their variance exceeds that of
    independent ones, as that many fewer of them would have it.

    By the Chernoff-Hoeffding bound, which holds for any number of dispatches (Hoeffding,
    Probability inequalities for sums of bounded random variables, 1963, theorem 1): at least
    ``k`` of ``n`` has a probability of at most ``exp(-n * KL(k/n || share))``.
    """
    if dispatches <= 0 or long_waits <= share * dispatches:
        return False
    if share <= 0:
        return True
    seen = min(1.0, long_waits / dispatches)
    divergence = seen * math.log(seen / share)
    if seen < 1:
        divergence += (1 - seen) * math.log((1 - seen) / (1 - share))
    return dispatches / spread * divergence >= -math.log(CHANCE)


@dataclass(frozen=True, slots=True)
class Usual:
    """What there is without lending."""

    share: float = 0.0
    """Of the dispatches that wait too long, 0..1."""
    spread: float = 1.0
    """Variance of that share from period to period, in those of independent dispatches."""


NOTHING_USUAL = Usual()


class Baseline:
    """The share of dispatches that wait too long with nothing lent, as last measured.

    Of the last ``periods`` that showed any; unknown below ``fewest`` of them, and again once the
    last is older than ``age_ns``, since the primary's load changes. Unknown counts as 0: what is in
    doubt is held against the lending.
    """

    def __init__(self, periods: int = 20, fewest: int = 10, age_ns: int = 600_000_000_000) -> None:
        self._seen: deque[tuple[int, int]] = deque(maxlen=periods)
        self._fewest = fewest
        self._age_ns = age_ns
        self._until_ns = 0

    def add(self, now_ns: int, dispatches: int, long_waits: int) -> None:
        """Takes in a period with nothing lent that ended at ``now_ns``."""
        if dispatches <= 0:
            return
        if now_ns >= self._until_ns:
            self._seen.clear()
        self._seen.append((dispatches, min(dispatches, long_waits)))
        self._until_ns = now_ns + self._age_ns

    def usual(self, now_ns: int) -> Usual:
        """The spread is Pearson's estimate for over-dispersed counts (McCullagh and Nelder,
        Generalized linear models, 1989, section 4.5)."""
        if len(self._seen) < self._fewest or now_ns >= self._until_ns:
            return NOTHING_USUAL
        share = sum(long for _, long in self._seen) / sum(count for count, _ in self._seen)
        if not 0 < share < 1:
            return Usual(share)
        squares = sum(
            (long - count * share) ** 2 / (count * share * (1 - share))
            for count, long in self._seen
        )
        return Usual(share, max(1.0, squares / max(1, len(self._seen) - 1)))
