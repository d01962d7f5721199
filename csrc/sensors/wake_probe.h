/* How soon does a normal task that wakes take its CPU from an idle-class one?
 *
 * A child of ours spins on a CPU, and a thread wakes there now and then: by its own timer, or by a
 * thread on another CPU. The child notes the time as it spins, so its last note says when it lost
 * the CPU: a machine that stood still, or another task there, adds nothing to the result. */
#ifndef SH_WAKE_PROBE_H
#define SH_WAKE_PROBE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { SH_WAKE_PROBE_MOST_WAKES = 64 };

struct sh_wake_probe_page;

struct sh_wake_probe {
    int32_t cpu;
    int32_t waker_cpu;   /* asks for every second wake; -1: timers alone do */
    int group_fd;        /* directory of the child's group, v1 or v2; -1: the caller's */
    bool idle_policy;    /* the child is SCHED_IDLE */
    uint32_t wakes;      /* at most SH_WAKE_PROBE_MOST_WAKES */
    int64_t interval_ns; /* between wakes, on average */
    int64_t until_ns;    /* CLOCK_MONOTONIC: nothing of ours spins or sleeps beyond */

    /* From the wake to the child's last moment on the CPU; -1: it was not there, so no answer. */
    int64_t kept_ns[SH_WAKE_PROBE_MOST_WAKES];
    bool from_afar[SH_WAKE_PROBE_MOST_WAKES]; /* which of them the other CPU asked for */
    int64_t spun_ns;                          /* CPU time of the child */

    pid_t child; /* 0: there is none */
    struct sh_wake_probe_page *page;
};

/* Forks the child, which joins the group, and sleeps. So the caller makes the group idle only then,
 * and no idle task ever holds a lock of the kernel's groups. 0 or -errno, and then there is none.
 * It ends with the calling thread. */
int sh_wake_probe_start(struct sh_wake_probe *probe);

/* Has it spin, and measures. 0, or -errno if a thread could not be started or put in its place. */
int sh_wake_probe_run(struct sh_wake_probe *probe);

/* Kills it, and waits for that a moment; harmless where there is none. */
void sh_wake_probe_stop(struct sh_wake_probe *probe);

#endif
