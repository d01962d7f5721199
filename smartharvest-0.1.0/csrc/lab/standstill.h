/*
 * Did the machine itself stand still? On every CPU a thread of the highest real-time priority wakes
 * every few milliseconds. Nothing that a scheduler decides delays it: if those of all CPUs are late
 * at once, the machine did not run - a hypervisor's doing, which no steal time tells of while the
 * CPUs are idle - and what was measured meanwhile says nothing about what is compared.
 */
#ifndef SH_STANDSTILL_H
#define SH_STANDSTILL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { SH_STANDSTILL_MAX_CPUS = 1024, SH_STANDSTILL_GAPS = 1024 };

/* CLOCK_MONOTONIC: when the thread went to sleep, and when it woke up too late. */
struct sh_standstill_gap {
    int64_t from_ns, until_ns;
};

struct sh_standstill_watcher {
    struct sh_standstill_watch *watch;
    pthread_t thread;
    int cpu;
    _Atomic uint32_t
        gap_count; /* written by the thread; those beyond SH_STANDSTILL_GAPS are lost */
    struct sh_standstill_gap gaps[SH_STANDSTILL_GAPS];
};

struct sh_standstill_watch {
    int64_t period_ns, least_late_ns;
    _Atomic bool stop;
    uint32_t count;
    struct sh_standstill_watcher *watchers; /* [count], the caller's */
};

/*
 * Starts a thread on each watcher's `cpu`; the caller has zeroed the watchers and set these. A wake
 * up later than least_late_ns is a gap. 0 or -errno (-EPERM: no real-time rights; -EINVAL: no such
 * CPU, or it is not allowed); nothing is left running then.
 */
int sh_standstill_start(struct sh_standstill_watch *watch);
void sh_standstill_stop(struct sh_standstill_watch *watch);

/* How many of the watcher's gaps can be read, in the order they came. */
uint32_t sh_standstill_gap_count(const struct sh_standstill_watcher *watcher);

#endif
