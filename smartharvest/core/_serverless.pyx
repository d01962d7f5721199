# cython: language_level=3, boundscheck=True, wraparound=False, embedsignature=True
# cython: freethreading_compatible=False
"""Binding of simulated functions and workers (csrc/lab/serverless/). It converts and owns memory;
it decides nothing."""

import os

import numpy as np

cimport cython
from cpython.exc cimport PyErr_CheckSignals
from cpython.mem cimport PyMem_Free
from libc.math cimport INFINITY
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t

from smartharvest.core._c cimport serverless as c
from smartharvest.core._c.memory cimport allocate

CHANGE = np.dtype(
    {
        "names": ["at_ns", "value", "slot", "kind"],
        "formats": [np.int64, np.float64, np.uint32, np.uint32],
        "itemsize": sizeof(c.sh_faas_change),
    }
)
"""What happens to a worker, in the order of time: see csrc/lab/serverless/cluster_run.h."""
ARRIVES, RESIZED, NOTICED, EVICTED = range(4)
cdef uint64_t EVENTS_AT_ONCE = 200_000
_KINDS = {
    "mws": c.SH_FAAS_MIN_WORKER_SET,
    "jsq": c.SH_FAAS_SHORTEST_QUEUE,
    "vanilla": c.SH_FAAS_HOME_INVOKER,
    "p2c": c.SH_FAAS_TWO_CHOICES,
}


cdef int copy_options(str kind, object options, c.sh_faas_options *to) except -1:
    to.kind = _KINDS[kind]
    to.fresh_s = options["fresh_s"]
    to.lost_s = options["lost_s"]
    to.fill = options["fill"]
    to.grow_at = options["grow_at"]
    to.forget_s = options["forget_s"]
    to.cold_cost = options["cold_cost"]
    return 0


@cython.no_gc_clear
cdef class Random:
    """The random stream that a balancer of this seed and stream draws from."""

    cdef c.sh_sim_random *random

    def __cinit__(self, seed: int, stream: int) -> None:
        self.random = <c.sh_sim_random *> allocate(1, sizeof(c.sh_sim_random))
        c.sh_sim_random_seed(self.random, seed, stream)

    def __dealloc__(self) -> None:
        PyMem_Free(self.random)

    def below(self, uint32_t count) -> int:
        """In 0..count-1."""
        return c.sh_sim_below(self.random, count)


@cython.no_gc_clear
cdef class Balancer:
    """One balancer of the simulator, alone: for holding it against the Python ones."""

    cdef c.sh_faas_balancer *balancer
    cdef uint32_t functions, slots

    def __cinit__(
        self, kind: str, functions: int, slots: int, seed: int, stream: int, **options: float
    ) -> None:
        cdef c.sh_faas_options chosen
        copy_options(kind, options, &chosen)
        self.functions, self.slots = functions, slots
        self.balancer = <c.sh_faas_balancer *> allocate(1, sizeof(c.sh_faas_balancer))
        if c.sh_faas_balancer_init(self.balancer, &chosen, functions, slots, seed, stream):
            raise MemoryError

    def __dealloc__(self) -> None:
        if self.balancer is not NULL:
            c.sh_faas_balancer_destroy(self.balancer)
        PyMem_Free(self.balancer)

    def choose(
        self,
        function: int,
        hash_: int,
        memory_mib: float,
        workers: dict[int, object],
        now_s: float,
        name: str,
    ) -> int | None:
        """The slot of one of ``workers``, slot -> what is known of it; None if nobody may.

        ``name`` is the function's in the workers' sets of warm functions.
        """
        cdef c.sh_faas_function asked
        cdef c.sh_faas_pool pool
        cdef c.sh_faas_view *views
        cdef uint32_t *order
        cdef uint8_t *warm
        cdef int64_t chosen
        if not 0 <= function < <int64_t> self.functions:
            raise IndexError(function)
        asked.number, asked.hash, asked.memory_mib = function, hash_, memory_mib
        views = <c.sh_faas_view *> allocate(self.slots, sizeof(c.sh_faas_view))
        order = <uint32_t *> allocate(self.slots, sizeof(uint32_t))
        warm = <uint8_t *> allocate(self.slots, 1)
        try:
            for i, (slot, worker) in enumerate(workers.items()):
                if not 0 <= slot < <int64_t> self.slots:
                    raise IndexError(slot)
                order[<uint32_t> i] = slot
                views[<uint32_t> slot].cores = worker.cores
                views[<uint32_t> slot].min_cores = worker.min_cores
                views[<uint32_t> slot].load = worker.load
                views[<uint32_t> slot].reported_s = worker.reported_s
                views[<uint32_t> slot].eviction_s = (
                    INFINITY if worker.eviction_s is None else worker.eviction_s
                )
                views[<uint32_t> slot].memory_mib = worker.memory_mib
                views[<uint32_t> slot].busy_memory_mib = worker.busy_memory_mib
                views[<uint32_t> slot].warm = len(worker.warm)
                views[<uint32_t> slot].present = True
                warm[<uint32_t> slot] = name in worker.warm
            pool.views, pool.order, pool.count = views, order, len(workers)
            chosen = c.sh_faas_choose(self.balancer, &asked, &pool, warm, now_s)
        finally:
            PyMem_Free(views)
            PyMem_Free(order)
            PyMem_Free(warm)
        return None if chosen < 0 else chosen


