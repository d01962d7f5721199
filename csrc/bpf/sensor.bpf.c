// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
/* Who runs on every CPU, how long primary tasks wait for one, and how many cores they use and want.
 *
 * All state is in mapped memory (sensor_state.h); reading it takes no system call. What user space
 * sets before loading is constant to the verifier, which cuts away the parts not asked for.
 *
 * At sched_switch the current task is still the one that leaves, so everything is read from the
 * arguments. The run queue's clock has just been updated there, so no clock is read.
 */
#include "kernel_types.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "sensor_state.h"

/* Programs that call GPL-only helpers must say so to the kernel. */
char program_license[] SEC("license") = "GPL";

const volatile struct sh_bpf_settings settings;
struct sh_bpf_shared shared;

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(map_flags, BPF_F_MMAPABLE);
    __uint(max_entries, SH_BPF_MAX_CPUS); /* as many as there are, when it is loaded */
    __type(key, uint32_t);
    __type(value, struct sh_bpf_cpu);
} cpus SEC(".maps");

/* Of each CPU each primary. */
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(map_flags, BPF_F_MMAPABLE);
    __uint(max_entries, SH_BPF_MAX_CPUS); /* as many as are needed, when it is loaded */
    __type(key, uint32_t);
    __type(value, struct sh_bpf_harm);
} harms SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __uint(max_entries, SH_BPF_TRACKED_TASKS); /* one without harm, when it is loaded */
    __type(key, uint32_t);
    __type(value, struct sh_bpf_tracked_task);
} tracked_tasks SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_RINGBUF);
    __uint(max_entries, 4096); /* one page, when it is loaded */
} wakes SEC(".maps");

/* One event for each CPU, which the thread waits on that is to be woken there (rescue.h). */
struct {
    __uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
    __uint(max_entries, SH_BPF_MAX_CPUS); /* as many as there are, when it is loaded */
    __type(key, uint32_t);
    __type(value, uint32_t);
} rescues SEC(".maps");

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

/* --- whose task ------------------------------------------------------------------------------- */

/* A global function, so that the verifier looks at its loop once. */
__attribute__((noinline)) int runner_of_target(uint64_t id, uint32_t hierarchy) {
    for (uint32_t i = 0; i < SH_BPF_MAX_TARGETS; i++) {
        if (i >= shared.control.target_count)
            break;
        const struct sh_bpf_target *target = &shared.control.targets[i];
        if (target->id == id && target->hierarchy == hierarchy)
            return (int)target->runner;
    }
    return 0;
}

enum { MAX_DEPTH = 40 };

static __always_inline uint64_t *slot_of(uint64_t serial) {
    return &shared.known_groups[serial & (SH_BPF_KNOWN_GROUPS - 1)];
}

static __attribute__((noinline)) uint32_t climb(struct cgroup_subsys_state *css,
                                                uint32_t hierarchy) {
    const uint64_t serial = css->serial_nr;
    uint32_t runner = 0;
    for (int depth = 0; depth < MAX_DEPTH && css && !runner; depth++) {
        runner = (uint32_t)runner_of_target(css->cgroup->kn->id, hierarchy);
        css = css->parent;
    }
    if (!runner)
        runner = SH_BPF_OTHER;
    *slot_of(serial) = serial << 8 | runner;
    return runner;
}

/* The same for a pointer that had to be probed. */
static __attribute__((noinline)) uint32_t climb_probing(struct cgroup_subsys_state *css,
                                                        uint64_t serial, uint32_t hierarchy) {
    uint32_t runner = 0;
    for (int depth = 0; depth < MAX_DEPTH && css && !runner; depth++) {
        runner = (uint32_t)runner_of_target(BPF_CORE_READ(css, cgroup, kn, id), hierarchy);
        css = BPF_CORE_READ(css, parent);
    }
    if (!runner)
        runner = SH_BPF_OTHER;
    *slot_of(serial) = serial << 8 | runner;
    return runner;
}

static __always_inline uint32_t remembered(uint64_t serial) {
    const uint64_t word = *slot_of(serial);
    return likely(word >> 8 == serial) ? (uint32_t)(word & 0xff) : SH_BPF_UNKNOWN;
}

/* Where in css_set.subsys a controller stands depends on how the kernel was configured. */
static __always_inline uint64_t subsystem_offset(uint32_t hierarchy) {
    uint64_t index = 0;
    if (hierarchy == SH_BPF_V1_CPUSET)
        index = bpf_core_enum_value(enum cgroup_subsys_id, cpuset_cgrp_id);
    else if (hierarchy == SH_BPF_V1_CPU)
        index = bpf_core_enum_value(enum cgroup_subsys_id, cpu_cgrp_id);
    else if (hierarchy == SH_BPF_V1_CPUACCT)
        index = bpf_core_enum_value(enum cgroup_subsys_id, cpuacct_cgrp_id);
    else if (hierarchy == SH_BPF_V1_FREEZER)
        index = bpf_core_enum_value(enum cgroup_subsys_id, freezer_cgrp_id);
    else if (hierarchy == SH_BPF_V1_MEMORY)
        index = bpf_core_enum_value(enum cgroup_subsys_id, memory_cgrp_id);
    else
        index = bpf_core_enum_value(enum cgroup_subsys_id, pids_cgrp_id);
    return bpf_core_field_offset(struct css_set, subsys) + index * sizeof(void *);
}

static __always_inline uint32_t runner_in(struct css_set *set, uint32_t hierarchy) {
    struct cgroup_subsys_state *css;
    if (hierarchy == SH_BPF_V2)
        css = &set->dfl_cgrp->self;
    else
        css = *(struct cgroup_subsys_state **)((void *)set + subsystem_offset(hierarchy));
    const uint32_t runner = remembered(css->serial_nr);
    return likely(runner) ? runner : climb(css, hierarchy);
}

