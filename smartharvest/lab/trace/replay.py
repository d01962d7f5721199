"""Replays a trace under policies: what each would have lent, and how often wrongly.

The loop, the agent, the policies and the short-term safeguard are those of a host; only the time is
virtual. The trace is open loop: what is lent does not slow the recorded primary down, and a move of
cores takes effect at once. Dispatch waits are not in a trace, so there is no long-term safeguard.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from smartharvest.algorithm.controller import Controller
from smartharvest.algorithm.harm import Durations
from smartharvest.algorithm.learning.options import LearningOptions
from smartharvest.algorithm.policy import Policy, make_policy
from smartharvest.algorithm.policy.base import Dispatches
from smartharvest.algorithm.policy.fallback import with_stand_ins
from smartharvest.config.settings import Settings
from smartharvest.core import _loop, _trace
from smartharvest.core.plan import Plan
from smartharvest.errors import ConfigError, SmartHarvestError
from smartharvest.lab.trace.format import Stretch
from smartharvest.lab.trace.reader import TraceReader
from smartharvest.printable import counted

_log = logging.getLogger(__name__)

DECISION_NS = 100_000
"""From the end of a window to the plan that answers it, as on a host."""
BOUNDS = ("clairvoyant", "instant")
"""Upper bounds for policies."""


@dataclass(frozen=True)
class Outcome:
    """What one policy would have done. Cores are means over the time that was seen."""

    policy: str
    harvested_cores: float
    idle_share: float
    """Of the cores that the primary left idle, the share that was lent."""
    exhausted_per_min: float
    """How often the idle buffer ran out."""
    short_share: float
    """Share of the time in which the primary wanted more cores than it held."""
    short_core_ms_per_s: float
    """Cores it wanted and did not hold, times the time, in core milliseconds a second."""
    short_most: int
    """Cores it was short of at the worst moment."""
    assignments_per_s: float
    bound: bool = False
    """A bound computed from the trace itself instead of a policy that was run."""


@dataclass(frozen=True)
class WindowRow:
    """One window of one policy, for the plot."""

    end_ns: int
    peak: int
    """Cores the primary wanted at most."""
    primary_cores: int
    """What it held, before any reaction."""
    exhausted: bool


@dataclass(frozen=True)
class Replay:
    """A policy's outcome and its windows."""

    outcome: Outcome
    windows: tuple[WindowRow, ...]


def replay_policy(trace: TraceReader, spec: str, settings: Settings, cores: int) -> Replay:
    """Runs the policy spelled ``spec`` on a host that does what ``trace`` says.

    ``cores`` is what the primary has when nothing is lent. Raises ConfigError for invalid
    settings, and for a policy that acts on what no trace shows.
    """
    _check(spec)
    return _Run(spec, settings, cores).play(trace)


def _check(spec: str) -> None:
    if spec == "adaptive":
        raise ConfigError(
            "policy: adaptive acts on what lending does to each task, which no trace shows; "
            "simulate it, or replay adaptive-quiet"
        )


