/* Steps at equal distances in time, however long each takes. */
#ifndef SH_PACE_H
#define SH_PACE_H

#include <time.h>

/* Sleeps until `next`, which moves on by a step of 1 / `rate` s first. */
static inline void wait_for_step(struct timespec *next, long rate) {
    next->tv_nsec += 1000000000 / rate;
    if (next->tv_nsec >= 1000000000) {
        next->tv_nsec -= 1000000000;
        next->tv_sec++;
    }
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, next, NULL);
}

#endif
