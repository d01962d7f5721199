#define _GNU_SOURCE
#include "actuators/cpugroups.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "loop/clock.h"

enum { LIST_BYTES = 4096 };

static ssize_t read_anew(void *ctx, int handle, char *value, size_t size) {
    char path[32];
    (void)ctx;
    /* A v1 `tasks` that stays open shows an old list (see task_list.c). */
    snprintf(path, sizeof(path), "/proc/self/fd/%d", handle);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT ? -ENODEV : -errno;
    const ssize_t got = read(fd, value, size);
    const int err = got < 0 ? -errno : 0;
    close(fd);
    return err ? err : got;
}

void sh_cpugroups_ops_posix(struct sh_file_ops *ops) {
    sh_file_ops_posix(ops);
    ops->read = read_anew;
}

static int take(struct sh_cpugroups *groups, uint32_t target, int32_t tid) {
    char text[16];
    const int length = snprintf(text, sizeof(text), "%d", tid);
    const int err =
        groups->ops.write(groups->ops.ctx, groups->splits[target].take, text, (size_t)length);
    if (groups->beat)
        atomic_store_explicit(groups->beat, sh_monotonic_ns(), memory_order_relaxed);
    if (!err)
        atomic_fetch_add_explicit(&groups->moves, 1, memory_order_relaxed);
    return err;
}

/* Moves the first task of the list that can be: 1, 0 if there is none, or -errno. */
static int move_first(struct sh_cpugroups *groups, const struct sh_cpugroup *from,
                      uint32_t target) {
    char list[LIST_BYTES];
    const ssize_t got = groups->ops.read(groups->ops.ctx, from->list, list, sizeof(list) - 1);
    if (got < 0)
        return (int)got;
    list[got] = '\0';
    for (char *at = list, *end; (end = strchr(at, '\n')); at = end + 1) {
        const int32_t tid = (int32_t)strtol(at, NULL, 10);
        const int err = tid > 0 ? take(groups, target, tid) : -ESRCH;
        if (err != -ESRCH) { /* which has ended since */
            atomic_store(&groups->failed_tid, tid);
            return err ? err : 1;
        }
    }
    return 0;
}

static int empty_all_but(struct sh_cpugroups *groups, uint32_t target) {
    uint32_t moves = 0;
    for (uint32_t i = 0; i <= groups->split_count; i++) {
        const struct sh_cpugroup *from = i ? &groups->splits[i - 1] : &groups->outer;
        int moved = i != target + 1;
        while (moved > 0) {
            moved = move_first(groups, from, target);
            if (moved > 0 && ++moves == SH_CPUGROUPS_MAX_MOVES)
                moved = -EAGAIN;
        }
        if (moved < 0)
            return moved;
    }
    return 0;
}

static int cpugroups_assign(void *ctx, uint32_t harvested) {
    struct sh_cpugroups *groups = ctx;
    const uint32_t level = harvested < groups->levels ? harvested : groups->levels - 1;
    const uint32_t target = groups->split_of[level];
    if (atomic_load(&groups->current) == (int64_t)target)
        return 0;
    atomic_store(&groups->current, -1);
    const int err = empty_all_but(groups, target);
    if (err) {
        atomic_store(&groups->failed_split, target);
        return err;
    }
    atomic_store(&groups->current, target);
    return 0;
}

void sh_cpugroups_init(struct sh_cpugroups *groups, struct sh_actuator *actuator) {
    atomic_store(&groups->current, -1);
    actuator->assign = cpugroups_assign;
    actuator->assign_briefly = NULL;
    actuator->ctx = groups;
}
