"""Whether tasks take longer, from waking up to sleeping again, than with nothing lent.

Times are compared as shares beyond a limit: what a quantile is with nothing lent, and the budget on
top. Load comes in waves, so the spans of one period belong together, and how much the periods
differ says how sure a share is. All that is kept of a way of sharing are sums.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import accumulate, chain
from statistics import NormalDist
from typing import Any

from smartharvest.algorithm.harm import Durations

QUANTILES = {0.5: 1.0, 0.95: 1.0, 0.99: 1.0, 0.999: 2.5}
"""Those judged, and how many times the budget each may use: requests of many threads wait for the
slowest, so the far tail counts, too."""
PROMISED = (0.5, 0.99, 0.999)
"""Those whose budget is accounted for."""
LEAST_BEYOND = 5
"""A quantile is known once so many spans are expected beyond it, on both sides."""
UNKNOWN = 0.5
"""Of another one half as many may be beyond, where a mistake is dear;"""
LEAST_PERIODS = 3
"""... nothing is known of fewer periods."""
MISTAKES = 0.3
"""How often at most a way that does no harm may be found too dear, however often that is asked: a
mistake costs a trial later, a harm that is not seen costs the primary."""
RECENT_PERIODS = 3
SURE_AT_ONCE = 3.0
"""Standard errors by which these must be too long,"""
BURST = 10.0
"""... so many of their spans counting as one draw: they come in bursts, and a turn for the worse
differs from period to period by its nature;"""
SURE_BEYOND_CHANCE = 5.0
"""... and of those by which such periods differ with nothing lent, far from normally."""
MEMORY = 200
"""Periods: older ones count less."""
ALONE_PERIODS = 40
FIRST_PERIODS, FRESH_PERIODS = 10, 3
"""After the first of them, what is found with nothing lent is renewed once in so many periods: as
often as a trial compares with it."""
DISASTER_TIMES = 2
"""A span is a disaster beyond so many times what the P99 may be,"""
DISASTERS = 0.02
"""... and a period with this share of them,"""
DISASTERS_GROWTH = 2
"""... if they are so many times those of any period with nothing lent."""
DISASTER_SPANS = 20
BY_CHANCE = 0.01
"""Likelihood below which a way's disasters are more than what comes with nothing lent as well: a
host that stands still now and then has some, whatever is lent."""
MET_PERIODS = 20
"""Those periods of ways that are compared,"""
USUAL_PERIODS = 10.0
"""... with half a disaster in so many, and what was met with nothing lent."""
LATELY = 3
"""Periods that a way and none are compared over, one right after the other,"""
AS_BAD = 0.5
"""... where nobody is to blame for what is so much of it with nothing lent."""
LEAST_SLACK = 0.1
"""Where times are alike, nothing lies between a quantile and its limit: the account grows by this
part of the share beyond it all the same."""
CREDIT_PERIODS, MOST_CREDIT_PERIODS = 20, 100
CREDIT_SPANS = 20.0
"""The account of what harm may be done begins with what so many periods with nothing lent would
save, and so many spans, and holds five times that at most."""
MOST_DEBT_PERIODS = 100
"""One moment, such as a standstill of the host, is paid for after so many at most."""
RECALLED_PERIODS = 10
"""With nothing lent, of those that were kept over a restart: few, since the load may be another."""
SIMILAR = 2.0
"""A primary fares as it did if its median is within so many times of what it was."""
LARGEST = 1e18
"""No number that is kept is beyond it."""

HALF_BUCKET = 2 ** (1 / 32)


class SpanCounts:
    """Of some time: how many were at least so long."""

    def __init__(self, durations: Sequence[tuple[int, float]]) -> None:
        self._middles: tuple[int, ...] = ()
        counts: tuple[float, ...] = ()
        if durations:
            self._middles, counts = zip(*sorted(durations), strict=True)
        self._from = list(accumulate(reversed(counts), initial=0))[::-1]
        self.total = self._from[0]

    def beyond(self, limit_ns: float) -> float:
        """How many are longer; those of a bucket are spread over it."""
        at = bisect_left(self._middles, limit_ns / HALF_BUCKET)
        if at == len(self._middles):
            return 0.0
        low_ns, high_ns = self._bucket(at)
        above = min(1.0, (high_ns - limit_ns) / (high_ns - low_ns))
        return self._from[at + 1] + above * (self._from[at] - self._from[at + 1])

    def quantile_ns(self, q: float) -> float:
        left = (1 - q) * self.total
        at = next((i for i in range(len(self._middles), 0, -1) if self._from[i - 1] > left), 0) - 1
        if at < 0:
            return 0.0
        low_ns, high_ns = self._bucket(at)
        inside = (left - self._from[at + 1]) / (self._from[at] - self._from[at + 1])
        return high_ns - inside * (high_ns - low_ns)

    def _bucket(self, at: int) -> tuple[float, float]:
        return self._middles[at] / HALF_BUCKET, self._middles[at] * HALF_BUCKET


def merged(*durations: Durations) -> Durations:
    """All together."""
    some = [one for one in durations if one]
    if len(some) < 2:  # mostly: something is lent for a whole period, or nothing
        return some[0] if some else ()
    counts: Counter[int] = Counter()
    for one in durations:
        for middle_ns, count in one:
            counts[middle_ns] += count
    return tuple(counts.items())


@dataclass(slots=True)
class _Share:
    """Of the spans of some periods, those beyond a limit."""

    beyond: float = 0.0
    squares: float = 0.0
    products: float = 0.0
    """Of those beyond and all, summed over periods."""

    def add(self, keep: float, spans: float, beyond: float) -> None:
        self.beyond = self.beyond * keep + beyond
        self.squares = self.squares * keep + beyond * beyond
        self.products = self.products * keep + beyond * spans


@dataclass(slots=True)
class Tally:
    """The periods of a way of sharing, or those with nothing lent."""

    periods: float = 0.0
    looks: int = 0
    spans: float = 0.0
    squares: float = 0.0
    shares: dict[float, _Share] = field(default_factory=lambda: {q: _Share() for q in QUANTILES})

    def add(self, spans: float, beyond: Iterable[float]) -> None:
        """``beyond``: how many were, by quantile."""
        keep = 1 - 1 / MEMORY
        self.periods = self.periods * keep + 1
        self.looks = min(self.looks + 1, MEMORY)
        self.spans = self.spans * keep + spans
        self.squares = self.squares * keep + spans * spans
        for share, one in zip(self.shares.values(), beyond, strict=True):
            share.add(keep, spans, one)

    def fade(self) -> None:
        """Everything counts half."""
        self.looks //= 2
        self.periods, self.spans, self.squares = (
            one / 2 for one in (self.periods, self.spans, self.squares)
        )
        for share in self.shares.values():
            share.add(0.5, 0.0, 0.0)

    def kept(self) -> list[float]:
        """Its numbers, for ``recall``."""
        sums = ((one.beyond, one.squares, one.products) for one in self.shares.values())
        return [self.periods, self.looks, self.spans, self.squares, *chain.from_iterable(sums)]

    def recall(self, kept: object) -> None:
        """Goes on from what another had ``kept``. Raises ValueError."""
        numbers = _numbers(kept, 4 + 3 * len(QUANTILES))
        self.periods, looks, self.spans, self.squares = numbers[:4]
        self.looks = min(MEMORY, int(looks))
        for number, share in enumerate(self.shares.values()):
            at = 4 + 3 * number
            share.beyond, share.squares, share.products = numbers[at : at + 3]

    def share(self, q: float) -> tuple[float, float]:
        """(share beyond the limit, its standard error), each period being one draw."""
        one = self.shares[q]
        share = one.beyond / self.spans
        squares = one.squares - 2 * share * one.products + share**2 * self.squares
        spread = squares / self.spans**2 * self.periods / max(1.0, self.periods - 1)
        chance = max(share * (1 - share), 1 / self.spans) / self.spans
        return share, math.sqrt(max(spread, chance))


@lru_cache(maxsize=2 * MEMORY)
def sure(looks: int, mistakes: float) -> float:
    """Standard errors that chance exceeds at any of the quantiles, however often one looks, as
    rarely as ``mistakes`` says: each doubling of ``looks`` has a smaller part of it, and all parts
    sum up to that (stitching; Howard et al., Time-uniform, nonparametric, nonasymptotic
    confidence sequences, 2021)."""
    doublings = 1 + math.floor(math.log2(max(1.0, looks / LEAST_PERIODS)))
    return NormalDist().inv_cdf(1 - mistakes * 6 / (math.pi * doublings) ** 2 / len(QUANTILES))


class Longer:
    """The spans of one primary with nothing lent, and in each of ``ways`` ways of sharing, which
    may be longer by the share ``protect``."""

    def __init__(self, ways: int, protect: float) -> None:
        self._protect = protect
        self._alone: deque[SpanCounts] = deque(maxlen=ALONE_PERIODS)
        self._merged: deque[Durations] = deque(maxlen=ALONE_PERIODS)
        self._together: Counter[int] = Counter()
        """All of them."""
        self._limits_age = 0
        """Periods since the limits were taken from them."""
        self._tallies = [Tally() for _ in range(ways)]
        self._recent: deque[tuple[int, float, tuple[float, ...]]] = deque(maxlen=RECENT_PERIODS)
        self._limits_ns: dict[float, float] = {}
        self._disaster_ns = 0.0
        self._last_disasters = self._most_disasters = 0.0
        self._met: deque[tuple[int, bool]] = deque(maxlen=MET_PERIODS)
        """Periods of ways: which, and whether it was a disaster."""
        self._alone_met = 0.0, USUAL_PERIODS
        """Disasters with nothing lent, and periods."""
        self._lately: deque[SpanCounts] = deque(maxlen=LATELY)
        """Periods of any way."""
        self._alone_spans = 0.0
        self._errors = dict.fromkeys(QUANTILES, 0.0)
        self._chance = dict.fromkeys(PROMISED, 0.0)
        """Spans by which chance alone moves the account in CREDIT_PERIODS."""
        self._slack = dict.fromkeys(PROMISED, 0.0)
        self._alone_share = dict.fromkeys(PROMISED, 0.0)
        self._credit: dict[float, float] | None = None
        self._usual = 0.0
        """Spans of a period."""

    # --- what is seen -----------------------------------------------------------------------------

    def add_alone(self, durations: Durations) -> None:
        """A period with nothing lent."""
        spans = SpanCounts(durations)
        if not spans.total:
            return
        if len(self._alone) == ALONE_PERIODS:
            self._together.subtract(dict(self._merged[0]))
        if self._limits_ns:
            met, periods = (one * (1 - 1 / MEMORY) for one in self._alone_met)
            self._alone_met = met + self._is_disaster(spans), periods + 1
        self._alone.append(spans)
        self._merged.append(durations)
        self._together.update(dict(durations))
        if len(self._alone) <= FIRST_PERIODS or self._limits_age >= FRESH_PERIODS:
            self._compare_with_alone()
        else:
            self._most_disasters = max(self._most_disasters, spans.beyond(self._disaster_ns))
        self._note(spans)
        if self._credit is not None:
            # What chance does while nothing is lent is no harm of lending: it spends nothing.
            self._save({q: self._slack[q] * spans.total for q in PROMISED})

    def _compare_with_alone(self) -> None:
        """Takes the limits from what is known with nothing lent."""
        self._limits_age = 0
        together = SpanCounts(tuple((+self._together).items()))
        self._alone_spans = together.total
        usual_ns = {q: together.quantile_ns(q) for q in QUANTILES}
        tally = Tally()
        for one in self._alone:
            tally.add(one.total, [one.beyond(limit_ns) for limit_ns in usual_ns.values()])
        self._errors = {q: tally.share(q)[1] for q in QUANTILES}
        self._limits_ns = {
            q: usual_ns[q] * (1 + times * self._protect) for q, times in QUANTILES.items()
        }
        self._disaster_ns = DISASTER_TIMES * (1 + self._protect) * usual_ns[0.99]
        self._most_disasters = max(one.beyond(self._disaster_ns) for one in self._alone)
        for q in PROMISED:
            self._alone_share[q] = together.beyond(self._limits_ns[q]) / together.total
            self._slack[q] = max(1 - q - self._alone_share[q], LEAST_SLACK * (1 - q))
            periods = CREDIT_PERIODS / len(self._alone)
            self._chance[q] = self._errors[q] * together.total * math.sqrt(periods)

    def rest(self, periods: int) -> None:
        """So many periods with nothing lent that nobody looks at."""
        self._limits_age += periods
        if self._credit is None:
            return
        self._save({q: periods * self._slack[q] * self._usual for q in PROMISED})

    def add(self, way: int, durations: Durations, *, stops: bool = False) -> None:
        """A period of a way of sharing; the boldest is number 0. One that ``stops`` by itself what
        it lends does no lasting harm: its disasters are counted, and charged to nobody else."""
        spans = SpanCounts(durations)
        beyond = tuple(map(spans.beyond, self._limits_ns.values()))
        self._last_disasters = self._disasters(spans)
        disaster = self._last_disasters >= DISASTERS
        if not (disaster and stops):
            self._charge(spans, beyond)
        if not spans.total:
            return
        self._lately.append(spans)
        self._tallies[way].add(spans.total, beyond)
        self._met.append((way, disaster))
        if not (disaster and stops):
            self._recent.append((way, spans.total, beyond))

    def add_unjudged(self, durations: Durations) -> None:
        """A period that says nothing about one way, but counts."""
        self._last_disasters = 0.0
        spans = SpanCounts(durations)
        self._charge(spans, tuple(map(spans.beyond, self._limits_ns.values())))

    def _charge(self, spans: SpanCounts, beyond: tuple[float, ...]) -> None:
        """To the account; ``beyond``: how many were beyond the limit, by quantile."""
        self._note(spans)
        if self._credit is not None and spans.total:
            usual = {q: self._alone_share[q] + self._slack[q] for q in PROMISED}
            harmed = dict(zip(self._limits_ns, beyond, strict=True))
            self._save({q: usual[q] * spans.total - harmed[q] for q in PROMISED})

    def begin(self, way: int) -> None:
        """A way is tried: what was found before counts half."""
        self._tallies[way].fade()
        self._recent.clear()

    # --- over a restart ---------------------------------------------------------------------------

    def kept(self) -> dict[str, Any]:
        """What it knows, for ``recall``: of numbers, lists and names."""
        return {
            "alone": [list(map(list, one)) for one in list(self._merged)[-RECALLED_PERIODS:]],
            "tallies": [tally.kept() for tally in self._tallies],
            "credit": None if self._credit is None else list(self._credit.values()),
            "usual": self._usual,
        }

    def recall(self, kept: Any) -> None:
        """Goes on from what another of as many ways had ``kept``. Raises ValueError, TypeError or
        KeyError for anything else; it is of no use then."""
        alone, tallies, credit = kept["alone"], kept["tallies"], kept["credit"]
        if not 0 < len(alone) <= RECALLED_PERIODS or len(tallies) != len(self._tallies):
            raise ValueError("other periods or ways")
        for one in alone:
            pairs = [_numbers(pair, 2, least=1.0) for pair in one]
            durations = tuple((int(middle_ns), int(count)) for middle_ns, count in pairs)
            self._alone.append(SpanCounts(durations))
            self._merged.append(durations)
            self._together.update(dict(durations))
        if not all(one.total for one in self._alone):
            raise ValueError("a period without wake-ups")
        for tally, numbers in zip(self._tallies, tallies, strict=True):
            tally.recall(numbers)
            tally.fade()
        self._compare_with_alone()
        self._limits_age = FRESH_PERIODS
        (self._usual,) = _numbers([kept["usual"]], 1)
        if credit is not None:
            numbers = _numbers(credit, len(PROMISED), least=-LARGEST)
            self._credit = {
                q: max(-self._most(q), min(self._most(q), one))
                for q, one in zip(PROMISED, numbers, strict=True)
            }

    def fares_as_before(self, periods: int) -> bool:
        """Whether the median of the last ``periods`` with nothing lent is like that of all."""
        fresh: Counter[int] = Counter()
        for durations in list(self._merged)[-periods:]:
            fresh.update(dict(durations))
        now_ns = SpanCounts(tuple((+fresh).items())).quantile_ns(0.5)
        was_ns = SpanCounts(tuple((+self._together).items())).quantile_ns(0.5)
        return was_ns / SIMILAR <= now_ns <= was_ns * SIMILAR

    # --- what it says -----------------------------------------------------------------------------

    @property
    def alone_spans(self) -> float:
        """How many with nothing lent are known."""
        return self._alone_spans

    def too_dear(self, way: int, mistakes: float = MISTAKES) -> str:
        """Why the way surely costs more than the budget; empty if it may not. Of ways that do not,
        the share ``mistakes`` is found to, however often that is asked."""
        errors = sure(max(1, self._tallies[way].looks), mistakes)
        recent = [one[1:] for one in self._recent if one[0] == way]
        for number, (q, (share, own)) in enumerate(self._judged(way).items()):
            spread = max(own, self._chance_error(q, self._tallies[way].spans))
            if share - (1 - q) > errors * math.hypot(spread, self._errors[q]):
                return describe(q, share)
            spans = sum(one for one, _ in recent)
            if len(recent) < RECENT_PERIODS or spans * (1 - q) < LEAST_BEYOND:
                continue
            now = sum(beyond[number] for _, beyond in recent) / spans
            bursts = math.sqrt(BURST * max(now * (1 - now), 1 / spans) / spans)
            if now - (1 - q) > max(
                SURE_AT_ONCE * math.hypot(bursts, self._errors[q]),
                SURE_BEYOND_CHANCE * self._chance_error(q, spans),
            ):
                return describe(q, now) + " now"
        return ""

    def looks_fine(self, way: int, errors: float = 0.0) -> bool:
        """Whether the way costs no more than the budget: at the quantiles of which enough is known,
        by so many standard errors. With any of those, at the others as far as can be seen."""
        tally, judged = self._tallies[way], self._judged(way)
        if errors and not tally.spans:
            return False
        return all(
            1 - q - share >= errors * math.hypot(error, self._errors[q])
            for q, (share, error) in judged.items()
        ) and (
            not errors
            or all(tally.share(q)[0] <= UNKNOWN * (1 - q) for q in QUANTILES.keys() - judged.keys())
        )

    def disaster(self, part: float = 1.0) -> str:
        """Why the last period, of which the way had a ``part``, is not to be waited out; else
        empty."""
        share = self._last_disasters
        if share < part * DISASTERS:
            return ""
        return f"{share:.0%} of a moment's wake-ups took more than twice as long as the P99 may be"

    def disasters_by_chance(self, way: int) -> bool:
        """Whether the way has no more disasters than what is seen with nothing lent may be."""
        met = [disaster for one, disaster in self._met if one == way]
        alone, periods = self._alone_met
        return _at_least(sum(met), len(met), (alone + 0.5) / periods) > BY_CHANCE

    def as_bad_alone(self) -> bool | None:
        """Whether the last periods with nothing lent were nearly as bad as those before them, of
        whatever way: then it is not to blame. None if those were not bad."""
        alone = list(self._alone)[-LATELY:]
        worst, verdict = 1.0, None
        for q, limit_ns in self._limits_ns.items():
            lent = _share_beyond(self._lately, limit_ns)
            if lent > worst * (1 - q):
                worst = lent / (1 - q)
                verdict = _share_beyond(alone, limit_ns) - (1 - q) >= AS_BAD * (lent - (1 - q))
        return verdict

    def renew(self) -> None:
        """The primary fares otherwise than it did: what was known with nothing lent is out of
        date, and what harm was done by that measure was none."""
        for kept in (self._alone, self._merged):
            while len(kept) > LATELY:
                kept.popleft()
        self._together = Counter()
        for durations in self._merged:
            self._together.update(dict(durations))
        self._compare_with_alone()
        self._recent.clear()
        self._lately.clear()
        self._met.clear()
        for tally in self._tallies:
            tally.fade()
        if self._credit is not None:
            self._credit = {q: max(self._start(q), one) for q, one in self._credit.items()}

    @property
    def credit(self) -> float:
        """What harm may still be done: 1 as at the beginning, negative where it was too much."""
        if self._credit is None:
            return 1.0
        return min(self._credit[q] / self._start(q) for q in PROMISED)

    # --- inside -----------------------------------------------------------------------------------

    def _chance_error(self, q: float, spans: float) -> float:
        """Standard error of the share of so many spans with nothing lent."""
        return self._errors[q] * math.sqrt(self._alone_spans / spans)

    def _disasters(self, spans: SpanCounts) -> float:
        """Share of a period's spans; none if as many may be there with nothing lent."""
        disasters = spans.beyond(self._disaster_ns)
        if spans.total < DISASTER_SPANS or disasters <= DISASTERS_GROWTH * self._most_disasters:
            return 0.0
        return disasters / spans.total

    def _is_disaster(self, spans: SpanCounts) -> bool:
        """Of a period with nothing lent."""
        beyond = spans.beyond(self._disaster_ns)
        return spans.total >= DISASTER_SPANS and beyond >= DISASTERS * spans.total

    def _judged(self, way: int) -> dict[float, tuple[float, float]]:
        tally = self._tallies[way]
        if tally.looks < LEAST_PERIODS:
            return {}
        fewest = min(tally.spans, self._alone_spans)
        return {q: tally.share(q) for q in QUANTILES if fewest * (1 - q) >= LEAST_BEYOND}

    def _start(self, q: float) -> float:
        return CREDIT_SPANS + CREDIT_PERIODS * self._slack[q] * self._usual + self._chance[q]

    def _most(self, q: float) -> float:
        return MOST_CREDIT_PERIODS / CREDIT_PERIODS * self._start(q)

    def _note(self, spans: SpanCounts) -> None:
        """A period has passed."""
        self._limits_age += 1
        if not spans.total or not self._limits_ns:
            return
        self._usual += (spans.total - self._usual) / (20 if self._usual else 1)
        if self._credit is None:
            self._credit = {q: self._start(q) for q in PROMISED}

    def _save(self, spans: dict[float, float]) -> None:
        """Puts so many into the account, or takes them out."""
        assert self._credit is not None
        for q, saved in spans.items():
            least = -MOST_DEBT_PERIODS * self._slack[q] * self._usual
            self._credit[q] = max(least, min(self._most(q), self._credit[q] + saved))


def _share_beyond(periods: Iterable[SpanCounts], limit_ns: float) -> float:
    """Of all spans of them."""
    counts = [(one.beyond(limit_ns), one.total) for one in periods]
    return sum(beyond for beyond, _ in counts) / max(1, sum(total for _, total in counts))


def _at_least(count: int, of: int, share: float) -> float:
    """Likelihood that at least ``count`` of so many draws are what a ``share`` of all is."""
    fewer = (math.comb(of, k) * share**k * (1 - share) ** (of - k) for k in range(count))
    return 1 - sum(fewer)


def _numbers(kept: object, count: int, least: float = 0.0) -> list[float]:
    """``count`` numbers from ``least`` to LARGEST. Raises ValueError."""
    if not isinstance(kept, list) or len(kept) != count:
        raise ValueError(f"no {count} numbers")
    for one in kept:
        if isinstance(one, bool) or not isinstance(one, int | float):
            raise ValueError(f"{one!r} is no number")
        if not least <= one <= LARGEST:
            raise ValueError(f"{one!r} is out of range")
    return kept


def describe(q: float, share: float) -> str:
    return f"{share:.1%} of its wake-ups take longer than the P{q * 100:g} may"
