/* The `affinity` mechanism: sched_setaffinity on every thread of the elastic processes.
 *
 * For elastic targets that are processes and no group. Threads are listed again until a pass finds
 * none that is new, since one born during a pass may carry its parent's old mask. */
#ifndef SH_AFFINITY_H
#define SH_AFFINITY_H

#include <stdatomic.h>
#include <stdint.h>

#include "actuator.h"

enum { SH_AFFINITY_BYTES = 1024, SH_AFFINITY_MAX_PROCESSES = 64 };

struct sh_affinity_mask {
    unsigned long bits[SH_AFFINITY_BYTES / sizeof(unsigned long)];
};

struct sh_affinity {
    int task_dirs[SH_AFFINITY_MAX_PROCESSES]; /* descriptors of /proc/PID/task */
    uint32_t process_count;
    const struct sh_affinity_mask *masks; /* [levels] */
    uint32_t levels;
    int64_t current;
    _Atomic uint64_t writes;
};

void sh_affinity_init(struct sh_affinity *affinity, struct sh_actuator *actuator);

#endif
