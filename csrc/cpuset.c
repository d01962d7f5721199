#define _GNU_SOURCE
#include "cpuset.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "task_list.h"

enum { MASK_BYTES = 8192, MAX_CANDIDATES = 1024, NUDGE_TRIES = 8, AFFINITY_BYTES = 1024 };

static int posix_write(void *ctx, int handle, const char *value, size_t length) {
    (void)ctx;
    ssize_t written = pwrite(handle, value, length, 0);
    if (written < 0)
        return -errno;
    return (size_t)written == length ? 0 : -EIO;
}

static ssize_t posix_read(void *ctx, int handle, char *value, size_t size) {
    (void)ctx;
    ssize_t got = pread(handle, value, size, 0);
    return got < 0 ? -errno : got;
}

void sh_file_ops_posix(struct sh_file_ops *ops) {
    *ops = (struct sh_file_ops){.write = posix_write, .read = posix_read, .ctx = NULL};
}

/* Whether the set in force is `mask`: 0, -SH_ERR_EFFECTIVE, or why it cannot be read. */
static int reads_back(const struct sh_cpuset *cpuset, int handle, const char *mask) {
    char effective[MASK_BYTES];
    const size_t length = strlen(mask);
    ssize_t got = cpuset->ops.read(cpuset->ops.ctx, handle, effective, sizeof(effective));
    if (got < 0)
        return (int)got;
    if ((size_t)got < length || memcmp(effective, mask, length) != 0)
        return -SH_ERR_EFFECTIVE;
    return (size_t)got == length || effective[length] == '\n' ? 0 : -SH_ERR_EFFECTIVE;
}

static int write_file(struct sh_cpuset *cpuset, uint32_t index, uint32_t level) {
    const struct sh_cpuset_file *file = &cpuset->files[index];
    const char *mask = file->masks[level];
    int err = 0;
    if (cpuset->current >= 0 && strcmp(mask, file->masks[cpuset->current]) == 0) {
        atomic_fetch_add_explicit(&cpuset->skipped, 1, memory_order_relaxed);
        return 0;
    }
    err = cpuset->ops.write(cpuset->ops.ctx, file->cpus, mask, strlen(mask));
    if (!err)
        atomic_fetch_add_explicit(&cpuset->writes, 1, memory_order_relaxed);
    return err;
}

static int fail(struct sh_cpuset *cpuset, uint32_t index, uint32_t level, int err) {
    atomic_store(&cpuset->failed_file, index);
    atomic_store(&cpuset->failed_level, level);
    cpuset->current = -1; /* unknown: the next assign writes everything */
    return err;
}

static int set_frozen(struct sh_cpuset *cpuset, bool frozen) {
    const char *value = frozen ? cpuset->freeze : cpuset->thaw;
    if (cpuset->freezer < 0 || cpuset->frozen == frozen)
        return 0;
    int err = cpuset->ops.write(cpuset->ops.ctx, cpuset->freezer, value, strlen(value));
    if (!err)
        cpuset->frozen = frozen;
    return err;
}

/* --- the nudge -------------------------------------------------------------------------------- */

static bool is_runnable(int32_t tid) {
    char path[64], line[256];
    snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", tid, tid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t got = read(fd, line, sizeof(line));
    close(fd);
    const char *p = got > 0 ? memrchr(line, ')', (size_t)got) : NULL;
    return p && p + 2 < line + got && p[2] == 'R';
}

/* Runs anywhere in its cpuset, i.e. pinning and unpinning it loses nothing. */
static bool is_unpinned(int32_t tid, const char *mask) {
    unsigned long set[AFFINITY_BYTES / sizeof(unsigned long)] = {0};
    char list[MASK_BYTES];
    size_t used = 0;
    long start = -1;
    /* glibc's wrapper fixes the size; the cpuset may be larger than cpu_set_t. */
    if (sched_getaffinity(tid, sizeof(set), (cpu_set_t *)set) != 0)
        return false;
    for (long cpu = 0; cpu <= AFFINITY_BYTES * 8; cpu++) {
        const bool in =
            cpu < AFFINITY_BYTES * 8 &&
            set[(size_t)cpu / (8 * sizeof(long))] >> ((size_t)cpu % (8 * sizeof(long))) & 1;
        if (in && start < 0)
            start = cpu;
        if (!in && start >= 0) {
            const char *comma = used ? "," : "";
            int n = start == cpu - 1
                        ? snprintf(list + used, sizeof(list) - used, "%s%ld", comma, start)
                        : snprintf(list + used, sizeof(list) - used, "%s%ld-%ld", comma, start,
                                   cpu - 1);
            if (n < 0 || (size_t)n >= sizeof(list) - used)
                return false;
            used += (size_t)n;
            start = -1;
        }
    }
    return strlen(mask) == used && memcmp(mask, list, used) == 0;
}

static void pin(int32_t tid, int32_t cpu) {
    unsigned long set[AFFINITY_BYTES / sizeof(unsigned long)];
    memset(set, cpu < 0 ? 0xff : 0, sizeof(set));
    if (cpu >= 0)
        set[(size_t)cpu / (8 * sizeof(long))] |= 1UL << ((size_t)cpu % (8 * sizeof(long)));
    sched_setaffinity(tid, sizeof(set), (const cpu_set_t *)set); /* refused: no nudge */
}

