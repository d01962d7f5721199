#define _GNU_SOURCE
#include "sensors/perf_sensor.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "loop/clock.h"
#include "sensors/task_list.h"

/* A listing may cost at most this share of the time between two of them. */
enum { LIST_SHARE = 20 };
/* Every CPU is sampled fifty times a second: one that is silent this long has lost its event. */
static const int64_t SILENT_NS = 1000000000, CHECK_NS = 100000000, SEED_NS = 500000000,
                     VISIT_NS = 50000000;

static void count(_Atomic uint64_t *counter, uint64_t by) {
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + by,
                          memory_order_relaxed);
}

static uint32_t min_u32(uint32_t a, uint32_t b) {
    return a < b ? a : b;
}

/* --- levels ----------------------------------------------------------------------------------- */

static bool in_doubt(const struct sh_perf_sensor *perf) {
    return perf->doubts > 0 || perf->list_wanted;
}

static uint32_t level(const struct sh_perf_sensor *perf, uint32_t cores) {
    return min_u32(in_doubt(perf) ? perf->most : cores, SH_MAX_CORES);
}

/* Books the time since the last booking; time never runs back, though CPUs' records may. */
static void book(struct sh_perf_sensor *perf, int64_t until_ns) {
    const int64_t passed_ns = until_ns - perf->booked_ns;
    const uint32_t demand = level(perf, perf->demand);
    if (demand > perf->demand_max)
        perf->demand_max = demand;
    if (passed_ns <= 0)
        return;
    perf->spent_ns[level(perf, perf->busy)] += (uint64_t)passed_ns;
    perf->demand_core_ns += (uint64_t)passed_ns * demand;
    perf->booked_ns = until_ns;
}

static uint32_t wanted_by(const struct sh_perf_sensor *perf, uint32_t primary) {
    return min_u32(perf->running[primary] + perf->waiting[primary],
                   perf->sources.allocations[primary]);
}

/* The one place where a task's state and all that is counted of it change. */
static void move(struct sh_perf_sensor *perf, struct sh_task *task, int16_t place) {
    const uint32_t primary = task->primary, most = perf->sources.allocations[primary];
    if (place == task->place)
        return;
    book(perf, perf->record_ns);
    perf->busy -= min_u32(perf->running[primary], most);
    perf->demand -= wanted_by(perf, primary);
    perf->running[primary] -= task->place >= 0;
    perf->waiting[primary] -= task->place == SH_TASK_WAITS;
    task->place = place;
    perf->running[primary] += place >= 0;
    perf->waiting[primary] += place == SH_TASK_WAITS;
    perf->busy += min_u32(perf->running[primary], most);
    perf->demand += wanted_by(perf, primary);
}

/* --- tasks ------------------------------------------------------------------------------------ */

static void forget(struct sh_perf_sensor *perf, struct sh_task *task) {
    move(perf, task, SH_TASK_ASLEEP);
    sh_task_remove(&perf->tasks, task);
}

static struct sh_task *adopt(struct sh_perf_sensor *perf, int32_t tid, uint32_t primary,
                             uint8_t listing) {
    struct sh_task *task = sh_task_find(&perf->tasks, tid);
    if (!task && !(task = sh_task_add(&perf->tasks, tid))) {
        atomic_store(&perf->failure, -EOVERFLOW);
        return NULL;
    }
    if (task->primary != primary) {
        const int16_t place = task->place;
        move(perf, task, SH_TASK_ASLEEP);
        task->primary = (uint16_t)primary;
        move(perf, task, place);
    }
    task->listing = listing;
    return task;
}

/* Tasks that became known while they were running. */
static void find_running(struct sh_perf_sensor *perf, int32_t only) {
    for (uint32_t cpu = 0; cpu < perf->cpu_count; cpu++) {
        const int32_t tid = perf->cpus[cpu].tid;
        struct sh_task *task;
        if (tid <= 0 || (only && tid != only))
            continue;
        if ((task = sh_task_find(&perf->tasks, tid)) && task->place < 0)
            move(perf, task, (int16_t)cpu);
    }
}

