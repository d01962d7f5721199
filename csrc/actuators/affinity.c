#define _GNU_SOURCE
#include "actuators/affinity.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "loop/clock.h"
#include "sensors/task_list.h"

enum { MAX_PASSES = 16, MAX_WAITS = 1000, TASKS_PER_BEAT = 64 };

struct pass {
    struct sh_affinity *affinity;
    uint32_t level;
    int64_t before; /* the level that all are expected to be at; -1: none is, or not for sure */
    struct sh_affinity_mask nudged; /* single threads were just pinned to one of these */
    bool follower;                  /* not the target itself */
    _Atomic int64_t *beat;          /* of the loop, if this is its thread */
    uint32_t changed, seen;
    int error;
};

static const struct sh_affinity_pin *pin_of(const struct sh_affinity *affinity, int32_t tid) {
    uint32_t low = 0, high = affinity->pin_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (affinity->pins[middle].tid < tid)
            low = middle + 1;
        else
            high = middle;
    }
    return low < affinity->pin_count && affinity->pins[low].tid == tid ? &affinity->pins[low]
                                                                       : NULL;
}

void sh_affinity_wanted(const struct sh_affinity *affinity, uint32_t level, int32_t tid,
                        struct sh_affinity_mask *mask) {
    const struct sh_affinity_pin *pin = pin_of(affinity, tid);
    unsigned long left = 0;
    *mask = affinity->masks[level];
    if (!pin)
        return;
    for (size_t i = 0; i < sizeof(mask->bits) / sizeof(mask->bits[0]); i++)
        left |= mask->bits[i] &= pin->mask.bits[i];
    if (!left)
        *mask = affinity->masks[level];
}

static bool is_same(const struct sh_affinity_mask *one, const struct sh_affinity_mask *other) {
    return memcmp(one, other, sizeof(*one)) == 0;
}

/* By one thread, the loop's. Whether it has CPUs that it was not given. */
static bool note_stray(struct sh_affinity *affinity, uint32_t before, int32_t tid,
                       const struct sh_affinity_mask *found) {
    const uint32_t count = atomic_load_explicit(&affinity->stray_count, memory_order_relaxed);
    struct sh_affinity_mask given;
    sh_affinity_wanted(affinity, before, tid, &given);
    if (is_same(found, &given))
        return false;
    if (count < SH_AFFINITY_STRAYS) {
        affinity->strays[count] =
            (struct sh_affinity_stray){.tid = tid, .found = *found, .given = given};
        atomic_store_explicit(&affinity->stray_count, count + 1, memory_order_release);
    }
    return true;
}

/* Whether it is one of the nudged CPUs alone. */
static bool was_nudged(const struct pass *pass, const struct sh_affinity_mask *found) {
    int cpus = 0;
    for (size_t i = 0; i < sizeof(found->bits) / sizeof(found->bits[0]); i++) {
        if (found->bits[i] & ~pass->nudged.bits[i])
            return false;
        cpus += __builtin_popcountl(found->bits[i]);
    }
    return cpus == 1;
}

static void set_one(void *ctx, int32_t tid) {
    struct pass *pass = ctx;
    struct sh_affinity_mask mask, now;
    sh_affinity_wanted(pass->affinity, pass->level, tid, &mask);
    if (pass->seen++ % TASKS_PER_BEAT == 0 && pass->beat)
        atomic_store_explicit(pass->beat, sh_monotonic_ns(), memory_order_relaxed);
    memset(&now, 0, sizeof(now));
    if (sched_getaffinity(tid, sizeof(now), (cpu_set_t *)&now) >= 0) {
        if (is_same(&now, &mask))
            return;
        if (pass->before >= 0 && !was_nudged(pass, &now))
            note_stray(pass->affinity, (uint32_t)pass->before, tid, &now);
    }
    if (sched_setaffinity(tid, sizeof(mask), (const cpu_set_t *)&mask) == 0)
        pass->changed++;
    /* EINVAL: it was moved to a cpuset that has none of these CPUs, and is none of ours there. */
    else if (errno != ESRCH && !(pass->follower && errno == EINVAL))
        pass->error = -errno;
}

