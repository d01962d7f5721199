/* Makes an elastic thread run on a CPU that has just been added to its group.
 *
 * After a cpuset has grown, an idle CPU waits for the load balancer to find it (4-17 ms). So one
 * runnable thread of the group is pinned there, which moves it at once, and released. */
#ifndef SH_NUDGE_H
#define SH_NUDGE_H

#include <stdatomic.h>
#include <stdint.h>

enum { SH_NUDGE_KEPT = 8 };

struct sh_nudge_thread {
    int32_t tid;
    int stat_fd; /* of this thread and no later one that gets its number */
};

struct sh_nudge {
    int tasks_fd;                /* the group's list of tasks; -1: nobody is nudged */
    _Atomic int32_t *pinned_tid; /* where a crash can still find the pinned thread; may be NULL */
    /* Threads that were runnable when last looked at: reading the list takes longer than all the
     * rest, and a batch that computes is still at it. */
    struct sh_nudge_thread kept[SH_NUDGE_KEPT];
    uint32_t kept_count;
    uint32_t turn;
    _Atomic uint64_t nudges;
};

/* Moves a thread of its own to each of the CPUs; a negative number is none. Only threads that may
 * run everywhere in `mask`, the group's set as the kernel spells it, since those lose nothing.
 * Does what it can: a CPU without a thread is left to the load balancer. */
void sh_nudge(struct sh_nudge *nudge, const int32_t *cpus, uint32_t count, const char *mask);

/* Forgets the threads kept. */
void sh_nudge_close(struct sh_nudge *nudge);

#endif
