from libc.stdint cimport int32_t, int64_t, uint16_t, uint32_t, uint64_t

from smartharvest.core._c.actuator cimport sh_actuator
from smartharvest.core._c.clock cimport sh_clock
from smartharvest.core._c.histogram cimport sh_histogram
from smartharvest.core._c.sensor cimport sh_lendable, sh_sensor
from smartharvest.core._c.window cimport sh_features

cdef extern from "loop/loop.h" nogil:
    enum:
        SH_MAX_CPU_WORDS

    enum sh_window_flags:
        SH_WINDOW_EXHAUSTED
        SH_WINDOW_STALE
        SH_WINDOW_HALTED
        SH_WINDOW_RESTED

    enum sh_halt:
        SH_HALT_NONE
        SH_HALT_SENSOR
        SH_HALT_ACTUATOR
        SH_HALT_CLOCK

    struct sh_loop_config:
        int64_t window_ns, poll_ns, plan_ttl_ns, stale_ns
        uint32_t total, max_harvest, max_shared, keep_idle
        const uint16_t *whole_harvests
        bint exact, event_driven

    struct sh_limits:
        uint32_t max_harvest, max_shared, keep_idle
        const uint16_t *whole_harvests

    struct sh_plan:
        uint32_t seq, primary_cores, safe_cores, buffer
        bint patient
        int64_t quiet_ns
        bint shared

    struct sh_summary:
        int64_t start_ns, end_ns
        sh_features features
        uint32_t seq, polls, busy_max, busy_last, demand_max, primary_cores, flags
        bint decided
        int32_t label
        uint32_t planned_cores, planned_safe_cores

    struct sh_decide:
        bint (*answer)(void *ctx, sh_summary *summary)
        void *ctx

    ctypedef uint32_t atomic_uint32_t "_Atomic uint32_t"

    struct sh_revocation:
        const atomic_uint32_t *revoked
        int fd

    struct sh_counters:
        uint64_t polls, late_polls, missed_polls, windows, dropped_windows
        uint64_t short_safeguards, assignments, plans_expired, stale_windows
        uint64_t polled_ns, harvested_core_ns, busy_core_ns, demand_core_ns, wake_ups

    ctypedef int64_t atomic_int64_t "_Atomic int64_t"

    struct sh_loop:
        atomic_int64_t *beat
        sh_clock clock
        sh_sensor sensor
        sh_actuator actuator
        sh_lendable lendable
        uint32_t primary_cores
        int event_fd, plan_fd
        sh_decide decide
        sh_revocation revocation
        sh_counters counters
        sh_histogram lateness, moves
        int halt, error
        uint32_t harvested
        uint64_t cpus[64]
        uint64_t realtime_cpus[64]
        int fifo_priority
        uint32_t most_cpu_percent
        int64_t most_rest_ns
        int scheduling
        int32_t tid
        int64_t cpu_ns

    int sh_loop_init(sh_loop *loop, const sh_loop_config *config)
    void sh_loop_destroy(sh_loop *loop)
    int sh_loop_step(sh_loop *loop, int64_t deadline_ns, int64_t now_ns)
    int sh_loop_change(
        sh_loop *loop, const sh_actuator *actuator, const sh_sensor *sensor,
        const sh_limits *limits
    )
    int sh_loop_start(sh_loop *loop)
    void sh_loop_stop(sh_loop *loop)
    void sh_loop_post(sh_loop *loop, const sh_plan *plan)
    void sh_loop_permit(sh_loop *loop, int64_t until_ns)
    bint sh_loop_take(sh_loop *loop, sh_summary *summary)
    void sh_loop_hurry(sh_loop *loop, bint hurry)
    void sh_loop_rest(sh_loop *loop, int64_t most_ns)
    int sh_loop_wait(sh_loop *loop, int timeout_ms, int other_fd)


cdef inline object window_of(object kind, const sh_summary *s):
    """A smartharvest.core.window.Window, which is ``kind``."""
    return kind(
        seq=s.seq,
        start_ns=s.start_ns,
        end_ns=s.end_ns,
        polls=s.polls,
        busy_min=int(s.features.min),
        busy_max=s.busy_max,
        busy_mean=s.features.mean,
        busy_std=s.features.std,
        busy_median=s.features.median,
        busy_last=s.busy_last,
        demand_max=s.demand_max,
        primary_cores=s.primary_cores,
        exhausted=bool(s.flags & SH_WINDOW_EXHAUSTED),
        stale=bool(s.flags & (SH_WINDOW_STALE | SH_WINDOW_HALTED)),
        rested=bool(s.flags & SH_WINDOW_RESTED),
    )


cdef inline sh_plan plan_of(object plan) except *:
    """Of a smartharvest.core.plan.Plan."""
    cdef sh_plan c_plan
    quiet_ns = plan.quiet_ns
    c_plan.seq = plan.seq & 0xffffff
    c_plan.primary_cores = plan.primary_cores
    c_plan.safe_cores = plan.safe_cores
    c_plan.buffer = plan.buffer
    c_plan.patient = quiet_ns is not None
    c_plan.quiet_ns = quiet_ns or 0
    c_plan.shared = plan.shared
    return c_plan


cdef inline object halt_name(int why):
    """What failed; None while nothing has."""
    if why == SH_HALT_NONE:
        return None
    if why == SH_HALT_SENSOR:
        return "sensor"
    return "actuator" if why == SH_HALT_ACTUATOR else "clock"
