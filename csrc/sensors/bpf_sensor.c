#define _GNU_SOURCE
#include "sensors/bpf_sensor.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <time.h>

#include "loop/clock.h"
#include "sensors/bpf_inside.h"
#include "sensors/bpf_loader.h"

static const uint64_t TIME_MASK = (UINT64_C(1) << SH_BPF_TIME_BITS) - 1;
static const int64_t CHECK_NS = 20000000;
static const int64_t LOOK_AT_USE_NS = 10000000;
static const long LONGEST_SLEEP_NS = 6000000;

/* --- reading ---------------------------------------------------------------------------------- */

static void sweep(const struct sh_bpf_sensor *bpf, uint32_t *running) {
    const uint8_t *runners = bpf->shared->runners;
    for (uint32_t cpu = 0; cpu < bpf->cpu_count; cpu++)
        count_runner(__atomic_load_n(&runners[cpu], __ATOMIC_RELAXED), running);
}

static void read_levels(const struct sh_bpf_sensor *bpf, struct sh_reading *reading) {
    const uint64_t word = LOAD(bpf->shared->levels.word);
    reading->busy = busy_of(word);
    reading->demand = wanting_of(word);
    if (bpf->config.primary_count == 1) { /* several are capped as they are counted */
        reading->busy = min_u32(reading->busy, bpf->config.allocations[0]);
        reading->demand = min_u32(reading->demand, bpf->config.allocations[0]);
    }
}

/* The CPU time of primaries on a CPU is booked when one leaves it. */
bool sh_bpf_was_used(struct sh_bpf_sensor *bpf, uint32_t cpu) {
    const struct sh_bpf_cpu *own = &bpf->cpus[cpu];
    const uint64_t primary_ns = LOAD(own->primary_ns), displacements = LOAD(own->displacements);
    const bool used = primary_ns != bpf->seen_ns[cpu] ||
                      displacements != bpf->seen_displacements[cpu] ||
                      LOAD(bpf->shared->runners[cpu]) >= SH_BPF_PRIMARY;
    bpf->seen_ns[cpu] = primary_ns;
    bpf->seen_displacements[cpu] = displacements;
    return used;
}

static void look_at_use(struct sh_bpf_sensor *bpf, int64_t now_ns) {
    for (uint32_t i = 0; i < bpf->config.used_count; i++) {
        const uint32_t cpu = bpf->config.used_cpus[i];
        if (cpu < bpf->cpu_count && sh_bpf_was_used(bpf, cpu))
            bpf->used_ns[cpu] = now_ns;
    }
}

static void hook_free_for(void *ctx, const int32_t *cpus, uint32_t count, int64_t *free_ns) {
    struct sh_bpf_sensor *bpf = ctx;
    const int64_t now_ns = sh_monotonic_ns();
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t cpu = (uint32_t)cpus[i];
        free_ns[i] = 0;
        if (cpu >= bpf->cpu_count)
            continue;
        const struct sh_bpf_cpu *own = &bpf->cpus[cpu];
        const bool waits = LOAD(own->displacements) != bpf->seen_displacements[cpu];
        if (sh_bpf_was_used(bpf, cpu))
            bpf->used_ns[cpu] = now_ns;
        if (!waits && LOAD(bpf->shared->runners[cpu]) < SH_BPF_PRIMARY)
            free_ns[i] = now_ns - bpf->used_ns[cpu] + 1;
    }
}

static int hook_read(void *ctx, int64_t now_ns, struct sh_reading *reading) {
    struct sh_bpf_sensor *bpf = ctx;
    if (bpf->config.used_count && now_ns >= bpf->next_use_ns) {
        look_at_use(bpf, now_ns);
        bpf->next_use_ns = now_ns + LOOK_AT_USE_NS;
    }
    if (now_ns >= bpf->next_check_ns) {
        const int err = sh_bpf_sensor_alive(bpf);
        if (err)
            return err;
        bpf->next_check_ns = now_ns + CHECK_NS;
    }
    reading->demand = 0;
    if (bpf->config.parts & SH_BPF_LEVELS) {
        read_levels(bpf, reading);
    } else {
        uint32_t running[SH_BPF_MAX_PRIMARIES] = {0};
        sweep(bpf, running);
        reading->busy = capped_sum(bpf, running);
    }
    if (reading->demand < reading->busy)
        reading->demand = reading->busy;
    return 0;
}