static __always_inline uint32_t runner_in_probing(struct css_set *set, uint32_t hierarchy) {
    struct cgroup_subsys_state *css = NULL;
    if (hierarchy == SH_BPF_V2)
        css = (void *)BPF_CORE_READ(set, dfl_cgrp) + bpf_core_field_offset(struct cgroup, self);
    else
        bpf_probe_read_kernel(&css, sizeof(css), (void *)set + subsystem_offset(hierarchy));
    const uint64_t serial = BPF_CORE_READ(css, serial_nr);
    const uint32_t runner = remembered(serial);
    return likely(runner) ? runner : climb_probing(css, serial, hierarchy);
}

static __always_inline uint32_t runner_of(struct task_struct *task) {
    uint32_t runner = SH_BPF_OTHER;
    if (task->pid == 0)
        return SH_BPF_IDLE;
    if (settings.processes) {
        const int found = runner_of_target((uint32_t)task->tgid, SH_BPF_PROCESS);
        if (found)
            return (uint32_t)found;
    }
    if (settings.hierarchies[0])
        runner = runner_in(task->cgroups, settings.hierarchies[0]);
    if (settings.hierarchies[1] && runner == SH_BPF_OTHER)
        runner = runner_in(task->cgroups, settings.hierarchies[1]);
    return runner;
}

/* For a task some other CPU runs: it may be gone at any moment. */
static __always_inline uint32_t runner_of_probing(struct task_struct *task) {
    uint32_t runner = SH_BPF_OTHER;
    if (BPF_CORE_READ(task, pid) == 0)
        return SH_BPF_IDLE;
    if (settings.processes) {
        const int found = runner_of_target((uint32_t)BPF_CORE_READ(task, tgid), SH_BPF_PROCESS);
        if (found)
            return (uint32_t)found;
    }
    if (settings.hierarchies[0])
        runner = runner_in_probing(BPF_CORE_READ(task, cgroups), settings.hierarchies[0]);
    if (settings.hierarchies[1] && runner == SH_BPF_OTHER)
        runner = runner_in_probing(BPF_CORE_READ(task, cgroups), settings.hierarchies[1]);
    return runner;
}

/* --- how many --------------------------------------------------------------------------------- */

enum {
    BUSY_MASK = (1 << SH_BPF_BUSY_BITS) - 1,
    WANTING_MASK = (1 << SH_BPF_WANTING_BITS) - 1,
    TIME_POSITION = SH_BPF_BUSY_BITS + SH_BPF_WANTING_BITS,
    CLAIM_TRIES = 16,
};
#define TIME_MASK ((1ULL << SH_BPF_TIME_BITS) - 1)

/* Written so that the verifier of Linux 6.1 sees the bound: a compiler compares one register and
 * uses another, whose connection is lost in a copy of 32 bits. */
static __always_inline uint64_t at_most(uint64_t value, uint64_t most) {
    asm volatile("if %0 <= %1 goto +1\n"
                 "%0 = %1\n"
                 : "+r"(value)
                 : "r"(most));
    return value;
}

/* Time that was booked at one level belongs to another. */
static __always_inline void rebook(uint64_t *times, uint32_t from, uint32_t to, uint64_t time) {
    __sync_fetch_and_sub(&times[at_most(from, SH_BPF_MAX_LEVEL)], time);
    __sync_fetch_and_add(&times[at_most(to, SH_BPF_MAX_LEVEL)], time);
}

/* Moves the counts at the time clock_ns and books the time since the last move to where they were.
 * A change that comes late, since CPUs' clocks are not read in the order of their moves or the
 * program was not told of a switch, takes over what has been booked since it happened. */
static __always_inline void move(uint64_t clock_ns, int32_t busy_by, int32_t wanting_by) {
    uint64_t now = clock_ns >> SH_BPF_TIME_SHIFT & TIME_MASK;
    now += !now; /* 0 is before the first move */
    for (int i = 0; i < CLAIM_TRIES; i++) {
        const uint64_t old = *(volatile uint64_t *)&shared.levels.word;
        const uint32_t old_busy = old & BUSY_MASK;
        const uint32_t old_wanting = old >> SH_BPF_BUSY_BITS & WANTING_MASK;
        const uint64_t then = old >> TIME_POSITION;
        int32_t busy = (int32_t)old_busy + busy_by, wanting = (int32_t)old_wanting + wanting_by;
        uint64_t passed = (now - then) & TIME_MASK, late = 0, until = now;
        if (unlikely(!then)) {
            passed = 0;
        } else if (unlikely(passed > TIME_MASK / 2)) {
            late = (then - now) & TIME_MASK;
            passed = 0;
            until = then;
        }
        /* Below zero only by a drift, which the next look repairs. */
        if (unlikely(busy < 0))
            busy = 0;
        if (unlikely(wanting < 0))
            wanting = 0;
        const uint64_t new = until << TIME_POSITION |
                             (uint64_t)(wanting & WANTING_MASK) << SH_BPF_BUSY_BITS |
                             (busy & BUSY_MASK);
        if (unlikely(__sync_val_compare_and_swap(&shared.levels.word, old, new) != old))
            continue;
        if (unlikely(late)) {
            rebook(shared.levels.busy_time, old_busy, (uint32_t)busy, late);
            if (settings.parts & SH_BPF_DEMAND)
                rebook(shared.levels.wanting_time, old_wanting, (uint32_t)wanting, late);
        } else {
            __sync_fetch_and_add(&shared.levels.busy_time[at_most(old_busy, SH_BPF_MAX_LEVEL)],
                                 passed);
            if (settings.parts & SH_BPF_DEMAND)
                __sync_fetch_and_add(
                    &shared.levels.wanting_time[at_most(old_wanting, SH_BPF_MAX_LEVEL)], passed);
        }
        const int32_t wake_at = shared.control.wake_at;
        if (unlikely(busy_by > 0 && wake_at >= 0 && busy >= wake_at) &&
            __sync_val_compare_and_swap(&shared.control.wake_at, wake_at, SH_BPF_NO_WAKE) ==
                wake_at) {
            const uint64_t word = new;
            bpf_ringbuf_output(&wakes, (void *)&word, sizeof(word), BPF_RB_FORCE_WAKEUP);
        }
        return;
    }
    /* Sixteen others were faster. */
    __sync_fetch_and_add(&shared.levels.word, sh_bpf_gains(busy_by, wanting_by));
}