static int pass_groups(struct sh_affinity *affinity, struct pass *pass) {
    for (uint32_t i = 0; i < affinity->group_count; i++) {
        pass->follower = true; /* it may have left the group since */
        int err = sh_list_task_file(affinity->task_files[i], set_one, pass);
        if (err && (i == 0 || err != -ENODEV))
            return err;
    }
    return 0;
}

/* Threads to move to CPUs that are added; the load balancer would need milliseconds. */
struct nudge {
    struct pass *pass;
    const int32_t *cpus;
    uint32_t count, skip, seen;
};

static void nudge_one(void *ctx, int32_t tid) {
    struct nudge *nudge = ctx;
    struct sh_affinity *affinity = nudge->pass->affinity;
    struct sh_affinity_mask mask;
    nudge->seen++;
    if (nudge->skip > 0) {
        nudge->skip--;
        return;
    }
    for (; nudge->count > 0 && *nudge->cpus < 0; nudge->cpus++)
        nudge->count--;
    if (nudge->count == 0 || pin_of(affinity, tid) || !sh_task_is_runnable(tid))
        return;
    memset(&mask, 0, sizeof(mask));
    if (sched_getaffinity(tid, sizeof(mask), (cpu_set_t *)&mask) < 0 ||
        !is_same(&mask, &affinity->masks[nudge->pass->before]))
        return; /* the pass notes it */
    const uint32_t cpu = (uint32_t)*nudge->cpus++;
    nudge->count--;
    memset(&mask, 0, sizeof(mask));
    mask.bits[cpu / (8 * sizeof(long))] = 1UL << cpu % (8 * sizeof(long));
    nudge->pass->nudged.bits[cpu / (8 * sizeof(long))] |= mask.bits[cpu / (8 * sizeof(long))];
    if (affinity->pinned_tid)
        atomic_store(affinity->pinned_tid, tid);
    sched_setaffinity(tid, sizeof(mask), (const cpu_set_t *)&mask); /* the pass widens it again */
}

static void nudge(struct pass *pass, uint32_t from, uint32_t to) {
    struct sh_affinity *affinity = pass->affinity;
    struct nudge nudge = {.pass = pass,
                          .cpus = &affinity->added_cpu[from + 1],
                          .count = to - from,
                          .skip = affinity->turn};
    for (uint32_t i = 0; i < affinity->group_count && nudge.count > 0; i++)
        if (sh_list_task_file(affinity->task_files[i], nudge_one, &nudge) != 0)
            break;
    affinity->turn = nudge.seen > 0 ? (affinity->turn + 1) % nudge.seen : 0;
}

static int affinity_assign(void *ctx, uint32_t harvested) {
    struct sh_affinity *affinity = ctx;
    const int64_t before = atomic_load(&affinity->current);
    const uint32_t level = harvested < affinity->levels ? harvested : affinity->levels - 1;
    struct pass pass = {
        .affinity = affinity, .level = level, .before = before, .beat = affinity->beat};
    if (before == (int64_t)level)
        return 0;
    atomic_store(&affinity->current, -1);
    if (affinity->added_cpu && before >= 0 && before < (int64_t)level)
        nudge(&pass, (uint32_t)before, level);
    for (int passes = 0; passes < MAX_PASSES; passes++) {
        const uint32_t count = atomic_load(&affinity->process_count);
        pass.changed = pass.seen = 0;
        for (uint32_t i = 0; i < count; i++) {
            pass.follower = i > 0;
            int err = sh_list_task_directory(affinity->task_dirs[i], set_one, &pass);
            if (err && err != -ESRCH)
                return err;
        }
        const int err = pass_groups(affinity, &pass);
        if (err || pass.error)
            return err ? err : pass.error;
        if (pass.seen == 0 && affinity->group_count == 0)
            return -ESRCH;
        atomic_fetch_add_explicit(&affinity->writes, pass.changed, memory_order_relaxed);
        if (pass.changed == 0)
            break;
        pass.before = -1; /* a thread met now was born, or came, meanwhile */
    }
    if (affinity->pinned_tid)
        atomic_store(affinity->pinned_tid, 0);
    atomic_store(&affinity->current, level);
    return 0;
}

