"""What an adapter is to a cluster engine."""

from __future__ import annotations

from typing import Protocol


class Engine(Protocol):
    """One node of a cluster engine. Every call may raise EngineError, and may be repeated."""

    def advertise(self, cores: int) -> None:
        """Tells the engine how many cores this node has for new work."""

    def in_use(self) -> int:
        """Cores that running work was given."""

    def shed(self, cores: int, grace_s: float) -> None:
        """Brings the use down to ``cores``; called again and again with what is left of the grace.

        From the first call on no new work takes a core that becomes free, as far as the engine can
        be held back; what is advertised goes down with the use. At 0 the youngest work is ended, in
        a way that lets the engine run it again.
        """

    def verify(self) -> int | None:
        """What the engine believes this node has; None if it has forgotten."""

    def close(self) -> None:
        """Lets go of the engine, and leaves it as it is."""
