/* Who else writes the groups we manage: a BPF program where the kernel takes a write to a file of a
 * group notes the writer. It wakes nobody; the records are looked at once something is not as it
 * was left.
 *
 * Needs what the in-kernel sensor needs (bpf_sensor.h), and a kernel that lets its functions be
 * traced. */
#ifndef SH_WRITERS_H
#define SH_WRITERS_H

#include <stdint.h>

#include "bpf/writers_state.h"

struct sh_writers {
    struct sh_writers_shared *shared; /* mapped */
    int map, program, link;
};

/* Loads and attaches; nothing is noted before there are groups. 0, or -errno with a few words in
 * *reason. */
int sh_writers_open(struct sh_writers *writers, const char **reason);
void sh_writers_close(struct sh_writers *writers);

/* Notes who writes the files of these groups from now on; those beyond SH_WRITERS_GROUPS are left
 * out. A group's number is that of its directory's inode. */
void sh_writers_watch(struct sh_writers *writers, const uint64_t *groups, uint32_t count);

/* Copies the records, newest first, into records[SH_WRITERS_RING]; how many. */
uint32_t sh_writers_read(const struct sh_writers *writers, struct sh_writer *records);

#endif
