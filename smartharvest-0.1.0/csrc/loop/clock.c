#define _GNU_SOURCE
#include "loop/clock.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <time.h>

enum { NS_PER_S = 1000000000, MAX_WAIT_FDS = 4 };

int64_t sh_monotonic_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * NS_PER_S + t.tv_nsec;
}

static int64_t now_ns(void *ctx) {
    (void)ctx;
    return sh_monotonic_ns();
}

static int64_t cpu_ns(void *ctx) {
    (void)ctx;
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * NS_PER_S + t.tv_nsec;
}

static int sleep_until(void *ctx, int64_t deadline_ns) {
    (void)ctx;
    const struct timespec t = {.tv_sec = (time_t)(deadline_ns / NS_PER_S),
                               .tv_nsec = (long)(deadline_ns % NS_PER_S)};
    return -clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

static int spin_until(void *ctx, int64_t deadline_ns) {
    (void)ctx;
    while (sh_monotonic_ns() < deadline_ns) {
#if defined(__x86_64__) || defined(__i386__)
        __builtin_ia32_pause();
#endif
    }
    return 0;
}

static int wait_until(void *ctx, int64_t deadline_ns, const int *fds, uint32_t count) {
    struct pollfd polled[MAX_WAIT_FDS];
    const int64_t left_ns = deadline_ns - now_ns(ctx);
    const struct timespec timeout = {.tv_sec = (time_t)(left_ns / NS_PER_S),
                                     .tv_nsec = (long)(left_ns % NS_PER_S)};
    if (count > MAX_WAIT_FDS)
        return -EINVAL;
    if (left_ns <= 0)
        return 0;
    for (uint32_t i = 0; i < count; i++)
        polled[i] = (struct pollfd){.fd = fds[i], .events = POLLIN};
    return ppoll(polled, count, &timeout, NULL) < 0 ? -errno : 0;
}

void sh_clock_monotonic(struct sh_clock *clock, enum sh_pacing pacing) {
    clock->now_ns = now_ns;
    clock->sleep_until = pacing == SH_PACING_SPIN ? spin_until : sleep_until;
    clock->wait_until = wait_until;
    clock->cpu_ns = cpu_ns;
    clock->ctx = NULL;
}
