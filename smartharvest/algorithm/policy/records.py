"""What is remembered of each way of sharing, also over a restart."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass

MOVING_PERIODS = 4
"""What moves take is the mean of so many periods of a way, the last one weighing most."""
LENT_WINDOWS = 100
"""What is lent is the mean of about so many windows, by their ends."""
RETRY_PERIODS = 200
"""After which a way that failed may be tried again,"""
RETRY_GROWTH = 3
MOST_RETRY_PERIODS = 6_400
MARGINAL_RETRY_PERIODS, MOST_MARGINAL = 50, 4
"""... or so soon where it failed by little, and twice as long each time that it does so in a row,
up to the last number: a trial may take seconds, and costs the budget each time."""
DISASTER_FAILURES = 2
"""A way that ends in a disaster counts so many more."""
MOST_FAILURES = 10
MOST_SLOWDOWN = 1e6
"""Whatever is more is no evidence."""
ENOUGH_PAIRS, MOST_PAIRS = 5, 12
"""Rests from which it is known how much longer the median is; later ones take the place of earlier
ones from the second number on."""
PAIRS_ERRORS, MOST_PAIRS_ERRORS = 2.0, 1.0
"""Standard errors by which it is longer, of the first number and of the second: rests that differ
may never tell more, and then the mean is the best that is known,"""
FEWER_PAIRS_ERRORS = {3: 4.5, 4: 3.3}
"""... or, of so few rests, Student's quantiles of the same level,"""
LEAST_DEVIATION = 0.05
"""... which are those of so large a deviation at least: few may agree by chance."""
USUAL_ERRORS = {2: 3.0, 3: 2.5, 4: 2.2}
"""Of so few it is enough to be longer by so many errors,"""
USUAL_DEVIATION, USUAL_PAIRS = 0.15, 3
"""... taken as if so many rests more had shown this deviation, which is that of a loaded host."""


@dataclass(slots=True)
class Record:
    """What is remembered of a way."""

    failures: int = 0
    retry_at: int = 0
    """Number of the period."""
    fine: bool = False
    moving: float = 0.0
    """Share of a core that its moves take."""
    marginal: int = 0
    """Times in a row that it failed by little."""
    rests: int = 0
    """From which it was compared with nothing lent."""
    lent: float = 0.0
    """Cores that it lends, in the mean of"""
    windows: int = 0
    """... so many windows."""

    def note_moving(self, share: float) -> None:
        """What moves took of a core in one more period."""
        self.moving += (share - self.moving) / MOVING_PERIODS

    def note_lent(self, cores: int) -> None:
        """What was lent at the end of one more window."""
        self.windows = min(self.windows + 1, LENT_WINDOWS)
        self.lent += (cores - self.lent) / self.windows

    def fail(self, period: int, *, disaster: bool) -> int:
        """It is too dear. The periods after which it may be tried again."""
        self.failures += DISASTER_FAILURES * disaster
        retry = min(MOST_RETRY_PERIODS, RETRY_PERIODS * RETRY_GROWTH**self.failures)
        self.failures = min(self.failures + 1, MOST_FAILURES)
        return self.put_off(period, retry)

    def fail_by_little(self, period: int) -> int:
        """It is too dear by so little that another load may not be. As ``fail``."""
        self.marginal = min(self.marginal + 1, MOST_MARGINAL)
        return self.put_off(period, MARGINAL_RETRY_PERIODS * 2 ** (self.marginal - 1))

    def put_off(self, period: int, retry: int) -> int:
        """It is left, and may be tried again after so many periods; that is no failure. What its
        moves took is seen again then."""
        self.fine = False
        self.moving = 0.0
        self.retry_at = period + retry
        return retry

    def forget(self) -> None:
        """There are other primaries, too: what was too dear is for these, and what was fine or is
        known from rests may not be."""
        self.fine, self.rests = False, 0

    def forgive(self) -> None:
        """It was held for long: one failure less."""
        self.failures = max(0, self.failures - 1)


