/* The `cpugroups` mechanism: a group for every split, and the tasks are moved between them.
 *
 * The paper's slow path, for comparison: the groups below the elastic one differ in their sets,
 * which nobody writes while the loop runs, and a core is moved by writing the ids of processes (or
 * threads) into another group's list. Each of these writes waits for a grace period of RCU, some
 * milliseconds (cgroup_attach_lock(), kernel/cgroup/cgroup.c).
 *
 * Tasks are born where their parents are, so a group is moved one by one until it is empty; those
 * of all groups but the one aimed at, the elastic group itself among them, where newcomers arrive.
 */
#ifndef SH_CPUGROUPS_H
#define SH_CPUGROUPS_H

#include <stdatomic.h>
#include <stdint.h>

#include "actuators/actuator.h"
#include "actuators/cpuset.h"

enum {
    SH_CPUGROUPS_MAX_SPLITS = 128,  /* those of an earlier loop, which are emptied only, included */
    SH_CPUGROUPS_MAX_MOVES = 16384, /* in one assignment; more: -EAGAIN, somebody forks faster */
};

struct sh_cpugroup {
    int list; /* handle of the list of its tasks */
    int take; /* handle of what a process or thread is written to */
};

struct sh_cpugroups {
    struct sh_file_ops ops;   /* read lists again from */
    struct sh_cpugroup outer; /* the elastic group itself; nothing is moved there */
    struct sh_cpugroup splits[SH_CPUGROUPS_MAX_SPLITS];
    uint32_t split_count;
    const uint16_t *split_of; /* [levels] */
    uint32_t levels;
    _Atomic int64_t *beat; /* a long move still lives; may be NULL */

    /* The split that has all tasks; -1 before the first assignment, during one, after a failure. */
    _Atomic int64_t current;
    _Atomic uint64_t moves; /* writes of an id */
    _Atomic uint32_t failed_split;
    _Atomic int32_t failed_tid;
};

/* Plain kernel files by descriptor, opened again for each listing. */
void sh_cpugroups_ops_posix(struct sh_file_ops *ops);

void sh_cpugroups_init(struct sh_cpugroups *groups, struct sh_actuator *actuator);

#endif