static __always_inline uint32_t index_of(uint32_t runner) {
    return (runner - SH_BPF_PRIMARY) & (SH_BPF_MAX_PRIMARIES - 1);
}

/* By how much the sum of the primaries' capped counts changes when one of them changes. */
static __always_inline int32_t capped(int32_t *counts, uint32_t runner, int32_t by) {
    const uint32_t primary = index_of(runner);
    if (settings.primary_count == 1)
        return by; /* user space caps it */
    const int32_t old = __sync_fetch_and_add(&counts[primary], by);
    const int32_t most = (int32_t)settings.allocations[primary];
    return by > 0 ? old < most : -(old <= most);
}

/* Another runner has a CPU. */
static __always_inline int32_t change_busy(uint32_t was, uint32_t is) {
    int32_t by = 0;
    if (was >= SH_BPF_PRIMARY)
        by += capped(shared.levels.running, was, -1);
    if (is >= SH_BPF_PRIMARY)
        by += capped(shared.levels.running, is, 1);
    return by;
}

/* The task starts or stops to want a CPU. */
static __always_inline int32_t change_wanting(struct task_struct *task, uint32_t runner,
                                              int32_t by) {
    if (unlikely(shared.control.walking) && task->pid <= shared.walk.position)
        __sync_fetch_and_add(&shared.walk.wanting[index_of(runner)], by);
    return capped(shared.levels.wanting, runner, by);
}

static __always_inline struct rq *queue_of(struct task_struct *task) {
    return task->se.cfs_rq->rq; /* set for tasks of every class */
}

/* Has the task that leaves the CPU gone to sleep (or died), rather than been preempted? */
static __always_inline bool gone(struct task_struct *task) {
    if (task->on_rq == 0)
        return true;
    return bpf_core_field_exists(task->se.sched_delayed) && task->se.sched_delayed;
}

/* --- waits ------------------------------------------------------------------------------------ */

static __always_inline bool began_while_lent(int64_t begin_ns) {
    for (int i = 0; i < SH_BPF_LENDINGS; i++)
        if (begin_ns >= shared.control.lendings[i].from_ns &&
            begin_ns < shared.control.lendings[i].until_ns)
            return true;
    return false;
}

/* Has the CPU somebody who could have made a primary's task wait, and is no primary's? */
static __always_inline bool is_other(uint32_t runner) {
    return runner == SH_BPF_OTHER || runner == SH_BPF_ELASTIC;
}

static __always_inline void note_stint(struct sh_bpf_cpu *own, uint32_t was, uint32_t is,
                                       uint64_t clock) {
    if (is_other(was) == is_other(is))
        return;
    own->stint_count += is_other(is);
    struct sh_bpf_stint *stint = &own->stints[own->stint_count & (SH_BPF_STINTS - 1)];
    if (is_other(is)) {
        stint->from = clock;
        stint->until = 0;
    } else {
        stint->until = clock;
    }
}

/* How much of the time since `queued` others had the CPU, as far as the stints go back. */
static __always_inline uint64_t behind_others(const struct sh_bpf_cpu *own, uint64_t queued,
                                              uint64_t clock) {
    uint64_t sum = 0;
    for (int i = 0; i < SH_BPF_STINTS; i++) {
        const uint64_t begin = own->stints[i].from, end = own->stints[i].until;
        const uint64_t from = begin > queued ? begin : queued;
        const uint64_t until = end && end < clock ? end : clock;
        if (begin && until > from)
            sum += until - from;
    }
    return sum;
}

/* Is a long wait long because of others? */
static __always_inline bool others_made_long(uint64_t wait, uint64_t behind) {
    const uint64_t threshold = shared.control.wait_threshold_ns;
    return behind && (behind > threshold || wait - behind <= threshold);
}

/* A queue's throttled time grows when its throttling ends; whoever was queued before was in it. */
static __always_inline bool was_throttled(struct sh_bpf_cpu *own, struct cfs_rq *queue,
                                          uint64_t queued, uint64_t clock) {
    uint64_t throttled = 0;
    if (bpf_core_field_exists(queue->throttled_clock_self_time))
        throttled = queue->throttled_clock_self_time;
    else if (bpf_core_field_exists(queue->throttled_clock_pelt_time))
        throttled = queue->throttled_clock_pelt_time;
    if (own->throttled_queue != (uint64_t)queue) {
        own->throttled_queue = (uint64_t)queue;
        own->throttled_until = 0;
    } else if (throttled != own->throttled_ns) {
        own->throttled_until = clock;
    }
    own->throttled_ns = throttled;
    return queued < own->throttled_until;
}

/* The bucket of a value of at least 2^first, 16 to an octave; first is 4 to 63. A global function,
 * so that the verifier follows its branches once. */
__attribute__((noinline)) uint32_t octave_bucket(uint64_t value, uint32_t first, uint32_t octaves) {
    uint64_t rest = value >> first;
    uint32_t octave = 0;
    if (unlikely(rest >> 16)) {
        rest >>= 16;
        octave += 16;
    }
    if (rest >> 8) {
        rest >>= 8;
        octave += 8;
    }
    if (rest >> 4) {
        rest >>= 4;
        octave += 4;
    }
    if (rest >> 2) {
        rest >>= 2;
        octave += 2;
    }
    if (rest >> 1)
        octave++;
    if (octave >= octaves)
        return octaves * 16 - 1;
    return octave * 16 + (value >> (first - 4 + octave) & 15);
}

