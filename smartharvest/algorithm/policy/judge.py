"""Whether the way of sharing in force costs any primary too much: verdicts on the meter of each."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from smartharvest.algorithm.policy.base import Spans
from smartharvest.algorithm.policy.meter import Meter
from smartharvest.algorithm.policy.spans import WAVE

ERRORS = 1.0
"""Standard errors by which a way is too dear,"""
FEW_ERRORS, FEW_LOOKS_ERRORS = 2.0, 4.0
"""... and where cores are few: one on trial, or held by many looks, and one held by the last: ten a
second give chance many turns."""
LEAST_USUAL_LOOKS = 15
"""With nothing lent, before a trial where cores are few."""
TRY_PART = 0.5
"""A trial begins while what all ways cost lately is within this part of the budget."""
MARGINAL = 2.0
"""Times the budget: of few cores a way that stays within it failed by little."""


class Judge:
    """Of how ``cores``, which may be ``few``, are shared with primaries.

    Each may have its P50, P95 and P99 longer by a share; ``protect`` gives it for the primary's
    name. They ``meet`` the elastic group on a core, or do not.

    It knows no primary before ``watch``, and then finds nothing too dear.
    """

    def __init__(
        self, cores: int, protect: Callable[[str], float], *, few: bool, meet: bool
    ) -> None:
        self._cores, self._protect = cores, protect
        self._few, self._meet = few, meet
        self.meters: list[Meter] = []
        """One for each primary."""
        self.names: tuple[str, ...] = ()
        """Theirs."""

    def watch(self, names: Sequence[str]) -> None:
        """Of these primaries from now on: of those that it knows it knows what it knew."""
        known = dict(zip(_distinct(self.names), self.meters, strict=True))
        self.names = tuple(names)
        self.meters = [
            known.get(one)
            or Meter(self._cores, few=self._few, meet=self._meet, protect=self._protect(one[0]))
            for one in _distinct(names)
        ]

    def add(
        self, spans: Sequence[Spans], *, counts: bool, lends: bool = True, periods: int
    ) -> None:
        """Of one look at so many periods, for each primary; whether it counts for the way in
        force, and that lends anything."""
        for meter, one in zip(self.meters, spans, strict=True):
            meter.add(one, counts=counts, lends=lends, periods=periods)

    def fade(self, periods: int) -> None:
        """So many have passed without a look."""
        for meter in self.meters:
            meter.fade(periods)

    def begin_way(self) -> None:
        """Another way is in force."""
        for meter in self.meters:
            meter.begin()

    def note_left(self, way: int) -> None:
        """The way in force, which is number ``way``, is left."""
        if self._few:
            for meter in self.meters:
                meter.note_left(way)

    def forget_usual(self) -> None:
        """How long spans are with nothing lent is to be seen again."""
        for meter in self.meters:
            meter.forget_usual()

    # --- verdicts on the way in force -------------------------------------------------------------

    def too_long(self, *, is_held: bool) -> str:
        """Which quantile, for the first primary whose tasks take too long; empty: none's do."""
        return next(filter(None, (self._too_long(one, is_held) for one in self.meters)), "")

    def _too_long(self, meter: Meter, is_held: bool) -> str:
        recently, protect = meter.recently(), meter.protect
        if not self._few:
            return recently.too_long(protect, ERRORS)
        if not is_held:
            return recently.too_long(protect, FEW_ERRORS, WAVE)
        return recently.too_long(protect, FEW_LOOKS_ERRORS, WAVE) or (
            meter.for_long().too_long(protect, FEW_ERRORS, WAVE)
        )

    def doubt(self) -> str:
        """Of few cores: what would be too long without an allowance for chance. So a trial, which
        is too dear by two errors, goes on; empty: nothing."""
        if not self._few:
            return ""
        looks = (meter.recently().too_long(meter.protect) for meter in self.meters)
        return next(filter(None, looks), "")

    def is_marginal(self, way: int) -> bool:
        """Whether that way, which is left, is too dear by little, for all that is known."""
        if not self._few:
            return False
        for meter in self.meters:
            for of in (meter.recently(), meter.for_long(), meter.when_left(way)):
                if of.too_long(MARGINAL * meter.protect, FEW_ERRORS, WAVE):
                    return False
        return True

    def expects(self, way: int, share: float) -> bool:
        """Whether so large a share of what rests tell of that way would be too dear."""
        found = ((meter.slowdowns.get(way), meter.protect) for meter in self.meters)
        return any(one is not None and share * one.mean > protect for one, protect in found)

    @property
    def is_disaster(self) -> bool:
        return any(meter.last().is_disaster(meter.protect) for meter in self.meters)

    @property
    def tells(self) -> bool:
        """Whether it was in force for long enough."""
        return all(meter.recently().tells for meter in self.meters)

    # --- what else there is to know ---------------------------------------------------------------

    @property
    def may_compare(self) -> bool:
        """Whether it is known what would be with nothing lent."""
        if self._few:
            return all(meter.knows_usual and meter.may_compare for meter in self.meters)
        return all(meter.knows_usual for meter in self.meters)

    @property
    def knows_little(self) -> bool:
        """Of few cores: whether what is usual was seen too seldom for a trial."""
        return self._few and any(one.usual_looks < LEAST_USUAL_LOOKS for one in self.meters)

    @property
    def affords_trial(self) -> bool:
        """Whether what all ways cost lately leaves enough of the budget."""
        return not any(one.lately().too_long(TRY_PART * one.protect) for one in self.meters)

    @property
    def idles_late(self) -> bool:
        """Whether a core kept idle may cost more than one that is lent."""
        return bool(self.meters) and all(meter.idles_late for meter in self.meters)


def _distinct(names: Sequence[str]) -> list[tuple[str, int]]:
    """Each with how many there were before of that name."""
    return [(name, names[:place].count(name)) for place, name in enumerate(names)]
