"""No Failures: what may outlive a notice stays on regular workers."""

from __future__ import annotations

from collections.abc import Sequence

from smartharvest.serverless.strategies.profile import NOTICE_S, Profile


class NoFailures:
    """Judges by the longest invocation; one that has never run is taken to be long by its owner."""

    def __init__(self, notice_s: float = NOTICE_S) -> None:
        self._notice_s = notice_s

    def regular(self, profiles: Sequence[Profile]) -> frozenset[str]:
        """The long ones, however rarely they are."""
        return frozenset(one.name for one in profiles if one.longest_s > self._notice_s)
