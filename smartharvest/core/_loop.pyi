from collections.abc import Sequence
from typing import Protocol

from smartharvest.core._actuators import Actuator
from smartharvest.core._learner import Decider
from smartharvest.core._rescue import Rescue
from smartharvest.core._sensors import Sensor
from smartharvest.core.plan import Plan
from smartharvest.core.revocation import Revocation
from smartharvest.core.window import Window

MAX_CORES: int

class _WritableBuffer(Protocol):
    def __buffer__(self, flags: int, /) -> memoryview: ...

def monotonic_ns() -> int:
    """CLOCK_MONOTONIC as the loop reads it."""

class WindowStatistics:
    """The loop's window by itself (csrc/loop/window.h), for tests and benchmarks."""

    def add(self, busy: int, demand: int = 0, count: int = 1) -> None: ...
    def features(self) -> tuple[float, float, float, float, float]:
        """(min, max, mean, std, median) in cores."""

    def time_features(self, repeat: int) -> float:
        """Mean nanoseconds of computing the features ``repeat`` times, without Python's share."""

class Loop:
    """The polling loop (csrc/loop/loop.h): one thread without the GIL, or ``step`` by ``step``.

    Times in nanoseconds, cores in 0..total. ``cpus`` is where the thread may run (None: anywhere),
    ``realtime_cpus`` where once it runs as SCHED_FIFO (None: there too);
    ``fifo_priority`` 0 asks for no real-time scheduling; a loop that polls takes at most
    ``most_cpu_percent`` of a CPU (0: any), as far as rests of ``most_rest_ns`` do it;
    ``beat_slot`` is eight bytes for the time of the last poll. With a sensor that sees changes,
    ``exact`` weighs windows by time; with one that wakes, ``event_driven`` does without polling.
    ``whole_harvests`` are how many of 0..total cores can be lent as whole ones. ``lendable`` are
    the CPUs in the order they are lent, the first ``elastic_min`` of them for good: the sensor
    learns which, unless the actuator's order chooses them. A ``rescue`` ends with the thread.
    Raises ValueError for settings out of range.
    """

    def __init__(
        self,
        *,
        sensor: Sensor,
        actuator: Actuator,
        total: int,
        window_ns: int = 25_000_000,
        poll_ns: int = 50_000,
        plan_ttl_ns: int = 0,
        stale_ns: int = 0,
        max_harvest: int | None = None,
        max_shared: int | None = None,
        keep_idle: int = 1,
        whole_harvests: Sequence[int] | None = None,
        pacing: str = "sleep",
        cpus: list[int] | None = None,
        realtime_cpus: list[int] | None = None,
        fifo_priority: int = 0,
        most_cpu_percent: int = 0,
        most_rest_ns: int = 0,
        beat_slot: _WritableBuffer | None = None,
        exact: bool = False,
        event_driven: bool = False,
        lendable: Sequence[int] = (),
        elastic_min: int = 0,
        rescue: Rescue | None = None,
    ) -> None: ...
    @property
    def sensor(self) -> Sensor: ...
    @property
    def actuator(self) -> Actuator: ...
    @property
    def total(self) -> int: ...
    def start(self) -> None:
        """Starts the thread. Raises OSError if it cannot be made."""

    def stop(self) -> None:
        """Gives everything back and ends the thread; harmless when it does not run."""

    def change(
        self,
        *,
        actuator: Actuator,
        max_harvest: int,
        max_shared: int,
        keep_idle: int,
        whole_harvests: Sequence[int] | None = None,
        cpus: list[int] | None = None,
        realtime_cpus: list[int] | None = None,
        lendable: Sequence[int] = (),
        elastic_min: int = 0,
        rescue: Rescue | None = None,
        sensor: Sensor | None = None,
    ) -> None:
        """Between ``stop`` and ``start``: other limits, another actuator, rescue and sensor.

        Nothing is lent until a plan comes; windows and counters go on. The ``sensor`` stays where
        none is given; the window in which it changes begins again. Raises ValueError for a loop
        that runs, for limits out of range, and for a sensor without what the loop is built on.
        """

    def step(self, deadline_ns: int, now_ns: int) -> int:
        """One poll without a thread: 0, or the negative errno the loop halted on."""

    def post(self, plan: Plan) -> None:
        """Hands the loop the plan that answers a window; a shared one stays off so many cores
        at any demand. Raises OverflowError for numbers that no loop takes.
        """

    def hurry(self, hurry: bool) -> None:
        """Whether a window wakes who waits; if not, half a ring does (SH_RING_WINDOWS)."""

    def rest(self, most_ns: int) -> None:
        """So long a window may last where no look can move a core; 0: as long as ever.

        One that lasts two windows or more is ``rested``. For an event-driven loop whose windows
        nobody asks for.
        """

    def wait(self, timeout_ms: int, other_fd: int = -1) -> bool:
        """Waits for a window, or for ``other_fd``, without the GIL; False after the timeout.

        Signal handlers run.
        """

    def decide_with(self, decider: Decider | None) -> None:
        """Windows are answered by ``decider`` from the start on, in the loop's thread.

        To be called before ``start``. It lends only as long as ``permit`` says.
        """

    def lend_until(self, revocation: Revocation | None) -> None:
        """Between ``stop`` and ``start``: nothing is lent once the ``revocation``, which the loop
        keeps alive, says so."""

    def permit(self, until_ns: int) -> None:
        """The decider may lend until then (CLOCK_MONOTONIC); 0: no longer. What is lent already
        comes back with the next window, or with a plan that is posted."""

    def take(self) -> Window | None:
        """The oldest window not yet taken, or None."""

    def take_answered(self) -> tuple[Window, tuple[int, int, int | None] | None] | None:
        """The same with what the decider answered, if it did: (primary cores, safe cores,
        label)."""

    @property
    def halt(self) -> tuple[str, int] | None:
        """(what failed, errno) once the loop has given up: sensor, actuator or clock."""

    @property
    def primary_cores(self) -> int: ...
    @property
    def harvested(self) -> int: ...
    @property
    def scheduling(self) -> str | None:
        """What the thread runs as: fifo, short-slice or other; None before it runs."""

    @property
    def tid(self) -> int: ...
    @property
    def cpu_ns(self) -> int:
        """CPU time the thread has used."""

    def counters(self) -> dict[str, int]:
        """Everything counted since the start (csrc/loop/loop.h, struct sh_counters)."""

    def lateness_ns(self, q: float) -> int:
        """Quantile ``q`` of how late polls were, within 12.5 %; q = 1 is the exact maximum."""

    def lateness(self) -> tuple[tuple[tuple[int, int], ...], int]:
        """How late polls were: (upper edge of a bucket in ns, count), and the sum in ns."""

    def moves(self) -> tuple[tuple[tuple[int, int], ...], int]:
        """How long moving cores took, in the same form; nothing in virtual time."""

    def time_steps(self, repeat: int) -> float:
        """Mean nanoseconds of a poll over ``repeat`` polls driven back to back in virtual time."""
