"""What the Resource Monitor needs of an autoscaler."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol


class Autoscaler(Protocol):
    """A pool of nodes that an autoscaler resizes. Any call may raise EngineError."""

    def nodes(self) -> Mapping[str, int | None]:
        """Name -> promised cores of each node that is there; None for one that does not answer."""

    def asked(self) -> int | None:
        """The number of nodes that the autoscaler is set to; None if it does not say."""

    def ask(self, nodes: int) -> None:
        """Sets that number."""

    def close(self) -> None:
        """Disconnects, and leaves the autoscaler as it is."""
