/* The floors: what the kernel and an empty loop cost without SmartHarvest around them. */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { NS_PER_S = 1000000000, STAT_BYTES = 1 << 16 };

enum probe_scheduling { PROBE_OTHER, PROBE_SHORT_SLICE, PROBE_FIFO };

struct sched_attributes { /* struct sched_attr of the kernel's uapi; glibc has none before 2.41 */
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime, deadline, period;
};

static int64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * NS_PER_S + t.tv_nsec;
}

static void sleep_until(int64_t deadline_ns) {
    const struct timespec t = {.tv_sec = (time_t)(deadline_ns / NS_PER_S),
                               .tv_nsec = (long)(deadline_ns % NS_PER_S)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR) {
    }
}

/* Schedules the calling thread as the polling loop schedules itself. 0 or -errno. */
int probe_schedule(int scheduling, int fifo_priority) {
    struct sched_attributes attributes = {.size = sizeof(attributes), .policy = SCHED_OTHER};
    if (scheduling == PROBE_SHORT_SLICE) {
        attributes.nice = -20;
        attributes.runtime = 100000;
    } else if (scheduling == PROBE_FIFO) {
        attributes.policy = SCHED_FIFO;
        attributes.priority = (uint32_t)fifo_priority;
    }
    return syscall(SYS_sched_setattr, 0, &attributes, 0) ? -errno : 0;
}

/* Nanoseconds of `repeat` turns that do nothing, which the compiler must not notice. */
int64_t probe_empty_loop(int64_t repeat) {
    const int64_t start = now_ns();
    for (int64_t i = 0; i < repeat; i++)
        __asm__ volatile("" : "+r"(i));
    return now_ns() - start;
}

/* A bare clock_nanosleep(2) loop on an absolute grid: how late each of `count` turns was. Turns
 * whose time has passed are left out. The number of those missed. */
int64_t probe_nanosleep_loop(int64_t period_ns, int64_t count, int64_t *late_ns) {
    int64_t missed = 0;
    prctl(PR_SET_TIMERSLACK, 1UL);
    int64_t deadline_ns = now_ns() + period_ns;
    for (int64_t i = 0; i < count; i++) {
        sleep_until(deadline_ns);
        late_ns[i] = now_ns() - deadline_ns;
        const int64_t skipped = late_ns[i] / period_ns;
        missed += skipped;
        deadline_ns += (skipped + 1) * period_ns;
    }
    prctl(PR_SET_TIMERSLACK, 0UL); /* the default again */
    return missed;
}

/* How long each of `repeat` passes over the files takes that reads each once. 0 or -errno. */
int probe_preads(const int *fds, int fd_count, int64_t repeat, int64_t *took_ns) {
    static char buffer[STAT_BYTES];
    for (int64_t i = 0; i < repeat; i++) {
        const int64_t start = now_ns();
        for (int f = 0; f < fd_count; f++)
            if (pread(fds[f], buffer, sizeof(buffer), 0) < 0)
                return -errno;
        took_ns[i] = now_ns() - start;
    }
    return 0;
}

/* Nanoseconds of one sched_setaffinity(2) that confines `tid` to `cpu`, or -errno. */
int64_t probe_setaffinity(int tid, int cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    const int64_t start = now_ns();
    if (sched_setaffinity(tid, sizeof(set), &set) != 0)
        return -errno;
    return now_ns() - start;
}

/* Runs for on_ns and sleeps for off_ns, for ever; *running is the truth about it. */
void probe_wave(int64_t on_ns, int64_t off_ns, _Atomic uint8_t *running) {
    prctl(PR_SET_TIMERSLACK, 1UL);
    for (;;) {
        const int64_t start_ns = now_ns();
        atomic_store(running, 1);
        while (now_ns() < start_ns + on_ns) {
        }
        atomic_store(running, 0);
        sleep_until(start_ns + on_ns + off_ns);
    }
}
