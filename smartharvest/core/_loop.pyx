# cython: language_level=3, boundscheck=True, wraparound=False, embedsignature=True
# cython: freethreading_compatible=False
"""Binding of the polling loop (csrc/loop/loop.h has its numbered rules) and of its window."""

import os
from collections.abc import Sequence

cimport cython
from cpython.buffer cimport PyBuffer_Release
from cpython.exc cimport PyErr_CheckSignals
from cpython.mem cimport PyMem_Free
from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.stdint cimport int32_t, int64_t, uint16_t, uint32_t
from libc.string cimport memset

from smartharvest.core._actuators cimport Actuator
from smartharvest.core._c cimport clock, histogram, loop, window
from smartharvest.core._c.lend_order cimport sh_lend_order
from smartharvest.core._c.memory cimport allocate, hold_slot
from smartharvest.core._sensors cimport Sensor

from smartharvest.core import timeouts
from smartharvest.core.plan import Plan
from smartharvest.core.window import Window

MAX_CORES = window.SH_MAX_CORES

_PACING = {
    "sleep": clock.SH_PACING_SLEEP,
    "spin": clock.SH_PACING_SPIN,
}
_SCHEDULING = {-1: None, 0: "fifo", 1: "short-slice", 2: "other"}


def monotonic_ns() -> int:
    """CLOCK_MONOTONIC as the loop reads it."""
    return clock.sh_monotonic_ns()


cdef class WindowStatistics:
    """The loop's window by itself (csrc/loop/window.h), for tests and benchmarks."""

    cdef window.sh_window c

    def __cinit__(self) -> None:
        window.sh_window_reset(&self.c, 0)

    def add(self, busy: int, demand: int = 0, count: int = 1) -> None:
        cdef uint32_t b = busy, d = max(busy, demand)
        cdef Py_ssize_t _
        for _ in range(count):
            window.sh_window_add(&self.c, b, d)

    def features(self) -> tuple[float, float, float, float, float]:
        """(min, max, mean, std, median) in cores."""
        cdef window.sh_features f
        window.sh_window_features(&self.c, &f)
        return f.min, f.max, f.mean, f.std, f.median

    def time_features(self, repeat: int) -> float:
        """Mean nanoseconds of computing the features ``repeat`` times, without Python's share."""
        cdef window.sh_features f
        cdef int64_t start, _, count = repeat
        with nogil:
            start = clock.sh_monotonic_ns()
            for _ in range(count):
                window.sh_window_features(&self.c, &f)
            start = clock.sh_monotonic_ns() - start
        return start / repeat


cdef uint16_t *whole_of(object whole_harvests, int total) except? NULL:
    """How many of 0..total cores can be lent as whole ones; NULL: all. To be freed."""
    if whole_harvests is None:
        return NULL
    if len(whole_harvests) != total + 1:
        raise ValueError(f"{len(whole_harvests)} whole harvests for 0..{total}")
    cdef uint16_t *whole = <uint16_t *> allocate(total + 1, sizeof(uint16_t))
    cdef int i
    for i in range(total + 1):
        if not 0 <= whole_harvests[i] <= i:
            PyMem_Free(whole)
            raise ValueError(f"of {i} cores {whole_harvests[i]} cannot be lent")
        whole[i] = whole_harvests[i]
    return whole


