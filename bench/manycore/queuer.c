/* A task that wakes again and again behind one that computes on the same CPU, and may run anywhere;
 * for what the gate of `strict` is worth.
 *
 *   queuer CPU COUNT PERIOD_US
 *
 * For each line that it reads, the task wakes COUNT times on CPU, and it prints how late, in ns,
 * and on which CPU it then ran. */
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

#define NS_PER_S 1000000000LL

static atomic_bool computes;
static int cpu;

static void run_on(int one) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(one, &set);
    sched_setaffinity(0, sizeof(set), &set);
}

static int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * NS_PER_S + now.tv_nsec;
}

static void *compute(void *argument) {
    (void)argument;
    run_on(cpu);
    while (atomic_load_explicit(&computes, memory_order_relaxed))
        ;
    return NULL;
}

int main(int argc, char **argv) {
    char line[16];
    cpu_set_t all;
    pthread_t other;
    int count;
    int64_t period_ns;
    if (argc != 4 || (count = atoi(argv[2])) < 1 || (period_ns = 1000LL * atol(argv[3])) < 1) {
        fprintf(stderr, "usage: queuer CPU COUNT PERIOD_US\n");
        return 2;
    }
    cpu = atoi(argv[1]);
    sched_getaffinity(0, sizeof(all), &all);
    prctl(PR_SET_TIMERSLACK, 1UL);
    int64_t *late_ns = calloc((size_t)count, sizeof(int64_t));
    int *ran_on = calloc((size_t)count, sizeof(int));
    if (!late_ns || !ran_on)
        return 1;
    while (fgets(line, sizeof(line), stdin)) {
        atomic_store(&computes, true);
        if (pthread_create(&other, NULL, compute, NULL))
            return 1;
        for (int i = 0; i < count; i++) {
            run_on(cpu);
            sched_setaffinity(0, sizeof(all), &all);
            const int64_t due_ns = now_ns() + period_ns;
            const struct timespec due = {due_ns / NS_PER_S, due_ns % NS_PER_S};
            clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
            late_ns[i] = now_ns() - due_ns;
            ran_on[i] = sched_getcpu();
        }
        atomic_store(&computes, false);
        pthread_join(other, NULL);
        for (int i = 0; i < count; i++)
            printf("%lld %d\n", (long long)late_ns[i], ran_on[i]);
        fflush(stdout);
    }
    return 0;
}
