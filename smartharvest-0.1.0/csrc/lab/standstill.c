#define _GNU_SOURCE
#include "lab/standstill.h"

#include <errno.h>
#include <sched.h>
#include <sys/prctl.h>
#include <time.h>

#include "loop/clock.h"

static void *watch_cpu(void *arg) {
    struct sh_standstill_watcher *watcher = arg;
    const struct sh_standstill_watch *watch = watcher->watch;
    prctl(PR_SET_NAME, "sh-standstill");
    int64_t slept_ns = sh_monotonic_ns();
    while (!atomic_load_explicit(&watch->stop, memory_order_relaxed)) {
        const int64_t deadline_ns = slept_ns + watch->period_ns;
        const struct timespec deadline = {.tv_sec = deadline_ns / 1000000000,
                                          .tv_nsec = deadline_ns % 1000000000};
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &deadline, NULL);
        const int64_t now_ns = sh_monotonic_ns();
        const uint32_t count = atomic_load_explicit(&watcher->gap_count, memory_order_relaxed);
        if (now_ns - deadline_ns > watch->least_late_ns && count < SH_STANDSTILL_GAPS) {
            watcher->gaps[count] = (struct sh_standstill_gap){slept_ns, now_ns};
            atomic_store_explicit(&watcher->gap_count, count + 1, memory_order_release);
        }
        slept_ns = now_ns;
    }
    return NULL;
}

static int start_watcher(struct sh_standstill_watcher *watcher) {
    const struct sched_param highest = {.sched_priority = sched_get_priority_max(SCHED_FIFO)};
    pthread_attr_t attributes;
    cpu_set_t set;
    if (watcher->cpu < 0 || watcher->cpu >= CPU_SETSIZE)
        return -EINVAL;
    CPU_ZERO(&set);
    CPU_SET(watcher->cpu, &set);
    pthread_attr_init(&attributes);
    pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
    pthread_attr_setschedpolicy(&attributes, SCHED_FIFO);
    pthread_attr_setschedparam(&attributes, &highest);
    pthread_attr_setaffinity_np(&attributes, sizeof(set), &set);
    const int err = pthread_create(&watcher->thread, &attributes, watch_cpu, watcher);
    pthread_attr_destroy(&attributes);
    return -err;
}

static void stop_first(struct sh_standstill_watch *watch, uint32_t count) {
    atomic_store(&watch->stop, true);
    for (uint32_t i = 0; i < count; i++)
        pthread_join(watch->watchers[i].thread, NULL);
}

int sh_standstill_start(struct sh_standstill_watch *watch) {
    atomic_store(&watch->stop, false);
    for (uint32_t i = 0; i < watch->count; i++) {
        watch->watchers[i].watch = watch;
        const int err = start_watcher(&watch->watchers[i]);
        if (err) {
            stop_first(watch, i);
            return err;
        }
    }
    return 0;
}

void sh_standstill_stop(struct sh_standstill_watch *watch) {
    stop_first(watch, watch->count);
}

uint32_t sh_standstill_gap_count(const struct sh_standstill_watcher *watcher) {
    return atomic_load_explicit(&watcher->gap_count, memory_order_acquire);
}
