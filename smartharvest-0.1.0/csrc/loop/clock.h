/* The first seam: where time comes from and how the loop waits for it. */
#ifndef SH_CLOCK_H
#define SH_CLOCK_H

#include <stdint.h>

struct sh_clock {
    int64_t (*now_ns)(void *ctx);
    /* Waits until deadline_ns (same time base). 0, or -errno (-EINTR included). */
    int (*sleep_until)(void *ctx, int64_t deadline_ns);
    /* The same, or until one of the descriptors is readable. */
    int (*wait_until)(void *ctx, int64_t deadline_ns, const int *fds, uint32_t count);
    int64_t (*cpu_ns)(void *ctx); /* that the calling thread has spent on a CPU */
    void *ctx;
};

/* How the real clock waits. Sleeping costs a few per cent of a CPU and wakes some microseconds
 * late; spinning costs a CPU and is punctual. */
enum sh_pacing { SH_PACING_SLEEP, SH_PACING_SPIN };

int64_t sh_monotonic_ns(void);

/* CLOCK_MONOTONIC with the given pacing; needs no state. */
void sh_clock_monotonic(struct sh_clock *clock, enum sh_pacing pacing);

#endif