static void born(struct sh_perf_sensor *perf, const struct sh_perf_record *record) {
    const struct sh_task *parent = sh_task_find(&perf->tasks, record->other_tid);
    struct sh_task *reused = sh_task_find(&perf->tasks, record->tid);
    const bool belongs =
        parent && (!perf->processes_apart[parent->primary] || record->pid == record->other_pid);
    if (reused && !belongs)
        forget(perf, reused);
    if (!belongs)
        return;
    adopt(perf, record->tid, parent->primary, atomic_load(&perf->listing));
    find_running(perf, record->tid);
}

/* Still runs for a moment after it has said so. */
static void ended(struct sh_perf_sensor *perf, const struct sh_perf_record *record) {
    struct sh_task *task = sh_task_find(&perf->tasks, record->tid);
    if (task && task->place >= 0)
        task->ending = true;
    else if (task)
        forget(perf, task);
}

static void merge_list(struct sh_perf_sensor *perf) {
    const uint8_t listing = atomic_load(&perf->listing);
    for (uint32_t i = 0; i < perf->listed_count; i++)
        adopt(perf, perf->listed[i].tid, perf->listed[i].primary, listing);
    for (uint32_t i = perf->tasks.count; i-- > 0;)
        if (perf->tasks.tasks[i].listing != listing)
            forget(perf, &perf->tasks.tasks[i]);
    find_running(perf, 0);
    /* One that had begun before the births were missed may lack them. */
    if (perf->list_wanted && (uint8_t)(listing - perf->wanted_listing) <= UINT8_MAX / 2) {
        book(perf, perf->record_ns);
        perf->list_wanted = false;
    }
    atomic_store_explicit(&perf->list_ready, false, memory_order_release);
}

/* --- records ---------------------------------------------------------------------------------- */

static void enter(struct sh_perf_sensor *perf, uint32_t cpu, int32_t tid) {
    struct sh_task *task;
    const int32_t was = perf->cpus[cpu].tid;
    if (was == tid)
        return;
    /* Nobody has said how it left. */
    if (was > 0 && (task = sh_task_find(&perf->tasks, was)) && task->place == (int16_t)cpu)
        move(perf, task, SH_TASK_ASLEEP);
    perf->cpus[cpu].tid = tid;
    if (tid > 0 && (task = sh_task_find(&perf->tasks, tid)))
        move(perf, task, (int16_t)cpu);
}

static void leave(struct sh_perf_sensor *perf, uint32_t cpu, const struct sh_perf_record *record) {
    /* Who has ended has no number any more. */
    const int32_t tid = record->tid > 0 ? record->tid : perf->cpus[cpu].tid;
    struct sh_task *task = tid > 0 ? sh_task_find(&perf->tasks, tid) : NULL;
    /* It may have come to another CPU whose records were read sooner. */
    if (!task || (task->place >= 0 && task->place != (int16_t)cpu))
        return;
    /* The last microseconds of one that ends: preempted, it comes back without a number. */
    if (task->ending)
        forget(perf, task);
    else
        move(perf, task, record->runnable ? SH_TASK_WAITS : SH_TASK_ASLEEP);
}

/* Records of the CPU are missing, behind those of drain `until`. */
static void doubt(struct sh_perf_sensor *perf, struct sh_perf_cpu *own, uint64_t until) {
    book(perf, perf->record_ns);
    count(&perf->counts.overruns, !own->doubted);
    perf->doubts += !own->doubted;
    own->doubted = until;
    perf->list_wanted = true;
    perf->wanted_listing = (uint8_t)(atomic_load(&perf->listing) + 1);
}

/* A record from behind the gap says who runs. */
static void trust(struct sh_perf_sensor *perf, struct sh_perf_cpu *own) {
    if (!own->doubted || own->doubted == perf->drains)
        return;
    book(perf, perf->record_ns);
    own->doubted = 0;
    perf->doubts--;
}