def run(
    *,
    kind: str,
    options: dict[str, float],
    controllers: int,
    seed: int,
    retries: int,
    report_ns: int,
    keep_alive_ns: int,
    measure_until_ns: int,
    give_up_ns: int,
    changes: object,
    const double[::1] worker_memory_mib,
    const double[::1] worker_min_cores,
    const uint8_t[::1] worker_regular,
    const uint32_t[::1] function_hash,
    const double[::1] function_memory_mib,
    const int64_t[::1] function_cold_ns,
    const uint8_t[::1] function_regular,
    const uint8_t[::1] function_idempotent,
    const int64_t[::1] arrival_ns,
    const uint32_t[::1] function,
    const int64_t[::1] work_ns,
    object progress = None,
) -> dict[str, object]:
    """Runs everything; see csrc/lab/serverless/cluster_run.h for what the arrays are.
    ``progress`` gets the simulated time in nanoseconds, now and then.

    The result has an array each for ``end_ns``, ``worker``, ``cold``, ``attempts`` (an entry an
    invocation) and ``core_ns``, ``busy_core_ns`` (an entry a worker), and the counts ``retried``,
    ``handed_back``, ``evictions``, ``notices``, ``events``. Raises ValueError for arrays that do
    not fit one another.
    """
    cdef c.sh_faas_run_config config
    cdef uint32_t slots = worker_memory_mib.shape[0]
    cdef uint32_t functions = function_hash.shape[0]
    cdef uint32_t invocations = arrival_ns.shape[0]
    cdef const uint8_t[::1] change = np.ascontiguousarray(changes, dtype=CHANGE).view(np.uint8)
    if not (
        slots == worker_min_cores.shape[0] == worker_regular.shape[0] > 0
        and functions == function_memory_mib.shape[0] == function_cold_ns.shape[0]
        == function_regular.shape[0] == function_idempotent.shape[0] > 0
        and invocations == function.shape[0] == work_ns.shape[0] > 0
        and change.shape[0] > 0 and controllers > 0
    ):
        raise ValueError("arrays of different lengths, or empty ones")
    if np.max(function) >= functions or np.max(changes["slot"]) >= slots:
        raise ValueError("an unknown function or worker")
    if np.min(work_ns) <= 0 or np.any(np.diff(arrival_ns) < 0) or report_ns <= 0:
        raise ValueError("work and reports take time, and arrivals ascend")
    ends = np.zeros(invocations, np.int64)
    workers = np.zeros(invocations, np.uint32)
    colds = np.zeros(invocations, np.uint8)
    tries = np.zeros(invocations, np.uint8)
    cdef int64_t[::1] end_ns = ends
    cdef uint32_t[::1] worker = workers
    cdef uint8_t[::1] cold = colds
    cdef uint8_t[::1] attempts = tries
    config.slots, config.functions, config.invocations = slots, functions, invocations
    config.changes = len(changes)
    config.controllers = controllers
    config.change = <const c.sh_faas_change *> &change[0]
    config.worker_memory_mib = &worker_memory_mib[0]
    config.worker_min_cores = &worker_min_cores[0]
    config.worker_regular = &worker_regular[0]
    config.function_hash = &function_hash[0]
    config.function_memory_mib = &function_memory_mib[0]
    config.function_cold_ns = &function_cold_ns[0]
    config.function_regular = &function_regular[0]
    config.function_idempotent = &function_idempotent[0]
    config.arrival_ns = &arrival_ns[0]
    config.function = &function[0]
    config.work_ns = &work_ns[0]
    config.end_ns = &end_ns[0]
    config.worker = &worker[0]
    config.cold = &cold[0]
    config.attempts = &attempts[0]
    copy_options(kind, options, &config.options)
    config.seed = seed
    config.report_ns, config.keep_alive_ns = report_ns, keep_alive_ns
    config.measure_until_ns, config.give_up_ns = measure_until_ns, give_up_ns
    config.retries = retries
    cdef c.sh_faas_run *state = <c.sh_faas_run *> allocate(1, sizeof(c.sh_faas_run))
    cdef int done
    try:
        done = c.sh_faas_run_init(state, &config)
        while not done or done == 1:
            with nogil:
                done = c.sh_faas_run_advance(state, EVENTS_AT_ONCE)
            if done != 1:
                break
            PyErr_CheckSignals()
            if progress is not None:
                progress(state.now_ns)
        if done < 0:
            raise OSError(-done, os.strerror(-done))
        return {
            "end_ns": ends,
            "worker": workers,
            "cold": colds,
            "attempts": tries,
            "core_ns": np.array([state.cluster.workers[i].core_ns for i in range(slots)]),
            "busy_core_ns": np.array(
                [state.cluster.workers[i].busy_core_ns for i in range(slots)]
            ),
            "retried": state.retried,
            "handed_back": state.handed_back,
            "evictions": state.evictions,
            "notices": state.notices,
            "events": state.events,
        }
    finally:
        c.sh_faas_run_destroy(state)
        PyMem_Free(state)
