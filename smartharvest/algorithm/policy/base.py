"""The interface of a policy. Policies are pure: windows in, core counts out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol, get_args, runtime_checkable

from smartharvest.algorithm.harm import Durations
from smartharvest.algorithm.learning.options import CostName, LearnerName, LearningOptions
from smartharvest.algorithm.safeguard import SHORT_TERM_SAFEGUARDS, ShortTermSafeguard
from smartharvest.core.window import Window
from smartharvest.errors import ConfigError


class Policy(Protocol):
    """Decides once a window how many cores the primary keeps.

    For every window, in order, the agent calls ``short_term.observe`` and ``learn``; then, if the
    window was exhausted, ``short_term.safe_cores``, otherwise ``predict`` (lines 12-19 of
    Algorithm 1). One that learns has its ``learner``, whose model is kept over restarts.
    """

    @property
    def name(self) -> str:
        """As spelled on the command line."""

    @property
    def buffer(self) -> int:
        """0: one decision a window. Above: the polling loop keeps this many idle at every poll."""

    @property
    def quiet_ns(self) -> int | None:
        """None: the buffer slides both ways at every poll. Otherwise it grows at once and shrinks
        only after this long without need, and ``predict`` says how many cores the primary keeps at
        least. 0..16 ms. A buffer of 0 then means that a task waits before the loop grows."""

    @property
    def shared(self) -> bool:
        """True: ``predict`` says how many cores the elastic group is kept off, busy or not; the
        primary preempts it on all others (``cpu.idle``), and no window is exhausted."""

    @property
    def short_term(self) -> ShortTermSafeguard:
        """The reaction to exhaustion."""

    def learn(self, window: Window, /) -> int | None:
        """Take the window in; the label trained on (0..total), None if nothing was learned."""

    def predict(self, window: Window, /) -> int:
        """The primary's cores for the next window, 0..total, before the floor of busy + 1.

        A stale window says nothing about the next one: the primary gets the total.
        """


@dataclass(frozen=True, slots=True)
class Spans:
    """How long tasks of one primary took from waking up to going to sleep again, apart for those
    that something was lent in."""

    lent: Durations
    """With so many more as tasks would have woken up for while lending held them up."""
    not_lent: Durations
    unharmed: Durations = ()
    """The first without their waits from when an elastic task had a core; empty if unknown."""
    idle_answer_ns: int = 0
    """How long they waited for a core that was idle, in the mean; 0 if unknown."""
    waits: Durations = ()
    """How long they waited for a core each time, lent or not, in no order; empty if unknown."""
    harmed_waits: Durations = ()
    """The same with timers' lateness, and with a wait for each span more that ``lent`` has;"""
    unharmed_waits: Durations = ()
    """... and these without what lending held them up for."""
    woken_by_own: int = 0
    """Of all of them, those that a task of the same primary woke; 0 if unknown."""


@dataclass(frozen=True, slots=True)
class Spent:
    """By what parts of its time lending made what a primary does longer in about the last minute;
    0: no longer, None: too few tasks to tell."""

    protect: float
    """The budget: P50, P95 and P99 may become longer by so large a part;"""
    p50: float | None
    """... by what parts they were."""
    p95: float | None
    p99: float | None
    rests: int = 0
    """Short times with nothing lent that the way in force was held against,"""
    by_rests: float | None = None
    """... by which part the median is longer than in them, caches included; may be below 0."""


@dataclass(frozen=True, slots=True)
class ProtectOf:
    """A budget of its own for the primaries that the user calls ``target``."""

    target: str
    share: float

    def __str__(self) -> str:
        return f"{self.target}={self.share * 100:.9g}%"


PROTECT = 0.1
"""The part by which lending may make what a primary does longer."""
DISPATCHES_PERIOD_NS = 100_000_000
PATIENT_PERIOD_NS = 300_000_000


@dataclass(frozen=True, slots=True)
class Dispatches:
    """How the primary's tasks were dispatched in a period of about ``DISPATCHES_PERIOD_NS``, or
    ``PATIENT_PERIOD_NS`` if the policy's attribute ``patient`` is true."""

    end_ns: int
    waits: Durations
    """From becoming runnable to running, 0 included; empty if nobody wants them."""
    runs: Durations
    """From a dispatch to the next sleep or preemption; empty as well."""
    lent: bool = True
    """Whether anything was lent at any moment of it."""
    moves: Durations = ()
    """How long cores took to change hands; empty if unknown."""
    spans: tuple[Spans, ...] = ()
    """One for each primary; empty where the sensor does not tell harm."""
    period_ns: int = DISPATCHES_PERIOD_NS
    inhibited: bool = False
    """Whether something else than the policy decides that nothing is lent: this tells nothing of
    what the policy would."""


@runtime_checkable
class DispatchesObserver(Protocol):
    """A policy that uses how the primary's tasks wait and run, if the sensor sees it.

    If its attribute ``wants_spans_alone`` is true ``waits`` and ``runs`` may be empty.
    """

    def observe_dispatches(self, dispatches: Dispatches, /) -> None:
        """Take in a period; called between windows, in order."""


@dataclass(frozen=True, slots=True)
class PolicySettings:
    """What a policy may be made from. Raises ConfigError, naming the key, for an unknown name."""

    total: int
    cost: str = "skewed"
    safeguard: str = "conservative"
    learner: str = "vw"
    options: LearningOptions = field(default_factory=LearningOptions)
    preempts: bool = False
    """Whether the primary preempts the elastic group wherever they meet."""
    protect: float = PROTECT
    """Share by which P50 and P99 may become longer; above 0."""
    spares: tuple[int, ...] = ()
    """Of how many CPUs that the kernel keeps idle for who wakes the policy may choose, ascending;
    empty where it keeps none."""
    freezes: bool = False
    """Whether the elastic group runs while nothing is lent, on its minimum or parked, and may be
    frozen instead."""
    exclusive: bool = False
    """Whether the primary and the elastic group have no core in common."""
    protect_of: tuple[ProtectOf, ...] = ()
    """The same for some primaries."""
    asked_as: Callable[[str], str] = str
    """What the user calls a primary of that name: a unit or a pattern stands for groups."""
    smallest: int = 0
    """Of ``exclusive`` alone: cores of the smallest set that the elastic group, which is frozen
    while nothing is lent, can be given; 0: it always has its minimum."""

    def protect_for(self, name: str) -> float:
        """The budget of that primary."""
        asked = self.asked_as(name)
        return next((one.share for one in self.protect_of if one.target == asked), self.protect)

    def __post_init__(self) -> None:
        for key, value, known in (
            ("cost", self.cost, get_args(CostName)),
            ("safeguard", self.safeguard, SHORT_TERM_SAFEGUARDS),
            ("learner", self.learner, get_args(LearnerName)),
        ):
            if value not in known:
                raise ConfigError(f"{key}: {value!r} is unknown; use one of {', '.join(known)}")
