#define _GNU_SOURCE
#include "actuators/cpuset.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { MASK_BYTES = 8192 };

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

const char *sh_cpuset_mask(const struct sh_cpuset *cpuset, uint32_t index, uint32_t level) {
    const struct sh_lend_order *order = cpuset->order;
    if (!order)
        return cpuset->files[index].masks[level];
    const uint32_t in_force = atomic_load_explicit(&order->in_force, memory_order_relaxed);
    const bool now = cpuset->current == (int64_t)level;
    return order->files[index].text[now ? in_force : !in_force];
}

static int write_file(struct sh_cpuset *cpuset, uint32_t index, uint32_t level) {
    const int handle = cpuset->files[index].cpus;
    const char *mask = sh_cpuset_mask(cpuset, index, level);
    int err = 0;
    if (cpuset->current >= 0 &&
        strcmp(mask, sh_cpuset_mask(cpuset, index, (uint32_t)cpuset->current)) == 0) {
        atomic_fetch_add_explicit(&cpuset->skipped, 1, memory_order_relaxed);
        return 0;
    }
    err = cpuset->ops.write(cpuset->ops.ctx, handle, mask, strlen(mask));
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
        const char *mask = sh_cpuset_mask(cpuset, i, level);
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
        int err = file->effective < 0
                      ? 0
                      : reads_back(cpuset, file->effective, sh_cpuset_mask(cpuset, i, level));
        if (err)
            return fail(cpuset, i, level, err);
    }
    return 0;
}

/* Has, or no longer has, the cores held that lie between two levels. */
static void hold(struct sh_cpuset *cpuset, int64_t from, int64_t to, bool held) {
    if (!cpuset->core_hold || from < 0)
        return;
    for (int64_t level = (from < to ? from : to) + 1; level <= (from < to ? to : from); level++) {
        if (held)
            sh_core_hold_hold(cpuset->core_hold, cpuset->added_cpu[level]);
        else
            sh_core_hold_release(cpuset->core_hold, cpuset->added_cpu[level]);
    }
}

/* Even for a moment? With exclusive placement the last core that is taken back is to be the
 * primaries' alone: a kernel that preempts lazily would leave it to the group for a tick. */
static bool parks(const struct sh_cpuset *cpuset, uint32_t level, bool briefly) {
    return level == 0 && (!briefly || cpuset->files[cpuset->file_count - 1].primary);
}

static int park(struct sh_cpuset *cpuset) {
    const int err = set_frozen(cpuset, true);
    return err ? fail(cpuset, cpuset->file_count, 0, err) : 0;
}

static int assign(struct sh_cpuset *cpuset, uint32_t harvested, bool briefly) {
    const uint32_t level = harvested < cpuset->levels ? harvested : cpuset->levels - 1;
    const int64_t before = cpuset->current;
    int err;
    if (before == (int64_t)level)
        return parks(cpuset, level, briefly) ? park(cpuset) : 0;
    if (level > 0 && (err = set_frozen(cpuset, false)))
        return fail(cpuset, cpuset->file_count, level, err);
    if (cpuset->order)
        sh_lend_order_choose(cpuset->order, before < 0 ? 0 : (uint32_t)before, level);
    hold(cpuset, before, level, true);
    err = before < 0 ? write_first(cpuset, level) : write_all(cpuset, level);
    /* Before the reading, which takes as long: the kernel refuses what was not granted. */
    if (!err && before >= 0 && before < (int64_t)level)
        sh_nudge(&cpuset->nudge, &cpuset->added_cpu[before + 1], level - (uint32_t)before,
                 sh_cpuset_mask(cpuset, 0, level));
    hold(cpuset, before, level, false);
    if (err || (err = read_all_back(cpuset, level)))
        return err;
    cpuset->current = level;
    if (cpuset->order)
        sh_lend_order_accept(cpuset->order);
    return parks(cpuset, level, briefly) ? park(cpuset) : 0;
}

static int cpuset_assign(void *ctx, uint32_t harvested) {
    return assign(ctx, harvested, false);
}

static int cpuset_assign_briefly(void *ctx, uint32_t harvested) {
    return assign(ctx, harvested, true);
}

void sh_cpuset_init(struct sh_cpuset *cpuset, struct sh_actuator *actuator) {
    cpuset->current = -1;
    cpuset->frozen = false;
    actuator->assign = cpuset_assign;
    actuator->assign_briefly = cpuset_assign_briefly;
    actuator->ctx = cpuset;
}