static void take_in(struct sh_perf_sensor *perf, uint32_t cpu) {
    struct sh_perf_cpu *own = &perf->cpus[cpu];
    const struct sh_perf_record *record = &own->next;
    const int32_t was = own->tid;
    if (record->time_ns > perf->record_ns)
        perf->record_ns = record->time_ns;
    if (record->time_ns > own->last_ns)
        own->last_ns = record->time_ns;
    switch (record->kind) {
    case SH_PERF_OUT:
        leave(perf, cpu, record);
        enter(perf, cpu, record->other_tid);
        trust(perf, own);
        break;
    case SH_PERF_IN:
        enter(perf, cpu, record->tid);
        trust(perf, own);
        break;
    case SH_PERF_SAMPLE:
        enter(perf, cpu, record->tid);
        if (own->tid != was && !own->doubted)
            count(&perf->counts.corrections, 1);
        trust(perf, own);
        break;
    case SH_PERF_FORK:
        born(perf, record);
        break;
    case SH_PERF_EXIT:
        ended(perf, record);
        break;
    case SH_PERF_LOST:
        doubt(perf, own, perf->drains - 1);
        break;
    case SH_PERF_OTHER:
        break;
    }
}

/* --- all rings in the order of time ----------------------------------------------------------- */

static bool earlier(const struct sh_perf_sensor *perf, uint32_t a, uint32_t b) {
    return perf->cpus[perf->order[a]].next.time_ns < perf->cpus[perf->order[b]].next.time_ns;
}

static void swap(uint32_t *a, uint32_t *b) {
    const uint32_t kept = *a;
    *a = *b;
    *b = kept;
}

static void sift_up(struct sh_perf_sensor *perf, uint32_t at) {
    for (; at > 0 && earlier(perf, at, (at - 1) / 2); at = (at - 1) / 2)
        swap(&perf->order[at], &perf->order[(at - 1) / 2]);
}

static void sift_down(struct sh_perf_sensor *perf, uint32_t size) {
    for (uint32_t at = 0, child; (child = 2 * at + 1) < size; at = child) {
        if (child + 1 < size && earlier(perf, child + 1, child))
            child++;
        if (!earlier(perf, child, at))
            return;
        swap(&perf->order[at], &perf->order[child]);
    }
}

static void drain(struct sh_perf_sensor *perf, int64_t now_ns) {
    uint32_t size = 0;
    uint64_t records = 0;
    perf->drains++;
    for (uint32_t cpu = 0; cpu < perf->cpu_count; cpu++) {
        struct sh_perf_cpu *own = &perf->cpus[cpu];
        if (sh_perf_ring_look(&own->ring))
            doubt(perf, own, perf->drains);
        if (!sh_perf_ring_next(&own->ring, &own->next))
            continue;
        perf->order[size] = cpu;
        sift_up(perf, size++);
    }
    while (size > 0) {
        const uint32_t cpu = perf->order[0];
        struct sh_perf_cpu *own = &perf->cpus[cpu];
        take_in(perf, cpu);
        records++;
        if (!sh_perf_ring_next(&own->ring, &own->next)) {
            sh_perf_ring_release(&own->ring);
            perf->order[0] = perf->order[--size];
        }
        sift_down(perf, size);
    }
    if (records)
        count(&perf->counts.records, records);
    if (atomic_load_explicit(&perf->list_ready, memory_order_acquire)) {
        if (now_ns > perf->record_ns)
            perf->record_ns = now_ns;
        merge_list(perf);
    }
    atomic_store_explicit(&perf->counts.tasks, perf->tasks.count, memory_order_relaxed);
}

static int check_silence(struct sh_perf_sensor *perf, int64_t now_ns) {
    for (uint32_t cpu = 0; cpu < perf->cpu_count; cpu++)
        if (now_ns - perf->cpus[cpu].last_ns > SILENT_NS)
            return -ESTALE;
    return 0;
}

/* --- the seam --------------------------------------------------------------------------------- */

