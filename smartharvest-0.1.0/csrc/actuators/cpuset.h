/* The `merge` mechanism: one write of the elastic group's cpuset moves any number of cores.
 *
 * With shared placement the primary's set is never touched, so no order between two writes can go
 * wrong. With exclusive placement the primaries' sets are files here as well: what gains CPUs is
 * written before what loses them, so that in between a core is in both sets and never in none, and
 * a primary has its share at every instant, even if this process is killed there.
 *
 * A v1 group whose children have masks of their own is written leaves first when it shrinks and
 * root first when it grows (the kernel answers EBUSY and EACCES otherwise: validate_change(),
 * kernel/cgroup/cpuset.c). */
#ifndef SH_CPUSET_H
#define SH_CPUSET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "actuators/actuator.h"
#include "actuators/core_hold.h"
#include "actuators/lend_order.h"
#include "actuators/nudge.h"

enum {
    SH_CPUSET_MAX_FILES = 256,
    /* Returned as -errno when a write was taken but the effective set is not what was written. */
    SH_ERR_EFFECTIVE = 131, /* ENOTRECOVERABLE */
};

/* How the files are reached: the kernel's, or a fake tree that answers as the kernel does. */
struct sh_file_ops {
    /* Writes the whole value at the start of the file. 0 or -errno. */
    int (*write)(void *ctx, int handle, const char *value, size_t length);
    /* Reads from the start; the length or -errno. */
    ssize_t (*read)(void *ctx, int handle, char *value, size_t size);
    void *ctx;
};

struct sh_cpuset_file {
    int cpus;      /* handle of cpuset.cpus */
    int effective; /* handle of cpuset.effective_cpus / cpuset.cpus.effective; -1: not read back */
    /* levels strings: the mask for each number of harvested cores, in the kernel's own spelling. */
    const char *const *masks;
    bool primary; /* its set shrinks as the harvest grows; widest at level 0 */
};

struct sh_cpuset {
    struct sh_file_ops ops;
    /* A group stands before its children; the elastic group is the first. */
    struct sh_cpuset_file files[SH_CPUSET_MAX_FILES];
    uint32_t file_count;
    uint32_t levels; /* 0..levels-1 cores can be harvested */

    struct sh_nudge nudge;          /* of the elastic group's threads to what is lent */
    struct sh_core_hold *core_hold; /* NULL: no core is held while it changes hands */
    const int32_t *added_cpu;       /* [level]: the CPU level has and level - 1 lacks, or -1 */
    /* NULL: the masks are those of the files. Else they are made as cores are chosen; shared
     * placement only, and added_cpu is the order's. */
    struct sh_lend_order *order;

    /* Freezing at level 0 instead of parking; -1: park. */
    int freezer;
    const char *freeze, *thaw;

    int64_t current; /* level in force; -1 before the first assign */
    bool frozen;
    /* Why the last assign failed. */
    _Atomic uint32_t failed_file; /* file_count: the freezer */
    _Atomic uint32_t failed_level;
    _Atomic uint64_t writes, skipped;
};

/* Plain kernel files by descriptor. */
void sh_file_ops_posix(struct sh_file_ops *ops);

/* What file `index` has, or gets, at the level in force or the one that is being assigned. */
const char *sh_cpuset_mask(const struct sh_cpuset *cpuset, uint32_t index, uint32_t level);

void sh_cpuset_init(struct sh_cpuset *cpuset, struct sh_actuator *actuator);

#endif
