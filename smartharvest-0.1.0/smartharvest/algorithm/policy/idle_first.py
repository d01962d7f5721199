"""Idle First: the elastic group runs everywhere under ``cpu.idle`` until that hurts.

A primary that wakes preempts an idle group at once, so lending a core costs it only the kernel's
exceptions: a batch inside the kernel, a CPU given to the idle group although tasks wait, a cold
cache. Whether these matter depends on both sides and is unknown beforehand, and a share of long
waits alone does not show it: a server that queues on its own has a fifth of them. So the policy
compares the primary with itself: slices with nothing lent alternate with slices at the confinement
in question (a trial). It keeps the least confinement that delays the primary no more than lending
nothing, until a new trial is due: after more long waits than in the trial, another load, or some
time, which grows.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from smartharvest.algorithm.policy.base import Dispatches, PolicySettings
from smartharvest.algorithm.policy.strain import typical_ns
from smartharvest.algorithm.safeguard import BufferSafeguard, ShortTermSafeguard
from smartharvest.core.window import Window

LONG_NS = 200_000
"""A wait is long beyond this ..."""
LONG_WAIT_SHARE = 0.2
"""... and beyond this share of the P99 of the primary's run times."""
MOST_HELD_UP = 0.005
"""A trial fails if long waits delay the primary for this much more of the time than with nothing
lent: half of the hundredth that would be its P99 ..."""
MOST_GROWTH = 0.1
"""... and for this much more of its own queueing,"""
MOST_INFLATION = 0.1
"""or if its typical run takes this much longer (caches, SMT siblings)."""
CLEARLY = 5.0
"""A trial ends early at this many times either."""
PAIRS = 3
SLICE_PERIODS = 3
"""The first of a slice shows waits that began before it and is not counted."""
IDLE_PERIODS = 10
"""How long a slice with too few dispatches goes on."""
MIN_DISPATCHES = 20
LONGEST_PERIOD_NS = 1_000_000_000
COMPLAINT_PERIODS = 10
"""While a decision holds, the last second is compared with the trial."""
LOAD_CHANGE = 1.5
LEAST_LOAD_CHANGE = 0.3
"""Cores."""
SHORTEST_HOLD_NS = 5_000_000_000
LONGEST_HOLD_NS = 320_000_000_000


