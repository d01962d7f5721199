/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* What the program that notes writers and user space share: the layout of the mapped memory. */
#ifndef SH_WRITERS_STATE_H
#define SH_WRITERS_STATE_H

#include <stdint.h>

enum {
    SH_WRITERS_GROUPS = 256,
    SH_WRITERS_RING = 64, /* a power of two */
    SH_WRITERS_NAME = 16, /* as the kernel's */
    SH_WRITERS_FILE = 32,
};

/* One write, by a process that is not ours. */
struct sh_writer {
    uint64_t number; /* of the record, from 1; stored last, so that a torn one can be told */
    int64_t at_ns;   /* CLOCK_MONOTONIC */
    uint64_t group;  /* the inode of the directory */
    int32_t pid, parent;
    char name[SH_WRITERS_NAME], parent_name[SH_WRITERS_NAME]; /* of threads */
    char file[SH_WRITERS_FILE];
};

struct sh_writers_shared {
    int32_t own_pid; /* whose writes are not noted */
    uint32_t group_count;
    uint64_t groups[SH_WRITERS_GROUPS]; /* writes of other groups' files are not noted */
    uint64_t count;                     /* of records */
    struct sh_writer records[SH_WRITERS_RING];
} __attribute__((aligned(64)));

#endif
