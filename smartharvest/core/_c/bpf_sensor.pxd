from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t

from smartharvest.core._c.sensor cimport sh_displacements, sh_sensor

cdef extern from "bpf/sensor_state.h" nogil:
    enum:
        SH_BPF_MAX_CPUS
        SH_BPF_MAX_TARGETS
        SH_BPF_MAX_PRIMARIES
        SH_BPF_MAX_LEVEL
        SH_BPF_UNKNOWN
        SH_BPF_IDLE
        SH_BPF_OTHER
        SH_BPF_ELASTIC
        SH_BPF_PRIMARY
        SH_BPF_PROCESS
        SH_BPF_V2
        SH_BPF_V1_CPUSET
        SH_BPF_V1_CPU
        SH_BPF_WAITS
        SH_BPF_LEVELS
        SH_BPF_DEMAND
        SH_BPF_RUNS
        SH_BPF_HARM

    struct sh_bpf_target:
        uint64_t id
        uint32_t hierarchy, runner

    struct sh_bpf_wait_counts:
        uint64_t waits, total_ns, longer, longer_while_lent, longer_after_elastic
        uint64_t longer_throttled, longer_blamed

    struct sh_bpf_run_counts:
        uint64_t runs, total_ns

    struct sh_bpf_harm_counts:
        uint64_t wait_ns, wake_to_sleep_ns, agent_ns, long_waits, behind_elastic
        uint64_t behind_elastic_here, unjudged

    struct sh_bpf_harm_side:
        sh_bpf_harm_counts counts
        uint64_t waits[512]
        uint64_t wakes_to_sleeps[512]

    struct sh_bpf_harm:
        sh_bpf_harm_side sides[2]
        uint64_t harmed[512]
        uint64_t unharmed[512]
        uint64_t harmed_waits[512]
        uint64_t unharmed_waits[512]
        uint64_t lost
        uint64_t idle_answers, idle_answer_ns
        uint64_t woken_by_own

cdef extern from "sensors/bpf_sensor.h" nogil:
    struct sh_bpf_config:
        sh_bpf_target targets[80]
        uint32_t target_count
        uint32_t allocations[64]
        uint32_t primary_count, parts
        uint64_t wait_threshold_ns
        uint32_t used_cpus[4096]
        uint32_t used_count
        uint32_t pool[4096]
        uint32_t pool_count

    struct sh_bpf_sensor:
        uint32_t cpu_count

    enum:
        SH_BPF_WAIT_BUCKETS
        SH_BPF_RUN_BUCKETS
        SH_BPF_HARM_BUCKETS

    struct sh_bpf_waits:
        sh_bpf_wait_counts counts
        uint64_t histogram[576]

    struct sh_bpf_runs:
        sh_bpf_run_counts counts
        uint64_t histogram[449]

    struct sh_bpf_pending:
        uint64_t waits, longer, longer_throttled, longer_blamed, longest_ns, blamed_longest_ns
        uint64_t primary_tasks, tasks

    struct sh_bpf_drift:
        uint32_t cpus
        int32_t busy, wanting
        uint64_t missed

    int sh_bpf_sensor_open(
        sh_bpf_sensor *bpf, const sh_bpf_config *config, sh_sensor *sensor, const char **reason
    )
    void sh_bpf_sensor_close(sh_bpf_sensor *bpf)
    int sh_bpf_sensor_levels(
        const sh_bpf_sensor *bpf, uint32_t count, uint64_t *busy_ns, uint64_t *wanting_ns
    )
    void sh_bpf_sensor_waits(const sh_bpf_sensor *bpf, sh_bpf_waits *waits)
    void sh_bpf_waits_since(sh_bpf_waits *waits, const sh_bpf_waits *earlier)
    uint64_t sh_bpf_wait_middle(uint32_t bucket)
    uint64_t sh_bpf_run_middle(uint32_t bucket)
    uint64_t sh_bpf_waits_quantile(const sh_bpf_waits *waits, double q)
    int sh_bpf_sensor_pending(sh_bpf_sensor *bpf, sh_bpf_pending *pending)
    int sh_bpf_sensor_resync(sh_bpf_sensor *bpf, sh_bpf_drift *drift)
    void sh_bpf_sensor_runs(const sh_bpf_sensor *bpf, sh_bpf_runs *runs)
    void sh_bpf_runs_since(sh_bpf_runs *runs, const sh_bpf_runs *earlier)
    uint64_t sh_bpf_runs_quantile(const sh_bpf_runs *runs, double q)
    bint sh_bpf_sensor_tells_harm(const sh_bpf_sensor *bpf)
    void sh_bpf_sensor_harm(const sh_bpf_sensor *bpf, uint32_t primary, sh_bpf_harm *harm)
    void sh_bpf_harm_since(sh_bpf_harm *harm, const sh_bpf_harm *earlier)
    void sh_bpf_sensor_primary_time(
        const sh_bpf_sensor *bpf, uint32_t cpu, uint64_t *total_ns, uint64_t *lent_ns
    )
    uint32_t sh_bpf_sensor_runner(const sh_bpf_sensor *bpf, uint32_t cpu)
    uint64_t sh_bpf_sensor_displacements(const sh_bpf_sensor *bpf)
    void sh_bpf_sensor_count_minimum(sh_bpf_sensor *bpf, int64_t now_ns, bint counts)
    void sh_bpf_sensor_excuse_caps(sh_bpf_sensor *bpf, bint excuses)
    void sh_bpf_sensor_mind_affinity(sh_bpf_sensor *bpf, bint minds)
    void sh_bpf_sensor_tells(sh_bpf_sensor *bpf, sh_displacements *displacements)
