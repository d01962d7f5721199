/* Tasks that wake at fixed times, one for each of some CPUs, and processes that only compute; for
 * the check of `strict`.
 *
 *   waker PROCESSES FIRST CPUS COUNT PERIOD_US
 *
 * prints the numbers of PROCESSES that compute, which begin stopped. For each line it then
 * reads, each task wakes COUNT times, and it prints how late, in ns, one CPU's after the other's.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S 1000000000LL
enum { MAX_CPUS = 64, WARM_UP = 20, STACK_BYTES = 1 << 16 };

static int64_t begins_ns, period_ns;
static int first, cpus, count;

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
    cpu_set_t one, all;
    sched_getaffinity(0, sizeof(all), &all);
    CPU_ZERO(&one);
    CPU_SET(waker->cpu, &one);
    /* It stays there by itself. One that is pinned would keep its CPU from being lent. */
    sched_setaffinity(0, sizeof(one), &one);
    sched_setaffinity(0, sizeof(all), &all);
    prctl(PR_SET_TIMERSLACK, 1UL);
    int64_t due_ns = begins_ns + period_ns * (waker->cpu - first) / cpus; /* never all at once */
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
        wakers[i] =
            (struct waker){.cpu = first + i, .late_ns = calloc((size_t)count, sizeof(int32_t))};
        if (!wakers[i].late_ns || pthread_create(&wakers[i].thread, NULL, wake, &wakers[i]))
            return 1;
    }
    for (int i = 0; i < cpus; i++)
        pthread_join(wakers[i].thread, NULL);
    for (int i = 0; i < cpus; i++) {
        for (int k = 0; k < count; k++)
            printf("%d\n", wakers[i].late_ns[k]);
        free(wakers[i].late_ns);
    }
    return 0;
}

static int spin(void *turns) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    kill((pid_t)syscall(SYS_getpid), SIGSTOP);
    for (;;)
        ++*(volatile unsigned *)turns;
    return 0;
}

/* Processes of this one's address space: an emulator takes long over a change of those. */
static int start_spinners(int processes) {
    for (int i = 0; i < processes; i++) {
        char *stack = malloc(STACK_BYTES);
        const int pid = stack ? clone(spin, stack + STACK_BYTES, CLONE_VM | SIGCHLD, stack) : -1;
        if (pid < 0)
            return 1;
        printf("%d\n", pid);
    }
    return 0;
}

int main(int argc, char **argv) {
    char line[16];
    setvbuf(stdout, NULL, _IOFBF, 1 << 16);
    if (argc != 6 || (cpus = atoi(argv[3])) < 1 || cpus > MAX_CPUS || (count = atoi(argv[4])) < 1 ||
        (period_ns = 1000LL * atol(argv[5])) < 1) {
        fprintf(stderr, "usage: waker PROCESSES FIRST CPUS COUNT PERIOD_US\n");
        return 2;
    }
    first = atoi(argv[2]);
    if (start_spinners(atoi(argv[1])))
        return 1;
    fflush(stdout);
    while (fgets(line, sizeof(line), stdin)) {
        if (wake_all())
            return 1;
        fflush(stdout);
    }
    return 0;
}
