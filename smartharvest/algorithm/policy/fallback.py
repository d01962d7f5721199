"""The fallback chain: a policy that fails is replaced by a simpler one, down to no harvest.

A learner that raises, or returns no valid number of cores, must not end the agent, and its answer
must not be used. The next policy answers the window on which it failed. There is no way back up:
a policy that failed once may fail every hour, and each time the primary waits for a core.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar, cast

from smartharvest.algorithm.policy.base import Dispatches, DispatchesObserver, Policy, Spent
from smartharvest.algorithm.safeguard import ShortTermSafeguard
from smartharvest.core.window import Window
from smartharvest.errors import ConfigError

T = TypeVar("T")

SAFE_BUFFER_SHARE = 4
"""The buffer that stands in for a learner: one core in this many of the total, at least one."""


def stand_ins(spec: str, total: int) -> tuple[str, ...]:
    """The policies that replace ``spec`` (a spelling), in turn."""
    if spec == "no-harvest":
        return ()
    if spec.startswith("fixed-buffer"):
        return ("no-harvest",)
    return (f"fixed-buffer:{max(1, -(-total // SAFE_BUFFER_SHARE))}", "no-harvest")


def fallback_steps(policy: Policy) -> list[str]:
    """What failed and what took its place; empty for a policy that has no stand-ins."""
    return list(policy.steps) if isinstance(policy, Fallback) else []


def in_force(policy: Policy) -> Policy:
    """The one that answers now, of those that may take each other's place."""
    return policy.in_force if isinstance(policy, Fallback) else policy


def wants_dispatches(policy: Policy) -> bool:
    """Whether the policy in force asks how the primary's tasks are dispatched, and acts on it."""
    return hasattr(
        in_force(policy), "observe_dispatches"
    )  # asked often; a protocol's isinstance takes long


def judges_waits(policy: Policy) -> bool:
    """Whether the policy in force judges how long tasks wait: it asks for dispatches and, unless
    its property ``judges_waits`` is false, gets them."""
    return wants_dispatches(policy) and getattr(in_force(policy), "judges_waits", True)


def wants_spans_alone(policy: Policy) -> bool:
    """Whether the policy in force, by its attribute of that name, uses neither waits nor runs."""
    return bool(getattr(in_force(policy), "wants_spans_alone", False))


def note_blind(policy: Policy) -> None:
    """Tells the policy in force, if it has a method of that name, that no sensor sees waits."""
    if (hears := getattr(in_force(policy), "note_blind", None)) is not None:
        hears()


def note_primaries(policy: Policy, names: Sequence[str]) -> None:
    """Tells the policy in force, if it has a method of that name, whom the sensors see from now on,
    in their order."""
    if (hears := getattr(in_force(policy), "note_primaries", None)) is not None:
        hears(names)


def note_trip(policy: Policy) -> None:
    """Tells the policy in force, if it has a method of that name, that the long-term safeguard has
    stopped lending."""
    if (hears := getattr(in_force(policy), "note_trip", None)) is not None:
        hears()


def is_patient(policy: Policy) -> bool:
    """Whether the policy in force, by its attribute ``patient``, is content with fewer looks."""
    return bool(getattr(in_force(policy), "patient", False))


def dozes(policy: Policy) -> bool:
    """Whether the policy in force, with its property ``dozes``, lends nothing for a while and wants
    no dispatches meanwhile."""
    return bool(getattr(in_force(policy), "dozes", False))


def is_steady(policy: Policy) -> bool:
    """Whether the policy in force, with its property ``steady``, answers the next windows as it
    has answered the last one, whatever they show, unless they were broken."""
    return bool(getattr(in_force(policy), "steady", False))


def rests(policy: Policy) -> bool:
    """Whether the policy in force, with its property ``rests``, can do without windows for now."""
    return bool(getattr(in_force(policy), "rests", False))


def is_barren(policy: Policy) -> bool:
    """Whether the policy in force, by its attribute ``is_barren``, has found no way of sharing
    cores with the primary that gives the batch anything."""
    return bool(getattr(in_force(policy), "is_barren", False))


def spare(policy: Policy) -> int | None:
    """How many CPUs the policy in force, by its attribute ``spare``, has the kernel keep idle for
    who wakes; None: it leaves that to the settings."""
    kept: int | None = getattr(in_force(policy), "spare", None)
    return kept


def frozen(policy: Policy) -> bool | None:
    """``Plan.frozen``, as the policy in force has it by its attribute ``frozen``."""
    wanted: bool | None = getattr(in_force(policy), "frozen", None)
    return wanted


