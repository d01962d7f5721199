#define _GNU_SOURCE
#include "sensors/wake_probe.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/sched.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    MAX_CPUS = 8192,
    LONGEST_WAIT_NS = 8000000, /* for a wake from afar: two ticks of 4 ms */
    FIRST_NS = 2000000,        /* until the first wake */
    PLACED_MS = 20,            /* for the threads to be where they belong */
    EARLY_NS = 5000,           /* an interrupt on time may find the child's last note this old */
    GAP_NS = 100000,           /* longer than an interrupt: the child was off its CPU */
    JOIN_MS = 50,              /* for the child to be in its group */
    END_MS = 200,              /* and gone, on a machine that has no time for it */
    JITTERS = 5,
};

struct sh_wake_probe_page {
    _Atomic uint32_t ready, go;           /* futexes: the child is in its group, and may spin */
    _Atomic uint32_t placed;              /* a futex: threads that are where they belong */
    _Alignas(64) _Atomic int64_t seen_ns; /* the child's: it ran from since_ns to then */
    _Atomic int64_t since_ns;
    _Alignas(
        64) _Atomic uint32_t asked; /* a futex: the number of the wake that is asked for, from 1 */
    _Atomic int64_t asked_ns;
    _Atomic int32_t failed; /* -errno of a thread */
    int64_t due_ns[SH_WAKE_PROBE_MOST_WAKES];
};

static int64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static struct timespec timespec_of(int64_t ns) {
    return (struct timespec){.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
}

static void sleep_until(int64_t ns) {
    const struct timespec at = timespec_of(ns);
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) == EINTR) {
    }
}

/* Whether the word has become `value` or more before `ns`. */
static bool wait_for(_Atomic uint32_t *word, uint32_t value, int64_t ns) {
    const struct timespec at = timespec_of(ns);
    uint32_t found;
    while ((found = atomic_load(word)) < value && now_ns() < ns)
        syscall(SYS_futex, word, FUTEX_WAIT_BITSET, found, &at, NULL, FUTEX_BITSET_MATCH_ANY);
    return found >= value;
}