static __always_inline void note_wait(struct sh_bpf_cpu *own, struct task_struct *next,
                                      uint32_t left) {
    const uint64_t queued = next->sched_info.last_queued;
    if (!queued)
        return;
    struct cfs_rq *queue = next->se.cfs_rq;
    const uint64_t clock = queue->rq->clock;
    uint64_t wait = clock - queued;
    if (unlikely((int64_t)wait < 0))
        wait = 0;
    uint32_t bucket = (uint32_t)(wait >> SH_BPF_WAIT_SHIFT);
    if (unlikely(wait >> SH_BPF_WAIT_LOG2))
        bucket = SH_BPF_WAIT_LINEAR + octave_bucket(wait, SH_BPF_WAIT_LOG2, SH_BPF_WAIT_OCTAVES);
    if (bucket < SH_BPF_WAIT_BUCKETS)
        own->histogram[bucket]++;
    own->waits.waits++;
    own->waits.total_ns += wait;
    if (likely(wait <= shared.control.wait_threshold_ns))
        return;
    const bool lent = began_while_lent((int64_t)queued + shared.control.clock_offset_ns);
    const bool throttled = was_throttled(own, queue, queued, clock);
    own->waits.longer++;
    own->waits.longer_while_lent += lent;
    own->waits.longer_after_elastic += left == SH_BPF_ELASTIC;
    own->waits.longer_throttled += throttled;
    own->waits.longer_blamed +=
        lent && !throttled && others_made_long(wait, behind_others(own, queued, clock));
}

/* --- run times -------------------------------------------------------------------------------- */

enum { LOWEST_FAIR_PRIO = 100 };

/* The scheduler has just brought the leaving task's CPU time up to date. */
static __always_inline void note_run(struct sh_bpf_cpu *own, struct task_struct *task) {
    struct sh_bpf_preempted_run *begun =
        &shared.preempted_runs[task->pid & (SH_BPF_PREEMPTED_RUNS - 1)];
    uint64_t ran = task->se.sum_exec_runtime - task->se.prev_sum_exec_runtime;
    uint32_t bucket = 0;
    if (task->prio < LOWEST_FAIR_PRIO)
        return; /* where a dispatch began is kept for the fair class only */
    if (begun->task == task->pid) {
        ran += begun->ran_ns;
        begun->task = 0;
    }
    if (!gone(task)) {
        begun->ran_ns = ran > UINT32_MAX ? UINT32_MAX : (uint32_t)ran;
        begun->task = task->pid;
        return;
    }
    if (likely(ran >> SH_BPF_RUN_LOG2))
        bucket = 1 + octave_bucket(ran, SH_BPF_RUN_LOG2, SH_BPF_RUN_OCTAVES);
    if (bucket < SH_BPF_RUN_BUCKETS)
        own->run_histogram[bucket]++;
    own->runs.runs++;
    own->runs.total_ns += ran;
}

/* --- harm ------------------------------------------------------------------------------------- */

enum {
    CLOCK_AGE_LOG2 = 24,  /* a difference of the clocks older than that is taken anew, ns */
    LOOK_SPACING_NS = 256 /* of looks at other CPUs, for each CPU */
};

/* The run queue's clock is not read again for a task that preempts another: it then says when that
 * task woke up. So a dispatch is timed by a clock of its own; the difference of the two is the
 * least that is seen, or what it is at a wake-up, where the queue's has just been read. */
static __always_inline void note_clocks(struct sh_bpf_cpu *own, uint64_t now, uint64_t clock) {
    const int64_t offset = (int64_t)(now - clock);
    if (unlikely(offset < own->offset_ns || !own->offset_at)) {
        own->offset_ns = offset;
        own->offset_at = clock;
    }
}

static __always_inline void compare_clocks_at_wakeup(struct task_struct *task, uint64_t clock) {
    const uint32_t cpu = (uint32_t)queue_of(task)->cpu;
    struct sh_bpf_cpu *own = bpf_map_lookup_elem(&cpus, &cpu);
    if (!own || likely(!((clock - own->offset_at) >> CLOCK_AGE_LOG2)))
        return;
    own->offset_ns = (int64_t)(bpf_ktime_get_ns() - clock);
    own->offset_at = clock;
}

/* Which CPUs are idle and which run elastic tasks, and since when. */
static __always_inline void note_use(struct sh_bpf_cpu *own, uint32_t was, uint32_t is,
                                     uint64_t clock) {
    if (was == SH_BPF_IDLE && is != SH_BPF_IDLE)
        own->idle_until = clock;
    const uint64_t since = own->elastic_since;
    if (is == SH_BPF_ELASTIC) {
        if (!since)
            own->elastic_since = clock;
    } else if (since) {
        const uint64_t count = own->elastic_stints + 1;
        struct sh_bpf_stint *stint = &own->elastic[count & (SH_BPF_STINTS - 1)];
        stint->from = since;
        stint->until = clock;
        own->elastic_stints = count;
        own->elastic_since = 0;
    }
}

static __always_inline void note_agent(struct sh_bpf_cpu *own, const struct task_struct *prev,
                                       const struct task_struct *next, uint64_t clock) {
    if (unlikely(next->tgid == settings.agent)) {
        if (prev->tgid != settings.agent)
            own->agent.from = clock;
    } else if (unlikely(prev->tgid == settings.agent)) {
        own->agent.until = clock;
    }
}

/* How much of a stint lies between two moments. */
static __always_inline uint64_t overlap(uint64_t begin, uint64_t end, uint64_t from,
                                        uint64_t until) {
    if (begin < from)
        begin = from;
    if (end > until)
        end = until;
    return begin < end ? end - begin : 0;
}

/* The following are global functions, so that the verifier looks at each once. */