/* --- liveness --------------------------------------------------------------------------------- */

static uint64_t all_switches(const struct sh_bpf_sensor *bpf) {
    uint64_t sum = 0;
    for (uint32_t cpu = 0; cpu < bpf->cpu_count; cpu++)
        sum += LOAD(bpf->cpus[cpu].switches);
    return sum;
}

int sh_bpf_sensor_alive(struct sh_bpf_sensor *bpf) {
    const uint64_t switches = LOAD(bpf->cpus[bpf->watched_cpu].switches);
    const bool moved = switches != bpf->watched_switches;
    bpf->watched_switches = switches;
    if (moved)
        return 0;
    /* Nothing on that CPU: go to sleep, which is a switch, and see whether anybody noticed. A sleep
     * may be over before it has begun, so it takes more than a short one to be sure. */
    const uint64_t before = all_switches(bpf);
    for (long sleep_ns = 20000; all_switches(bpf) == before; sleep_ns *= 4) {
        const struct timespec moment = {.tv_nsec = sleep_ns};
        if (sleep_ns > LONGEST_SLEEP_NS)
            return -ENOLINK;
        clock_nanosleep(CLOCK_MONOTONIC, 0, &moment, NULL);
    }
    const int cpu = sched_getcpu();
    bpf->watched_cpu = cpu < 0 || (uint32_t)cpu >= bpf->cpu_count ? 0 : (uint32_t)cpu;
    bpf->watched_switches = LOAD(bpf->cpus[bpf->watched_cpu].switches);
    return 0;
}

/* --- lending ---------------------------------------------------------------------------------- */

/* From when on something is lent, or nothing any more. */
static void note_lending(struct sh_bpf_sensor *bpf, int64_t now_ns, bool lent) {
    struct sh_bpf_lending *lendings = bpf->shared->control.lendings;
    if (lent == bpf->lent)
        return;
    bpf->lent = lent;
    STORE(bpf->shared->control.lent_until_ns, lent ? INT64_MAX : now_ns);
    if (!lent) {
        STORE(lendings[bpf->lending].until_ns, now_ns);
        return;
    }
    bpf->lending = (bpf->lending + 1) % SH_BPF_LENDINGS;
    struct sh_bpf_lending *next = &lendings[bpf->lending];
    STORE(next->until_ns, INT64_MIN); /* an empty span while its beginning changes */
    STORE(next->from_ns, now_ns);
    STORE(next->until_ns, INT64_MAX);
}

void sh_bpf_sensor_count_minimum(struct sh_bpf_sensor *bpf, int64_t now_ns, bool counts) {
    int64_t *until_ns = &bpf->shared->control.minimum_until_ns;
    if (counts)
        STORE(*until_ns, INT64_MAX);
    else if (LOAD(*until_ns) == INT64_MAX)
        STORE(*until_ns, now_ns);
}

void sh_bpf_sensor_excuse_caps(struct sh_bpf_sensor *bpf, bool excuses) {
    STORE(bpf->shared->control.excuse_caps, excuses);
}

void sh_bpf_sensor_mind_affinity(struct sh_bpf_sensor *bpf, bool minds) {
    STORE(bpf->shared->control.mind_affinity, minds);
}

static void hook_on_lent(void *ctx, int64_t now_ns, const struct sh_lendable *lendable,
                         uint32_t harvested) {
    struct sh_bpf_sensor *bpf = ctx;
    const uint32_t lent = lendable->elastic_min + harvested;
    note_lending(bpf, now_ns, harvested > 0);
    for (uint32_t i = 0; i < lendable->count; i++) {
        uint8_t *mark = &bpf->shared->lent[(uint32_t)lendable->cpus[i] % SH_BPF_MAX_CPUS];
        if (LOAD(*mark) != (i < lent)) /* the programs on all CPUs read that line */
            STORE(*mark, i < lent);
    }
}