@dataclass(slots=True)
class Slowdown:
    """By what part of a request's median time lending makes it longer, as rests from it tell.

    That has in it what no wait shows, such as caches that the batch has filled. One rest differs
    from the next by the load, so the mean counts, with the errors that the rests themselves show.
    """

    rests: int = 0
    mean: float = 0.0
    variance: float = 0.0

    def add(self, part: float) -> None:
        """Of one more rest."""
        self.rests = min(self.rests + 1, MOST_PAIRS)
        more = part - self.mean
        self.mean += more / self.rests
        self.variance = (1 - 1 / self.rests) * (self.variance + more * more / self.rests)

    def is_beyond(self, protect: float) -> bool:
        """For all that is known."""
        if self.rests < 2:
            return False
        if self.rests < ENOUGH_PAIRS:
            errors = FEWER_PAIRS_ERRORS.get(self.rests, math.inf)
            squares = self.rests * self.variance + USUAL_PAIRS * USUAL_DEVIATION**2
            of_mean = squares / (self.rests - 1 + USUAL_PAIRS) / self.rests
            if self.mean - USUAL_ERRORS[self.rests] * math.sqrt(of_mean) > protect:
                return True
        else:
            part = (self.rests - ENOUGH_PAIRS) / (MOST_PAIRS - ENOUGH_PAIRS)
            errors = PAIRS_ERRORS + (MOST_PAIRS_ERRORS - PAIRS_ERRORS) * part
        variance = max(self.variance, LEAST_DEVIATION**2)
        return self.mean - errors * math.sqrt(variance / (self.rests - 1)) > protect


@dataclass(frozen=True, slots=True)
class Kept:
    """What is kept over a restart; ways by their numbers."""

    held: int
    """The way that was held."""
    records: Sequence[Record]
    """One for each way; ``retry_at`` counts from the restart."""
    slowdowns: Sequence[dict[int, Slowdown]]
    """What rests had told, for each primary."""
    barren: int = 0
    """Periods since a way was held that gives the batch more than its minimum."""
    names: Sequence[str] = ()
    """Of the primaries."""

    def dump(self) -> bytes:
        """For ``load``."""
        kept = {
            "held": self.held,
            "barren": self.barren,
            "primaries": len(self.slowdowns),
            "names": list(self.names),
            "slowdowns": [
                [[way, one.rests, one.mean, one.variance] for way, one in each.items()]
                for each in self.slowdowns
            ],
            "records": [
                [one.failures, one.retry_at, int(one.fine), one.marginal] for one in self.records
            ],
        }
        return json.dumps(kept).encode()

    @classmethod
    def load(cls, dumped: bytes, ways: int) -> Kept:
        """What was dumped where there were as many ways.

        Raises ValueError for anything else; and where nothing had been found out, as if it were.
        """
        try:
            kept = json.loads(dumped)
            records = [
                Record(int(failures), int(retry), fine=bool(fine), marginal=int(marginal))
                for failures, retry, fine, marginal in kept["records"]
            ]
            held, primaries = int(kept["held"]), int(kept["primaries"])
            barren = int(kept["barren"])
            names = [str(name) for name in kept["names"]]
            slowdowns = [
                {
                    int(way): Slowdown(int(rests), float(mean), float(variance))
                    for way, rests, mean, variance in each
                }
                for each in kept["slowdowns"]
            ]
        except (KeyError, TypeError, OverflowError, RecursionError) as error:
            raise ValueError(f"no evidence: {error}") from None
        if not primaries or len(records) != ways or not 0 <= held < ways:
            raise ValueError("no evidence for these ways of sharing")
        if barren < 0:
            raise ValueError("no evidence: a number is out of range")
        if not len(slowdowns) == len(names) == primaries:
            raise ValueError("no evidence for these primaries")
        for record in records:
            if not (
                0 <= record.failures <= MOST_FAILURES
                and 0 <= record.retry_at <= MOST_RETRY_PERIODS
                and 0 <= record.marginal <= MOST_MARGINAL
            ):
                raise ValueError("no evidence: a number is out of range")
        for way, one in (item for each in slowdowns for item in each.items()):
            if not (
                0 <= way < ways
                and 0 <= one.rests <= MOST_PAIRS
                and -1 <= one.mean <= MOST_SLOWDOWN
                and 0 <= one.variance <= MOST_SLOWDOWN**2
            ):
                raise ValueError("no evidence: a number is out of range")
            records[way].rests = max(records[way].rests, one.rests)
        return cls(held, records, slowdowns, barren, names)
