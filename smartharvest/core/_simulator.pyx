# cython: language_level=3, boundscheck=True, wraparound=False, embedsignature=True
# cython: freethreading_compatible=False
"""Binding of the simulated machine (csrc/lab/simulator/). It converts and owns memory; it decides
nothing."""

import os

cimport cython
from cpython.mem cimport PyMem_Calloc, PyMem_Free
from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.string cimport memset

from smartharvest.core._c cimport histogram, loop, simulator
from smartharvest.core._c.memory cimport allocate as memory_of

from smartharvest.core import timeouts
from smartharvest.core.plan import Plan
from smartharvest.core.window import Window

_ARRIVALS = {
    "poisson": simulator.SH_SIM_POISSON,
    "mmpp": simulator.SH_SIM_MMPP,
    "deterministic": simulator.SH_SIM_PACED,
    "trace": simulator.SH_SIM_TRACE,
}
_SERVICES = {
    "deterministic": simulator.SH_SIM_DETERMINISTIC,
    "exponential": simulator.SH_SIM_EXPONENTIAL,
    "lognormal": simulator.SH_SIM_LOGNORMAL,
    "erlang": simulator.SH_SIM_ERLANG,
}


@cython.no_gc_clear
cdef class Simulation:
    """The polling loop on a simulated machine (csrc/lab/simulator/run.h)."""

    cdef simulator.sh_sim_run *run
    cdef object blocks
    cdef readonly int cores

    def __cinit__(
        self,
        *,
        cores: int,
        primaries: list[object],
        mechanism: object,
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
    ) -> None:
        cdef simulator.sh_sim_machine_config machine
        cdef simulator.sh_sim_traffic_config *traffic
        cdef loop.sh_loop_config config
        cdef uint32_t *primary_cores
        cdef uint32_t *levels
        self.blocks = []
        self.cores = cores
        self.run = <simulator.sh_sim_run *> self.allocate(1, sizeof(simulator.sh_sim_run))
        self.run.loop.event_fd = self.run.loop.plan_fd = -1
        if len(primaries) > simulator.SH_SIM_MAX_PRIMARIES:
            raise ValueError(f"more than {simulator.SH_SIM_MAX_PRIMARIES} primaries")
        memset(&machine, 0, sizeof(machine))
        memset(&config, 0, sizeof(config))
        machine.cores = cores
        machine.elastic_min = elastic_min
        self.copy_delay(mechanism.lend, &machine.mechanism.lend)
        self.copy_delay(mechanism.give_back, &machine.mechanism.give_back)
        machine.mechanism.per_core = mechanism.per_core
        machine.queue_in_transit = queue_in_transit
        machine.preempt_running = preempt_running
        machine.cold_ns = cold_ns
        machine.late_ns = late_ns
        machine.agent_ns = agent_ns
        machine.agent_every_ns = agent_every_ns
        machine.dispatch_every_ns = dispatch_every_ns
        machine.long_wait_ns = long_wait_ns
        if mechanism.sharing is not None:
            machine.sharing.shared = True
            machine.sharing.stall_share = mechanism.sharing.stall_share
            machine.sharing.turn_share = mechanism.sharing.turn_share
            machine.sharing.tick_ns = mechanism.sharing.tick_ns
            machine.sharing.let_go_ns = mechanism.sharing.let_go_ns
            machine.sharing.queues = mechanism.sharing.queues
            machine.sharing.turn_ns = mechanism.sharing.turn_ns
        machine.seed = seed & 0xffffffffffffffff
        memset(&config, 0, sizeof(config))
        config.window_ns = window_ns
        config.poll_ns = poll_ns
        config.plan_ttl_ns = timeouts.plan_ttl_ns(window_ns)
        config.stale_ns = mechanism.sleep_ns + timeouts.stale_ns(
            window_ns, poll_ns, event_driven=event_driven
        )
        config.total = cores - elastic_min
        config.keep_idle = max(1, keep_idle)
        # As on a host: confined, the primary keeps what is always idle, however bold the plan.
        total = cores - elastic_min
        most = total if max_harvest is None else min(total, max_harvest)
        config.max_harvest = max(0, min(most, total - <int> config.keep_idle))
        config.max_shared = most if config.keep_idle == 1 else config.max_harvest
        config.exact = exact or event_driven
        config.event_driven = event_driven
        traffic = <simulator.sh_sim_traffic_config *> self.allocate(
            len(primaries), sizeof(simulator.sh_sim_traffic_config)
        )
        primary_cores = <uint32_t *> self.allocate(len(primaries), sizeof(uint32_t))
        for i, primary in enumerate(primaries):
            primary_cores[i] = primary.cores
            self.copy_traffic(primary, &traffic[i])
        cdef int err = simulator.sh_sim_run_init(
            self.run, &machine, traffic, primary_cores, len(primaries), &config
        )
        if err:
            raise ValueError(f"simulation settings out of range: {os.strerror(-err)}")
        self.run.sleep_ns = mechanism.sleep_ns
        self.run.every_poll = every_poll
        if given is not None:
            levels = <uint32_t *> self.allocate(len(given), sizeof(uint32_t))
            for i, level in enumerate(given):
                levels[i] = level
            self.run.given = levels
            self.run.given_length = len(given)
            self.run.given_window_ns = window_ns

    def __dealloc__(self) -> None:
        if self.run is not NULL:
            simulator.sh_sim_run_destroy(self.run)
        for address in self.blocks or ():
            PyMem_Free(<void *> <size_t> address)

    cdef void *allocate(self, size_t count, size_t size) except NULL:
        cdef void *memory = memory_of(count or 1, size)
        self.blocks.append(<size_t> memory)
        return memory

    cdef int copy_delay(self, object quantiles, simulator.sh_sim_delay *delay) except -1:
        cdef double *share = <double *> self.allocate(len(quantiles), sizeof(double))
        cdef int64_t *ns = <int64_t *> self.allocate(len(quantiles), sizeof(int64_t))
        for i, (part, value_ns) in enumerate(quantiles):
            share[i] = part
            ns[i] = value_ns
        delay.share = share
        delay.ns = ns
        delay.length = len(quantiles)
        return 0

    cdef int copy_traffic(
        self, object primary, simulator.sh_sim_traffic_config *traffic
    ) except -1:
        cdef simulator.sh_sim_rate *schedule
        cdef int64_t *trace
        schedule = <simulator.sh_sim_rate *> self.allocate(
            len(primary.schedule), sizeof(simulator.sh_sim_rate)
        )
        for i, (for_ns, rate_qps) in enumerate(primary.schedule):
            schedule[i].for_ns = for_ns
            schedule[i].per_s = rate_qps
        trace = <int64_t *> self.allocate(len(primary.trace_ns), sizeof(int64_t))
        for i, arrival_ns in enumerate(primary.trace_ns):
            trace[i] = arrival_ns
        traffic.arrivals = _ARRIVALS[primary.arrivals]
        traffic.schedule = schedule
        traffic.schedule_length = len(primary.schedule)
        traffic.multiplier = primary.multiplier
        traffic.on_ns = primary.on_ns
        traffic.off_ns = primary.off_ns
        traffic.batch_mean = primary.batch_mean
        traffic.trace = trace
        traffic.trace_length = len(primary.trace_ns)
        traffic.trace_period_ns = primary.trace_period_ns
        traffic.service = _SERVICES[primary.service.distribution]
        traffic.service_mean_ns = primary.service.mean_ns
        traffic.sigma = primary.service.sigma
        traffic.shape = primary.service.shape
        traffic.fork_min, traffic.fork_max = primary.fork
        traffic.send_ns, traffic.wake_ns = primary.send_ns, primary.wake_ns
        return 0

    def advance(self, until_ns: int) -> Window | None:
        """Runs up to ``until_ns``; the window that was handed over before, or None.

        Raises OSError with EOVERFLOW for a load that no number of cores could serve, and with the
        loop's errno if it has halted.
        """
        cdef int64_t until = until_ns
        cdef int done
        cdef loop.sh_summary s
        with nogil:
            done = simulator.sh_sim_run_advance(self.run, until)
        if done < 0:
            raise OSError(-done, os.strerror(-done))
        if not loop.sh_loop_take(&self.run.loop, &s):
            return None
        return loop.window_of(Window, &s)

    def post(self, at_ns: int, plan: Plan) -> None:
        """The plan reaches the loop at ``at_ns``."""
        cdef loop.sh_plan c_plan = loop.plan_of(plan)
        cdef int err = simulator.sh_sim_run_post(self.run, at_ns, &c_plan)
        if err:
            raise OSError(-err, os.strerror(-err))

    def keep_spare(self, most: int) -> None:
        """So many lent cores are kept idle at most from now on, where sharing has ``let_go_ns``."""
        simulator.sh_sim_machine_keep_spare(&self.run.machine, most)

    @property
    def now_ns(self) -> int:
        return self.run.machine.now_ns

    @property
    def primary_cores(self) -> int:
        """What the loop has left to the primaries."""
        return self.run.loop.primary_cores

    @property
    def halt(self) -> tuple[str, int] | None:
        """(what failed, errno) once the loop has given up."""
        why = loop.halt_name(self.run.loop.halt)
        return None if why is None else (why, self.run.loop.error)

    def peaks(self) -> tuple[int, int]:
        """(busy cores, demand) at most in the last window, between the polls too."""
        return self.run.busy_peak, self.run.demand_peak

    def counters(self) -> dict[str, int]:
        """Everything the loop has counted (csrc/loop/loop.h, struct sh_counters)."""
        return dict(self.run.loop.counters)

    def totals(self) -> dict[str, int]:
        """Everything the machine has counted (struct sh_sim_totals), and ``under_predictions``."""
        return {**self.run.machine.totals, "under_predictions": self.run.under_predictions}

    def state(self) -> dict[str, int]:
        """Who has what at this moment, in cores, threads and requests."""
        cdef simulator.sh_sim_machine *machine = &self.run.machine
        names = {
            simulator.SH_SIM_PRIMARY: "primary",
            simulator.SH_SIM_LENDING: "lending",
            simulator.SH_SIM_LENT: "lent",
            simulator.SH_SIM_RETURNING: "returning",
        }
        held = dict.fromkeys(names.values(), 0)
        for i in range(self.cores):
            held[names[machine.cores[i].state]] += 1
        return {
            **held,
            "idle": machine.idle_count,
            "elastic": machine.elastic,
            "busy": machine.busy,
            "demand": machine.demand,
            "ready": machine.ready,
            "in_system": machine.in_system,
        }

    def primary(self, number: int) -> dict[str, int]:
        """What primary ``number`` has met so far: requests, their work and their latencies."""
        if not 0 <= number < <int> self.run.machine.primary_count:
            raise IndexError(number)
        cdef simulator.sh_sim_primary *primary = &self.run.machine.primaries[number]
        return {
            "arrived": primary.arrived,
            "completed": primary.completed,
            "running": primary.running,
            "active": primary.active,
            "work_ns": primary.work_ns,
            "latency_sum_ns": primary.latencies.sum_ns,
            "latency_max_ns": primary.latencies.max_ns,
        }

    def latency_us(self, quantiles: list[float], number: int | None = None) -> list[float]:
        """Quantiles (0..1) of the completed requests' latencies, of one primary or of all."""
        cdef simulator.sh_sim_machine *machine = &self.run.machine
        cdef simulator.sh_sim_latencies *all_of_them
        if number is None:
            chosen = range(machine.primary_count)
        elif 0 <= number < <int> machine.primary_count:
            chosen = (number,)
        else:
            raise IndexError(number)
        all_of_them = <simulator.sh_sim_latencies *> PyMem_Calloc(
            1, sizeof(simulator.sh_sim_latencies)
        )
        if all_of_them is NULL:
            raise MemoryError
        try:
            for i in chosen:
                simulator.sh_sim_latencies_merge(all_of_them, &machine.primaries[i].latencies)
            return [
                simulator.sh_sim_latencies_quantile(all_of_them, q) / 1e3 for q in quantiles
            ]
        finally:
            PyMem_Free(all_of_them)

    def forget_latencies(self) -> None:
        """Starts the counts again, with the requests that complete later."""
        cdef simulator.sh_sim_machine *machine = &self.run.machine
        for i in range(machine.primary_count):
            memset(&machine.primaries[i].latencies, 0, sizeof(simulator.sh_sim_latencies))

    def wait_us(self, q: float) -> float:
        """Quantile of the threads' waits for a core, without the dispatches inside a service."""
        return simulator.sh_sim_latencies_quantile(&self.run.machine.waits, q) / 1e3

    def waits(self) -> tuple[int, int, int, int]:
        """(dispatches, long waits, those of them the harvest may have caused) since the start, and
        the longest of those that still go on, in ns.

        Waits that have not ended and are long already count too.
        """
        cdef simulator.sh_sim_totals *totals = &self.run.machine.totals
        cdef simulator.sh_sim_long_waits pending
        pending = simulator.sh_sim_machine_long_waits(&self.run.machine)
        return (
            totals.dispatches + pending.all,
            totals.long_waits + pending.all,
            totals.blamed_waits + pending.blamed,
            pending.blamed_longest_ns,
        )

    def recent_dispatches(self) -> dict[str, object]:
        """``waits``, ``runs``, ``moves`` since the last call: (upper edge, count)."""
        cdef simulator.sh_sim_recent *recent = &self.run.machine.recent
        kept = {
            "waits": histogram.durations(&recent.waits),
            "runs": histogram.durations(&recent.runs),
            "moves": histogram.durations(&recent.moves),
        }
        memset(recent, 0, sizeof(recent[0]))
        return kept

    def harm(self, number: int) -> dict[str, dict[str, object]]:
        """What lending has cost a primary since the start, for dispatches that something was lent
        in (``lent``) and the others (``not_lent``): ``waits`` and ``wakes_to_sleeps`` as (middle of
        a bucket in ns, count), their sums, and the counts of csrc/lab/simulator/harm.h."""
        if not 0 <= number < self.run.machine.primary_count:
            raise IndexError(number)
        cdef simulator.sh_sim_harm *harm = &self.run.machine.primaries[number].harm
        return {"not_lent": _harm_side(&harm.sides[0]), "lent": _harm_side(&harm.sides[1])}

    def spans(self, number: int) -> dict[str, dict[int, int]]:
        """How long a primary's threads have taken from waking up to their end since the start:
        ``lent``, those that something was lent in, with those that would have come while one was
        held up; ``unharmed``, the same without what lending held them up for; and ``not_lent``, all
        others. How long they have waited for a core each time: ``waits`` if something was lent,
        ``waits_not_lent`` if not; ``harmed_waits`` and ``unharmed_waits`` are the former as
        ``lent`` and ``unharmed`` are. Count by upper edge in ns, eight edges an octave."""
        if not 0 <= number < self.run.machine.primary_count:
            raise IndexError(number)
        cdef simulator.sh_sim_harm *harm = &self.run.machine.primaries[number].harm
        return {
            "lent": _coarse(&harm.harmed),
            "unharmed": _coarse(&harm.unharmed),
            "not_lent": _coarse(&harm.sides[0].wakes_to_sleeps),
            "waits": _coarse(&harm.sides[1].waits),
            "waits_not_lent": _coarse(&harm.sides[0].waits),
            "harmed_waits": _coarse(&harm.harmed_waits),
            "unharmed_waits": _coarse(&harm.unharmed_waits),
        }

    def woken_by_own(self, number: int) -> int:
        """How many of a primary's threads another of its threads has woken since the start."""
        if not 0 <= number < self.run.machine.primary_count:
            raise IndexError(number)
        return self.run.machine.primaries[number].harm.woken_by_own


