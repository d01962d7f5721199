/* The `affinity` mechanism: sched_setaffinity on every thread of the elastic processes or groups.
 *
 * Threads are listed again until a pass finds none that is new, since one born during a pass may
 * carry its parent's old mask.
 *
 * A thread that has other CPUs when it is moved than the level before gave it has been given them
 * by somebody else: it is moved all the same, and noted. (One that has just come to a group, too.)
 *
 * Of processes the first process is the target, the others are those it has started. They are added
 * while the loop runs, by one other thread. */
#ifndef SH_AFFINITY_H
#define SH_AFFINITY_H

#include <stdatomic.h>
#include <stdint.h>

#include "actuators/actuator.h"

enum {
    SH_AFFINITY_BYTES = 1024,
    SH_AFFINITY_MAX_PROCESSES = 256,
    SH_AFFINITY_MAX_GROUPS = 256,
    SH_AFFINITY_STRAYS = 32,
};

struct sh_affinity_mask {
    unsigned long bits[SH_AFFINITY_BYTES / sizeof(unsigned long)];
};

/* What a thread was confined to before: it gets as much of that as the elastic side has. */
struct sh_affinity_pin {
    int32_t tid;
    struct sh_affinity_mask mask;
};

/* A thread that was met with CPUs that it had not been given. */
struct sh_affinity_stray {
    int32_t tid;
    struct sh_affinity_mask found, given;
};

struct sh_affinity {
    int task_files[SH_AFFINITY_MAX_GROUPS]; /* descriptors of groups' lists; the target's first */
    uint32_t group_count;
    const int32_t *added_cpu; /* [levels]: the CPU a level has and the one below lacks, or -1; a
                               * running thread is moved there when it is added. NULL: none is */
    uint32_t turn;
    _Atomic int32_t *pinned_tid; /* one of those that may still be on that CPU alone, or 0: where a
                                  * crash can find it; may be NULL */
    int task_dirs[SH_AFFINITY_MAX_PROCESSES]; /* descriptors of /proc/PID/task */
    _Atomic uint32_t process_count;
    const struct sh_affinity_mask *masks; /* [levels] */
    uint32_t levels;
    const struct sh_affinity_pin *pins; /* [pin_count], ascending by tid */
    uint32_t pin_count;
    _Atomic int64_t *beat;   /* a long move still lives; may be NULL */
    _Atomic int64_t current; /* level; -1 before the first assignment and during one */
    _Atomic uint64_t writes;
    /* The first ones met so far. One may be read as soon as it is counted. */
    struct sh_affinity_stray strays[SH_AFFINITY_STRAYS];
    _Atomic uint32_t stray_count;
};

/* The CPUs of a thread at a level: as much of its pin as the level has, or else all. */
void sh_affinity_wanted(const struct sh_affinity *affinity, uint32_t level, int32_t tid,
                        struct sh_affinity_mask *mask);

/* Which of the tids have other CPUs at rest than they were given, as far as those are `online`: the
 * first `most`. Those that have ended have none. How many; -EAGAIN while threads are moved. */
int sh_affinity_find_strays(const struct sh_affinity *affinity, const int32_t *tids, uint32_t count,
                            const struct sh_affinity_mask *online, struct sh_affinity_stray *found,
                            uint32_t most);

void sh_affinity_init(struct sh_affinity *affinity, struct sh_actuator *actuator);

/* Puts another process into a slot, 1..process_count and below the limit, and confines it as the
 * others are. A slot of a process that has ended is used again; its descriptor stays the same
 * number, for the loop may be about to read it. Takes task_dir. 0 or -errno (-ESRCH: it has ended,
 * and the slot is taken). */
int sh_affinity_follow(struct sh_affinity *affinity, uint32_t slot, int task_dir);

/* Confines those that have joined the groups since the last assignment. By one thread that is not
 * the loop's. 0 or -errno. */
int sh_affinity_refresh(struct sh_affinity *affinity);

#endif
