#define _GNU_SOURCE
#include "loop/loop_pace.h"

#include <errno.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

struct sched_attributes { /* struct sched_attr of the kernel's uapi; glibc has none before 2.41 */
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime, deadline, period;
};

enum sh_scheduling sh_loop_schedule_self(const struct sh_loop *loop) {
    const struct sched_param fifo = {.sched_priority = loop->fifo_priority};
    if (loop->fifo_priority > 0 && sched_setscheduler(0, SCHED_FIFO, &fifo) == 0)
        return SH_SCHEDULING_FIFO;
    /* EEVDF takes the slice from sched_attr.runtime (6.12 on); older kernels only the nice value.
     * A short slice lets the woken writer pass the batch thread it has just displaced. */
    struct sched_attributes attributes = {
        .size = sizeof(attributes), .policy = SCHED_OTHER, .nice = -20, .runtime = 100000};
    if (syscall(SYS_sched_setattr, 0, &attributes, 0) == 0)
        return SH_SCHEDULING_SHORT_SLICE;
    return SH_SCHEDULING_OTHER;
}

int sh_ask_for_slice(uint64_t slice_ns) {
    struct sched_attributes attributes = {.size = sizeof(attributes),
                                          .policy = (uint32_t)sched_getscheduler(0),
                                          .nice = getpriority(PRIO_PROCESS, 0),
                                          .runtime = slice_ns};
    if (attributes.policy != SCHED_OTHER && attributes.policy != SCHED_BATCH)
        return 0;
    return syscall(SYS_sched_setattr, 0, &attributes, 0) ? -errno : 0;
}

void sh_loop_place_self(const uint64_t *cpus) {
    cpu_set_t set;
    int any = 0;
    CPU_ZERO(&set);
    for (int cpu = 0; cpu < SH_MAX_CPU_WORDS * 64 && cpu < CPU_SETSIZE; cpu++)
        if (cpus[cpu / 64] >> (cpu % 64) & 1) {
            CPU_SET(cpu, &set);
            any = 1;
        }
    if (any)
        sched_setaffinity(0, sizeof(set), &set); /* refused: it runs where it may */
}

/* How long it rests after what it has spent since the last rest, waking up included. */
static int64_t rest_ns(struct sh_loop *loop) {
    const uint32_t percent = loop->most_cpu_percent;
    if (percent == 0 || percent >= 100)
        return 0;
    const int64_t cpu_ns = loop->clock.cpu_ns(loop->clock.ctx);
    const int64_t spent_ns = cpu_ns - loop->cpu_at_rest_ns;
    loop->cpu_at_rest_ns = cpu_ns;
    const int64_t due_ns = spent_ns * (100 - percent) / percent;
    return due_ns < loop->most_rest_ns ? due_ns : loop->most_rest_ns;
}

int64_t sh_loop_next_poll(struct sh_loop *loop, int64_t deadline_ns, int64_t began_ns) {
    const int64_t poll_ns = loop->config.poll_ns;
    const int64_t ended_ns = loop->clock.now_ns(loop->clock.ctx);
    const int64_t took_ns = ended_ns - began_ns, due_ns = rest_ns(loop);
    const int64_t earliest_ns = ended_ns + (took_ns > due_ns ? took_ns : due_ns);
    int64_t next_ns = deadline_ns + poll_ns;
    if (next_ns <= began_ns) /* late: the poll itself has counted what it missed */
        next_ns += ((began_ns - next_ns) / poll_ns + 1) * poll_ns;
    if (next_ns < earliest_ns) {
        const int64_t missed = (earliest_ns - next_ns + poll_ns - 1) / poll_ns;
        _Atomic uint64_t *missed_polls = &loop->counters.missed_polls;
        atomic_store_explicit(missed_polls,
                              atomic_load_explicit(missed_polls, memory_order_relaxed) +
                                  (uint64_t)missed,
                              memory_order_relaxed);
        next_ns += missed * poll_ns;
    }
    return next_ns;
}
