/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* What the records are seeded and checked with: every run queue, and every task. */
#ifndef SH_SENSOR_TRUTH_BPF_H
#define SH_SENSOR_TRUTH_BPF_H

#include "sensor_levels.bpf.h"
#include "sensor_waits.bpf.h"

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
    const uint32_t is = (uint32_t)runner_of_probing((uint64_t)task);
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
    if (was == is || BPF_CORE_READ(rq, curr) != task ||
        (uint32_t)runner_of_probing((uint64_t)task) != is ||
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

#endif
