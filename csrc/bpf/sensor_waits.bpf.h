/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* How long primary tasks wait for a CPU, and how long they then run. */
#ifndef SH_SENSOR_WAITS_BPF_H
#define SH_SENSOR_WAITS_BPF_H

#include "sensor_runners.bpf.h"

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
static __always_inline bool was_throttled(struct sh_bpf_cpu *own, const struct cfs_rq *queue,
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

/* Without branches: for the verifier they would be paths, and a function of its own takes longer.
 */
static __always_inline void halve(uint64_t *value, uint32_t *octave, uint32_t bits) {
    const uint32_t shift = (uint32_t)((((1ULL << bits) - 1) - *value) >> 63) * bits;
    *value >>= shift;
    *octave += shift;
}

/* The bucket of a value of at least 2^first, 16 to an octave; first is 4 to 63. */
static __always_inline uint32_t octave_bucket(uint64_t value, uint32_t first, uint32_t octaves) {
    uint64_t rest = value >> first;
    uint32_t octave = 0;
    halve(&rest, &octave, 16);
    halve(&rest, &octave, 8);
    halve(&rest, &octave, 4);
    halve(&rest, &octave, 2);
    halve(&rest, &octave, 1);
    if (octave >= octaves)
        return octaves * 16 - 1;
    return octave * 16 + (value >> (first - 4 + octave) & 15);
}

/* A wait that is longer than the threshold. */
GLOBAL int note_longer(uint64_t queued, uint64_t wait, uint32_t left, uint32_t throttled) {
    const uint32_t cpu = bpf_get_smp_processor_id();
    struct sh_bpf_cpu *own = bpf_map_lookup_elem(&cpus, &cpu);
    if (!own)
        return 0;
    const bool lent = began_while_lent((int64_t)queued + shared.control.clock_offset_ns);
    own->waits.longer++;
    own->waits.longer_while_lent += lent;
    own->waits.longer_after_elastic += left == SH_BPF_ELASTIC;
    own->waits.longer_throttled += !!throttled;
    if (lent && !throttled)
        own->waits.longer_blamed +=
            others_made_long(wait, behind_others(own, queued, queued + wait));
    return 0;
}

static __always_inline void note_wait(struct sh_bpf_cpu *own, struct task_struct *next,
                                      const struct cfs_rq *queue, uint32_t left, uint64_t clock) {
    const uint64_t queued = next->sched_info.last_queued;
    if (!queued)
        return;
    uint64_t wait = clock - queued;
    if (unlikely((int64_t)wait < 0))
        wait = 0;
    uint32_t bucket = (uint32_t)(wait >> SH_BPF_WAIT_SHIFT);
    if (unlikely(wait >> SH_BPF_WAIT_LOG2))
        bucket = SH_BPF_WAIT_LINEAR + octave_bucket(wait, SH_BPF_WAIT_LOG2, SH_BPF_WAIT_OCTAVES);
    own->histogram[at_most(bucket, SH_BPF_WAIT_BUCKETS - 1)]++;
    own->waits.waits++;
    own->waits.total_ns += wait;
    if (likely(wait <= shared.control.wait_threshold_ns))
        return;
    note_longer(queued, wait, left, was_throttled(own, queue, queued, clock));
}

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
    own->run_histogram[at_most(bucket, SH_BPF_RUN_BUCKETS - 1)]++;
    own->runs.runs++;
    own->runs.total_ns += ran;
}

#endif