def budget(policy: Policy) -> Mapping[str, Spent] | None:
    """What harm has spent of each primary's budget, as the policy in force has it by its attribute
    ``budget``; None: it keeps none."""
    kept: Mapping[str, Spent] | None = getattr(in_force(policy), "budget", None)
    return kept


def with_stand_ins(
    spec: str, make: Callable[[str], Policy], total: int, note: Callable[[str], None]
) -> Fallback:
    """The policy spelled ``spec``, with what takes its place should it fail.

    Raises ConfigError for one that is unknown or made of what is unknown.
    """
    return Fallback((spec, *stand_ins(spec, total)), make, total, note)


def explanation(policy: Policy) -> str:
    """Why the policy does what it does; empty if it does not explain itself.

    One that does has a property ``explanation``: a line for the operator about the decision in
    force, which changes when that does.
    """
    why: str = getattr(policy, "explanation", "")
    return why


class Fallback:
    """A policy that is the first of ``specs`` that works; ``make`` makes each when it is needed.

    ``note`` is called with a line for every step down. Errors of the last one propagate.
    """

    def __init__(
        self,
        specs: Sequence[str],
        make: Callable[[str], Policy],
        total: int,
        note: Callable[[str], None],
    ) -> None:
        self._specs = list(specs)
        self._make = make
        self._total = total
        self._note = note
        self.steps: list[str] = []
        """What failed, and what took its place, oldest first."""
        self._policy = self._make_next()

    @property
    def name(self) -> str:
        """Of the policy in force."""
        return self._policy.name

    @property
    def buffer(self) -> int:
        return self._policy.buffer

    @property
    def quiet_ns(self) -> int | None:
        return self._policy.quiet_ns

    @property
    def shared(self) -> bool:
        return self._policy.shared

    @property
    def explanation(self) -> str:
        """Of the policy in force; empty if it explains nothing."""
        return explanation(self._policy)

    @property
    def in_force(self) -> Policy:
        """The one that answers now."""
        return self._policy

    def observe_dispatches(self, dispatches: Dispatches) -> None:
        """For a policy that does not ask, nothing."""
        self._first_answer(
            lambda policy: (
                cast(DispatchesObserver, policy).observe_dispatches(dispatches)
                if wants_dispatches(policy)
                else None
            )
        )

    @property
    def learner(self) -> object:
        """Of the policy in force; None if it has none. Another may take its place, of its kind."""
        return getattr(self._policy, "learner", None)

    @learner.setter
    def learner(self, learner: object) -> None:
        self._policy.learner = learner  # type: ignore[attr-defined]

    @property
    def short_term(self) -> ShortTermSafeguard:
        return self

    def learn(self, window: Window) -> int | None:
        return self._first_answer(lambda policy: policy.learn(window))

    def predict(self, window: Window) -> int:
        return self._first_answer(lambda policy: self._cores(policy.predict(window)))

    # The short-term safeguard belongs to the policy and may fail like it.

    def observe(self, window: Window) -> None:
        self._first_answer(lambda policy: policy.short_term.observe(window))

    def safe_cores(self, primary_cores: int) -> int:
        return self._first_answer(
            lambda policy: self._cores(policy.short_term.safe_cores(primary_cores))
        )

    def _first_answer(self, ask: Callable[[Policy], T]) -> T:
        while True:
            try:
                return ask(self._policy)
            except Exception as error:
                if not self._specs:
                    raise
                self._step_down(self._policy.name, error)

    def _cores(self, answer: object) -> int:
        cores = operator.index(answer)  # type: ignore[arg-type]  # TypeError: no whole number
        if not 0 <= cores <= self._total:
            raise ValueError(f"{cores} is no number of cores in 0..{self._total}")
        return cores

    def _step_down(self, failed: str, error: Exception) -> None:
        self._policy = self._make_next()
        step = f"policy {failed} failed ({type(error).__name__}: {error}); {self.name} takes over"
        self.steps.append(step)
        self._note(step)

    def _make_next(self) -> Policy:
        while True:
            spec = self._specs.pop(0)
            try:
                return self._make(spec)
            except ConfigError:  # the user's mistake, which no stand-in should hide
                raise
            except Exception as error:
                if not self._specs:
                    raise
                step = f"creating policy {spec} failed ({type(error).__name__}: {error})"
                self.steps.append(step)
                self._note(step)
