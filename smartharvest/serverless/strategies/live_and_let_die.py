"""Live and Let Die: everything on Harvest workers; an eviction rarely meets a long invocation."""

from __future__ import annotations

from collections.abc import Sequence

from smartharvest.serverless.strategies.profile import Profile


class LiveAndLetDie:
    """99.99 % of the invocations succeeded in the paper."""

    def regular(self, profiles: Sequence[Profile]) -> frozenset[str]:  # noqa: ARG002
        """No function at all."""
        return frozenset()