class IdleFirst:
    """Finds the least confinement by trials, and holds it.

    It starts with nothing lent, and lends nothing while it gets no dispatches.
    """

    def __init__(self, settings: PolicySettings) -> None:
        self.name = "idle-first"
        self.buffer = 0
        self.quiet_ns = None
        self.shared = True
        self.short_term: ShortTermSafeguard = BufferSafeguard(settings.total, 1)
        self.explanation = "lends nothing yet: no dispatches of the primary were seen"
        self._total = settings.total
        self._rungs = rungs(settings.total)
        self._rung = len(self._rungs) - 1
        self._found = _Verdict(0.0, 0.0, 1.0)
        self._everywhere: _Verdict | None = None
        self._trial: _Trial | None = None
        self._too_bold = -1
        self._fine = self._rung
        self._hold_ns = SHORTEST_HOLD_NS
        self._hold_until_ns = 0
        self._recent: deque[_Period] = deque(maxlen=COMPLAINT_PERIODS)
        self._load = _Load()
        self._tried_load = 0.0
        self._limit_ns = float(LONG_NS)
        self._end_ns: int | None = None

    @property
    def chosen(self) -> int:
        """Cores the elastic group is kept off by the decision in force; all: it has its minimum."""
        return self._rungs[self._rung]

    @property
    def reserved(self) -> int:
        """... and now, when a trial may be under way."""
        if self._trial is None:
            return self.chosen
        return self._total if self._trial.rests else self._rungs[self._trial.rung]

    def learn(self, window: Window) -> int | None:
        self._load.add(window)
        return None

    def predict(self, window: Window) -> int:
        return self._total if window.stale else self.reserved

    def observe_dispatches(self, seen: Dispatches) -> None:
        before_ns, self._end_ns = self._end_ns, seen.end_ns
        load = self._load.take()
        if before_ns is None:
            self._try(0)
        if before_ns is None or seen.end_ns - before_ns > LONGEST_PERIOD_NS:
            return  # whatever happened meanwhile was not to be seen
        period = _period(seen, seen.end_ns - before_ns, self._limit_ns, load)
        if self._trial is not None:
            self._go_on(self._trial, period, seen)
            return
        self._recent.append(period)
        if seen.end_ns >= self._hold_until_ns:
            self._try(max(0, self._rung - 1))
        elif self._is_another_load() and period.busy < self._tried_load:
            self._hold_ns = SHORTEST_HOLD_NS
            self._too_bold = -1
            self._try(0)
        elif self._is_worse() or self._is_another_load():
            self._hold_ns = SHORTEST_HOLD_NS
            self._try(min(self._rung, len(self._rungs) - 2))

    # --- trials ----------------------------------------------------------------------------------

    def _try(self, rung: int) -> None:
        self._recent.clear()
        self._trial = _Trial(rung)

    def _go_on(self, trial: _Trial, period: _Period, seen: Dispatches) -> None:
        if trial.rests and seen.runs:
            self._limit_ns = max(LONG_NS, LONG_WAIT_SHARE * trial.run_p99_ns(seen))
        trial.add(period)
        if (verdict := trial.verdict()) is None:
            return
        self._trial = None
        self._tried_load = trial.load
        if trial.rung == 0:
            self._everywhere = verdict
        if verdict.is_fine:
            self._accept(trial.rung, verdict)
        else:
            self._refuse(trial.rung)

    def _accept(self, rung: int, verdict: _Verdict) -> None:
        bolder = rung < self._rung
        self._rung, self._fine, self._found = rung, rung, verdict
        if self._fine - self._too_bold > 1:
            self._try((self._too_bold + self._fine) // 2)
        else:
            self._hold(longer=not bolder)

    def _refuse(self, rung: int) -> None:
        if rung >= self._rung:  # what was held is no longer fine
            self._rung = self._fine = len(self._rungs) - 1
            self._found = _Verdict(0.0, 0.0, 1.0)
        self._too_bold = rung
        if self._fine - self._too_bold > 1:
            self._try((self._too_bold + self._fine) // 2)
        else:
            self._hold(longer=True)

    def _hold(self, *, longer: bool) -> None:
        assert self._end_ns is not None
        # The next search begins one rung below.
        self._too_bold = max(-1, self._rung - 2)
        hold_ns = self._hold_ns if longer else SHORTEST_HOLD_NS
        self._hold_until_ns = self._end_ns + hold_ns
        self._hold_ns = min(LONGEST_HOLD_NS, 2 * hold_ns)
        self.explanation = self._explain()

    # --- while a decision holds ------------------------------------------------------------------

    def _is_worse(self) -> bool:
        if len(self._recent) < COMPLAINT_PERIODS or self._rung == len(self._rungs) - 1:
            return False
        if sum(period.dispatches for period in self._recent) < MIN_DISPATCHES:
            return False
        return _held_up(self._recent) > 2 * MOST_HELD_UP + (1 + 5 * MOST_GROWTH) * self._found.lent

    def _is_another_load(self) -> bool:
        if len(self._recent) < COMPLAINT_PERIODS:
            return False
        now = fmean(period.busy for period in self._recent)
        low, high = sorted((now, self._tried_load))
        return high - low > LEAST_LOAD_CHANGE and high > LOAD_CHANGE * low

    def _explain(self) -> str:
        reserved, found, everywhere = self.chosen, self._found, self._everywhere
        if reserved == 0:
            return (
                f"runs everywhere: long waits delay the primary {found.lent:.2%} of the time, "
                f"{found.alone:.2%} with nothing lent"
            )
        what = (
            "lends nothing"
            if reserved == self._total
            else f"kept off {reserved} of {self._total} cores, "
            f"long waits delay the primary {found.lent:.2%} of the time"
        )
        if everywhere is None or everywhere.is_fine:
            return what
        return f"{what}; without confinement {everywhere.describe()}"


def rungs(total: int) -> tuple[int, ...]:
    """Cores the elastic group is kept off: from none to all, in at most nine steps."""
    return tuple(sorted({round(total * step / 8) for step in range(9)}))


class _Load:
    """The windows of a period."""

    def __init__(self) -> None:
        self._windows: list[Window] = []

    def add(self, window: Window) -> None:
        if not window.stale:
            self._windows.append(window)

    def take(self) -> tuple[float, int]:
        """(mean busy cores, tasks that wanted one at most) since the last call."""
        windows, self._windows = self._windows, []
        busy = fmean(window.busy_mean for window in windows) if windows else 0.0
        return busy, max((window.demand_max for window in windows), default=1)


@dataclass(frozen=True, slots=True)
class _Period:
    """What was seen in one: all the trials need."""

    dispatches: int
    long_waits: int
    held_up: float
    """Share of the time that one of as many tasks as wanted a core spent in long waits."""
    run_ns: float
    """Typical run."""
    busy: float
    """Mean busy cores."""


def _period(seen: Dispatches, lasted_ns: int, limit_ns: float, load: tuple[float, int]) -> _Period:
    busy, demand = load
    longer = [(edge_ns, count) for edge_ns, count in seen.waits if edge_ns > limit_ns]
    waited_ns = sum(edge_ns * count for edge_ns, count in longer)
    return _Period(
        sum(count for _, count in seen.waits),
        sum(count for _, count in longer),
        waited_ns / max(1, lasted_ns) / max(1, demand),
        typical_ns(seen.runs),
        busy,
    )


def _held_up(periods: Sequence[_Period] | deque[_Period]) -> float:
    """By time or by dispatches, whichever is more: a request may meet a wait that lasts, and each
    that waits is one."""
    dispatches = sum(period.dispatches for period in periods)
    by_count = sum(period.long_waits for period in periods) / max(1, dispatches)
    return max(by_count, fmean(period.held_up for period in periods))


@dataclass(frozen=True, slots=True)
class _Verdict:
    """What a trial found."""

    lent: float
    """Share of the time that long waits held the primary up, with cores lent"""
    alone: float
    """and without."""
    inflation: float
    """The primary's typical run, with cores lent over without."""
    noise: float = 0.0
    """Standard error of lent - alone."""

    @property
    def excess(self) -> float:
        """In units of what is allowed: how much longer waits delay the primary."""
        more = self.lent - self.alone
        return more / max(MOST_HELD_UP, MOST_GROWTH * self.alone) if more > self.noise else 0.0

    @property
    def is_fine(self) -> bool:
        return self.excess <= 1 and self.inflation <= 1 + MOST_INFLATION

    def describe(self) -> str:
        if self.excess <= 1:
            return f"its runs take {self.inflation - 1:+.0%}"
        return f"long waits take {self.lent:.2%} of the time, {self.alone:.2%} with nothing lent"


class _Trial:
    """Slices with nothing lent and slices at ``rung``, in turn."""

    def __init__(self, rung: int) -> None:
        self.rung = rung
        self._slices: list[list[_Period]] = [[]]
        self._runs: dict[int, int] = {}

    @property
    def rests(self) -> bool:
        """Whether nothing is lent in the slice that is under way."""
        return len(self._slices) % 2 == 1

    @property
    def load(self) -> float:
        """Mean busy cores."""
        return fmean(period.busy for one in self._slices for period in one)

    def run_p99_ns(self, seen: Dispatches) -> float:
        """Of the run times of the slices without lending so far."""
        for edge_ns, count in seen.runs:
            self._runs[edge_ns] = self._runs.get(edge_ns, 0) + count
        left = 0.01 * sum(self._runs.values())
        for edge_ns in sorted(self._runs, reverse=True):
            left -= self._runs[edge_ns]
            if left < 0:
                return edge_ns
        return 0.0

    def add(self, period: _Period) -> None:
        one = self._slices[-1]
        one.append(period)
        enough = sum(p.dispatches for p in one[1:]) >= MIN_DISPATCHES
        if len(one) >= (SLICE_PERIODS if enough else IDLE_PERIODS):
            self._slices.append([])

    def verdict(self) -> _Verdict | None:
        """None as long as it goes on."""
        done = [one[1:] for one in self._slices[:-1]]
        pairs = list(zip(done[::2], done[1::2], strict=False))
        if self._slices[-1] or not pairs or len(done) % 2:
            return None
        found = _judge(pairs)
        clearly = found.excess > CLEARLY or found.inflation > 1 + CLEARLY * MOST_INFLATION
        return found if clearly or len(pairs) == PAIRS else None


def _judge(pairs: Sequence[tuple[list[_Period], list[_Period]]]) -> _Verdict:
    alone = [_held_up(without) for without, _ in pairs]
    lent = [_held_up(with_) for _, with_ in pairs]
    more = [b - a for a, b in zip(alone, lent, strict=True)]
    mean = fmean(more)
    # The standard error of the mean; what one pair shows must be clear anyway.
    spread = sum((one - mean) ** 2 for one in more) / max(1, len(more) - 1) / len(more)
    runs = [[fmean(p.run_ns for p in one) for one in (without, with_)] for without, with_ in pairs]
    ratios = sorted(b / a if a > 0 and b > 0 else 1.0 for a, b in runs)
    return _Verdict(fmean(lent), fmean(alone), ratios[len(ratios) // 2], spread**0.5)
