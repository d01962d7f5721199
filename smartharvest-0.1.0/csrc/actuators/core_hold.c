#define _GNU_SOURCE
#include "actuators/core_hold.h"

#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { MOST_NS = 300000 }; /* a write that takes longer is not worth the core */

static int64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void futex(_Atomic uint32_t *word, int operation, uint32_t value) {
    syscall(SYS_futex, word, operation | FUTEX_PRIVATE_FLAG, value, NULL, NULL, 0);
}

static int schedule_self(const struct sh_core_hold_thread *self) {
    const struct sched_param fifo = {.sched_priority = self->core_hold->fifo_priority};
    unsigned long set[SH_CORE_HOLD_MAX_CPUS / (8 * sizeof(unsigned long))] = {0};
    set[self->cpu / (8 * sizeof(long))] |= 1UL << self->cpu % (8 * sizeof(long));
    prctl(PR_SET_NAME, "sh-core-hold");
    if (sched_setaffinity(0, sizeof(set), (const cpu_set_t *)set))
        return -errno;
    return sched_setscheduler(0, SCHED_FIFO, &fifo) ? -errno : 0;
}

static void *run(void *arg) {
    struct sh_core_hold_thread *self = arg;
    struct sh_core_hold *core_hold = self->core_hold;
    if (schedule_self(self)) {
        atomic_fetch_add(&core_hold->failed, 1);
        return NULL;
    }
    while (!atomic_load(&core_hold->stop)) {
        futex(&self->held, FUTEX_WAIT, 0);
        const int64_t until_ns = now_ns() + MOST_NS;
        while (atomic_load_explicit(&self->held, memory_order_relaxed) && now_ns() < until_ns) {
        }
        atomic_store(&self->held, 0);
    }
    return NULL;
}

int sh_core_hold_start(struct sh_core_hold *core_hold) {
    sigset_t all, old;
    int err = 0;
    atomic_store(&core_hold->stop, false);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    for (uint32_t i = 0; i < core_hold->count && !err; i++) {
        struct sh_core_hold_thread *thread = &core_hold->threads[i];
        thread->core_hold = core_hold;
        atomic_store(&thread->held, 0);
        err = -pthread_create(&thread->thread, NULL, run, thread);
        thread->started = !err;
    }
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (err)
        sh_core_hold_stop(core_hold);
    return err;
}

void sh_core_hold_stop(struct sh_core_hold *core_hold) {
    atomic_store(&core_hold->stop, true);
    for (uint32_t i = 0; i < core_hold->count; i++) {
        struct sh_core_hold_thread *thread = &core_hold->threads[i];
        if (!thread->started)
            continue;
        sh_core_hold_hold(core_hold, (int32_t)thread->cpu);
        pthread_join(thread->thread, NULL);
        thread->started = false;
    }
}

static struct sh_core_hold_thread *thread_of(struct sh_core_hold *core_hold, int32_t cpu) {
    for (uint32_t i = 0; i < core_hold->count; i++)
        if ((int32_t)core_hold->threads[i].cpu == cpu)
            return &core_hold->threads[i];
    return NULL;
}

void sh_core_hold_hold(struct sh_core_hold *core_hold, int32_t cpu) {
    struct sh_core_hold_thread *thread = thread_of(core_hold, cpu);
    if (!thread)
        return;
    atomic_store(&thread->held, 1);
    futex(&thread->held, FUTEX_WAKE, 1);
}

void sh_core_hold_release(struct sh_core_hold *core_hold, int32_t cpu) {
    struct sh_core_hold_thread *thread = thread_of(core_hold, cpu);
    if (thread)
        atomic_store(&thread->held, 0);
}