/* --- CPUs ------------------------------------------------------------------------------------- */

void sh_bpf_sensor_primary_time(const struct sh_bpf_sensor *bpf, uint32_t cpu, uint64_t *total_ns,
                                uint64_t *lent_ns) {
    *total_ns = *lent_ns = 0;
    if (cpu >= bpf->cpu_count)
        return;
    *total_ns = LOAD(bpf->cpus[cpu].primary_ns);
    *lent_ns = LOAD(bpf->cpus[cpu].primary_lent_ns);
}

uint32_t sh_bpf_sensor_runner(const struct sh_bpf_sensor *bpf, uint32_t cpu) {
    if (cpu >= bpf->cpu_count)
        return SH_BPF_UNKNOWN;
    return LOAD(bpf->shared->runners[cpu]);
}

uint64_t sh_bpf_sensor_displacements(const struct sh_bpf_sensor *bpf) {
    uint64_t sum = 0;
    for (uint32_t cpu = 0; cpu < bpf->cpu_count; cpu++)
        sum += LOAD(bpf->cpus[cpu].displacements);
    return sum;
}

static int signal_displacements(void *ctx, uint32_t cpu, int event_fd) {
    struct sh_bpf_sensor *bpf = ctx;
    return cpu < bpf->cpu_count ? sh_loader_set(bpf->maps[RESCUES], cpu, (uint32_t)event_fd)
                                : -EINVAL;
}

static void listen_to_displacements(void *ctx, bool on) {
    struct sh_bpf_sensor *bpf = ctx;
    STORE(bpf->shared->control.rescue, on);
}

void sh_bpf_sensor_tells(struct sh_bpf_sensor *bpf, struct sh_displacements *displacements) {
    *displacements = (struct sh_displacements){
        .signal = signal_displacements,
        .listen = listen_to_displacements,
        .ctx = bpf,
    };
}

/* --- levels ----------------------------------------------------------------------------------- */

/* Copies the times booked, in their own units, and returns their sum. */
static uint64_t copy_times(const uint64_t *times, uint32_t count, uint64_t *out) {
    uint64_t sum = 0;
    memset(out, 0, count * sizeof(*out));
    for (uint32_t i = 0; i <= SH_BPF_MAX_LEVEL; i++) {
        const uint64_t time = LOAD(times[i]);
        out[min_u32(i, count - 1)] += time;
        sum += time;
    }
    return sum;
}

static void add_open(uint64_t *times, uint32_t level, uint64_t open, uint32_t count) {
    times[min_u32(level, count - 1)] += open;
    for (uint32_t i = 0; i < count; i++) {
        /* A late change may have taken more from a level than it had. */
        times[i] = (int64_t)times[i] < 0 ? 0 : times[i] << SH_BPF_TIME_SHIFT;
    }
}

/* The word's time minus all that is booked never changes, but for the moment between the program's
 * two writes: that shows a copy taken in it. */
void sh_bpf_note_base(struct sh_bpf_sensor *bpf) {
    uint64_t times[1], base = 0;
    for (int i = 0; i < QUIET_TRIES; i++) {
        const uint64_t before = base;
        const uint64_t then = LOAD(bpf->shared->levels.word) >> TIME_POSITION;
        base = (then - copy_times(bpf->shared->levels.busy_time, 1, times)) & TIME_MASK;
        if (i && base == before)
            break;
    }
    bpf->levels_base = base;
}

