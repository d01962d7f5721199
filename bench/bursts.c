/* A primary that forks: bursts of short processes at random times, each timed from its intended
 * start until the last of its processes is reaped. `bursts SECONDS SEED` waits for a line on
 * standard input and prints for each burst when it was due (CLOCK_MONOTONIC) and how long it took,
 * nanoseconds. */
#define _GNU_SOURCE
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { NS_PER_S = 1000000000, PROCESSES = 4, WORK_NS = 100000, MOST = 100000 };
static const double PAUSE_NS = 2e6,
                    MEAN_GAP_NS = 6e6; /* between two bursts: a pause, then Poisson */

static int64_t read_clock(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * NS_PER_S + t.tv_nsec;
}

static void sleep_until(int64_t deadline_ns) {
    const struct timespec t = {.tv_sec = (time_t)(deadline_ns / NS_PER_S),
                               .tv_nsec = (long)(deadline_ns % NS_PER_S)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR) {
    }
}

static void work(void) {
    while (read_clock(CLOCK_THREAD_CPUTIME_ID) < WORK_NS)
        for (volatile int i = 0; i < 300; i++) {
        }
}

static void burst(void) {
    for (int i = 0; i < PROCESSES; i++)
        if (fork() == 0) {
            work();
            _exit(0);
        }
    while (wait(NULL) > 0) {
    }
}

int main(int argc, char **argv) {
    static int64_t dues_ns[MOST], took_ns[MOST];
    int count = 0;
    if (argc != 3)
        return 2;
    srand48(atol(argv[2]));
    prctl(PR_SET_TIMERSLACK, 1UL);
    if (getchar() == EOF)
        return 1;
    int64_t due_ns = read_clock(CLOCK_MONOTONIC);
    const int64_t end_ns = due_ns + (int64_t)(atof(argv[1]) * NS_PER_S);
    for (;;) {
        due_ns += (int64_t)(PAUSE_NS - log(1 - drand48()) * MEAN_GAP_NS);
        if (due_ns > end_ns || count == MOST)
            break;
        sleep_until(due_ns);
        burst();
        dues_ns[count] = due_ns;
        took_ns[count++] = read_clock(CLOCK_MONOTONIC) - due_ns;
    }
    for (int i = 0; i < count; i++)
        printf("%lld %lld\n", (long long)dues_ns[i], (long long)took_ns[i]);
    return 0;
}