class _Run:
    """One policy on one recorded host."""

    def __init__(self, spec: str, settings: Settings, cores: int) -> None:
        keep_idle = max(1, settings.keep_idle)
        if keep_idle > cores:
            raise ConfigError(
                f"keep_idle: {keep_idle} is more than the {counted(cores, 'core')} of the trace"
            )
        options = LearningOptions(
            features_after_exhaustion=settings.features_after_exhaustion,
            exhausted_windows=settings.exhausted_windows,
            label=settings.label,
        )

        def make(name: str) -> Policy:
            return make_policy(
                name,
                total=cores,
                cost=settings.cost,
                safeguard=settings.safeguard,
                learner=settings.learner,
                options=options,
            )

        self._controller = Controller(
            with_stand_ins(spec, make, cores, _log.warning),
            total=cores,
            keep_idle=keep_idle,
            label_kind=settings.label,
            window_ns=settings.window_ns,
        )
        self._host = _trace.TraceHost(cores)
        most = cores - keep_idle
        self._loop = _loop.Loop(
            sensor=self._host,
            actuator=self._host.actuator,
            total=cores,
            window_ns=settings.window_ns,
            poll_ns=settings.poll_ns,
            max_harvest=most if settings.max_harvest is None else min(most, settings.max_harvest),
            keep_idle=keep_idle,
            exact=settings.accounting == "exact",
        )
        self._due: deque[tuple[int, Plan]] = deque()
        self._deadline_ns = 0
        self._windows: list[WindowRow] = []
        # What sharing does to a primary is in no trace.
        policy = self._controller.policy
        self._observes = self._controller.wants_dispatches and not policy.shared
        self._dispatches: deque[Dispatches] = deque()
        self._earlier = _Lent()

    def play(self, trace: Iterable[Stretch]) -> Replay:
        for stretch in trace:
            if not self._deadline_ns:
                self._deadline_ns = stretch.start_ns
            if self._observes:
                self._dispatches.extend(stretch.dispatches)
            self._host.feed(stretch.changes, stretch.until_ns)
            self._play_until(stretch.until_ns)
        return Replay(self._outcome(), tuple(self._windows))

    def _play_until(self, until_ns: int) -> None:
        while self._deadline_ns < until_ns:
            while self._due and self._due[0][0] <= self._deadline_ns:
                self._loop.post(self._due.popleft()[1])
            while self._dispatches and self._dispatches[0].end_ns <= self._deadline_ns:
                self._observe(self._dispatches.popleft())
            pause_ns = self._due[0][0] if self._due else until_ns
            if self._dispatches:
                pause_ns = min(pause_ns, self._dispatches[0].end_ns)
            self._deadline_ns, err = self._host.play(
                self._loop, self._deadline_ns, min(pause_ns, until_ns)
            )
            if err:
                raise SmartHarvestError(f"the replayed loop halted: errno {-err}")
            while (window := self._loop.take()) is not None:
                peak = max(window.busy_max, window.demand_max)
                self._windows.append(
                    WindowRow(window.end_ns, peak, window.primary_cores, window.exhausted)
                )
                answer = self._controller.on_window(window)
                if answer is not None and answer.plan is not None:
                    self._due.append((window.end_ns + DECISION_NS, answer.plan))

    def _observe(self, recorded: Dispatches) -> None:
        """What the tasks did, and how long those would have waited that found no core."""
        counters, before = self._loop.counters(), self._earlier
        now = _Lent(counters["harvested_core_ns"], dict(self._host.waits()))
        self._earlier = now
        more = {edge: count - before.waits.get(edge, 0) for edge, count in now.waits.items()}
        waits = lengthen(recorded.waits, [(edge, count) for edge, count in more.items() if count])
        lent = now.core_ns > before.core_ns or self._loop.harvested > 0
        self._controller.on_dispatches(replace(recorded, waits=waits, lent=lent))

    def _outcome(self) -> Outcome:
        n, short = self._loop.counters(), self._host.shortage
        total, polled_ns = self._controller.total, max(1, n["polled_ns"])
        harvested = n["harvested_core_ns"] / polled_ns
        idle = total - min(total, n["busy_core_ns"] / polled_ns)
        return Outcome(
            policy=self._controller.policy.name,
            harvested_cores=harvested,
            idle_share=harvested / idle if idle else 0.0,
            exhausted_per_min=n["short_safeguards"] * 60e9 / polled_ns,
            short_share=short["short_ns"] / max(1, short["seen_ns"]),
            short_core_ms_per_s=short["short_core_ns"] * 1e3 / max(1, short["seen_ns"]),
            short_most=short["short_most"],
            assignments_per_s=n["assignments"] * 1e9 / polled_ns,
        )


@dataclass(frozen=True)
class _Lent:
    """What was lent up to a moment, and what waited for it."""

    core_ns: int = 0
    waits: dict[int, int] = field(default_factory=dict)


def lengthen(recorded: Durations, waits: Iterable[tuple[int, int]]) -> Durations:
    """Dispatches some of which, those that waited least, would have waited so long instead."""
    counts = dict(recorded)
    for edge_ns, count in waits:
        left = count
        for shortest in sorted(recorded_ns for recorded_ns, _ in recorded):
            taken = min(left, counts[shortest])
            counts[shortest] -= taken
            left -= taken
        counts[edge_ns] = counts.get(edge_ns, 0) + count - left
    return tuple((edge_ns, count) for edge_ns, count in sorted(counts.items()) if count)


