_Look = tuple[int, int, int, int]
"""(now, phase, loop's beat, control plane's beat)."""

class Vigil:
    """Looks at the agent of ``pidfd`` through ``slot``, its part of the shared page.

    A look is (now, phase, loop's beat, control plane's beat), the limits are nanoseconds.
    """

    def __init__(
        self,
        pidfd: int,
        slot: bytearray | memoryview,
        *,
        shrink_after: int,
        kill_after: int,
        loop_due: int,
        agent_due: int,
        look_soon: int,
        look_late: int,
        standstill: int,
    ) -> None: ...
    @property
    def last(self) -> _Look:
        """The look before the last one."""

    @property
    def look(self) -> _Look:
        """The last look."""

    def wait(self, wait_ns: int, *, well: bool) -> bool:
        """Looks after ``wait_ns``; if the last look was plainly well, again until one is not.

        False: the agent has ended. Raises OSError.
        """

    def is_well(self, last: _Look, look: _Look) -> bool:
        """Whether ``look`` is plainly well after ``last``, which was."""

    def until_next(self, look: _Look) -> int:
        """How long from ``look``, if it is plainly well, to the next."""
