// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
/* Who runs on every CPU, how long primary tasks wait for one, and how many cores they use and want.
 *
 * All state is in mapped memory (sensor_state.h); reading it takes no system call. What user space
 * sets before loading is constant to the verifier, which cuts away the parts not asked for.
 *
 * At sched_switch the current task is still the one that leaves, so everything is read from the
 * arguments. The run queue's clock has just been updated there, so no clock is read.
 */
#include "sensor_harm.bpf.h"
#include "sensor_levels.bpf.h"
#include "sensor_truth.bpf.h"
#include "sensor_waits.bpf.h"

/* Programs that call GPL-only helpers must say so to the kernel. */
char program_license[] SEC("license") = "GPL";

/* One event for each CPU, which the thread waits on that is to be woken there (rescue.h). */
struct {
    __uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
    __uint(max_entries, SH_BPF_MAX_CPUS); /* as many as there are, when it is loaded */
    __type(key, uint32_t);
    __type(value, uint32_t);
} rescues SEC(".maps");

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
                                                 const struct rq *rq) {
    if (!others_wait(rq) || !primary_waits())
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

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempt, struct task_struct *prev, struct task_struct *next) {
    const uint32_t cpu = bpf_get_smp_processor_id();
    struct sh_bpf_cpu *own = bpf_map_lookup_elem(&cpus, &cpu);
    if (!own)
        return 0;
    /* Each pointer that is followed costs the verifier a search on every path that comes by. */
    const struct cfs_rq *queue = next->se.cfs_rq;
    const struct rq *rq = queue->rq;
    const uint64_t clock = rq->clock;
    uint32_t was = own->runner, left = was;
    const uint32_t is = runner_of(next);
    const uint64_t switches = own->switches + 1;
    own->switches = switches;
    if (unlikely(own->task != prev->pid)) {
        left = (uint32_t)runner_of_probing(bpf_get_current_task());
        if (switches > 1 && make_up_for(own, cpu, prev, left))
            was = left;
    }
    own->task = next->pid;
    if (is != was) {
        own->runner = is;
        *(volatile uint8_t *)&shared.runners[cpu & (SH_BPF_MAX_CPUS - 1)] = (uint8_t)is;
        if (was >= SH_BPF_PRIMARY || is >= SH_BPF_PRIMARY)
            note_primary(own, cpu, was, is, clock);
        if (settings.parts & SH_BPF_WAITS)
            note_stint(own, was, is, clock);
    }
    if (settings.parts & SH_BPF_HARM) {
        note_use(own, was, is, clock);
        if (settings.agent)
            note_agent(own, prev, next, clock);
        if (left >= SH_BPF_PRIMARY || is >= SH_BPF_PRIMARY)
            note_harm(own, cpu, prev, next, queue, left, is, clock);
    }
    if ((settings.parts & (SH_BPF_WAITS | SH_BPF_LEVELS)) &&
        unlikely((switches & CLOCK_CHECKS) == 1))
        compare_clocks(clock);
    if (settings.parts & SH_BPF_LEVELS) {
        int32_t wanting_by = 0;
        const int32_t busy_by = is == was ? 0 : change_busy(was, is);
        if ((settings.parts & SH_BPF_DEMAND) && left >= SH_BPF_PRIMARY && gone(prev))
            wanting_by = change_wanting(prev, left, -1);
        if (busy_by | wanting_by)
            move(clock, busy_by, wanting_by);
    }
    if (unlikely(is == SH_BPF_ELASTIC && shared.control.rescue))
        tell_of_displacement(ctx, own, rq); /* by the counts after this switch */
    if ((settings.parts & SH_BPF_RUNS) && left >= SH_BPF_PRIMARY)
        note_run(own, prev);
    if ((settings.parts & SH_BPF_WAITS) && is >= SH_BPF_PRIMARY)
        note_wait(own, next, queue, left, clock);
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
        note_woken(task, clock);
    const int32_t by = change_wanting(task, runner, 1);
    if (by)
        move(clock, 0, by);
    return 0;
}

/* By the CPU of who wakes; sched_wakeup may come from that of who is woken. */
SEC("tp_btf/sched_waking")
int BPF_PROG(on_waking, struct task_struct *task) {
    note_waker(task);
    return 0;
}

SEC("tp_btf/sched_wakeup")
int BPF_PROG(on_wakeup, struct task_struct *task) {
    return woken(task);
}

SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(on_wakeup_new, struct task_struct *task) {
    if (settings.parts & SH_BPF_HARM)
        forget(task->pid);
    return woken(task);
}

SEC("tp_btf/hrtimer_expire_entry")
int BPF_PROG(on_expiry, struct hrtimer *timer) {
    int64_t late_ns = 0; /* of other clocks it is not known */
    if (timer->base->clockid == CLOCK_MONOTONIC)
        late_ns = (int64_t)bpf_ktime_get_ns() - timer->node.expires;
    note_expiry(late_ns > 0 ? (uint64_t)late_ns : 1);
    return 0;
}

SEC("tp_btf/hrtimer_expire_exit")
int BPF_PROG(on_expired, struct hrtimer *timer) {
    note_expiry(0);
    return 0;
}
