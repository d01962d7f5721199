#define _GNU_SOURCE
#include "actuators/nudge.h"

#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sensors/task_list.h"

enum { MAX_CANDIDATES = 1024, TRIES = 8, AFFINITY_BYTES = 1024, WORD_BITS = 8 * sizeof(long) };

struct cpu_bits {
    unsigned long words[AFFINITY_BYTES / sizeof(unsigned long)];
};

static void set_cpu(struct cpu_bits *bits, unsigned long cpu) {
    if (cpu < 8 * AFFINITY_BYTES)
        bits->words[cpu / WORD_BITS] |= 1UL << cpu % WORD_BITS;
}

static void parse_mask(const char *mask, struct cpu_bits *bits) {
    char *p = (char *)mask;
    *bits = (struct cpu_bits){{0}};
    while (*p >= '0' && *p <= '9') {
        const unsigned long first = strtoul(p, &p, 10);
        const unsigned long last = *p == '-' ? strtoul(p + 1, &p, 10) : first;
        for (unsigned long cpu = first; cpu <= last && cpu < 8 * AFFINITY_BYTES; cpu++)
            set_cpu(bits, cpu);
        p += *p == ',';
    }
}

static int open_stat(int32_t tid) {
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", tid, tid);
    return open(path, O_RDONLY | O_CLOEXEC);
}

static bool is_runnable(int stat_fd) {
    char line[256];
    const ssize_t got = pread(stat_fd, line, sizeof(line), 0);
    const char *p = got > 0 ? memrchr(line, ')', (size_t)got) : NULL;
    return p && p + 2 < line + got && p[2] == 'R';
}

/* With the whole group: pinning and unpinning it loses nothing. */
static bool has_just(int32_t tid, const struct cpu_bits *cpus) {
    struct cpu_bits own;
    /* The call itself: it says how much the kernel has written. */
    const long got = syscall(SYS_sched_getaffinity, tid, sizeof(own), &own);
    return got > 0 && memcmp(&own, cpus, (size_t)got) == 0;
}

/* The kernel cannot change an affinity only if nobody else has: what somebody sets between the look
 * just before and the first call is lost, what it sets later, while the thread moves, is left. */
static void move(struct sh_nudge *nudge, int32_t tid, int32_t cpu) {
    struct cpu_bits set = {{0}};
    set_cpu(&set, (unsigned long)cpu);
    if (nudge->pinned_tid)
        atomic_store(nudge->pinned_tid, tid);
    const bool moved = sched_setaffinity(tid, sizeof(set), (const cpu_set_t *)&set) == 0;
    if (moved && has_just(tid, &set)) {
        memset(&set, 0xff, sizeof(set));
        sched_setaffinity(tid, sizeof(set), (const cpu_set_t *)&set);
    }
    if (nudge->pinned_tid)
        atomic_store(nudge->pinned_tid, 0);
    if (moved)
        atomic_fetch_add_explicit(&nudge->nudges, 1, memory_order_relaxed);
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

static void keep(struct sh_nudge *nudge, int32_t tid, int stat_fd) {
    if (nudge->kept_count < SH_NUDGE_KEPT)
        nudge->kept[nudge->kept_count++] = (struct sh_nudge_thread){tid, stat_fd};
    else
        close(stat_fd);
}

static bool is_kept(const struct sh_nudge *nudge, int32_t tid) {
    for (uint32_t i = 0; i < nudge->kept_count; i++)
        if (nudge->kept[i].tid == tid)
            return true;
    return false;
}

/* Moves the next of the threads kept, from `at` on, and returns the place after it; those that no
 * longer want a CPU are forgotten on the way. 0: there is none. */
static uint32_t nudge_kept(struct sh_nudge *nudge, uint32_t at, int32_t cpu,
                           const struct cpu_bits *group) {
    while (at < nudge->kept_count) {
        const struct sh_nudge_thread thread = nudge->kept[at];
        if (is_runnable(thread.stat_fd) && has_just(thread.tid, group)) {
            move(nudge, thread.tid, cpu);
            return at + 1;
        }
        close(thread.stat_fd);
        nudge->kept[at] = nudge->kept[--nudge->kept_count];
    }
    return 0;
}

/* Moves the first runnable thread of the list, from `at` on, and returns the place after it. */
static uint32_t nudge_listed(struct sh_nudge *nudge, const struct candidates *found, uint32_t at,
                             int32_t cpu, const struct cpu_bits *group) {
    for (uint32_t tries = 0; tries < TRIES && at < found->count; tries++, at++) {
        const int32_t tid = found->tids[(nudge->turn + at) % found->count];
        const int stat_fd = is_kept(nudge, tid) ? -1 : open_stat(tid);
        if (stat_fd < 0)
            continue;
        if (is_runnable(stat_fd) && has_just(tid, group)) {
            move(nudge, tid, cpu);
            keep(nudge, tid, stat_fd);
            return at + 1;
        }
        close(stat_fd);
    }
    return at;
}

void sh_nudge(struct sh_nudge *nudge, const int32_t *cpus, uint32_t count, const char *mask) {
    struct candidates found;
    struct cpu_bits group;
    bool listed = false;
    uint32_t kept_at = 0, listed_at = 0;
    if (nudge->tasks_fd < 0)
        return;
    parse_mask(mask, &group);
    for (uint32_t i = 0; i < count; i++) {
        if (cpus[i] < 0 || (!listed && (kept_at = nudge_kept(nudge, kept_at, cpus[i], &group))))
            continue;
        if (!listed) {
            found.count = 0;
            listed = true;
            if (sh_list_task_file(nudge->tasks_fd, note_candidate, &found) != 0)
                return;
        }
        listed_at = nudge_listed(nudge, &found, listed_at, cpus[i], &group);
    }
    nudge->turn += listed_at;
}

void sh_nudge_close(struct sh_nudge *nudge) {
    while (nudge->kept_count > 0)
        close(nudge->kept[--nudge->kept_count].stat_fd);
}
