"""Bounded Failures: what may outlive a notice runs on Harvest workers within a budget."""

from __future__ import annotations

from collections.abc import Sequence

from smartharvest.errors import ConfigError
from smartharvest.serverless.strategies.profile import NOTICE_S, Profile


class BoundedFailures:
    """A share of all invocations may fail; long functions go to Harvest workers while it lasts."""

    def __init__(
        self,
        budget: float,
        evictions_per_s: float | None = None,
        notice_s: float = NOTICE_S,
    ) -> None:
        """``budget`` in 0..1. ``evictions_per_s`` of one worker; unknown, each invocation that
        outlives a notice counts as a failure. Raises ConfigError for what is out of range.
        """
        if not 0.0 <= budget <= 1.0:
            raise ConfigError(f"failure budget: {budget:g} is no share; use 0 to 1")
        self._budget = budget
        self._evictions_per_s = evictions_per_s
        self._notice_s = notice_s

    def expected_failures(self, profile: Profile) -> float:
        """Share of the function's invocations that fail on Harvest workers.

        A notice ends an invocation if it comes while more than the notice's time is left to run:
        the evictions a second times the mean seconds by which it outlives a notice.
        """
        if self._evictions_per_s is None:
            return profile.beyond_notice
        return min(profile.beyond_notice, self._evictions_per_s * profile.seconds_beyond)

    def regular(self, profiles: Sequence[Profile]) -> frozenset[str]:
        """Long functions that no longer fit the budget; those that fail least fit first."""
        total_per_s = sum(one.rate_per_s for one in profiles)
        long = [one for one in profiles if one.longest_s > self._notice_s]
        kept: set[str] = set()
        spent = 0.0
        for one in sorted(long, key=lambda one: (self._share(one, total_per_s), one.name)):
            share = self._share(one, total_per_s)
            if spent + share > self._budget:
                kept.add(one.name)
            else:
                spent += share
        return frozenset(kept)

    def _share(self, profile: Profile, total_per_s: float) -> float:
        """Of all invocations, those of this function that fail."""
        if total_per_s <= 0.0:
            return 0.0
        return self.expected_failures(profile) * profile.rate_per_s / total_per_s