/* How long elastic tasks ran on a CPU between two moments, as far as its stints go back. */
__attribute__((noinline)) uint64_t elastic_between(uint32_t number, uint64_t from, uint64_t until) {
    const struct sh_bpf_cpu *cpu = bpf_map_lookup_elem(&cpus, &number);
    if (!cpu)
        return 0;
    const uint64_t since = *(volatile uint64_t *)&cpu->elastic_since;
    uint64_t sum = since ? overlap(since, until, from, until) : 0;
    for (int i = 0; i < SH_BPF_STINTS; i++) {
        /* In this order: of a stint that is being written nothing is seen. */
        const uint64_t end = *(volatile uint64_t *)&cpu->elastic[i].until;
        const uint64_t begin = *(volatile uint64_t *)&cpu->elastic[i].from;
        sum += overlap(begin, end, from, until);
    }
    return sum;
}

struct judgement {
    uint64_t from, until; /* of the wait: no CPU was idle in it */
    uint64_t elastic;     /* CPU time of elastic tasks in it */
};

static int leave_out_idle(uint32_t i, void *data) {
    struct judgement *judgement = data;
    const uint32_t number = shared.pool[i & (SH_BPF_MAX_CPUS - 1)];
    const struct sh_bpf_cpu *cpu = bpf_map_lookup_elem(&cpus, &number);
    if (!cpu)
        return 0;
    if (*(volatile uint32_t *)&cpu->runner == SH_BPF_IDLE) {
        judgement->from = judgement->until;
        return 1;
    }
    const uint64_t idle_until = *(volatile uint64_t *)&cpu->idle_until;
    if (idle_until > judgement->from)
        judgement->from = idle_until;
    return 0;
}

static int sum_elastic(uint32_t i, void *data) {
    struct judgement *judgement = data;
    const uint32_t number = shared.pool[i & (SH_BPF_MAX_CPUS - 1)];
    judgement->elastic += elastic_between(number, judgement->from, judgement->until);
    return judgement->elastic > SH_BPF_LONG_WAIT_NS;
}

enum { BEHIND_ELASTIC = 1, BEHIND_ELASTIC_HERE = 2, UNJUDGED = 4 };

/* What a long wait was for. It is looked for on all CPUs, but not all the time. */
__attribute__((noinline)) int judge_wait(uint32_t number, uint64_t from, uint64_t until,
                                         uint32_t left) {
    struct judgement judgement = {.from = from, .until = until};
    struct sh_bpf_cpu *own = bpf_map_lookup_elem(&cpus, &number);
    int found = 0;
    if (!own)
        return 0;
    if (elastic_between(number, from, until) > SH_BPF_LONG_WAIT_NS)
        found |= BEHIND_ELASTIC_HERE;
    if (left == SH_BPF_IDLE)
        return found; /* it was this CPU that did not come sooner */
    if (until < own->next_judgement)
        return found | UNJUDGED;
    own->next_judgement = until + settings.pool_count * LOOK_SPACING_NS;
    bpf_loop(settings.pool_count, leave_out_idle, &judgement, 0);
    if ((int64_t)(judgement.until - judgement.from) <= SH_BPF_LONG_WAIT_NS)
        return found;
    bpf_loop(settings.pool_count, sum_elastic, &judgement, 0);
    return judgement.elastic > SH_BPF_LONG_WAIT_NS ? found | BEHIND_ELASTIC : found;
}

static __always_inline void count_in(uint64_t *histogram, uint64_t ns) {
    uint32_t bucket = (uint32_t)(ns >> SH_BPF_WAIT_SHIFT);
    if (unlikely(ns >> SH_BPF_WAIT_LOG2))
        bucket = SH_BPF_WAIT_LINEAR + octave_bucket(ns, SH_BPF_WAIT_LOG2, SH_BPF_HARM_OCTAVES);
    if (likely(bucket < SH_BPF_HARM_BUCKETS))
        histogram[bucket]++;
}

static __always_inline struct sh_bpf_harm *harm_of(uint32_t cpu, uint32_t runner) {
    const uint32_t place = cpu * settings.primary_count + index_of(runner);
    return bpf_map_lookup_elem(&harms, &place);
}

static __always_inline struct sh_bpf_harm_side *side_of(struct sh_bpf_harm *harm,
                                                        uint64_t began_ns) {
    /* What was lent last ended then, or goes on: nothing was lent in all that has come since. */
    return (int64_t)began_ns < shared.control.lent_until_ns ? &harm->sides[1] : &harm->sides[0];
}

static __always_inline struct sh_bpf_tracked_task *tracked(int32_t pid) {
    const uint32_t place = (uint32_t)pid & (SH_BPF_TRACKED_TASKS - 1);
    return bpf_map_lookup_elem(&tracked_tasks, &place);
}

static __always_inline void note_long_wait(struct sh_bpf_harm_counts *counts, int found) {
    counts->long_waits++;
    counts->behind_elastic += !!(found & BEHIND_ELASTIC);
    counts->behind_elastic_here += !!(found & BEHIND_ELASTIC_HERE);
    counts->unjudged += !!(found & UNJUDGED);
}

/* It left unseen, nobody knows whether to sleep. */
static __always_inline void forget(int32_t pid) {
    struct sh_bpf_tracked_task *task = tracked(pid);
    if (task && task->task == pid)
        task->woke_ns = 0;
}

/* Who changes on which CPU, in one number: functions have few arguments. These two are global, so
 * that the verifier looks at each once. */
enum { LEFT_POSITION = 16, IS_POSITION = 24, GONE_POSITION = 32 };

/* A primary's task gets a CPU for which it queued up at `queued`. What it has waited on other CPUs
 * since it woke up is in its own account, waited_ns. */