# C code uses what the loop holds until __dealloc__; the collector calls __del__, which ends its
# thread, before it empties anything.
@cython.no_gc_clear
cdef class Loop:
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

    def __cinit__(
        self,
        *,
        sensor: Sensor,  # no-cython-lint
        actuator: Actuator,  # no-cython-lint
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
        beat_slot: object = None,
        exact: bool = False,
        event_driven: bool = False,
        lendable: Sequence[int] = (),
        elastic_min: int = 0,
        rescue: object = None,
    ) -> None:
        cdef loop.sh_loop_config config
        if exact and not sensor.sees_changes:
            raise ValueError("this sensor does not see every change")
        if event_driven and not sensor.wakes:
            raise ValueError("this sensor does not wake anybody")
        config.window_ns = window_ns
        config.poll_ns = poll_ns
        config.plan_ttl_ns = plan_ttl_ns or timeouts.plan_ttl_ns(window_ns)
        config.stale_ns = stale_ns or timeouts.stale_ns(
            window_ns, poll_ns, event_driven=event_driven
        )
        config.exact = exact
        config.event_driven = event_driven
        config.total = total
        config.max_harvest = total if max_harvest is None else max_harvest
        config.max_shared = config.max_harvest if max_shared is None else max_shared
        config.keep_idle = max(1, keep_idle)
        self.whole = whole_of(whole_harvests, total)
        config.whole_harvests = self.whole
        self.sensor = sensor
        self.actuator = actuator
        self.total = total
        self.c = <loop.sh_loop *> allocate(1, sizeof(loop.sh_loop))
        self.c.event_fd = self.c.plan_fd = -1
        cdef int err = loop.sh_loop_init(self.c, &config)
        if err:
            raise ValueError(f"loop settings out of range: {os.strerror(-err)}")
        self.c.sensor = sensor.seam
        self.c.actuator = actuator.seam
        self.lend(actuator.order, lendable, elastic_min)
        self.rescue = rescue
        clock.sh_clock_monotonic(&self.c.clock, _PACING[pacing])
        self.place(cpus, realtime_cpus)
        self.c.fifo_priority = fifo_priority
        self.c.most_cpu_percent = 0 if pacing == "spin" else most_cpu_percent
        self.c.most_rest_ns = most_rest_ns
        if beat_slot is not None:
            self.c.beat = <loop.atomic_int64_t *> hold_slot(
                beat_slot, &self.beat, sizeof(int64_t)
            )

    def __del__(self) -> None:
        if self.c is not NULL:
            self.stop()

    def __dealloc__(self) -> None:
        if self.c is not NULL:
            with nogil:
                loop.sh_loop_destroy(self.c)
            PyMem_Free(self.c)
        PyMem_Free(self.whole)
        PyMem_Free(self.lendable)
        PyBuffer_Release(&self.beat)
        PyBuffer_Release(&self.revoked)

    cdef void place(self, object cpus, object realtime_cpus) except *:
        """Where the thread runs from its next start on."""
        memset(self.c.cpus, 0, sizeof(self.c.cpus))
        memset(self.c.realtime_cpus, 0, sizeof(self.c.realtime_cpus))
        for cpu in cpus or ():
            if cpu < loop.SH_MAX_CPU_WORDS * 64:
                self.c.cpus[cpu // 64] |= (<unsigned long long> 1) << (cpu % 64)
        for cpu in realtime_cpus or cpus or ():
            if cpu < loop.SH_MAX_CPU_WORDS * 64:
                self.c.realtime_cpus[cpu // 64] |= (<unsigned long long> 1) << (cpu % 64)

    cdef void lend(self, object order, object lendable, int elastic_min) except *:
        """Which CPUs change hands: those of the ``order``, or ``lendable`` in their order."""
        cdef sh_lend_order *chosen
        PyMem_Free(self.lendable)
        self.lendable = NULL
        if order is not None:
            chosen = <sh_lend_order *> <size_t> order.address
            self.c.lendable.cpus = chosen.cpus
            self.c.lendable.count = chosen.count
            self.c.lendable.elastic_min = chosen.elastic_min
            return
        self.lendable = <int32_t *> allocate(max(1, len(lendable)), sizeof(int32_t))
        for i, cpu in enumerate(lendable):
            self.lendable[i] = cpu
        self.c.lendable.cpus = self.lendable
        self.c.lendable.count = len(lendable)
        self.c.lendable.elastic_min = elastic_min

    def change(
        self,
        *,
        actuator: Actuator,  # no-cython-lint
        max_harvest: int,
        max_shared: int,
        keep_idle: int,
        whole_harvests: Sequence[int] | None = None,
        cpus: list[int] | None = None,
        realtime_cpus: list[int] | None = None,
        lendable: Sequence[int] = (),
        elastic_min: int = 0,
        rescue: object = None,
        sensor: object = None,
    ) -> None:
        """Between ``stop`` and ``start``: other limits, another actuator, rescue and sensor."""
        cdef loop.sh_limits limits
        cdef Sensor other = sensor
        cdef uint16_t *whole = whole_of(whole_harvests, self.total)
        limits.max_harvest = max_harvest
        limits.max_shared = max_shared
        limits.keep_idle = max(1, keep_idle)
        limits.whole_harvests = whole
        cdef int err = loop.sh_loop_change(
            self.c, &actuator.seam, NULL if other is None else &other.seam, &limits
        )
        if err:
            PyMem_Free(whole)
            raise ValueError("a loop that runs, or senses otherwise, cannot be changed")
        if other is not None:
            self.sensor = other
        PyMem_Free(self.whole)
        self.whole = whole
        self.actuator = actuator
        self.lend(actuator.order, lendable, elastic_min)
        self.rescue = rescue
        self.place(cpus, realtime_cpus)

    def start(self) -> None:
        """Starts the thread. Raises OSError if it cannot be made."""
        cdef int err
        with nogil:
            err = loop.sh_loop_start(self.c)
        if err:
            raise OSError(-err, os.strerror(-err))

    def stop(self) -> None:
        """Gives everything back and ends the thread; harmless when it does not run."""
        with nogil:
            loop.sh_loop_stop(self.c)
        if self.rescue is not None:
            self.rescue.close()

    def step(self, deadline_ns: int, now_ns: int) -> int:
        """One poll without a thread: 0, or the negative errno the loop halted on."""
        cdef int64_t deadline = deadline_ns, now = now_ns
        cdef int err
        with nogil:
            err = loop.sh_loop_step(self.c, deadline, now)
        return err

    def post(self, plan: Plan) -> None:
        """Hands the loop the plan that answers a window."""
        cdef loop.sh_plan c_plan = loop.plan_of(plan)
        loop.sh_loop_post(self.c, &c_plan)

    def decide_with(self, decider: object | None) -> None:
        """Windows are answered by ``decider`` (None: not in the loop) from the start on; the loop
        keeps it alive."""
        if decider is None:
            memset(&self.c.decide, 0, sizeof(self.c.decide))
            self.decider = None
            return
        self.c.decide = (
            <loop.sh_decide *> PyCapsule_GetPointer(decider.capsule, "smartharvest.decide")
        )[0]
        self.decider = decider

    def lend_until(self, revocation: object | None) -> None:
        """Between ``stop`` and ``start``: nothing is lent once the ``revocation`` says so."""
        self.c.revocation.revoked = NULL
        self.c.revocation.fd = -1
        PyBuffer_Release(&self.revoked)
        self.revocation = revocation
        if revocation is not None:
            self.c.revocation.revoked = <loop.atomic_uint32_t *> hold_slot(
                revocation.slot, &self.revoked, sizeof(uint32_t)
            )
            self.c.revocation.fd = revocation.fd

    def permit(self, until_ns: int) -> None:
        """The decider may lend until then; 0: no longer."""
        loop.sh_loop_permit(self.c, until_ns)

    def hurry(self, hurry: bool) -> None:
        """Whether a window wakes who waits; if not, half a ring does (SH_RING_WINDOWS)."""
        loop.sh_loop_hurry(self.c, hurry)

    def rest(self, most_ns: int) -> None:
        """So long a window may last where no look can move a core; 0: as long as ever.

        One that lasts two windows or more is ``rested``. For an event-driven loop whose windows
        nobody asks for.
        """
        loop.sh_loop_rest(self.c, most_ns)

    def wait(self, timeout_ms: int, other_fd: int = -1) -> bool:
        """Waits for a window, or for ``other_fd``, without the GIL; False after the timeout.

        Signal handlers run.
        """
        cdef int ready, timeout = timeout_ms, other = other_fd
        with nogil:
            ready = loop.sh_loop_wait(self.c, timeout, other)
        PyErr_CheckSignals()
        return ready > 0

    def take(self) -> Window | None:
        """The oldest window not yet taken, or None."""
        taken = self.take_answered()
        return None if taken is None else taken[0]

    def take_answered(self) -> tuple[Window, tuple[int, int, int | None] | None] | None:
        """The same with what the decider answered: (primary cores, safe cores, label)."""
        cdef loop.sh_summary s
        if not loop.sh_loop_take(self.c, &s):
            return None
        label = None if s.label < 0 else s.label
        answer = (s.planned_cores, s.planned_safe_cores, label) if s.decided else None
        found = loop.window_of(Window, &s)
        return found, answer

    @property
    def halt(self) -> tuple[str, int] | None:
        """(what failed, errno) once the loop has given up: sensor, actuator or clock."""
        why = loop.halt_name(self.c.halt)
        return None if why is None else (why, self.c.error)

    @property
    def primary_cores(self) -> int:
        return self.total - <int> self.c.harvested

    @property
    def harvested(self) -> int:
        return self.c.harvested

    @property
    def scheduling(self) -> str | None:
        """What the thread runs as: fifo, short-slice or other; None before it runs."""
        return _SCHEDULING[self.c.scheduling]

    @property
    def tid(self) -> int:
        return self.c.tid

    @property
    def cpu_ns(self) -> int:
        """CPU time the thread has used."""
        return self.c.cpu_ns

    def counters(self) -> dict[str, int]:
        """Everything counted since the start (csrc/loop/loop.h, struct sh_counters)."""
        return dict(self.c.counters)

    def lateness_ns(self, q: float) -> int:
        """Quantile ``q`` of how late polls were, within 12.5 %; q = 1 is the exact maximum."""
        if q >= 1.0:
            return self.c.lateness.max_ns
        return histogram.sh_histogram_quantile(&self.c.lateness, q)

    def lateness(self) -> tuple[tuple[tuple[int, int], ...], int]:
        """How late polls were: (upper edge of a bucket in ns, count), and the sum in ns."""
        return histogram.durations(&self.c.lateness), self.c.lateness.sum_ns

    def moves(self) -> tuple[tuple[tuple[int, int], ...], int]:
        """How long moving cores took, in the same form; nothing in virtual time."""
        return histogram.durations(&self.c.moves), self.c.moves.sum_ns

    def time_steps(self, repeat: int) -> float:
        """Mean nanoseconds of a poll over ``repeat`` polls driven back to back in virtual time."""
        cdef int64_t start, i, count = repeat
        with nogil:
            start = clock.sh_monotonic_ns()
            for i in range(count):
                loop.sh_loop_step(self.c, i * 50000, i * 50000)
            start = clock.sh_monotonic_ns() - start
        return start / repeat
