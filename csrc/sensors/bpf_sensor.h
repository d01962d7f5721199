/* Primary tasks as the scheduler itself sees them: a BPF program at every context switch keeps who
 * runs on each CPU, how long primary tasks waited for theirs and how many cores they use and want,
 * in memory that is read here without a system call. Tasks are matched by group (or process) at the
 * moment they are switched to, so those born later need nothing.
 *
 * Needs CAP_BPF and CAP_PERFMON, a little-endian kernel 6.1 or newer with BTF and CPU groups
 * (CONFIG_FAIR_GROUP_SCHED), and the first pid namespace; nothing of clang or libbpf.
 *
 * Two threads may use it at once: the loop's calls what struct sh_sensor holds, and alive; the
 * control plane's calls the rest.
 */
#ifndef SH_BPF_SENSOR_H
#define SH_BPF_SENSOR_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/sensor_state.h"
#include "sensors/sensor.h"

struct sh_bpf_config {
    /* runner: SH_BPF_ELASTIC or SH_BPF_PRIMARY + index. Groups may come from two hierarchies, apart
     * from processes. A group's number is that of its directory's inode. */
    struct sh_bpf_target targets[SH_BPF_MAX_TARGETS];
    uint32_t target_count;
    uint32_t allocations[SH_BPF_MAX_PRIMARIES]; /* cores each primary may count for */
    uint32_t primary_count;
    uint32_t parts; /* SH_BPF_WAITS | SH_BPF_LEVELS | SH_BPF_DEMAND | SH_BPF_RUNS | SH_BPF_HARM */
    uint64_t wait_threshold_ns;
    uint32_t used_cpus[SH_BPF_MAX_CPUS]; /* whose use is looked at, for free_for */
    uint32_t used_count;
    uint32_t pool[SH_BPF_MAX_CPUS]; /* CPUs on which a waiting task could run (SH_BPF_HARM) */
    uint32_t pool_count;
};

/* Time spent at each level since the start. */
struct sh_bpf_spent {
    uint64_t busy_ns[SH_BPF_MAX_LEVEL + 1], wanting_ns[SH_BPF_MAX_LEVEL + 1];
};

struct sh_bpf_sensor {
    struct sh_bpf_config config;
    struct sh_bpf_shared *shared; /* mapped */
    struct sh_bpf_cpu *cpus;      /* mapped, one for each possible CPU */
    struct sh_bpf_harm *harms;    /* mapped, of each CPU each primary */
    uint32_t harm_count;
    uint32_t cpu_count;
    uint64_t *wake_consumed;       /* mapped: positions in the ring of wake-ups */
    const uint64_t *wake_produced; /* mapped */
    uint32_t page_bytes;
    int maps[7], programs[8], links[7];

    /* Liveness. */
    int64_t next_check_ns;
    uint32_t watched_cpu;
    uint64_t watched_switches;
    /* Lending. */
    bool lent;
    uint32_t lending;
    /* When a primary was last seen to have used a CPU, and by what. */
    int64_t next_use_ns;
    int64_t used_ns[SH_BPF_MAX_CPUS];
    uint64_t seen_ns[SH_BPF_MAX_CPUS], seen_displacements[SH_BPF_MAX_CPUS];
    uint64_t levels_base;         /* the levels' time minus all that is booked: constant */
    struct sh_bpf_spent spent[2]; /* at this collection and the one before */
    uint32_t collections;
    /* Tasks wanting a CPU: what the last walks said. */
    int32_t wanting_off;
    uint32_t agreeing_walks;
};

/* Loads, attaches and seeds; wires *sensor. 0, or -errno with a few words in *reason. */
int sh_bpf_sensor_open(struct sh_bpf_sensor *bpf, const struct sh_bpf_config *config,
                       struct sh_sensor *sensor, const char **reason);
void sh_bpf_sensor_close(struct sh_bpf_sensor *bpf);

/* 0 if the program still sees switches, -ENOLINK if it has been detached. It may sleep for a moment
 * in order to be seen. sh_sensor.read asks this itself 50 times a second. */
int sh_bpf_sensor_alive(struct sh_bpf_sensor *bpf);

/* --- waits ------------------------------------------------------------------------------------ */

/* Since the start, over all primaries and CPUs. */
struct sh_bpf_waits {
    struct sh_bpf_wait_counts counts;
    uint64_t histogram[SH_BPF_WAIT_BUCKETS];
};
void sh_bpf_sensor_waits(const struct sh_bpf_sensor *bpf, struct sh_bpf_waits *waits);

/* *waits becomes what happened after *earlier. */
void sh_bpf_waits_since(struct sh_bpf_waits *waits, const struct sh_bpf_waits *earlier);

/* The durations in the middle of a bucket, in ns. */
uint64_t sh_bpf_wait_middle(uint32_t bucket);
uint64_t sh_bpf_run_middle(uint32_t bucket);

/* Middle of the bucket that holds quantile q (0..1); 0 when empty. */
uint64_t sh_bpf_waits_quantile(const struct sh_bpf_waits *waits, double q);

