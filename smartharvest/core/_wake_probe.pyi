class WakeProbe:
    """A child that is to spin on ``cpu`` from ``run`` on, in the group of directory ``group_fd``.

    -1 is the caller's own group. With ``idle_policy`` the child is SCHED_IDLE. ``waker_cpu`` is
    from where every second of the ``wakes`` (at most 64) is asked for; None: only timers wake. All
    has ended after ``seconds``. Raises OSError.
    """

    def __init__(
        self,
        cpu: int,
        waker_cpu: int | None,
        *,
        group_fd: int,
        idle_policy: bool,
        wakes: int,
        interval_ns: int,
        seconds: float,
    ) -> None: ...
    @property
    def cpu_s(self) -> float:
        """CPU time of the child in seconds, once it is closed."""

    def run(self) -> tuple[list[float], list[float]]:
        """Microseconds that the child stayed on its CPU after a wake: (by timer, from afar).

        Wakes that it was not there for are left out. Once only. Raises OSError.
        """

    def close(self) -> None:
        """Ends the child; harmless when it has ended. Its group must not be idle any more."""
