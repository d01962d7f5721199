"""What the demo needs of a machine: two groups and an agent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol


@dataclass(frozen=True, slots=True)
class AgentFigures:
    """What an agent says about one run of its own."""

    harvested_cores: float
    """Cores lent beyond the elastic minimum, averaged over time."""
    short: int
    """How often the short-term safeguard acted."""
    long: int
    """How often the long-term safeguard stopped the harvesting."""
    agent_cpu_seconds: float
    """CPU time of the agent, all its threads."""
    moves: int = 0
    """How often cores changed hands."""


class Bench(Protocol):
    """The groups and the agent the demo runs on."""

    @property
    def cpus(self) -> tuple[int, ...]:
        """The pool: the CPUs the primary group may use, ascending."""

    @property
    def elastic_min(self) -> int:
        """CPUs of the pool that always belong to the elastic group."""

    @property
    def park(self) -> str:
        """What happens to the batch while it has no core: ``idle`` or ``freeze``."""

    def place(self, role: Literal["primary", "elastic"], pid: int) -> None:
        """Move process ``pid``, which has one thread, into the group of its role.

        Called once per role, before the first phase; the threads started later stay with it.
        """

    def enter_phase(self, name: str) -> None:
        """Arrange groups, weights and niceness for the phase of that name.

        The bully sleeps. If this raises, ``leave_phase`` is not called.
        """

    def run_agent(
        self,
        policy: str,
        seconds: float,
        started: Callable[[], None],
        finished: Callable[[], None],
    ) -> AgentFigures:
        """Run the agent with ``policy``.

        Calls ``started`` once it polls, and ``finished`` ``seconds`` later while it still does;
        the figures are those of the time between. If either raises, so does this.
        """

    def leave_phase(self) -> None:
        """Undo ``enter_phase``, also after an error. The bully may still be at its last unit."""
