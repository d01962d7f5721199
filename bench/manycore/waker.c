/* Tasks that wake at fixed times, one on each CPU, and tasks that only compute; for the check of
 * `strict`.
 *
 *   waker wake CPUS COUNT PERIOD_US   prints how late each was, in ns
 *   waker spin COUNT                  COUNT processes that compute until they are killed
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S 1000000000LL
enum { MAX_CPUS = 64, WARM_UP = 20 };

static int64_t begins_ns, period_ns;
static int cpus, count;

struct waker {
    pthread_t thread;
    int cpu;
    int32_t *late_ns;
};

static int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * NS_PER_S + now.tv_nsec;
}

static void *wake(void *argument) {
    struct waker *waker = argument;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(waker->cpu, &one);
    sched_setaffinity(0, sizeof(one), &one);
    prctl(PR_SET_TIMERSLACK, 1UL);
    int64_t due_ns = begins_ns + period_ns * waker->cpu / cpus; /* never all at once */
    for (int i = -WARM_UP; i < count; i++, due_ns += period_ns) {
        const struct timespec due = {due_ns / NS_PER_S, due_ns % NS_PER_S};
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
        if (i >= 0)
            waker->late_ns[i] = (int32_t)(now_ns() - due_ns);
    }
    return NULL;
}

static int wake_all(void) {
    static struct waker wakers[MAX_CPUS];
    begins_ns = now_ns() + 20 * 1000 * 1000;
    for (int i = 0; i < cpus; i++) {
        wakers[i] = (struct waker){.cpu = i, .late_ns = calloc((size_t)count, sizeof(int32_t))};
        if (!wakers[i].late_ns || pthread_create(&wakers[i].thread, NULL, wake, &wakers[i]))
            return 1;
    }
    for (int i = 0; i < cpus; i++)
        pthread_join(wakers[i].thread, NULL);
    for (int i = 0; i < cpus; i++)
        for (int k = 0; k < count; k++)
            printf("%d\n", wakers[i].late_ns[k]);
    return 0;
}

static void spin(int processes) {
    for (int i = 1; i < processes; i++) {
        if (!fork()) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            break;
        }
    }
    for (volatile unsigned n = 0;; n++)
        ;
}

int main(int argc, char **argv) {
    if (argc == 5 && !strcmp(argv[1], "wake")) {
        cpus = atoi(argv[2]);
        count = atoi(argv[3]);
        period_ns = 1000LL * atol(argv[4]);
        if (cpus > 0 && cpus <= MAX_CPUS && count > 0)
            return wake_all();
    }
    if (argc == 3 && !strcmp(argv[1], "spin"))
        spin(atoi(argv[2]));
    fprintf(stderr, "usage: waker wake CPUS COUNT PERIOD_US | waker spin COUNT\n");
    return 2;
}