static int perf_read(void *ctx, int64_t now_ns, struct sh_reading *reading) {
    struct sh_perf_sensor *perf = ctx;
    int err;
    drain(perf, now_ns);
    if ((err = atomic_load_explicit(&perf->failure, memory_order_relaxed)))
        return err;
    if (now_ns >= perf->next_check_ns) {
        if ((err = check_silence(perf, now_ns)))
            return err;
        perf->next_check_ns = now_ns + CHECK_NS;
    }
    reading->busy = level(perf, perf->busy);
    reading->demand = level(perf, perf->demand);
    return 0;
}

static int perf_collect(void *ctx, int64_t now_ns, struct sh_window *window) {
    struct sh_perf_sensor *perf = ctx;
    drain(perf, now_ns);
    book(perf, now_ns);
    if (perf->collecting) {
        for (uint32_t i = 0; i <= min_u32(perf->most, SH_MAX_CORES); i++)
            if (perf->spent_ns[i])
                sh_window_weigh(window, i, perf->spent_ns[i]);
        if (perf->demand_max > window->demand_max)
            window->demand_max = perf->demand_max;
        window->demand_core_ns += perf->demand_core_ns;
    }
    perf->collecting = true;
    memset(perf->spent_ns, 0, (min_u32(perf->most, SH_MAX_CORES) + 1) * sizeof(perf->spent_ns[0]));
    perf->demand_core_ns = 0;
    perf->demand_max = level(perf, perf->demand);
    return 0;
}

/* --- listing, by another thread --------------------------------------------------------------- */

struct listing {
    struct sh_perf_sensor *perf;
    uint32_t primary;
    int error;
};

static void note_task(void *ctx, int32_t tid) {
    struct listing *listing = ctx;
    struct sh_perf_sensor *perf = listing->perf;
    if (perf->listed_count == SH_TASK_TABLE_MAX)
        listing->error = -EOVERFLOW;
    else
        perf->listed[perf->listed_count++] = (struct sh_perf_listed){tid, listing->primary};
}

static int list_tasks(struct sh_perf_sensor *perf) {
    struct listing listing = {.perf = perf};
    int err = 0;
    perf->listed_count = 0;
    for (uint32_t i = 0; i < perf->sources.count && !err; i++) {
        const struct sh_task_source *source = &perf->sources.source[i];
        listing.primary = source->primary;
        err = sh_list_task_source(source, note_task, &listing);
    }
    return err ? err : listing.error;
}

static int read_online(int fd, char *text) {
    const ssize_t got = pread(fd, text, SH_PERF_CPULIST_BYTES - 1, 0);
    if (got < 0)
        return -errno;
    text[got] = '\0';
    return 0;
}

static int check_online(const struct sh_perf_sensor *perf) {
    char text[SH_PERF_CPULIST_BYTES];
    const int err = read_online(perf->online_fd, text);
    return err ? err : strcmp(text, perf->online) ? -ESTALE : 0;
}

void sh_perf_sensor_list(struct sh_perf_sensor *perf, int64_t now_ns) {
    if (now_ns < perf->next_list_ns ||
        atomic_load_explicit(&perf->list_ready, memory_order_acquire))
        return;
    const int64_t start_ns = sh_monotonic_ns();
    int err = check_online(perf);
    /* A task born from now on belongs to this listing, in it or not. */
    atomic_fetch_add(&perf->listing, 1);
    if (!err)
        err = list_tasks(perf);
    if (err)
        atomic_store(&perf->failure, err);
    else
        atomic_store_explicit(&perf->list_ready, true, memory_order_release);
    const int64_t pause_ns = (sh_monotonic_ns() - start_ns) * LIST_SHARE;
    perf->next_list_ns = now_ns + (pause_ns > perf->list_ns ? pause_ns : perf->list_ns);
}

/* --- opening ---------------------------------------------------------------------------------- */

