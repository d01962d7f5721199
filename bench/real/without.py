"""Parts of the agent that no setting switches off, left out for an ablation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from smartharvest.algorithm.policy import Policy
from smartharvest.algorithm.safeguard import ShortTermSafeguard
from smartharvest.core.window import Window
from smartharvest.host.target.base import Target
from smartharvest.lab.demo.groups import Seams
from smartharvest.mechanism.base import Mechanism
from smartharvest.mechanism.choice import make_mechanism
from smartharvest.placement.snapshot import HostSnapshot


class WithoutShortTerm:
    """A policy whose exhausted buffer stays as it is until the window ends."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self.short_term: ShortTermSafeguard = self

    def __getattr__(self, name: str) -> Any:
        return getattr(self._policy, name)

    def learn(self, window: Window) -> int | None:
        return self._policy.learn(window)

    def predict(self, window: Window) -> int:
        return self._policy.predict(window)

    def observe(self, _window: Window) -> None:
        """Nothing to remember."""

    def safe_cores(self, primary_cores: int) -> int:
        return primary_cores


class WithoutNudge:
    """A mechanism that sends nobody to a lent core."""

    def __init__(self, mechanism: Any) -> None:
        self._mechanism = mechanism

    def __getattr__(self, name: str) -> Any:
        return getattr(self._mechanism, name)

    def arrange(self, snapshot: HostSnapshot, primaries: Sequence[Target] = ()) -> None:
        """As ever, but for what it found about nudging."""
        self._mechanism.arrange(snapshot, primaries)
        self._mechanism.may_nudge = False


def _without_nudge(*arguments: Any, **more: Any) -> Mechanism:
    mechanism: Any = WithoutNudge(make_mechanism(*arguments, **more))
    made: Mechanism = mechanism
    return made


PARTS = {
    "short-term safeguard": Seams("no short-term safeguard", wrap=WithoutShortTerm),
    "nudge": Seams("no nudge", make_mechanism=_without_nudge),
}


def without(part: str | None) -> Seams:
    """The agent without ``part``; with None it lacks nothing."""
    return Seams() if part is None else PARTS[part]