/* The level the loop has come to; -1 if it has never assigned one, or failed to. */
static int64_t settled_level(struct sh_affinity *affinity) {
    const struct timespec while_it_assigns = {.tv_nsec = 100000};
    int64_t level = atomic_load(&affinity->current);
    for (int i = 0; level < 0 && i < MAX_WAITS; i++) {
        nanosleep(&while_it_assigns, NULL);
        level = atomic_load(&affinity->current);
    }
    return level;
}

int sh_affinity_follow(struct sh_affinity *affinity, uint32_t slot, int task_dir) {
    const uint32_t count = atomic_load(&affinity->process_count);
    int own, err = 0;
    if (slot < 1 || slot > count || slot >= SH_AFFINITY_MAX_PROCESSES) {
        close(task_dir);
        return -EINVAL;
    }
    /* Another descriptor: a position in a directory belongs to the one who lists it. */
    own = openat(task_dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (own < 0)
        err = -errno;
    if (slot == count) {
        affinity->task_dirs[slot] = task_dir;
        atomic_store(&affinity->process_count, count + 1);
    } else {
        if (dup3(task_dir, affinity->task_dirs[slot], O_CLOEXEC) < 0 && !err)
            err = -errno;
        close(task_dir);
    }
    /* An assignment that began before the slot was filled passes it by: until the level is the same
     * before and after. One that has not come yet finds the slot. */
    for (int64_t level; !err && (level = settled_level(affinity)) >= 0;) {
        struct pass pass = {
            .affinity = affinity, .level = (uint32_t)level, .before = -1, .follower = true};
        for (int passes = 0; passes < MAX_PASSES && !err; passes++) {
            pass.changed = 0;
            err = sh_list_task_directory(own, set_one, &pass);
            atomic_fetch_add_explicit(&affinity->writes, pass.changed, memory_order_relaxed);
            if (pass.changed == 0)
                break;
        }
        if (!err)
            err = pass.error;
        if (atomic_load(&affinity->current) == level)
            break;
    }
    if (own >= 0)
        close(own);
    return err;
}

int sh_affinity_refresh(struct sh_affinity *affinity) {
    int err = 0;
    for (int64_t level; !err && (level = settled_level(affinity)) >= 0;) {
        struct pass pass = {.affinity = affinity, .level = (uint32_t)level, .before = -1};
        if (!(err = pass_groups(affinity, &pass)))
            err = pass.error;
        atomic_fetch_add_explicit(&affinity->writes, pass.changed, memory_order_relaxed);
        if (atomic_load(&affinity->current) == level)
            break;
    }
    return err;
}

int sh_affinity_find_strays(const struct sh_affinity *affinity, const int32_t *tids, uint32_t count,
                            const struct sh_affinity_mask *online, struct sh_affinity_stray *found,
                            uint32_t most) {
    const int64_t level = atomic_load(&affinity->current);
    struct sh_affinity_mask now, given;
    uint32_t strays = 0;
    if (level < 0)
        return -EAGAIN;
    for (uint32_t i = 0; i < count && strays < most; i++) {
        memset(&now, 0, sizeof(now));
        if (sched_getaffinity(tids[i], sizeof(now), (cpu_set_t *)&now) < 0)
            continue;
        sh_affinity_wanted(affinity, (uint32_t)level, tids[i], &given);
        if (is_same(&now, &given))
            continue;
        found[strays] = (struct sh_affinity_stray){.tid = tids[i], .found = now, .given = given};
        for (size_t word = 0; word < sizeof(given.bits) / sizeof(given.bits[0]); word++)
            given.bits[word] &= online->bits[word];
        strays += !is_same(&now, &given);
    }
    return atomic_load(&affinity->current) == level ? (int)strays : -EAGAIN;
}

void sh_affinity_init(struct sh_affinity *affinity, struct sh_actuator *actuator) {
    atomic_store(&affinity->current, -1);
    actuator->assign = affinity_assign;
    actuator->assign_briefly = NULL;
    actuator->ctx = affinity;
}