int sh_perf_sensor_init(struct sh_perf_sensor *perf, int64_t now_ns, struct sh_sensor *sensor) {
    for (uint32_t i = 0; i < perf->sources.primary_count; i++)
        perf->most += perf->sources.allocations[i];
    for (uint32_t i = 0; i < perf->sources.count; i++)
        perf->processes_apart[perf->sources.source[i].primary] |= perf->sources.source[i].directory;
    for (uint32_t cpu = 0; cpu < perf->cpu_count; cpu++)
        perf->cpus[cpu].last_ns = now_ns;
    perf->booked_ns = perf->record_ns = now_ns;
    perf->drains = 1;
    *sensor =
        (struct sh_sensor){.read = perf_read, .ctx = perf, .collect = perf_collect, .wake_fd = -1};
    const int err = read_online(perf->online_fd, perf->online);
    if (err)
        return err;
    sh_perf_sensor_list(perf, now_ns);
    drain(perf, now_ns);
    return atomic_load(&perf->failure);
}

/* Opens a ring for each CPU of a list such as "0-3,8\n". */
static int open_rings(struct sh_perf_sensor *perf, const char *online) {
    for (const char *p = online; *p >= '0' && *p <= '9';) {
        char *end;
        const long first = strtol(p, &end, 10);
        const long last = *end == '-' ? strtol(end + 1, &end, 10) : first;
        for (long cpu = first; cpu <= last; cpu++) {
            if (perf->cpu_count == SH_PERF_MAX_CPUS)
                return -EOVERFLOW;
            perf->cpus[perf->cpu_count].number = (int32_t)cpu;
            const int err = sh_perf_ring_open(&perf->cpus[perf->cpu_count].ring, (int)cpu);
            if (err)
                return err;
            perf->cpu_count++;
        }
        p = *end == ',' ? end + 1 : end;
    }
    return perf->cpu_count ? 0 : -ENODEV;
}

/* Who runs on a CPU is known from its first record on. One that stays idle has none: this thread
 * goes there, where it may, and its going to sleep is one. */
static int await_first_records(struct sh_perf_sensor *perf, int64_t start_ns) {
    const struct timespec moment = {.tv_nsec = 1000000};
    cpu_set_t before, there;
    bool away = false;
    int err = 0;
    for (uint32_t i = 0; i < perf->cpu_count && !err; i++)
        while (perf->cpus[i].last_ns <= start_ns && !err) {
            const int64_t waited_ns = sh_monotonic_ns() - start_ns;
            if (waited_ns > VISIT_NS && (away || !sched_getaffinity(0, sizeof(before), &before))) {
                CPU_ZERO(&there);
                CPU_SET((size_t)perf->cpus[i].number, &there);
                away |= sched_setaffinity(0, sizeof(there), &there) == 0;
            }
            clock_nanosleep(CLOCK_MONOTONIC, 0, &moment, NULL);
            drain(perf, start_ns);
            if (waited_ns > SEED_NS)
                err = -ENOMSG;
        }
    if (away)
        sched_setaffinity(0, sizeof(before), &before);
    return err;
}

int sh_perf_sensor_open(struct sh_perf_sensor *perf, struct sh_sensor *sensor,
                        const char **reason) {
    int err;
    *reason = "the list of online CPUs";
    perf->online_fd = open("/sys/devices/system/cpu/online", O_RDONLY | O_CLOEXEC);
    if (perf->online_fd < 0)
        return -errno;
    if ((err = read_online(perf->online_fd, perf->online)))
        goto fail;
    *reason = "opening a perf event on every CPU";
    if ((err = open_rings(perf, perf->online)))
        goto fail;
    *reason = "listing the primaries' tasks";
    const int64_t start_ns = sh_monotonic_ns();
    if ((err = sh_perf_sensor_init(perf, start_ns, sensor)))
        goto fail;
    *reason = "waiting for every CPU's first record";
    if ((err = await_first_records(perf, start_ns)))
        goto fail;
    count(&perf->counts.corrections, -atomic_load(&perf->counts.corrections)); /* the seeds */
    *reason = "";
    return 0;
fail:
    sh_perf_sensor_close(perf);
    return err;
}

void sh_perf_sensor_close(struct sh_perf_sensor *perf) {
    for (uint32_t cpu = 0; cpu < perf->cpu_count; cpu++)
        sh_perf_ring_close(&perf->cpus[cpu].ring);
    perf->cpu_count = 0;
    if (perf->online_fd >= 0)
        close(perf->online_fd);
    perf->online_fd = -1;
}
