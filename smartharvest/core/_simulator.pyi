from typing import Any

from smartharvest.core.plan import Plan
from smartharvest.core.window import Window
from smartharvest.lab.simulator.mechanisms import Mechanism
from smartharvest.lab.simulator.workloads import Primary

class Simulation:
    """The polling loop on a simulated machine (csrc/lab/simulator/run.h).

    Times in nanoseconds of virtual time, cores in 0..cores. ``every_poll`` makes even those polls
    one by one that cannot change anything: the same result, slower. ``exact`` weighs windows by
    time; ``event_driven``, exact too, looks at events instead of polling. ``given``: no loop runs;
    so many cores are lent from each window's beginning on. ``elastic_min`` of the cores are the
    elastic group's at any time, shared; the loop's total is what is left. Raises ValueError for
    settings out of range.
    """

    def __init__(
        self,
        *,
        cores: int,
        primaries: list[Primary],
        mechanism: Mechanism,
        seed: int,
        window_ns: int = 25_000_000,
        poll_ns: int = 50_000,
        max_harvest: int | None = None,
        keep_idle: int = 1,
        exact: bool = False,
        event_driven: bool = False,
        queue_in_transit: bool = True,
        preempt_running: bool = False,
        cold_ns: int = 0,
        late_ns: int = 0,
        agent_ns: int = 0,
        agent_every_ns: int = 0,
        dispatch_every_ns: int = 100_000,
        long_wait_ns: int = 50_000,
        every_poll: bool = False,
        given: list[int] | None = None,
        elastic_min: int = 0,
    ) -> None: ...
    def advance(self, until_ns: int) -> Window | None:
        """Runs up to ``until_ns``; the window that was handed over before, or None.

        Raises OSError with EOVERFLOW for a load that no number of cores could serve, and with the
        loop's errno if it has halted.
        """

    def post(self, at_ns: int, plan: Plan) -> None:
        """The plan reaches the loop at ``at_ns``, after those posted before.

        Raises OSError with EAGAIN if too many are on their way.
        """

    def keep_spare(self, most: int) -> None:
        """So many lent cores are kept idle at most from now on, where sharing has ``let_go_ns``."""

    @property
    def now_ns(self) -> int: ...
    @property
    def cores(self) -> int: ...
    @property
    def primary_cores(self) -> int:
        """What the loop has left to the primaries."""

    @property
    def halt(self) -> tuple[str, int] | None:
        """(what failed, errno) once the loop has given up."""

    def peaks(self) -> tuple[int, int]:
        """(busy cores, demand) at most in the last window, between the polls too."""

    def counters(self) -> dict[str, int]:
        """Everything the loop has counted (csrc/loop/loop.h, struct sh_counters)."""

    def totals(self) -> dict[str, int]:
        """Everything the machine has counted (struct sh_sim_totals), and ``under_predictions``:
        windows in which the primaries wanted more cores than they had been left."""

    def state(self) -> dict[str, int]:
        """Who has what at this moment.

        Cores: ``primary`` (of which ``idle`` run nothing), ``lending``, ``lent``, ``returning``,
        ``elastic`` (those the elastic group has). Threads: ``busy`` on a core, ``demand`` those
        that want one, ``ready`` those of them in a queue. Requests: ``in_system``.
        """

    def primary(self, number: int) -> dict[str, int]:
        """What primary ``number`` has met so far: ``arrived``, ``completed`` requests, ``running``,
        ``active`` threads, ``work_ns``, ``latency_sum_ns``, ``latency_max_ns``. IndexError if there
        is none."""

    def latency_us(self, quantiles: list[float], number: int | None = None) -> list[float]:
        """Quantiles (0..1) of the completed requests' latencies, of one primary or of all, within
        0.1 %; 0 where nothing was completed."""

    def forget_latencies(self) -> None:
        """Starts the counts again, with the requests that complete later."""

    def wait_us(self, q: float) -> float:
        """Quantile of the threads' waits for a core, without the dispatches inside a service."""

    def waits(self) -> tuple[int, int, int, int]:
        """(dispatches, long waits, those of them the harvest may have caused) since the start, and
        the longest of those that still go on, in ns.

        Waits that have not ended and are long already count too.
        """

    def spans(self, number: int) -> dict[str, dict[int, int]]:
        """How long a primary's threads have taken from waking up to their end since the start:
        ``lent``, those that something was lent in, with those that would have come while one was
        held up; ``unharmed``, the same without what lending held them up for; and ``not_lent``, all
        others. How long they have waited for a core each time: ``waits`` if something was lent,
        ``waits_not_lent`` if not; ``harmed_waits`` and ``unharmed_waits`` are the former as
        ``lent`` and ``unharmed`` are. Count by upper edge in ns, eight edges an octave."""

    def woken_by_own(self, number: int) -> int:
        """How many of a primary's threads another of its threads has woken since the start."""

    def harm(self, number: int) -> dict[str, dict[str, Any]]:
        """What lending has cost a primary since the start, for dispatches that something was lent
        in (``lent``) and the others (``not_lent``): ``waits`` and ``wakes_to_sleeps`` as (middle of
        a bucket in ns, count), their sums, and the counts of csrc/lab/simulator/harm.h."""

    def recent_dispatches(self) -> dict[str, tuple[tuple[int, int], ...]]:
        """Since the last call: ``waits``, ``runs`` of the threads that began, and ``moves``, how
        long cores took that were given back.

        Histograms of (upper edge of a bucket in ns, count). Dispatches inside a service are left
        out."""
