/* Threads that never sleep and keep true, in shared memory, when they ran on one CPU. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

enum { NS_PER_S = 1000000000 };

/* A cache line of each thread's own; CLOCK_MONOTONIC nanoseconds. The reader clears first_ns. */
struct effect_stamps {
    _Alignas(64) _Atomic int64_t running; /* 1 once the thread runs */
    _Atomic int64_t first_ns;             /* when it came to the CPU, 0: not since cleared */
    _Atomic int64_t last_ns;              /* when it was last there */
};

struct hog {
    struct effect_stamps *stamps;
    int cpu;
};

static int64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * NS_PER_S + t.tv_nsec;
}

static void *stamp(void *argument) {
    const struct hog hog = *(const struct hog *)argument;
    atomic_store(&hog.stamps->running, 1);
    for (;;) {
        /* Time, CPU, time: moved in between, the thread was still there at the first and is not
         * taken for having come before the second. */
        const int64_t before_ns = now_ns();
        if (sched_getcpu() != hog.cpu)
            continue;
        atomic_store_explicit(&hog.stamps->last_ns, before_ns, memory_order_relaxed);
        if (!atomic_load_explicit(&hog.stamps->first_ns, memory_order_relaxed))
            atomic_store_explicit(&hog.stamps->first_ns, now_ns(), memory_order_relaxed);
    }
    return NULL;
}

/* Turns the caller into a thread of that CPU, which notes when it runs after each reading of the
 * eventfd. Does not return but on failure: -errno. */
int effect_sleeper(int cpu, int event_fd, struct effect_stamps *stamps) {
    uint64_t count;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    if (sched_setaffinity(0, sizeof(set), &set))
        return -errno;
    atomic_store(&stamps->running, 1);
    while (read(event_fd, &count, sizeof(count)) == sizeof(count))
        atomic_store(&stamps->first_ns, now_ns());
    return -errno;
}

/* Turns the caller and threads - 1 more into hogs (at most 64) for ever. -errno on failure. */
int effect_hogs(int threads, int cpu, struct effect_stamps *stamps) {
    static struct hog hogs[64];
    for (int i = threads - 1; i >= 0; i--) {
        pthread_t thread;
        hogs[i] = (struct hog){&stamps[i], cpu};
        if (i == 0)
            stamp(&hogs[i]);
        const int error = pthread_create(&thread, NULL, stamp, &hogs[i]);
        if (error)
            return -error;
    }
    return -EINVAL;
}