def bounds(trace: Iterable[Stretch], window_ns: int, cores: int) -> list[Outcome]:
    """What no policy can exceed without being short.

    ``clairvoyant`` knows each window's peak before it begins; ``instant`` lends every core the
    moment it is idle. Neither keeps an idle buffer.
    """
    peaks = _Peaks(window_ns, cores)
    for stretch in trace:
        peaks.add(stretch)
    idle = peaks.idle_core_ns / max(1, peaks.seen_ns)
    clairvoyant = peaks.clairvoyant_core_ns() / max(1, peaks.seen_ns)
    return [
        Outcome(name, harvested, harvested / idle if idle else 0.0, 0, 0, 0, 0, moves, bound=True)
        for name, harvested, moves in (
            ("clairvoyant", clairvoyant, 0.0),
            ("instant", idle, peaks.changes * 1e9 / max(1, peaks.seen_ns)),
        )
    ]


class _Peaks:
    """Demand by windows, from the start of the trace on."""

    def __init__(self, window_ns: int, cores: int) -> None:
        self._window_ns = window_ns
        self._cores = cores
        self._start_ns = 0
        self._peak: dict[int, int] = {}
        self._seen_ns: dict[int, int] = {}
        self.idle_core_ns = 0
        self.seen_ns = 0
        self.changes = 0

    def add(self, stretch: Stretch) -> None:
        if not self._start_ns:
            self._start_ns = stretch.start_ns
        demand = np.concatenate(([stretch.demand], stretch.changes["demand"])).astype(np.int64)
        times_ns = np.concatenate(
            ([stretch.start_ns], stretch.changes["time_ns"], [stretch.until_ns])
        ).astype(np.int64)
        # Cut at the windows' edges, so that each piece lies within one.
        first, last = ((at - self._start_ns) // self._window_ns for at in times_ns[[0, -1]])
        edges_ns = self._start_ns + self._window_ns * np.arange(first + 1, last + 1)
        cuts_ns = np.union1d(times_ns, edges_ns)
        piece = np.searchsorted(times_ns, cuts_ns[:-1], side="right") - 1
        self._add_pieces(cuts_ns, demand[np.minimum(piece, len(demand) - 1)])

    def _add_pieces(self, cuts_ns: NDArray[np.int64], demand: NDArray[np.int64]) -> None:
        seen = demand != _trace.UNSEEN
        lasted_ns = np.diff(cuts_ns)[seen]
        wanted = np.minimum(demand[seen], self._cores)
        self.idle_core_ns += int(((self._cores - wanted) * lasted_ns).sum())
        self.seen_ns += int(lasted_ns.sum())
        self.changes += len(wanted)
        window = (cuts_ns[:-1][seen] - self._start_ns) // self._window_ns
        if not len(window):
            return
        first = np.flatnonzero(np.diff(window, prepend=window[0] - 1))
        peaks = np.maximum.reduceat(wanted, first)
        lasted_ns = np.add.reduceat(lasted_ns, first)
        for number, peak, seen_ns in zip(
            window[first].tolist(), peaks.tolist(), lasted_ns.tolist(), strict=True
        ):
            self._peak[number] = max(self._peak.get(number, 0), peak)
            self._seen_ns[number] = self._seen_ns.get(number, 0) + seen_ns

    def clairvoyant_core_ns(self) -> int:
        return sum(
            (self._cores - peak) * self._seen_ns[number] for number, peak in self._peak.items()
        )


def replay(
    trace: TraceReader,
    specs: Sequence[str],
    settings: Settings,
    cores: int | None = None,
    progress: Callable[[float, float], None] = lambda _done, _total: None,
) -> list[Replay]:
    """Every policy of ``specs`` on the same trace, then the bounds, which have no windows.

    ``cores``: what the primary has when nothing is lent (None: what the trace says). ``progress``
    gets how many of all seconds are replayed; each policy replays them all.
    """
    for spec in specs:
        _check(spec)
    cores = trace.header.cores if cores is None else cores

    def watched(turn: int) -> Iterator[Stretch]:
        began_ns = None
        for stretch in trace:
            began_ns = stretch.start_ns if began_ns is None else began_ns
            yield stretch
            passed_s = (stretch.until_ns - began_ns) / 1e9
            progress(turn * trace.seconds + passed_s, (len(specs) + 1) * trace.seconds)

    played = [_Run(spec, settings, cores).play(watched(turn)) for turn, spec in enumerate(specs)]
    limits = bounds(watched(len(specs)), settings.window_ns, cores)
    return played + [Replay(bound, ()) for bound in limits]