struct candidates {
    int32_t tids[MAX_CANDIDATES];
    uint32_t count;
};

static void note_candidate(void *ctx, int32_t tid) {
    struct candidates *found = ctx;
    if (found->count < MAX_CANDIDATES)
        found->tids[found->count++] = tid;
}

static void nudge(struct sh_cpuset *cpuset, int32_t cpu, const char *mask) {
    struct candidates found = {.count = 0};
    if (sh_list_task_file(cpuset->tasks_fd, note_candidate, &found) != 0 || found.count == 0)
        return;
    for (uint32_t tries = 0; tries < NUDGE_TRIES && tries < found.count; tries++) {
        const int32_t tid = found.tids[cpuset->nudge_turn++ % found.count];
        if (!is_runnable(tid) || !is_unpinned(tid, mask))
            continue;
        if (cpuset->nudged_tid)
            atomic_store(cpuset->nudged_tid, tid);
        pin(tid, cpu);
        pin(tid, -1);
        if (cpuset->nudged_tid)
            atomic_store(cpuset->nudged_tid, 0);
        atomic_fetch_add_explicit(&cpuset->nudges, 1, memory_order_relaxed);
        return;
    }
}

/* --- assigning -------------------------------------------------------------------------------- */

static bool gains(const struct sh_cpuset *cpuset, const struct sh_cpuset_file *file,
                  uint32_t level) {
    return (level > (uint32_t)cpuset->current) != file->primary;
}

/* Groups that gain first, parents before children; then those that lose, children first. */
static int write_all(struct sh_cpuset *cpuset, uint32_t level) {
    int err;
    for (uint32_t i = 0; i < cpuset->file_count; i++)
        if (gains(cpuset, &cpuset->files[i], level) && (err = write_file(cpuset, i, level)))
            return fail(cpuset, i, level, err);
    for (uint32_t i = cpuset->file_count; i-- > 0;)
        if (!gains(cpuset, &cpuset->files[i], level) && (err = write_file(cpuset, i, level)))
            return fail(cpuset, i, level, err);
    return 0;
}

/* Gives one side its masks, whatever they are on the host: children first what they will have,
 * where that is narrower, then everybody from the root on. */
static int write_side(struct sh_cpuset *cpuset, bool primary, uint32_t level) {
    for (uint32_t i = cpuset->file_count; i-- > 1;) {
        const char *mask = cpuset->files[i].masks[level];
        if (cpuset->files[i].primary == primary)
            (void)cpuset->ops.write(cpuset->ops.ctx, cpuset->files[i].cpus, mask, strlen(mask));
    }
    for (uint32_t i = 0; i < cpuset->file_count; i++) {
        int err = cpuset->files[i].primary == primary ? write_file(cpuset, i, level) : 0;
        if (err)
            return fail(cpuset, i, level, err);
    }
    return 0;
}

/* Nothing is known of the masks on the host: the primaries have everything that can be theirs
 * before the elastic side gets its set, and give up theirs last. */
static int write_first(struct sh_cpuset *cpuset, uint32_t level) {
    int err;
    if ((err = write_side(cpuset, true, 0)) || (err = write_side(cpuset, false, level)))
        return err;
    for (uint32_t i = cpuset->file_count; level > 0 && i-- > 0;)
        if (cpuset->files[i].primary && (err = write_file(cpuset, i, level)))
            return fail(cpuset, i, level, err);
    return 0;
}

static int read_all_back(struct sh_cpuset *cpuset, uint32_t level) {
    for (uint32_t i = 0; i < cpuset->file_count; i++) {
        const struct sh_cpuset_file *file = &cpuset->files[i];
        int err = file->effective < 0 ? 0 : reads_back(cpuset, file->effective, file->masks[level]);
        if (err)
            return fail(cpuset, i, level, err);
    }
    return 0;
}

static int cpuset_assign(void *ctx, uint32_t harvested) {
    struct sh_cpuset *cpuset = ctx;
    const uint32_t level = harvested < cpuset->levels ? harvested : cpuset->levels - 1;
    const int64_t before = cpuset->current;
    int err;
    if (before == (int64_t)level)
        return 0;
    if (level > 0 && (err = set_frozen(cpuset, false)))
        return fail(cpuset, cpuset->file_count, level, err);
    err = before < 0 ? write_first(cpuset, level) : write_all(cpuset, level);
    if (err || (err = read_all_back(cpuset, level)))
        return err;
    cpuset->current = level;
    if (level == 0 && (err = set_frozen(cpuset, true)))
        return fail(cpuset, cpuset->file_count, level, err);
    if (cpuset->tasks_fd >= 0 && before >= 0)
        for (uint32_t added = (uint32_t)before + 1; added <= level; added++)
            if (cpuset->added_cpu[added] >= 0)
                nudge(cpuset, cpuset->added_cpu[added], cpuset->files[0].masks[level]);
    return 0;
}

void sh_cpuset_init(struct sh_cpuset *cpuset, struct sh_actuator *actuator) {
    cpuset->current = -1;
    cpuset->frozen = false;
    actuator->assign = cpuset_assign;
    actuator->ctx = cpuset;
}