static void wake(_Atomic uint32_t *word) {
    syscall(SYS_futex, word, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

static int pin(int32_t cpu) {
    unsigned long set[MAX_CPUS / (8 * sizeof(unsigned long))] = {0};
    if (cpu < 0 || cpu >= MAX_CPUS)
        return -EINVAL;
    set[(size_t)cpu / (8 * sizeof(long))] |= 1UL << (size_t)cpu % (8 * sizeof(long));
    return sched_setaffinity(0, sizeof(set), (const cpu_set_t *)set) ? -errno : 0;
}

/* Of niceness 0, whatever the caller is: as a primary's task. */
static int become_normal(void) {
    const struct sched_param none = {.sched_priority = 0};
    if (sched_setscheduler(0, SCHED_OTHER, &none))
        return -errno;
    return setpriority(PRIO_PROCESS, 0, 0) ? -errno : 0;
}

/* Into the group, which the caller has made for this: a thread's own move waits for nobody. */
static int join(int group_fd) {
    int fd = openat(group_fd, "tasks", O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        fd = openat(group_fd, "cgroup.procs", O_WRONLY | O_CLOEXEC);
    return fd >= 0 && write(fd, "0", 1) == 1 ? 0 : -1;
}

/* The child: it holds locks of nobody and calls nothing but the kernel. */
static void spin(const struct sh_wake_probe *probe, pid_t parent, bool inside) {
    struct sh_wake_probe_page *page = probe->page;
    const struct sched_param none = {.sched_priority = 0};
    int64_t now;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_NAME, "sh-wake-probe");
    if (getppid() != parent || pin(probe->cpu) || sched_setscheduler(0, SCHED_OTHER, &none) ||
        (!inside && join(probe->group_fd)))
        _exit(1);
    atomic_store(&page->ready, 1);
    wake(&page->ready);
    if (!wait_for(&page->go, 1, probe->until_ns) ||
        (probe->idle_policy && sched_setscheduler(0, SCHED_IDLE, &none)))
        _exit(1);
    for (int64_t last = 0; (now = now_ns()) < probe->until_ns; last = now) {
        if (now - last > GAP_NS)
            atomic_store_explicit(&page->since_ns, now, memory_order_relaxed);
        atomic_store_explicit(&page->seen_ns, now, memory_order_relaxed);
    }
    _exit(0);
}

/* Born in its v2 group, since moving a process there waits for every CPU. */
static int start_child(struct sh_wake_probe *probe) {
    const pid_t self = getpid();
    const bool v2 = probe->group_fd >= 0 && faccessat(probe->group_fd, "tasks", F_OK, 0) != 0;
    struct clone_args args = {.exit_signal = SIGCHLD};
    if (v2) {
        args.flags = CLONE_INTO_CGROUP;
        args.cgroup = (uint64_t)probe->group_fd;
    }
    bool inside = probe->group_fd < 0 || v2;
    probe->child = (pid_t)syscall(SYS_clone3, &args, sizeof(args));
    if (probe->child < 0 && (errno == ENOSYS || errno == EPERM)) { /* a container's filter */
        inside = probe->group_fd < 0;
        probe->child = fork();
    }
    if (probe->child == 0)
        spin(probe, self, inside);
    if (probe->child > 0)
        return 0;
    probe->child = 0;
    return -errno;
}

/* Moves this thread to its CPU, with exact timers, before the child spins there. A thread that is
 * moved later does not wake on that CPU, and may wait there for ticks. True if it is there. */
static bool takes_place(struct sh_wake_probe *probe, int32_t cpu, bool normal) {
    struct sh_wake_probe_page *page = probe->page;
    int err = pin(cpu);
    if (!err && normal)
        err = become_normal();
    prctl(PR_SET_NAME, "sh-wake-probe");
    prctl(PR_SET_TIMERSLACK, 1UL);
    if (err)
        atomic_store(&page->failed, err);
    atomic_fetch_add(&page->placed, 1);
    wake(&page->placed);
    return !err && wait_for(&page->go, 1, probe->until_ns);
}

/* On the child's CPU: sleeps, and reads when the child was last there. */
static void *sleeper(void *arg) {
    struct sh_wake_probe *probe = arg;
    struct sh_wake_probe_page *page = probe->page;
    if (!takes_place(probe, probe->cpu, true))
        return NULL;
    for (uint32_t i = 0; i < probe->wakes; i++) {
        int64_t woken_ns = page->due_ns[i];
        if (woken_ns + LONGEST_WAIT_NS > probe->until_ns)
            break;
        if (probe->from_afar[i]) {
            /* Whoever is not asleep by then is not woken: a wake may have come late. */
            if (atomic_load(&page->asked) > i ||
                !wait_for(&page->asked, i + 1, woken_ns + LONGEST_WAIT_NS))
                continue;
            woken_ns = atomic_load(&page->asked_ns);
        } else if (now_ns() >= woken_ns) {
            continue;
        } else {
            sleep_until(woken_ns);
        }
        const int64_t seen_ns = atomic_load_explicit(&page->seen_ns, memory_order_relaxed);
        const int64_t since_ns = atomic_load_explicit(&page->since_ns, memory_order_relaxed);
        if (since_ns < woken_ns && seen_ns >= woken_ns - EARLY_NS)
            probe->kept_ns[i] = seen_ns > woken_ns ? seen_ns - woken_ns : 0;
    }
    return NULL;
}

/* On another CPU: wakes the sleeper up. */
static void *caller(void *arg) {
    struct sh_wake_probe *probe = arg;
    struct sh_wake_probe_page *page = probe->page;
    if (!takes_place(probe, probe->waker_cpu, false))
        return NULL;
    for (uint32_t i = 0; i < probe->wakes; i++) {
        if (!probe->from_afar[i])
            continue;
        if (page->due_ns[i] + LONGEST_WAIT_NS > probe->until_ns)
            break;
        sleep_until(page->due_ns[i]);
        atomic_store(&page->asked_ns, now_ns());
        atomic_store(&page->asked, i + 1);
        wake(&page->asked);
    }
    return NULL;
}

/* Wakes at uneven distances, so that they are not always as far from a tick. */
static void plan(struct sh_wake_probe *probe) {
    static const int64_t TENTHS[JITTERS] = {13, 8, 11, 7, 11};
    int64_t at_ns = now_ns() + FIRST_NS;
    for (uint32_t i = 0; i < probe->wakes; i++) {
        at_ns += probe->interval_ns * TENTHS[i % JITTERS] / 10;
        probe->page->due_ns[i] = at_ns;
        probe->kept_ns[i] = -1;
        probe->from_afar[i] = probe->waker_cpu >= 0 && i % 2;
    }
}

int sh_wake_probe_start(struct sh_wake_probe *probe) {
    sigset_t all, old;
    if (probe->wakes > SH_WAKE_PROBE_MOST_WAKES)
        return -EINVAL;
    struct sh_wake_probe_page *page =
        mmap(NULL, sizeof(*page), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return -errno;
    probe->page = page;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old); /* the caller's handlers are not for the child */
    int err = start_child(probe);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (!err && !wait_for(&page->ready, 1, now_ns() + JOIN_MS * 1000000LL))
        err = -EBUSY;
    if (err)
        sh_wake_probe_stop(probe);
    return err;
}

int sh_wake_probe_run(struct sh_wake_probe *probe) {
    struct sh_wake_probe_page *page = probe->page;
    pthread_t asleep, calling;
    sigset_t all, old;
    bool sleeps = false, calls = false;
    if (probe->child <= 0)
        return -ESRCH;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int err = -pthread_create(&asleep, NULL, sleeper, probe);
    sleeps = !err;
    if (!err && probe->waker_cpu >= 0) {
        err = -pthread_create(&calling, NULL, caller, probe);
        calls = !err;
    }
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    wait_for(&page->placed, (uint32_t)sleeps + calls, now_ns() + PLACED_MS * 1000000LL);
    plan(probe);
    atomic_store(&page->go, err ? 0 : 1);
    wake(&page->go);
    if (calls)
        pthread_join(calling, NULL);
    if (sleeps)
        pthread_join(asleep, NULL);
    return err ? err : atomic_load(&page->failed);
}

/* SIGKILL ends it on a CPU only, and of the idle class it may not get one: it becomes normal, and
 * may use any. The caller has taken cpu.idle off. */
void sh_wake_probe_stop(struct sh_wake_probe *probe) {
    const struct sched_param none = {.sched_priority = 0};
    const struct timespec moment = {.tv_nsec = 500000};
    struct rusage used = {0};
    unsigned long all[MAX_CPUS / (8 * sizeof(unsigned long))];
    if (probe->child > 0) {
        memset(all, 0xff, sizeof(all));
        kill(probe->child, SIGKILL);
        sched_setscheduler(probe->child, SCHED_OTHER, &none);
        sched_setaffinity(probe->child, sizeof(all), (const cpu_set_t *)all);
        pid_t ended = wait4(probe->child, NULL, WNOHANG, &used);
        for (int i = 0; ended == 0 && i < 2 * END_MS; i++) {
            clock_nanosleep(CLOCK_MONOTONIC, 0, &moment, NULL);
            ended = wait4(probe->child, NULL, WNOHANG, &used);
        }
        probe->spun_ns = ((int64_t)used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000000 +
                         ((int64_t)used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1000;
        probe->child = 0;
    }
    if (probe->page) {
        munmap(probe->page, sizeof(*probe->page));
        probe->page = NULL;
    }
}
