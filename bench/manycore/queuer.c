/* A task that wakes again and again where another one computes, both of which may run anywhere; for
 * what CPUs that `strict` keeps idle are worth.
 *
 *   queuer CPU COUNT PERIOD_US BURST_US
 *
 * For each line that it reads, the task wakes COUNT times on CPU and computes for BURST_US. It
 * prints how long that took from when it was due, and how long both tasks have waited for a CPU
 * meanwhile (ns). */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S 1000000000LL

static atomic_bool computes;
static atomic_int other_tid;

static int64_t now_ns(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec * NS_PER_S + now.tv_nsec;
}

static void *compute(void *argument) {
    (void)argument;
    atomic_store(&other_tid, gettid());
    while (atomic_load_explicit(&computes, memory_order_relaxed))
        ;
    return NULL;
}

/* How long a thread of ours has been ready without a CPU. */
static int64_t waited_ns(int tid) {
    char path[64];
    long long ran, waited = 0;
    snprintf(path, sizeof(path), "/proc/self/task/%d/schedstat", tid);
    FILE *file = fopen(path, "r");
    if (!file || fscanf(file, "%lld %lld", &ran, &waited) != 2)
        exit(1);
    fclose(file);
    return waited;
}

int main(int argc, char **argv) {
    char line[16];
    cpu_set_t all, one;
    pthread_t other;
    int count;
    int64_t period_ns, burst_ns;
    if (argc != 5 || (count = atoi(argv[2])) < 1 || (period_ns = 1000LL * atol(argv[3])) < 1 ||
        (burst_ns = 1000LL * atol(argv[4])) < 1) {
        fprintf(stderr, "usage: queuer CPU COUNT PERIOD_US BURST_US\n");
        return 2;
    }
    CPU_ZERO(&one);
    CPU_SET(atoi(argv[1]), &one);
    sched_getaffinity(0, sizeof(all), &all);
    prctl(PR_SET_TIMERSLACK, 1UL);
    int64_t *took_ns = calloc((size_t)count, sizeof(int64_t));
    int64_t *both_waited_ns = calloc((size_t)count, sizeof(int64_t));
    if (!took_ns || !both_waited_ns)
        return 1;
    const int self = gettid();
    while (fgets(line, sizeof(line), stdin)) {
        atomic_store(&computes, true);
        atomic_store(&other_tid, 0);
        if (pthread_create(&other, NULL, compute, NULL))
            return 1;
        while (!atomic_load(&other_tid))
            usleep(100);
        const int tid = atomic_load(&other_tid);
        for (int i = 0; i < count; i++) {
            /* Both are here, and nobody has to stay. */
            sched_setaffinity(tid, sizeof(one), &one);
            sched_setaffinity(self, sizeof(one), &one);
            sched_setaffinity(tid, sizeof(all), &all);
            sched_setaffinity(self, sizeof(all), &all);
            const int64_t due_ns = now_ns(CLOCK_MONOTONIC) + period_ns;
            const struct timespec due = {due_ns / NS_PER_S, due_ns % NS_PER_S};
            const int64_t before_ns = waited_ns(self) + waited_ns(tid);
            clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
            const int64_t began_ns = now_ns(CLOCK_THREAD_CPUTIME_ID);
            while (now_ns(CLOCK_THREAD_CPUTIME_ID) - began_ns < burst_ns)
                ;
            took_ns[i] = now_ns(CLOCK_MONOTONIC) - due_ns;
            both_waited_ns[i] = waited_ns(self) + waited_ns(tid) - before_ns;
        }
        atomic_store(&computes, false);
        pthread_join(other, NULL);
        for (int i = 0; i < count; i++)
            printf("%lld %lld\n", (long long)took_ns[i], (long long)both_waited_ns[i]);
        fflush(stdout);
    }
    return 0;
}
