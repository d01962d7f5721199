/* crowd THREADS: they burn 20 us each in turn, half a core together. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { BURN_NS = 20000, SHARE = 2 };

static long threads;

static int64_t now_ns(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void *work(void *turn) {
    const int64_t period_ns = BURN_NS * SHARE * threads;
    int64_t next_ns = now_ns(CLOCK_MONOTONIC) + (intptr_t)turn * BURN_NS * SHARE;
    for (;;) {
        const struct timespec next = {next_ns / 1000000000, next_ns % 1000000000};
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
        const int64_t until_ns = now_ns(CLOCK_THREAD_CPUTIME_ID) + BURN_NS;
        while (now_ns(CLOCK_THREAD_CPUTIME_ID) < until_ns) {
        }
        next_ns += period_ns;
    }
    return NULL;
}

int main(int argc, char **arguments) {
    threads = argc > 1 ? atol(arguments[1]) : 100;
    for (intptr_t i = 0; i < threads; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, work, (void *)i))
            return 1;
    }
    pause();
    return 0;
}