__attribute__((noinline)) int note_dispatch(uint32_t change, int32_t pid, uint64_t queued,
                                            uint32_t waited_ns, uint64_t now) {
    const uint32_t cpu = change & (SH_BPF_MAX_CPUS - 1);
    struct sh_bpf_cpu *own = bpf_map_lookup_elem(&cpus, &cpu);
    struct sh_bpf_harm *harm = harm_of(cpu, change >> IS_POSITION);
    struct sh_bpf_tracked_task *task = tracked(pid);
    if (!own || !harm || !task)
        return 0;
    const uint64_t clock = now - own->offset_ns;
    uint64_t wait = clock - queued;
    if (unlikely((int64_t)wait < 0))
        wait = 0;
    if (likely(task->task == pid)) {
        const int32_t elsewhere = (int32_t)(waited_ns - task->waited_ns);
        if (unlikely(elsewhere > 0))
            wait += (uint32_t)elsewhere;
        if (!task->woke_ns)
            task->woke_ns = now - wait;
    } else {
        task->task = pid;
        task->woke_ns = now - wait;
    }
    struct sh_bpf_harm_side *side = side_of(harm, now - wait);
    count_in(side->waits, wait);
    side->counts.wait_ns += wait;
    if (unlikely(own->agent.until > queued))
        side->counts.agent_ns += overlap(own->agent.from, own->agent.until, queued, clock);
    if (unlikely(wait > SH_BPF_LONG_WAIT_NS))
        note_long_wait(&side->counts,
                       judge_wait(cpu, clock - wait, clock, change >> LEFT_POSITION & 0xff));
    return 0;
}

/* A primary's task leaves its CPU. If nobody saw it come, at `came`, its account says how long it
 * had waited. */
__attribute__((noinline)) int note_leaving(uint64_t change, int32_t pid, uint64_t came,
                                           uint32_t waited_ns, uint64_t now) {
    struct sh_bpf_harm *harm =
        harm_of(change & (SH_BPF_MAX_CPUS - 1), change >> LEFT_POSITION & 0xff);
    struct sh_bpf_tracked_task *task = tracked(pid);
    const bool sleeps = change >> GONE_POSITION;
    if (!harm || !task)
        return 0;
    const uint32_t wait = waited_ns - task->waited_ns;
    uint64_t woke_ns = task->woke_ns;
    task->waited_ns = waited_ns;
    if (unlikely(task->task != pid)) {
        task->task = pid;
        task->woke_ns = 0;
        harm->lost += sleeps;
        return 0;
    }
    if (unlikely(!woke_ns)) {
        task->woke_ns = woke_ns = came - wait;
        struct sh_bpf_harm_side *unseen = side_of(harm, woke_ns);
        count_in(unseen->waits, wait);
        unseen->counts.wait_ns += wait;
    }
    if (!sleeps)
        return 0;
    task->woke_ns = 0;
    const uint64_t span = (int64_t)(now - woke_ns) > 0 ? now - woke_ns : 0;
    struct sh_bpf_harm_side *side = side_of(harm, woke_ns);
    count_in(side->wakes_to_sleeps, span);
    side->counts.wake_to_sleep_ns += span;
    return 0;
}

static __always_inline void note_harm(struct sh_bpf_cpu *own, uint32_t cpu,
                                      struct task_struct *prev, struct task_struct *next,
                                      uint32_t left, uint32_t is, uint64_t clock) {
    const uint64_t now = bpf_ktime_get_ns();
    const uint32_t change = cpu | left << LEFT_POSITION | is << IS_POSITION;
    const uint64_t queued = next->sched_info.last_queued;
    note_clocks(own, now, clock);
    if (left >= SH_BPF_PRIMARY)
        note_leaving(change | (uint64_t)gone(prev) << GONE_POSITION, prev->pid,
                     prev->sched_info.last_arrival + own->offset_ns,
                     (uint32_t)prev->sched_info.run_delay, now);
    if (is >= SH_BPF_PRIMARY && queued)
        note_dispatch(change, next->pid, queued, (uint32_t)next->sched_info.run_delay, now);
}

/* --- displaced -------------------------------------------------------------------------------- */

/* Does anybody who is not idle by policy wait on this run queue? */
static __always_inline bool others_wait(const struct rq *rq) {
    const struct cfs_rq___before_6_14 *older = (const void *)&rq->cfs;
    uint32_t idle, delayed = 0;
    if (bpf_core_field_exists(rq->cfs.h_nr_idle))
        idle = rq->cfs.h_nr_idle;
    else
        idle = BPF_CORE_READ(older, idle_h_nr_running);
    if (bpf_core_field_exists(rq->cfs.h_nr_runnable))
        return rq->cfs.h_nr_runnable > idle;
    if (bpf_core_field_exists(older->h_nr_delayed))
        delayed = BPF_CORE_READ(older, h_nr_delayed);
    return BPF_CORE_READ(older, h_nr_running) > idle + delayed;
}

/* Does any primary's task wait, on whatever CPU? For strangers the kernel's own turns will do: one
 * that may not run would be told of without end. */
static __always_inline bool primary_waits(void) {
    const uint64_t word = *(volatile uint64_t *)&shared.levels.word;
    if (!(settings.parts & SH_BPF_DEMAND))
        return true;
    return (word >> SH_BPF_BUSY_BITS & WANTING_MASK) > (word & BUSY_MASK);
}

/* EEVDF has given the CPU to a cpu.idle group over tasks that want it, for up to a tick: only the
 * idle one was eligible. A thread that wakes on this CPU makes the kernel choose anew. */
static __always_inline void tell_of_displacement(void *ctx, struct sh_bpf_cpu *own,
                                                 struct task_struct *next) {
    if (!others_wait(queue_of(next)) || !primary_waits())
        return;
    uint64_t count = ++own->displacements;
    bpf_perf_event_output(ctx, &rescues, BPF_F_CURRENT_CPU, &count, sizeof(count));
}

/* When and for how long primary tasks ran on this CPU. */
static __always_inline void note_primary(struct sh_bpf_cpu *own, uint32_t cpu, uint32_t was,
                                         uint32_t is, uint64_t clock) {
    if (was >= SH_BPF_PRIMARY && own->primary_since) {
        const uint64_t ran_ns = clock - own->primary_since;
        own->primary_ns += ran_ns;
        if (shared.lent[cpu & (SH_BPF_MAX_CPUS - 1)])
            own->primary_lent_ns += ran_ns;
    }
    own->primary_since = is >= SH_BPF_PRIMARY ? clock : 0;
}

