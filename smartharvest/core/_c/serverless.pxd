from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t

cdef extern from "lab/simulator/random.h" nogil:
    struct sh_sim_random:
        pass

    void sh_sim_random_seed(sh_sim_random *random, uint64_t seed, uint64_t stream)
    uint32_t sh_sim_below(sh_sim_random *random, uint32_t count)

cdef extern from "lab/serverless/balancer.h" nogil:
    enum sh_faas_kind:
        SH_FAAS_MIN_WORKER_SET
        SH_FAAS_SHORTEST_QUEUE
        SH_FAAS_HOME_INVOKER
        SH_FAAS_TWO_CHOICES

    struct sh_faas_view:
        double cores, min_cores, load, reported_s, eviction_s, memory_mib, busy_memory_mib
        uint32_t warm
        bint present

    struct sh_faas_function:
        uint32_t number, hash
        double memory_mib

    struct sh_faas_options:
        sh_faas_kind kind
        double fresh_s, lost_s, fill, grow_at, forget_s, cold_cost

    struct sh_faas_balancer:
        sh_sim_random random

    struct sh_faas_pool:
        const sh_faas_view *views
        const uint32_t *order
        uint32_t count

    int sh_faas_balancer_init(
        sh_faas_balancer *balancer, const sh_faas_options *options, uint32_t functions,
        uint32_t slots, uint64_t seed, uint64_t stream
    )
    void sh_faas_balancer_destroy(sh_faas_balancer *balancer)
    int64_t sh_faas_choose(
        sh_faas_balancer *balancer, const sh_faas_function *function, const sh_faas_pool *pool,
        const uint8_t *warm, double now_s
    )

cdef extern from "lab/serverless/worker.h" nogil:
    struct sh_faas_worker:
        double core_ns, busy_core_ns

    struct sh_faas_cluster:
        sh_faas_worker *workers

cdef extern from "lab/serverless/cluster_run.h" nogil:
    struct sh_faas_change:
        int64_t at_ns
        double value
        uint32_t slot, kind

    struct sh_faas_run_config:
        uint32_t slots, functions, invocations, changes, controllers
        const sh_faas_change *change
        const double *worker_memory_mib
        const double *worker_min_cores
        const uint8_t *worker_regular
        const uint32_t *function_hash
        const double *function_memory_mib
        const int64_t *function_cold_ns
        const uint8_t *function_regular
        const uint8_t *function_idempotent
        const int64_t *arrival_ns
        const uint32_t *function
        const int64_t *work_ns
        int64_t *end_ns
        uint32_t *worker
        uint8_t *cold
        uint8_t *attempts
        sh_faas_options options
        uint64_t seed
        int64_t report_ns, keep_alive_ns, measure_until_ns, give_up_ns
        uint32_t retries

    struct sh_faas_run:
        sh_faas_cluster cluster
        int64_t now_ns
        uint64_t retried, handed_back, evictions, notices, events

    int sh_faas_run_init(sh_faas_run *run, const sh_faas_run_config *config)
    void sh_faas_run_destroy(sh_faas_run *run)
    int sh_faas_run_advance(sh_faas_run *run, uint64_t events)