cdef dict _coarse(const simulator.sh_sim_latencies *latencies):
    cdef uint32_t i, j
    cdef uint32_t width = (1 << simulator.SH_SIM_LATENCY_BITS) // 8
    cdef uint64_t count
    found = {}
    for i in range(<uint32_t> simulator.SH_SIM_LATENCY_BUCKETS // width):
        count = 0
        for j in range(i * width, (i + 1) * width):
            count += latencies.count[j]
        if count:
            found[simulator.sh_sim_latencies_middle((i + 1) * width - 1)] = count
    return found


cdef dict _harm_side(const simulator.sh_sim_harm_side *side):
    return {
        "waits": _durations(&side.waits),
        "wakes_to_sleeps": _durations(&side.wakes_to_sleeps),
        "wait_ns": side.waits.sum_ns,
        "wake_to_sleep_ns": side.wakes_to_sleeps.sum_ns,
        "long_waits": side.long_waits,
        "behind_elastic": side.behind_elastic,
        "here": side.behind_elastic_here,
    }


cdef tuple _durations(const simulator.sh_sim_latencies *latencies):
    cdef uint32_t i
    return tuple([
        (simulator.sh_sim_latencies_middle(i), latencies.count[i])
        for i in range(<uint32_t> simulator.SH_SIM_LATENCY_BUCKETS)
        if latencies.count[i]
    ])