/* Some kernels let a switch pass untraced now and then: the task that leaves is not the one that
 * came. When it came is known, so the switch is made up for as of then. False for the idle task, of
 * which it is not known. */
static __always_inline bool make_up_for(struct sh_bpf_cpu *own, uint32_t cpu,
                                        struct task_struct *prev, uint32_t left) {
    const uint32_t was = own->runner;
    const uint64_t came = prev->sched_info.last_arrival;
    own->missed++;
    if ((settings.parts & SH_BPF_HARM) && was >= SH_BPF_PRIMARY)
        forget(own->task);
    if (left == SH_BPF_IDLE || !came)
        return false;
    if (left == was)
        return true;
    own->runner = left;
    if (settings.parts & SH_BPF_WAITS)
        note_stint(own, was, left, came);
    if (settings.parts & SH_BPF_HARM)
        note_use(own, was, left, came);
    if (was >= SH_BPF_PRIMARY || left >= SH_BPF_PRIMARY) {
        note_primary(own, cpu, was, left, came);
        if (settings.parts & SH_BPF_LEVELS)
            move(came, change_busy(was, left), 0);
    }
    return true;
}

enum {
    CLOCK_CHECKS = 31,      /* the clocks' difference is taken at every 32nd switch */
    CLOCK_PERIOD_LOG2 = 30, /* of the time whose least difference counts, ns */
};

/* The run queue's clock was read a while ago, and longer if the hypervisor came in between, so the
 * least of some differences is the nearest. Clocks drift apart: the least of a second or two. */
static __always_inline void compare_clocks(uint64_t clock) {
    const int64_t offset = (int64_t)(bpf_ktime_get_ns() - clock);
    const uint64_t period = clock >> CLOCK_PERIOD_LOG2;
    if (shared.clocks.period != period) {
        shared.control.clock_offset_ns = shared.clocks.period ? shared.clocks.least_ns : offset;
        shared.clocks.period = period;
        shared.clocks.least_ns = offset;
    }
    if (offset < shared.clocks.least_ns)
        shared.clocks.least_ns = offset;
    if (offset < shared.control.clock_offset_ns)
        shared.control.clock_offset_ns = offset;
}

/* --- the programs ----------------------------------------------------------------------------- */

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempt, struct task_struct *prev, struct task_struct *next) {
    const uint32_t cpu = bpf_get_smp_processor_id();
    struct sh_bpf_cpu *own = bpf_map_lookup_elem(&cpus, &cpu);
    if (!own)
        return 0;
    uint32_t was = own->runner, left = was;
    const uint32_t is = runner_of(next);
    const uint64_t switches = own->switches + 1;
    own->switches = switches;
    if (unlikely(own->task != prev->pid)) {
        left = runner_of(prev);
        if (switches > 1 && make_up_for(own, cpu, prev, left))
            was = left;
    }
    own->task = next->pid;
    if (is != was) {
        own->runner = is;
        *(volatile uint8_t *)&shared.runners[cpu & (SH_BPF_MAX_CPUS - 1)] = (uint8_t)is;
        if (was >= SH_BPF_PRIMARY || is >= SH_BPF_PRIMARY)
            note_primary(own, cpu, was, is, queue_of(next)->clock);
        if (settings.parts & SH_BPF_WAITS)
            note_stint(own, was, is, queue_of(next)->clock);
    }
    if (settings.parts & SH_BPF_HARM) {
        const uint64_t clock = queue_of(next)->clock;
        note_use(own, was, is, clock);
        if (settings.agent)
            note_agent(own, prev, next, clock);
        if (left >= SH_BPF_PRIMARY || is >= SH_BPF_PRIMARY)
            note_harm(own, cpu, prev, next, left, is, clock);
    }
    if ((settings.parts & (SH_BPF_WAITS | SH_BPF_LEVELS)) &&
        unlikely((switches & CLOCK_CHECKS) == 1))
        compare_clocks(queue_of(next)->clock);
    if (settings.parts & SH_BPF_LEVELS) {
        int32_t wanting_by = 0;
        const int32_t busy_by = is == was ? 0 : change_busy(was, is);
        if ((settings.parts & SH_BPF_DEMAND) && left >= SH_BPF_PRIMARY && gone(prev))
            wanting_by = change_wanting(prev, left, -1);
        if (busy_by | wanting_by)
            move(queue_of(next)->clock, busy_by, wanting_by);
    }
    if (unlikely(is == SH_BPF_ELASTIC && shared.control.rescue))
        tell_of_displacement(ctx, own, next); /* by the counts after this switch */
    if ((settings.parts & SH_BPF_RUNS) && left >= SH_BPF_PRIMARY)
        note_run(own, prev);
    if ((settings.parts & SH_BPF_WAITS) && is >= SH_BPF_PRIMARY)
        note_wait(own, next, left);
    return 0;
}

static __always_inline int woken(struct task_struct *task) {
    const uint64_t clock = queue_of(task)->clock;
    /* A wake-up of a task that had not left the queue yet is none: only one queued just now is. */
    if (task->sched_info.last_queued != clock)
        return 0;
    const uint32_t runner = runner_of(task);
    if (runner < SH_BPF_PRIMARY)
        return 0;
    if (settings.parts & SH_BPF_HARM)
        compare_clocks_at_wakeup(task, clock);
    const int32_t by = change_wanting(task, runner, 1);
    if (by)
        move(clock, 0, by);
    return 0;
}

SEC("tp_btf/sched_wakeup")
int BPF_PROG(on_wakeup, struct task_struct *task) {
    return woken(task);
}

SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(on_wakeup_new, struct task_struct *task) {
    return woken(task);
}

