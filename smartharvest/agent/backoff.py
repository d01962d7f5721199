"""How long the agent steps aside."""

from __future__ import annotations

SHORTEST_S = 10.0
LONGEST_S = 600.0


class Backoff:
    """Waits that double each time, and start again after a long time without disturbance."""

    def __init__(self, shortest_s: float = SHORTEST_S) -> None:
        self._shortest_s = shortest_s
        self._wait_s = 0.0
        self.times = 0

    def next_wait_s(self, in_peace_s: float) -> float:
        """How long to wait now, after the agent ran ``in_peace_s`` before it was disturbed."""
        peaceful = in_peace_s > 10 * self._wait_s
        self._wait_s = self._shortest_s if peaceful else min(2 * self._wait_s, LONGEST_S)
        self.times += 1
        return self._wait_s