/* Waits that have not ended yet. */
struct sh_bpf_pending {
    uint64_t waits, longer, longer_throttled, longer_blamed; /* as in sh_bpf_wait_counts */
    uint64_t longest_ns, blamed_longest_ns; /* of those longer than the threshold */
    uint64_t primary_tasks, tasks;
};
/* Looks at every task of the system, about 0.15 us. 0 or -errno. */
int sh_bpf_sensor_pending(struct sh_bpf_sensor *bpf, struct sh_bpf_pending *pending);

/* --- run times (SH_BPF_RUNS) ------------------------------------------------------------------ */

/* Since the start, over all primaries and CPUs: the CPU time tasks used from waking up to going to
 * sleep again. Tasks under a real-time policy are left out: their dispatches cannot be
 * distinguished. */
struct sh_bpf_runs {
    struct sh_bpf_run_counts counts;
    uint64_t histogram[SH_BPF_RUN_BUCKETS];
};
void sh_bpf_sensor_runs(const struct sh_bpf_sensor *bpf, struct sh_bpf_runs *runs);

/* *runs becomes what happened after *earlier. */
void sh_bpf_runs_since(struct sh_bpf_runs *runs, const struct sh_bpf_runs *earlier);

/* Middle of the bucket that holds quantile q (0..1), so within 2.2 % from 512 ns on; 0 when empty.
 */
uint64_t sh_bpf_runs_quantile(const struct sh_bpf_runs *runs, double q);

/* --- harm (SH_BPF_HARM) ----------------------------------------------------------------------- */

/* Whether it is told: a kernel that refuses this part alone goes without it. */
bool sh_bpf_sensor_tells_harm(const struct sh_bpf_sensor *bpf);

/* Of one primary since the start, over all CPUs: dispatches that nothing was lent in (sides[0]) or
 * something was (sides[1]), from the wake-up on; by CLOCK_MONOTONIC, so what the scheduler's clock
 * hides of a preemption is in it. Zeros where it is not told. */
void sh_bpf_sensor_harm(const struct sh_bpf_sensor *bpf, uint32_t primary,
                        struct sh_bpf_harm *harm);

/* *harm becomes what happened after *earlier. */
void sh_bpf_harm_since(struct sh_bpf_harm *harm, const struct sh_bpf_harm *earlier);

/* Middle of the bucket of a histogram of harm that holds quantile q (0..1), so within 256 ns or 3.1
 * %; 0 when empty. */
uint64_t sh_bpf_harm_quantile(const uint64_t *histogram, double q);

/* --- staying true ----------------------------------------------------------------------------- */

struct sh_bpf_drift {
    uint32_t cpus; /* whose record was not what they ran */
    int32_t busy;  /* by how much the counts were wrong; they are right again */
    int32_t wanting;
    uint64_t missed; /* switches since the start that the program missed */
};
/* Compares the state with the run queues and puts it right, once a second or so; after nine minutes
 * without it and without a primary task the levels' clock would have wrapped. A difference is a
 * task whose group changed while it ran or waited, a CPU gone offline, or a switch that was missed.
 */
int sh_bpf_sensor_resync(struct sh_bpf_sensor *bpf, struct sh_bpf_drift *drift);

/* --- CPUs ------------------------------------------------------------------------------------- */

/* How long primary tasks have run on a CPU since the start, and of that while it was lent; the
 * stint that goes on is not in it. */
void sh_bpf_sensor_primary_time(const struct sh_bpf_sensor *bpf, uint32_t cpu, uint64_t *total_ns,
                                uint64_t *lent_ns);

/* Who runs on a CPU now: SH_BPF_UNKNOWN ... SH_BPF_PRIMARY + i. */
uint32_t sh_bpf_sensor_runner(const struct sh_bpf_sensor *bpf, uint32_t cpu);

/* How often an elastic task got a CPU that others waited for; counted while somebody listens. */
uint64_t sh_bpf_sensor_displacements(const struct sh_bpf_sensor *bpf);

/* Whether from now on what the elastic group has with nothing lent is lent as far as harm goes. */
void sh_bpf_sensor_count_minimum(struct sh_bpf_sensor *bpf, int64_t now_ns, bool counts);

/* Whether from now on what a primary waits since its own group has used up its CPU time (cpu.max)
 * is no harm. Nothing is excused before. */
void sh_bpf_sensor_excuse_caps(struct sh_bpf_sensor *bpf, bool excuses);

/* Whether from now on what runs on CPUs that a primary's task may not use cannot hold it up. It can
 * before, and where lending is what takes them from it. */
void sh_bpf_sensor_mind_affinity(struct sh_bpf_sensor *bpf, bool minds);

/* The source of them; none where nothing is hooked. */
void sh_bpf_sensor_tells(struct sh_bpf_sensor *bpf, struct sh_displacements *displacements);

/* --- levels (SH_BPF_LEVELS) ------------------------------------------------------------------- */

/* Nanoseconds since the start with exactly i busy cores (tasks wanting one, if SH_BPF_DEMAND) in
 * entry i, up to now; the last of `count` entries holds everything from there on. wanting_ns may be
 * NULL. Differences of two copies are a window's exact, time-weighted distribution. */
int sh_bpf_sensor_levels(const struct sh_bpf_sensor *bpf, uint32_t count, uint64_t *busy_ns,
                         uint64_t *wanting_ns);

#endif