/* Since Linux 7 (met in 7.3) a task group's queues are a per-CPU variable, no longer an array. */
static __always_inline bool queues_are_per_cpu(void) {
    return !bpf_core_field_exists(((struct task_group___with_arrays *)0)->se);
}

/* Any task's queue tells where its CPU's variables are; every CPU has threads of its own. */
static __always_inline void note_offset(struct task_struct *task) {
    const struct cfs_rq *queue = BPF_CORE_READ(task, se.cfs_rq);
    const uint32_t cpu = (uint32_t)BPF_CORE_READ(queue, rq, cpu);
    const uint64_t variable = (uint64_t)BPF_CORE_READ(queue, tg, cfs_rq);
    shared.walk.offsets[cpu & (SH_BPF_MAX_CPUS - 1)] = (uint64_t)queue - variable;
}

/* The CPU's queue among a task group's; NULL if there is none, or it is not known yet. */
static __always_inline struct cfs_rq *queue_on(struct cfs_rq **queues, uint32_t cpu) {
    struct cfs_rq *queue = NULL;
    if (queues_are_per_cpu()) {
        const uint64_t offset = shared.walk.offsets[cpu & (SH_BPF_MAX_CPUS - 1)];
        return offset ? (void *)queues + offset : NULL;
    }
    bpf_probe_read_kernel(&queue, sizeof(queue), queues + cpu);
    return queue;
}

struct look_context {
    struct cfs_rq **queues; /* of some task group: they lead to every run queue */
};

static int look_at_cpu(uint32_t cpu, void *data) {
    const struct look_context *context = data;
    struct rq *rq;
    if (cpu >= settings.cpu_count)
        return 1;
    struct cfs_rq *queue = queue_on(context->queues, cpu);
    if (!queue)
        return 0;
    rq = BPF_CORE_READ(queue, rq);
    struct task_struct *task = BPF_CORE_READ(rq, curr);
    const uint32_t is = runner_of_probing(task);
    shared.look.cpus++;
    struct sh_bpf_cpu *own = bpf_map_lookup_elem(&cpus, &cpu);
    if (!own)
        return 0;
    volatile uint8_t *shown = &shared.runners[cpu & (SH_BPF_MAX_CPUS - 1)];
    const uint64_t switches = *(volatile uint64_t *)&own->switches;
    const uint32_t was = *(volatile uint32_t *)&own->runner;
    if (*shown != was)
        *shown = (uint8_t)was;
    /* The record may be a switch ahead of what was read above, or behind. */
    if (was == is || BPF_CORE_READ(rq, curr) != task || runner_of_probing(task) != is ||
        *(volatile uint64_t *)&own->switches != switches)
        return 0;
    if (__sync_val_compare_and_swap(&own->runner, was, is) != was)
        return 0;
    *shown = (uint8_t)is;
    shared.look.differing++;
    if (settings.parts & SH_BPF_LEVELS) {
        const int32_t busy_by = change_busy(was, is);
        if (busy_by)
            move(bpf_ktime_get_ns() - shared.control.clock_offset_ns, busy_by, 0);
    }
    return 0;
}

/* The current task of every run queue: what the switches' state is seeded and checked with. */
SEC("syscall")
int on_look(void *unused) {
    struct task_struct *current = bpf_get_current_task_btf();
    struct look_context context = {
        .queues = BPF_CORE_READ(current, se.cfs_rq, tg, cfs_rq),
    };
    shared.look.cpus = shared.look.differing = 0;
    bpf_loop(SH_BPF_MAX_CPUS, look_at_cpu, &context, 0);
    if (settings.parts & SH_BPF_LEVELS)
        move(bpf_ktime_get_ns() - shared.control.clock_offset_ns, 0, 0);
    return 0;
}

/* Every task once: who waits right now and has not been dispatched yet. */
SEC("iter/task")
int on_walk(struct bpf_iter__task *ctx) {
    struct task_struct *task = ctx->task;
    if (!task)
        return 0;
    shared.walk.tasks++;
    *(volatile int32_t *)&shared.walk.position = task->pid;
    if (queues_are_per_cpu())
        note_offset(task);
    const uint32_t runner = runner_of(task);
    if (runner < SH_BPF_PRIMARY)
        return 0;
    shared.walk.primary_tasks++;
    struct rq *queue = queue_of(task);
    /* As the switch program sees it: a task wants its CPU until the moment it is switched from. */
    const bool runs = queue->curr == task;
    if (!runs && (task->on_rq != 1 || gone(task)))
        return 0;
    __sync_fetch_and_add(&shared.walk.wanting[index_of(runner)], 1);
    const uint64_t queued = task->sched_info.last_queued;
    if (runs || !queued)
        return 0;
    shared.walk.pending++;
    const int64_t begin_ns = (int64_t)queued + shared.control.clock_offset_ns;
    const int64_t wait_ns = (int64_t)bpf_ktime_get_ns() - begin_ns;
    if (wait_ns <= (int64_t)shared.control.wait_threshold_ns)
        return 0;
    if ((uint64_t)wait_ns > shared.walk.pending_longest_ns)
        shared.walk.pending_longest_ns = (uint64_t)wait_ns;
    struct cfs_rq *group_queue = task->se.cfs_rq;
    const bool throttled =
        bpf_core_field_exists(group_queue->throttle_count) && group_queue->throttle_count > 0;
    shared.walk.pending_longer++;
    shared.walk.pending_throttled += throttled;
    const uint32_t cpu = (uint32_t)queue->cpu;
    const struct sh_bpf_cpu *own = bpf_map_lookup_elem(&cpus, &cpu);
    if (!own || throttled || !began_while_lent(begin_ns) ||
        !others_made_long((uint64_t)wait_ns,
                          behind_others(own, queued, queued + (uint64_t)wait_ns)))
        return 0;
    shared.walk.pending_blamed++;
    if ((uint64_t)wait_ns > shared.walk.pending_blamed_longest_ns)
        shared.walk.pending_blamed_longest_ns = (uint64_t)wait_ns;
    return 0;
}
