from libc.stdint cimport int64_t, uint32_t, uint64_t

from smartharvest.core._c.histogram cimport sh_histogram
from smartharvest.core._c.loop cimport sh_loop, sh_loop_config, sh_plan

cdef extern from "lab/simulator/traffic.h" nogil:
    enum sh_sim_arrivals:
        SH_SIM_POISSON
        SH_SIM_MMPP
        SH_SIM_PACED
        SH_SIM_TRACE

    enum sh_sim_service:
        SH_SIM_DETERMINISTIC
        SH_SIM_EXPONENTIAL
        SH_SIM_LOGNORMAL
        SH_SIM_ERLANG

    struct sh_sim_rate:
        int64_t for_ns
        double per_s

    struct sh_sim_traffic_config:
        sh_sim_arrivals arrivals
        const sh_sim_rate *schedule
        uint32_t schedule_length
        double multiplier, on_ns, off_ns, batch_mean
        const int64_t *trace
        uint32_t trace_length
        int64_t trace_period_ns
        sh_sim_service service
        double service_mean_ns, sigma
        uint32_t shape, fork_min, fork_max
        int64_t send_ns, wake_ns

cdef extern from "lab/simulator/latencies.h" nogil:
    enum:
        SH_SIM_LATENCY_BITS
        SH_SIM_LATENCY_BUCKETS

    struct sh_sim_latencies:
        uint64_t count[37888]
        uint64_t total, sum_ns
        int64_t max_ns

    void sh_sim_latencies_merge(sh_sim_latencies *to, const sh_sim_latencies *source)
    uint64_t sh_sim_latencies_middle(uint32_t bucket)
    double sh_sim_latencies_quantile(const sh_sim_latencies *latencies, double q)

cdef extern from "lab/simulator/harm.h" nogil:
    struct sh_sim_harm_side:
        sh_sim_latencies waits, wakes_to_sleeps
        uint64_t long_waits, behind_elastic, behind_elastic_here

    struct sh_sim_harm:
        sh_sim_harm_side sides[2]
        sh_sim_latencies harmed
        sh_sim_latencies unharmed
        sh_sim_latencies harmed_waits, unharmed_waits
        uint64_t woken_by_own

cdef extern from "lab/simulator/machine.h" nogil:
    enum:
        SH_SIM_MAX_PRIMARIES

    enum sh_sim_core_state:
        SH_SIM_PRIMARY
        SH_SIM_LENDING
        SH_SIM_LENT
        SH_SIM_RETURNING

    struct sh_sim_delay:
        const double *share
        const int64_t *ns
        uint32_t length

    struct sh_sim_mechanism:
        sh_sim_delay lend, give_back
        bint per_core

    struct sh_sim_sharing:
        bint shared
        double stall_share, turn_share
        int64_t tick_ns
        int64_t let_go_ns
        bint queues
        int64_t turn_ns

    struct sh_sim_machine_config:
        sh_sim_sharing sharing
        uint32_t cores, elastic_min
        sh_sim_mechanism mechanism
        bint queue_in_transit, preempt_running
        int64_t cold_ns, dispatch_every_ns, long_wait_ns, late_ns, agent_ns, agent_every_ns
        uint64_t seed

    struct sh_sim_primary:
        uint32_t cores, running, active
        sh_sim_latencies latencies
        sh_sim_harm harm
        uint64_t arrived, completed, work_ns

    struct sh_sim_core:
        sh_sim_core_state state
        bint busy, queued

    struct sh_sim_totals:
        uint64_t busy_core_ns, demand_core_ns, elastic_core_ns, requests_ns
        uint64_t dispatches, long_waits, blamed_waits, wait_ns
        uint64_t lent, given_back, preempted, stranded, assignments

    struct sh_sim_recent:
        sh_histogram waits, runs, moves

    struct sh_sim_machine:
        sh_sim_recent recent
        sh_sim_primary *primaries
        uint32_t primary_count
        sh_sim_core *cores
        uint32_t idle_count, in_system
        sh_sim_totals totals
        sh_sim_latencies waits
        int64_t now_ns
        uint32_t busy, demand, ready, lent, returning, elastic
        int error

    struct sh_sim_long_waits:
        uint32_t all, blamed
        int64_t blamed_longest_ns

    void sh_sim_machine_keep_spare(sh_sim_machine *machine, uint32_t most)
    sh_sim_long_waits sh_sim_machine_long_waits(const sh_sim_machine *machine)

cdef extern from "lab/simulator/run.h" nogil:
    struct sh_sim_run:
        sh_sim_machine machine
        sh_loop loop
        int64_t sleep_ns
        bint every_poll
        int64_t next_poll_ns
        const uint32_t *given
        uint32_t given_length
        int64_t given_window_ns
        uint64_t under_predictions
        uint32_t busy_peak, demand_peak

    int sh_sim_run_init(
        sh_sim_run *run,
        const sh_sim_machine_config *machine,
        const sh_sim_traffic_config *traffic,
        const uint32_t *cores,
        uint32_t primary_count,
        const sh_loop_config *loop,
    )
    void sh_sim_run_destroy(sh_sim_run *run)
    int sh_sim_run_advance(sh_sim_run *run, int64_t until_ns)
    int sh_sim_run_post(sh_sim_run *run, int64_t at_ns, const sh_plan *plan)
