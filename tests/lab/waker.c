/* A task that wakes at fixed times, and tasks that only compute; for the check of `strict`.
 *
 *   waker wake COUNT PERIOD_US   prints how late it was, in us: P50 P99 most
 *   waker spin COUNT             COUNT processes that compute until they are killed
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum { SECOND_NS = 1000000000, WARM_UP = 50 };

static int by_size(const void *one, const void *other) {
    const double a = *(const double *)one, b = *(const double *)other;
    return (a > b) - (a < b);
}

static int wake(int count, long period_us) {
    double *late_us = calloc((size_t)count, sizeof(*late_us));
    struct timespec due, now;
    if (!late_us || clock_gettime(CLOCK_MONOTONIC, &due))
        return 1;
    for (int i = -WARM_UP; i < count; i++) {
        due.tv_nsec += 1000 * period_us;
        due.tv_sec += due.tv_nsec / SECOND_NS;
        due.tv_nsec %= SECOND_NS;
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
        clock_gettime(CLOCK_MONOTONIC, &now);
        if (i >= 0)
            late_us[i] =
                (double)(now.tv_sec - due.tv_sec) * 1e6 + (double)(now.tv_nsec - due.tv_nsec) / 1e3;
    }
    qsort(late_us, (size_t)count, sizeof(*late_us), by_size);
    printf("%.1f %.1f %.1f\n", late_us[count / 2], late_us[count * 99 / 100], late_us[count - 1]);
    free(late_us);
    return 0;
}

static void spin(int count) {
    for (int i = 1; i < count; i++) {
        if (!fork()) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            break;
        }
    }
    for (volatile unsigned n = 0;; n++)
        ;
}

int main(int argc, char **argv) {
    if (argc == 4 && !strcmp(argv[1], "wake"))
        return wake(atoi(argv[2]), atol(argv[3]));
    if (argc == 3 && !strcmp(argv[1], "spin"))
        spin(atoi(argv[2]));
    fprintf(stderr, "usage: waker wake COUNT PERIOD_US | waker spin COUNT\n");
    return 2;
}
