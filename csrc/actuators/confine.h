/* Affinities for threads by the thousand: one for all when the guardian takes the cores back, and
 * the ones they had when the host is restored. No allocation; some 2 us a change. */
#ifndef SH_CONFINE_H
#define SH_CONFINE_H

#include <stdbool.h>
#include <stdint.h>

#include "actuators/affinity.h"

/* Lists the threads in `fd`, a /proc/PID/task directory or a group's `tasks` or `cgroup.threads`,
 * `passes` times, or until nobody is met who has another affinity. Adds to `changed` how often one
 * was set. Threads that have ended, or may not have these CPUs, stay as they are. 0 or -errno. */
int sh_confine(int fd, bool directory, const struct sh_affinity_mask *mask, uint32_t passes,
               uint64_t *changed);

struct sh_give_back {
    const struct sh_affinity_mask *known; /* what a thread may have been given; the first: what it
                                             had before, and gets back */
    uint32_t count;
    struct sh_affinity_mask every;  /* every CPU there can be */
    struct sh_affinity_mask within; /* what a cpuset has that has lost none since */
};

/* Gives thread `tid` known[0], unless somebody else has given it what is not known. Where that is
 * all its cpuset has, it gets no affinity of its own, so that it follows its cpuset again; not in
 * one that has lost CPUs. The number of the one it had, `count` for one not known (it stays), or
 * -errno. */
int sh_give_back(const struct sh_give_back *how, int32_t tid);

#endif