int sh_bpf_sensor_levels(const struct sh_bpf_sensor *bpf, uint32_t count, uint64_t *busy_ns,
                         uint64_t *wanting_ns) {
    const struct sh_bpf_levels *levels = &bpf->shared->levels;
    uint64_t word, now, sum;
    if (!(bpf->config.parts & SH_BPF_LEVELS) || count < 1)
        return -EINVAL;
    for (int i = 0; i < QUIET_TRIES; i++) {
        word = LOAD(levels->word);
        const int64_t offset_ns = LOAD(bpf->shared->control.clock_offset_ns);
        now = (uint64_t)(sh_monotonic_ns() - offset_ns) >> SH_BPF_TIME_SHIFT;
        sum = copy_times(levels->busy_time, count, busy_ns);
        if (wanting_ns)
            copy_times(levels->wanting_time, count, wanting_ns);
        /* Where it never comes to rest the spans in question are as short as this copy takes. */
        if (LOAD(levels->word) == word &&
            (((word >> TIME_POSITION) - sum - bpf->levels_base) & TIME_MASK) == 0)
            break;
    }
    uint64_t open = (now - sum - bpf->levels_base) & TIME_MASK;
    if (open > TIME_MASK / 2)
        open = 0; /* the clocks disagree by a moment */
    add_open(busy_ns, busy_of(word), open, count);
    if (wanting_ns)
        add_open(wanting_ns, wanting_of(word), open, count);
    return 0;
}

/* --- what a sensor that sees every change does for the loop ------------------------------------
 */

static int hook_collect(void *ctx, int64_t now_ns, struct sh_window *window) {
    struct sh_bpf_sensor *bpf = ctx;
    struct sh_bpf_spent *spent = &bpf->spent[bpf->collections & 1];
    const struct sh_bpf_spent *earlier = &bpf->spent[(bpf->collections + 1) & 1];
    const uint32_t levels = SH_BPF_MAX_LEVEL + 1;
    const uint32_t most = bpf->config.primary_count == 1 ? bpf->config.allocations[0] : levels;
    (void)now_ns;
    const int err = sh_bpf_sensor_levels(bpf, levels, spent->busy_ns, spent->wanting_ns);
    if (err)
        return err;
    if (bpf->collections++ == 0)
        return 0;
    for (uint32_t i = 0; i < levels; i++) {
        const int64_t busy_ns = (int64_t)(spent->busy_ns[i] - earlier->busy_ns[i]);
        const int64_t wanting_ns = (int64_t)(spent->wanting_ns[i] - earlier->wanting_ns[i]);
        if (busy_ns > 0)
            sh_window_weigh(window, min_u32(i, most), (uint64_t)busy_ns);
        if (wanting_ns > 0 && min_u32(i, most) > window->demand_max)
            window->demand_max = min_u32(i, most);
        if (wanting_ns > 0)
            window->demand_core_ns += min_u32(i, most) * (uint64_t)wanting_ns;
    }
    if (window->demand_max < window->busy_max)
        window->demand_max = window->busy_max;
    return 0;
}

static void hook_arm(void *ctx, uint32_t cores, bool waits) {
    struct sh_bpf_sensor *bpf = ctx;
    int32_t wake_at = cores >= SH_SENSOR_DISARM ? SH_BPF_NO_WAKE : (int32_t)cores;
    /* The program does not cap a single primary. */
    if (bpf->config.primary_count == 1 && cores > bpf->config.allocations[0])
        wake_at = SH_BPF_NO_WAKE;
    if (waits && wake_at != SH_BPF_NO_WAKE && bpf->config.parts & SH_BPF_DEMAND)
        wake_at |= SH_BPF_WAKE_FOR_WAITING;
    /* The caller reads the counts after this: a program that changes them later has to see it. */
    __atomic_store_n(&bpf->shared->control.wake_at, wake_at, __ATOMIC_SEQ_CST);
}

static void hook_drain(void *ctx) {
    struct sh_bpf_sensor *bpf = ctx;
    STORE(*bpf->wake_consumed, LOAD(*bpf->wake_produced));
}

void sh_bpf_wire(struct sh_bpf_sensor *bpf, struct sh_sensor *sensor) {
    *sensor = (struct sh_sensor){.read = hook_read,
                                 .free_for = hook_free_for,
                                 .on_lent = hook_on_lent,
                                 .ctx = bpf,
                                 .wake_fd = -1};
    if (!(bpf->config.parts & SH_BPF_LEVELS))
        return;
    sensor->collect = hook_collect;
    sensor->arm = hook_arm;
    sensor->drain = hook_drain;
    sensor->wake_fd = bpf->maps[WAKES];
}
