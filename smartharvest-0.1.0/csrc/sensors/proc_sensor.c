#define _GNU_SOURCE
#include "sensors/proc_sensor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "loop/clock.h"
#include "sensors/task_list.h"

/* A listing may cost at most this share of the time between two of them. */
enum { RESCAN_SHARE = 20, STAT_BYTES = 512 };

/* State and CPU (fields 3 and 39) of a stat line; false if it is not one. */
static bool parse_stat(const char *line, size_t length, char *state, uint32_t *cpu) {
    /* comm may hold spaces and brackets: the last ')' ends it. */
    const char *p = memrchr(line, ')', length), *end = line + length;
    if (!p || p + 2 >= end)
        return false;
    p += 2;
    *state = *p;
    *cpu = 0;
    if (*state != 'R')
        return true;
    for (int spaces = 0; spaces < 36; p++) {
        if (p >= end)
            return false;
        spaces += *p == ' ';
    }
    for (; p < end && *p >= '0' && *p <= '9'; p++)
        *cpu = *cpu * 10 + (uint32_t)(*p - '0');
    return true;
}

static int by_tid(const void *a, const void *b) {
    const struct sh_proc_task *x = a, *y = b;
    return (x->tid > y->tid) - (x->tid < y->tid);
}

static struct sh_proc_task *known(struct sh_proc_sensor *proc, int32_t tid) {
    const struct sh_proc_task key = {.tid = tid};
    return bsearch(&key, proc->tasks, proc->task_count, sizeof(key), by_tid);
}

struct listing {
    struct sh_proc_sensor *proc;
    uint32_t primary, fresh_count;
    int error; /* tasks that cannot be watched would look idle */
};

static void note_task(void *ctx, int32_t tid) {
    struct listing *listing = ctx;
    struct sh_proc_sensor *proc = listing->proc;
    char path[64];
    struct sh_proc_task *task = known(proc, tid);
    if (task && task->fd >= 0) {
        task->seen = proc->listing;
        task->primary = listing->primary;
        return;
    }
    /* A known one without a descriptor has died and its number was given out again. */
    if (proc->task_count + listing->fresh_count >= SH_PROC_MAX_TASKS) {
        listing->error = -EOVERFLOW;
        return;
    }
    /* /proc/TID works for threads too, though it is not listed. */
    snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", tid, tid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        if (errno != ENOENT && errno != ESRCH)
            listing->error = -errno;
        return; /* otherwise it has died since it was listed */
    }
    proc->fresh[listing->fresh_count++] = (struct sh_proc_task){
        .tid = tid, .fd = fd, .primary = listing->primary, .seen = proc->listing};
}

/* Sorts the new tasks in; one that moved between two groups while they were listed comes twice. */
static uint32_t merge_fresh(struct sh_proc_sensor *proc, uint32_t kept, uint32_t fresh_count) {
    uint32_t total = kept + fresh_count, unique = 0;
    /* By insertion: new ids are mostly the highest ones, and qsort(3) may allocate. */
    for (uint32_t i = 0; i < fresh_count; i++) {
        uint32_t at = kept + i;
        for (; at > 0 && proc->tasks[at - 1].tid > proc->fresh[i].tid; at--)
            proc->tasks[at] = proc->tasks[at - 1];
        proc->tasks[at] = proc->fresh[i];
    }
    for (uint32_t i = 0; i < total; i++) {
        if (unique && proc->tasks[unique - 1].tid == proc->tasks[i].tid)
            close(proc->tasks[i].fd);
        else
            proc->tasks[unique++] = proc->tasks[i];
    }
    return unique;
}

static int rescan(struct sh_proc_sensor *proc) {
    struct listing listing = {.proc = proc};
    uint32_t kept = 0;
    proc->listing++;
    for (uint32_t i = 0; i < proc->sources.count; i++) {
        const struct sh_task_source *source = &proc->sources.source[i];
        listing.primary = source->primary;
        int err = sh_list_task_source(source, note_task, &listing);
        if (!err)
            err = listing.error;
        if (err) {
            while (listing.fresh_count)
                close(proc->fresh[--listing.fresh_count].fd);
            return err;
        }
    }
    for (uint32_t i = 0; i < proc->task_count; i++) {
        if (proc->tasks[i].fd >= 0 && proc->tasks[i].seen == proc->listing)
            proc->tasks[kept++] = proc->tasks[i];
        else if (proc->tasks[i].fd >= 0)
            close(proc->tasks[i].fd);
    }
    if (listing.fresh_count)
        kept = merge_fresh(proc, kept, listing.fresh_count);
    proc->task_count = kept;
    atomic_store_explicit(&proc->tasks_seen, proc->task_count, memory_order_relaxed);
    return 0;
}

static int proc_read(void *ctx, int64_t now_ns, struct sh_reading *reading) {
    struct sh_proc_sensor *proc = ctx;
    uint32_t running[SH_MAX_TASK_SOURCES] = {0}, runnable[SH_MAX_TASK_SOURCES] = {0};
    char line[STAT_BYTES];

    if (now_ns >= proc->next_rescan_ns) {
        const int64_t start_ns = sh_monotonic_ns();
        int err = rescan(proc);
        if (err)
            return err;
        const int64_t pause_ns = (sh_monotonic_ns() - start_ns) * RESCAN_SHARE;
        proc->next_rescan_ns = now_ns + (pause_ns > proc->rescan_ns ? pause_ns : proc->rescan_ns);
    }

    proc->poll++;
    for (uint32_t i = 0; i < proc->task_count; i++) {
        struct sh_proc_task *task = &proc->tasks[i];
        char state;
        uint32_t cpu;
        ssize_t got = task->fd < 0 ? -1 : pread(task->fd, line, sizeof(line), 0);
        if (got <= 0) {
            /* ESRCH: it died. The slot goes at the next listing; the tid may be reborn in it. */
            if (task->fd >= 0)
                close(task->fd);
            task->fd = -1;
            continue;
        }
        if (!parse_stat(line, (size_t)got, &state, &cpu) || state != 'R')
            continue;
        runnable[task->primary]++;
        /* A CPU counts once, for the first primary that is seen on it. */
        if (cpu < SH_PROC_MAX_CPUS && proc->stamp[cpu] != proc->poll) {
            proc->stamp[cpu] = proc->poll;
            running[task->primary]++;
        }
    }
    reading->busy = reading->demand = 0;
    for (uint32_t i = 0; i < proc->sources.primary_count; i++) {
        const uint32_t most = proc->sources.allocations[i];
        reading->busy += running[i] < most ? running[i] : most;
        reading->demand += runnable[i] < most ? runnable[i] : most;
    }
    return 0;
}

void sh_proc_sensor_init(struct sh_proc_sensor *proc, struct sh_sensor *sensor) {
    *sensor = (struct sh_sensor){.read = proc_read, .ctx = proc, .wake_fd = -1};
}

void sh_proc_sensor_close(struct sh_proc_sensor *proc) {
    for (uint32_t i = 0; i < proc->task_count; i++)
        if (proc->tasks[i].fd >= 0)
            close(proc->tasks[i].fd);
    proc->task_count = 0;
}
