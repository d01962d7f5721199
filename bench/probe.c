/* The floors: what the kernel and an empty loop cost without SmartHarvest around them. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
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

static int64_t cpu_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * NS_PER_S + t.tv_nsec;
}

/* When the wave ran, and its CPU time at those moments, by its own clocks. Between them it had the
 * CPU, but not the CPU a processor, for stolen_ns: that is no CPU time. */
struct probe_span {
    int64_t start_ns, start_cpu_ns, end_ns, end_cpu_ns, stolen_ns;
};

/* Who is further behind his grid than PAUSED_NS was stopped: nothing is made up for. */
enum { LOST_NS = 10000, PAUSED_NS = 10000000 };

/* How long the caller has waited in run queues: the second number of its schedstat. */
static int64_t waited_ns(int schedstat) {
    char text[96] = "", *end;
    if (pread(schedstat, text, sizeof(text) - 1, 0) <= 0)
        return 0;
    strtoll(text, &end, 10);
    return strtoll(end, NULL, 10);
}

struct probe_log {
    _Atomic int64_t count; /* spans written; the last `capacity` of them are there */
    struct probe_span spans[];
};

/* For ever: uses on_ns of CPU time, then sleeps until the next begin of a fixed grid. With a seed
 * other than 0 both vary between a quarter and seven quarters of that. */
void probe_logged_wave(int64_t on_ns, int64_t off_ns, uint32_t seed, int64_t capacity,
                       struct probe_log *log) {
    uint32_t random = seed;
    const int schedstat = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
    int64_t begin_ns = now_ns(), used_ns = cpu_ns();
    prctl(PR_SET_TIMERSLACK, 1UL);
    for (int64_t i = 0;; i++) {
        int64_t on = on_ns, off = off_ns;
        if (seed) {
            random = random * 1664525 + 1013904223;
            on = on_ns / 4 + (int64_t)((random >> 8) % (uint32_t)(on_ns * 3 / 2));
            random = random * 1664525 + 1013904223;
            off = off_ns / 4 + (int64_t)((random >> 8) % (uint32_t)(off_ns * 3 / 2));
        }
        struct probe_span *span = &log->spans[i % capacity];
        span->start_ns = now_ns();
        span->start_cpu_ns = cpu_ns();
        const int64_t before_ns = waited_ns(schedstat);
        used_ns += on; /* what going to sleep and waking up cost comes off the next turn */
        while (cpu_ns() < used_ns) {
        }
        span->end_cpu_ns = cpu_ns();
        span->end_ns = now_ns();
        /* What is neither CPU time nor a wait: rarely anything, and rarely asked for. */
        int64_t lost_ns = span->end_ns - span->start_ns - (span->end_cpu_ns - span->start_cpu_ns);
        if (lost_ns > LOST_NS)
            lost_ns -= waited_ns(schedstat) - before_ns;
        span->stolen_ns = lost_ns > LOST_NS ? lost_ns : 0;
        atomic_store(&log->count, i + 1);
        begin_ns += on + off;
        if (span->end_ns - begin_ns > PAUSED_NS)
            begin_ns = span->end_ns + off;
        sleep_until(begin_ns);
    }
}

struct ball {
    int there, back;
    int64_t round_trips;
};

static void *return_ball(void *argument) {
    const struct ball *ball = argument;
    uint64_t one = 1;
    for (int64_t i = 0; i < ball->round_trips; i++)
        if (read(ball->there, &one, sizeof(one)) < 0 || write(ball->back, &one, sizeof(one)) < 0)
            break;
    return NULL;
}

/* Nanoseconds of round_trips between two threads on the CPU the caller is confined to; each is two
 * context switches. Or -errno. */
int64_t probe_ping_pong(int64_t round_trips) {
    struct ball ball = {eventfd(0, EFD_CLOEXEC), eventfd(0, EFD_CLOEXEC), round_trips};
    uint64_t one = 1;
    pthread_t thread;
    int64_t result = -errno;
    if (ball.there >= 0 && ball.back >= 0 &&
        (result = -pthread_create(&thread, NULL, return_ball, &ball)) == 0) {
        const int64_t start = now_ns();
        for (int64_t i = 0; i < round_trips; i++)
            if (write(ball.there, &one, sizeof(one)) < 0 || read(ball.back, &one, sizeof(one)) < 0)
                break;
        result = now_ns() - start;
        pthread_join(thread, NULL);
    }
    close(ball.there);
    close(ball.back);
    return result;
}

enum { LINE_BYTES = 64 };

/* Lines of a cache, each with the address of the next: one cycle in an order that no prefetcher
 * knows (Sattolo). */
static void chain(char *memory, uint32_t *order, int64_t lines) {
    uint32_t random = 1;
    for (int64_t i = 0; i < lines; i++)
        order[i] = (uint32_t)i;
    for (int64_t i = lines - 1; i > 0; i--) {
        random = random * 1664525 + 1013904223;
        const int64_t j = (int64_t)((uint64_t)random * (uint64_t)i >> 32);
        const uint32_t kept = order[i];
        order[i] = order[j];
        order[j] = kept;
    }
    for (int64_t i = 0; i < lines; i++)
        *(char **)(memory + LINE_BYTES * i) = memory + LINE_BYTES * (int64_t)order[i];
}

/* Nanoseconds of CPU time of `loads` that each need the one before, all over `bytes` of memory that
 * were loaded once before. Or -errno. */
int64_t probe_loads(int64_t bytes, int64_t loads) {
    const int64_t lines = bytes / LINE_BYTES;
    uint32_t *order = malloc((size_t)lines * sizeof(*order));
    char *memory =
        mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int64_t result = -ENOMEM;
    if (order != NULL && memory != MAP_FAILED) {
        madvise(memory, (size_t)bytes, MADV_HUGEPAGE);
        chain(memory, order, lines);
        char *at = memory;
        for (int64_t i = 0; i < lines; i++)
            at = *(char *volatile *)at;
        const int64_t start = cpu_ns();
        for (int64_t i = 0; i < loads; i++)
            at = *(char *volatile *)at;
        result = cpu_ns() - start;
    }
    if (memory != MAP_FAILED)
        munmap(memory, (size_t)bytes);
    free(order);
    return result;
}
