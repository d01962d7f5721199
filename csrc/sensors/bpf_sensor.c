#define _GNU_SOURCE
#include "sensors/bpf_sensor.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "bpf/sensor.loader.h"
#include "loop/clock.h"
#include "sensors/bpf_loader.h"

enum { CPUS, HARMS, TRACKED_TASKS, WAKES, RESCUES, SHARED, SETTINGS };
enum { ON_SWITCH, ON_WAKEUP, ON_WAKEUP_NEW, ON_LOOK, ON_WALK };
enum { SWITCH_LINK, WAKEUP_LINK, WAKEUP_NEW_LINK, WALK_LINK };

enum {
    BUSY_MASK = (1 << SH_BPF_BUSY_BITS) - 1,
    WANTING_MASK = (1 << SH_BPF_WANTING_BITS) - 1,
    TIME_POSITION = SH_BPF_BUSY_BITS + SH_BPF_WANTING_BITS,
};
static const uint64_t TIME_MASK = (UINT64_C(1) << SH_BPF_TIME_BITS) - 1;
static const int64_t CHECK_NS = 20000000;
static const int64_t LOOK_AT_USE_NS = 10000000;
static const long LONGEST_SLEEP_NS = 6000000;
enum { QUIET_TRIES = 64, AGREEING_WALKS = 3, MOST_WALKS = 16, LOADING_TRIES = 5 };

#define LOAD(place) __atomic_load_n(&(place), __ATOMIC_ACQUIRE)
#define STORE(place, value) __atomic_store_n(&(place), value, __ATOMIC_RELEASE)

static uint32_t min_u32(uint32_t a, uint32_t b) {
    return a < b ? a : b;
}

static uint32_t busy_of(uint64_t word) {
    return (uint32_t)word & BUSY_MASK;
}

static uint32_t wanting_of(uint64_t word) {
    return (uint32_t)(word >> SH_BPF_BUSY_BITS) & WANTING_MASK;
}

/* --- reading ---------------------------------------------------------------------------------- */

static void count_runner(uint32_t runner, uint32_t *running) {
    if (runner >= SH_BPF_PRIMARY)
        running[(runner - SH_BPF_PRIMARY) % SH_BPF_MAX_PRIMARIES]++;
}

static void sweep(const struct sh_bpf_sensor *bpf, uint32_t *running) {
    const uint8_t *runners = bpf->shared->runners;
    for (uint32_t cpu = 0; cpu < bpf->cpu_count; cpu++)
        count_runner(__atomic_load_n(&runners[cpu], __ATOMIC_RELAXED), running);
}

static uint32_t capped_sum(const struct sh_bpf_sensor *bpf, const uint32_t *counts) {
    uint32_t sum = 0;
    for (uint32_t i = 0; i < bpf->config.primary_count; i++)
        sum += min_u32(counts[i], bpf->config.allocations[i]);
    return sum;
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
static bool was_used(struct sh_bpf_sensor *bpf, uint32_t cpu) {
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
        if (cpu < bpf->cpu_count && was_used(bpf, cpu))
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
        if (was_used(bpf, cpu))
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

/* --- waits ------------------------------------------------------------------------------------ */

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

void sh_bpf_sensor_waits(const struct sh_bpf_sensor *bpf, struct sh_bpf_waits *waits) {
    memset(waits, 0, sizeof(*waits));
    for (uint32_t cpu = 0; cpu < bpf->cpu_count; cpu++) {
        const struct sh_bpf_cpu *own = &bpf->cpus[cpu];
        waits->counts.waits += LOAD(own->waits.waits);
        waits->counts.total_ns += LOAD(own->waits.total_ns);
        waits->counts.longer += LOAD(own->waits.longer);
        waits->counts.longer_while_lent += LOAD(own->waits.longer_while_lent);
        waits->counts.longer_after_elastic += LOAD(own->waits.longer_after_elastic);
        waits->counts.longer_throttled += LOAD(own->waits.longer_throttled);
        waits->counts.longer_blamed += LOAD(own->waits.longer_blamed);
        for (uint32_t i = 0; i < SH_BPF_WAIT_BUCKETS; i++)
            waits->histogram[i] += own->histogram[i];
    }
}

void sh_bpf_waits_since(struct sh_bpf_waits *waits, const struct sh_bpf_waits *earlier) {
    waits->counts.waits -= earlier->counts.waits;
    waits->counts.total_ns -= earlier->counts.total_ns;
    waits->counts.longer -= earlier->counts.longer;
    waits->counts.longer_while_lent -= earlier->counts.longer_while_lent;
    waits->counts.longer_after_elastic -= earlier->counts.longer_after_elastic;
    waits->counts.longer_throttled -= earlier->counts.longer_throttled;
    waits->counts.longer_blamed -= earlier->counts.longer_blamed;
    for (uint32_t i = 0; i < SH_BPF_WAIT_BUCKETS; i++)
        waits->histogram[i] -= earlier->histogram[i];
}

/* Middle of a bucket of 16 an octave, the first of which is at 2^first. */
static uint64_t octave_middle(uint32_t bucket, uint32_t first) {
    const uint64_t step = bucket % 16, shift = first - 4 + bucket / 16;
    return ((16 + step) << shift) + (UINT64_C(1) << shift) / 2;
}

uint64_t sh_bpf_wait_middle(uint32_t bucket) {
    if (bucket < SH_BPF_WAIT_LINEAR)
        return ((uint64_t)bucket << SH_BPF_WAIT_SHIFT) + (1 << (SH_BPF_WAIT_SHIFT - 1));
    return octave_middle(bucket - SH_BPF_WAIT_LINEAR, SH_BPF_WAIT_LOG2);
}

uint64_t sh_bpf_run_middle(uint32_t bucket) {
    return bucket ? octave_middle(bucket - 1, SH_BPF_RUN_LOG2) : 1 << (SH_BPF_RUN_LOG2 - 1);
}

static uint64_t quantile(const uint64_t *histogram, uint32_t buckets,
                         uint64_t (*middle)(uint32_t bucket), double q) {
    uint64_t total = 0, below = 0;
    for (uint32_t i = 0; i < buckets; i++)
        total += histogram[i];
    for (uint32_t i = 0; i < buckets; i++) {
        below += histogram[i];
        if (below > 0 && (double)below >= q * (double)total)
            return middle(i);
    }
    return 0;
}

uint64_t sh_bpf_waits_quantile(const struct sh_bpf_waits *waits, double q) {
    return quantile(waits->histogram, SH_BPF_WAIT_BUCKETS, sh_bpf_wait_middle, q);
}

/* --- run times -------------------------------------------------------------------------------- */

void sh_bpf_sensor_runs(const struct sh_bpf_sensor *bpf, struct sh_bpf_runs *runs) {
    memset(runs, 0, sizeof(*runs));
    for (uint32_t cpu = 0; cpu < bpf->cpu_count; cpu++) {
        const struct sh_bpf_cpu *own = &bpf->cpus[cpu];
        runs->counts.runs += LOAD(own->runs.runs);
        runs->counts.total_ns += LOAD(own->runs.total_ns);
        for (uint32_t i = 0; i < SH_BPF_RUN_BUCKETS; i++)
            runs->histogram[i] += own->run_histogram[i];
    }
}

void sh_bpf_runs_since(struct sh_bpf_runs *runs, const struct sh_bpf_runs *earlier) {
    runs->counts.runs -= earlier->counts.runs;
    runs->counts.total_ns -= earlier->counts.total_ns;
    for (uint32_t i = 0; i < SH_BPF_RUN_BUCKETS; i++)
        runs->histogram[i] -= earlier->histogram[i];
}

uint64_t sh_bpf_runs_quantile(const struct sh_bpf_runs *runs, double q) {
    return quantile(runs->histogram, SH_BPF_RUN_BUCKETS, sh_bpf_run_middle, q);
}

/* --- harm ------------------------------------------------------------------------------------- */

bool sh_bpf_sensor_tells_harm(const struct sh_bpf_sensor *bpf) {
    return bpf->config.parts & SH_BPF_HARM;
}

static void add_side(struct sh_bpf_harm_side *sum, const struct sh_bpf_harm_side *side) {
    sum->counts.wait_ns += LOAD(side->counts.wait_ns);
    sum->counts.wake_to_sleep_ns += LOAD(side->counts.wake_to_sleep_ns);
    sum->counts.agent_ns += LOAD(side->counts.agent_ns);
    sum->counts.long_waits += LOAD(side->counts.long_waits);
    sum->counts.behind_elastic += LOAD(side->counts.behind_elastic);
    sum->counts.behind_elastic_here += LOAD(side->counts.behind_elastic_here);
    sum->counts.unjudged += LOAD(side->counts.unjudged);
    for (uint32_t i = 0; i < SH_BPF_HARM_BUCKETS; i++) {
        sum->waits[i] += LOAD(side->waits[i]);
        sum->wakes_to_sleeps[i] += LOAD(side->wakes_to_sleeps[i]);
    }
}

void sh_bpf_sensor_harm(const struct sh_bpf_sensor *bpf, uint32_t primary,
                        struct sh_bpf_harm *harm) {
    const uint32_t primaries = bpf->config.primary_count;
    memset(harm, 0, sizeof(*harm));
    if (!sh_bpf_sensor_tells_harm(bpf) || primary >= primaries)
        return;
    for (uint32_t cpu = 0; cpu < bpf->cpu_count; cpu++) {
        const struct sh_bpf_harm *own = &bpf->harms[cpu * primaries + primary];
        add_side(&harm->sides[0], &own->sides[0]);
        add_side(&harm->sides[1], &own->sides[1]);
        harm->lost += LOAD(own->lost);
    }
}

static void side_since(struct sh_bpf_harm_side *side, const struct sh_bpf_harm_side *earlier) {
    side->counts.wait_ns -= earlier->counts.wait_ns;
    side->counts.wake_to_sleep_ns -= earlier->counts.wake_to_sleep_ns;
    side->counts.agent_ns -= earlier->counts.agent_ns;
    side->counts.long_waits -= earlier->counts.long_waits;
    side->counts.behind_elastic -= earlier->counts.behind_elastic;
    side->counts.behind_elastic_here -= earlier->counts.behind_elastic_here;
    side->counts.unjudged -= earlier->counts.unjudged;
    for (uint32_t i = 0; i < SH_BPF_HARM_BUCKETS; i++) {
        side->waits[i] -= earlier->waits[i];
        side->wakes_to_sleeps[i] -= earlier->wakes_to_sleeps[i];
    }
}

void sh_bpf_harm_since(struct sh_bpf_harm *harm, const struct sh_bpf_harm *earlier) {
    side_since(&harm->sides[0], &earlier->sides[0]);
    side_since(&harm->sides[1], &earlier->sides[1]);
    harm->lost -= earlier->lost;
}

uint64_t sh_bpf_harm_quantile(const uint64_t *histogram, double q) {
    return quantile(histogram, SH_BPF_HARM_BUCKETS, sh_bpf_wait_middle, q);
}

/* --- staying true ----------------------------------------------------------------------------- */

/* Changes the counts in the word and nothing else; false if somebody else was faster. */
static bool correct(struct sh_bpf_sensor *bpf, uint64_t word, int32_t busy_by, int32_t wanting_by) {
    const int32_t busy = (int32_t)busy_of(word) + busy_by;
    const int32_t wanting = (int32_t)wanting_of(word) + wanting_by;
    if (busy < 0 || wanting < 0)
        return false;
    const uint64_t right = word >> TIME_POSITION << TIME_POSITION |
                           (uint64_t)wanting << SH_BPF_BUSY_BITS | (uint64_t)busy;
    return __atomic_compare_exchange_n(&bpf->shared->levels.word, &word, right, false,
                                       __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

/* The number of busy cores must be what the CPUs' records add up to, whenever nothing moves. */
static int32_t correct_busy(struct sh_bpf_sensor *bpf) {
    struct sh_bpf_levels *levels = &bpf->shared->levels;
    uint64_t word_before = 0;
    int32_t off_before = 0;
    for (int i = 0; i < QUIET_TRIES; i++) {
        uint32_t running[SH_BPF_MAX_PRIMARIES] = {0};
        const uint64_t word = LOAD(levels->word);
        for (uint32_t cpu = 0; cpu < bpf->cpu_count; cpu++)
            count_runner(LOAD(bpf->cpus[cpu].runner), running);
        const uint32_t truth =
            bpf->config.primary_count == 1 ? running[0] : capped_sum(bpf, running);
        const int32_t off = (int32_t)truth - (int32_t)busy_of(word);
        if (LOAD(levels->word) != word)
            continue;
        if (!off)
            return 0;
        /* A switch may stand between its two writes: only the same twice in a row is drift. */
        if (word == word_before && off == off_before && correct(bpf, word, off, 0)) {
            if (bpf->config.primary_count > 1)
                for (uint32_t p = 0; p < bpf->config.primary_count; p++)
                    STORE(levels->running[p], (int32_t)running[p]);
            return off;
        }
        word_before = word;
        off_before = off;
        sched_yield();
    }
    return 0;
}

/* A task caught between its change and the program's noticing makes a walk miss by one: only what
 * several walks agree on is put right. */
static int32_t correct_wanting(struct sh_bpf_sensor *bpf) {
    struct sh_bpf_shared *shared = bpf->shared;
    for (int i = 0; i < QUIET_TRIES; i++) {
        uint32_t counts[SH_BPF_MAX_PRIMARIES] = {0};
        const uint64_t word = LOAD(shared->levels.word);
        for (uint32_t p = 0; p < bpf->config.primary_count; p++) {
            const int32_t count = LOAD(shared->walk.wanting[p]);
            counts[p] = count < 0 ? 0 : (uint32_t)count;
        }
        const uint32_t truth = bpf->config.primary_count == 1 ? counts[0] : capped_sum(bpf, counts);
        const int32_t off = (int32_t)truth - (int32_t)wanting_of(word);
        if (LOAD(shared->levels.word) != word)
            continue;
        bpf->agreeing_walks = off == bpf->wanting_off ? bpf->agreeing_walks + 1 : 1;
        bpf->wanting_off = off;
        if (!off || bpf->agreeing_walks < AGREEING_WALKS)
            return 0;
        if (!correct(bpf, word, 0, off))
            continue;
        if (bpf->config.primary_count > 1)
            for (uint32_t p = 0; p < bpf->config.primary_count; p++)
                STORE(shared->levels.wanting[p], (int32_t)counts[p]);
        bpf->wanting_off = 0;
        return off;
    }
    return 0;
}

/* Looks at every task; *wanting_off becomes what had to be put right. */
static int walk(struct sh_bpf_sensor *bpf, int32_t *wanting_off) {
    struct sh_bpf_walk *found = &bpf->shared->walk;
    found->tasks = found->primary_tasks = 0;
    found->pending = found->pending_longer = found->pending_throttled = 0;
    found->pending_blamed = found->pending_longest_ns = found->pending_blamed_longest_ns = 0;
    STORE(found->position, 0);
    for (uint32_t p = 0; p < SH_BPF_MAX_PRIMARIES; p++)
        STORE(found->wanting[p], 0);
    STORE(bpf->shared->control.walking, 1);
    const int err = sh_loader_iterate(bpf->links[WALK_LINK]);
    STORE(found->position, INT32_MAX);
    if (!err && (bpf->config.parts & SH_BPF_DEMAND))
        *wanting_off = correct_wanting(bpf);
    STORE(bpf->shared->control.walking, 0);
    return err;
}

int sh_bpf_sensor_pending(struct sh_bpf_sensor *bpf, struct sh_bpf_pending *pending) {
    int32_t wanting_off = 0;
    const int err = walk(bpf, &wanting_off);
    const struct sh_bpf_walk *found = &bpf->shared->walk;
    *pending = (struct sh_bpf_pending){
        .waits = found->pending,
        .longer = found->pending_longer,
        .longer_throttled = found->pending_throttled,
        .longer_blamed = found->pending_blamed,
        .longest_ns = found->pending_longest_ns,
        .blamed_longest_ns = found->pending_blamed_longest_ns,
        .primary_tasks = found->primary_tasks,
        .tasks = found->tasks,
    };
    return err;
}

int sh_bpf_sensor_resync(struct sh_bpf_sensor *bpf, struct sh_bpf_drift *drift) {
    uint32_t walks = 0;
    int err;
    *drift = (struct sh_bpf_drift){0};
    if ((err = sh_loader_call(bpf->programs[ON_LOOK])))
        return err;
    drift->cpus = bpf->shared->look.differing;
    for (uint32_t cpu = 0; cpu < bpf->cpu_count; cpu++)
        drift->missed += LOAD(bpf->cpus[cpu].missed);
    if (bpf->config.parts & SH_BPF_LEVELS)
        drift->busy = correct_busy(bpf);
    if (!(bpf->config.parts & SH_BPF_DEMAND))
        return 0;
    do
        err = walk(bpf, &drift->wanting);
    while (!err && bpf->wanting_off && ++walks < MOST_WALKS);
    return err;
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
static void note_base(struct sh_bpf_sensor *bpf) {
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

static void hook_arm(void *ctx, uint32_t busy) {
    struct sh_bpf_sensor *bpf = ctx;
    int32_t wake_at = busy >= SH_SENSOR_DISARM ? SH_BPF_NO_WAKE : (int32_t)busy;
    /* The program does not cap a single primary. */
    if (bpf->config.primary_count == 1 && busy > bpf->config.allocations[0])
        wake_at = SH_BPF_NO_WAKE;
    STORE(bpf->shared->control.wake_at, wake_at);
}

static void hook_drain(void *ctx) {
    struct sh_bpf_sensor *bpf = ctx;
    STORE(*bpf->wake_consumed, LOAD(*bpf->wake_produced));
}

static void wire(struct sh_bpf_sensor *bpf, struct sh_sensor *sensor) {
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

/* --- opening ---------------------------------------------------------------------------------- */

/* CPU numbers run from 0 to the last possible one: "0-3" or "0,2-5". */
static uint32_t possible_cpus(void) {
    char text[256] = "";
    int fd = open("/sys/devices/system/cpu/possible", O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
    if (fd >= 0)
        close(fd);
    if (got <= 0)
        return 0;
    const char *last = text;
    for (const char *p = text; *p; p++)
        if (*p == '-' || *p == ',')
            last = p + 1;
    const uint32_t count = (uint32_t)strtoul(last, NULL, 10) + 1;
    return min_u32(count, SH_BPF_MAX_CPUS);
}

static const char *arrange(const struct sh_bpf_config *config, struct sh_bpf_settings *settings) {
    uint32_t hierarchies = 0;
    if (config->primary_count < 1 || config->primary_count > SH_BPF_MAX_PRIMARIES)
        return "too many primaries, or none";
    if (config->target_count > SH_BPF_MAX_TARGETS)
        return "too many targets";
    if ((config->parts & SH_BPF_DEMAND) && !(config->parts & SH_BPF_LEVELS))
        return "demand is counted only with levels";
    if ((config->parts & SH_BPF_HARM) && !(config->parts & SH_BPF_DEMAND))
        return "harm is told only with demand";
    if (config->pool_count > SH_BPF_MAX_CPUS)
        return "too many CPUs in the pool";
    settings->parts = config->parts;
    settings->primary_count = config->primary_count;
    memcpy(settings->allocations, config->allocations, sizeof(settings->allocations));
    settings->agent = (int32_t)getpid();
    settings->pool_count = config->pool_count;
    for (uint32_t i = 0; i < config->target_count; i++) {
        const struct sh_bpf_target *target = &config->targets[i];
        uint32_t known = 0;
        if (target->runner != SH_BPF_ELASTIC &&
            (target->runner < SH_BPF_PRIMARY ||
             target->runner >= SH_BPF_PRIMARY + config->primary_count))
            return "a target that is nobody's";
        if (target->hierarchy == SH_BPF_PROCESS) {
            settings->processes = 1;
            continue;
        }
        while (known < hierarchies && settings->hierarchies[known] != target->hierarchy)
            known++;
        if (known < hierarchies)
            continue;
        if (hierarchies == 2)
            return "targets in more than two cgroup hierarchies";
        settings->hierarchies[hierarchies++] = target->hierarchy;
    }
    return NULL;
}

static int load(struct sh_bpf_sensor *bpf, const struct sh_bpf_settings *settings,
                const char **reason) {
    struct sensor_programs loaded = {
        .context.size = sizeof(loaded),
        .cpus.max_entries = bpf->cpu_count,
        .harms.max_entries = bpf->harm_count,
        .tracked_tasks.max_entries = settings->parts & SH_BPF_HARM ? SH_BPF_TRACKED_TASKS : 1,
        .wakes.max_entries = bpf->page_bytes,
        .rescues.max_entries = bpf->cpu_count,
        .rodata.contents = (uint64_t)(uintptr_t)settings,
    };
    int err, tries = 0;
    do /* the verifier breaks off when a signal comes */
        err = sh_loader_run(&loaded.context, sensor_loader_data, sensor_loader_data_bytes,
                            sensor_loader_code, sensor_loader_code_bytes, reason);
    while (err == -EAGAIN && ++tries < LOADING_TRIES);
    const int maps[] = {loaded.cpus.fd,  loaded.harms.fd,   loaded.tracked_tasks.fd,
                        loaded.wakes.fd, loaded.rescues.fd, loaded.bss.fd,
                        loaded.rodata.fd};
    const int programs[] = {loaded.on_switch.fd, loaded.on_wakeup.fd, loaded.on_wakeup_new.fd,
                            loaded.on_look.fd, loaded.on_walk.fd};
    /* The loader closes what it made when it fails. */
    if (err)
        return err;
    memcpy(bpf->maps, maps, sizeof(maps));
    memcpy(bpf->programs, programs, sizeof(programs));
    return 0;
}

static void *map_memory(size_t bytes, int protection, int fd, off_t offset) {
    void *memory = mmap(NULL, bytes, protection, MAP_SHARED, fd, offset);
    return memory == MAP_FAILED ? NULL : memory;
}

static int map_all(struct sh_bpf_sensor *bpf) {
    const int both = PROT_READ | PROT_WRITE;
    bpf->shared = map_memory(sizeof(*bpf->shared), both, bpf->maps[SHARED], 0);
    bpf->cpus = map_memory(bpf->cpu_count * sizeof(*bpf->cpus), both, bpf->maps[CPUS], 0);
    bpf->harms = map_memory(bpf->harm_count * sizeof(*bpf->harms), PROT_READ, bpf->maps[HARMS], 0);
    bpf->wake_consumed = map_memory(bpf->page_bytes, both, bpf->maps[WAKES], 0);
    bpf->wake_produced = map_memory(bpf->page_bytes, PROT_READ, bpf->maps[WAKES], bpf->page_bytes);
    if (bpf->shared && bpf->cpus && bpf->harms && bpf->wake_consumed && bpf->wake_produced)
        return 0;
    return -errno;
}

static int attach(struct sh_bpf_sensor *bpf) {
    int *links = bpf->links;
    if ((links[WALK_LINK] = sh_loader_attach_iterator(bpf->programs[ON_WALK])) < 0)
        return links[WALK_LINK];
    if (bpf->config.parts & SH_BPF_DEMAND) {
        if ((links[WAKEUP_LINK] = sh_loader_attach(bpf->programs[ON_WAKEUP])) < 0)
            return links[WAKEUP_LINK];
        if ((links[WAKEUP_NEW_LINK] = sh_loader_attach(bpf->programs[ON_WAKEUP_NEW])) < 0)
            return links[WAKEUP_NEW_LINK];
    }
    links[SWITCH_LINK] = sh_loader_attach(bpf->programs[ON_SWITCH]);
    return links[SWITCH_LINK] < 0 ? links[SWITCH_LINK] : 0;
}

/* Where queues are per-CPU variables it takes a walk to find them. */
static int find_queues(struct sh_bpf_sensor *bpf) {
    int32_t wanting_off = 0;
    int err = walk(bpf, &wanting_off);
    if (err || (err = sh_loader_call(bpf->programs[ON_LOOK])))
        return err;
    return bpf->shared->look.cpus ? 0 : -ENOTSUP;
}

static int seed(struct sh_bpf_sensor *bpf) {
    struct sh_bpf_drift drift;
    int err;
    /* Our own switch brings the clocks together; the look depends on them. */
    if ((err = sh_bpf_sensor_alive(bpf)) || (err = find_queues(bpf)) ||
        (err = sh_bpf_sensor_resync(bpf, &drift)))
        return err;
    note_base(bpf);
    for (uint32_t cpu = 0; cpu < bpf->cpu_count; cpu++)
        (void)was_used(bpf, cpu);
    return 0;
}

static int open_whole(struct sh_bpf_sensor *bpf, const struct sh_bpf_config *config,
                      struct sh_bpf_settings *settings, struct sh_sensor *sensor,
                      const char **reason) {
    int err;
    memset(bpf, 0, sizeof(*bpf));
    memset(bpf->maps, -1, sizeof(bpf->maps));
    memset(bpf->programs, -1, sizeof(bpf->programs));
    memset(bpf->links, -1, sizeof(bpf->links));
    bpf->config = *config;
    bpf->config.parts = settings->parts;
    bpf->cpu_count = settings->cpu_count = possible_cpus();
    bpf->page_bytes = (uint32_t)sysconf(_SC_PAGESIZE);
    bpf->harm_count = 1;
    if (settings->parts & SH_BPF_HARM)
        bpf->harm_count = bpf->cpu_count * config->primary_count;
    if (access("/sys/kernel/btf/vmlinux", R_OK)) {
        *reason = "the kernel has no BTF";
        return -ENOTSUP;
    }
    if ((err = load(bpf, settings, reason)))
        return err;
    *reason = "mapping the sensor's memory";
    if ((err = map_all(bpf)))
        goto fail;
    struct sh_bpf_control *control = &bpf->shared->control;
    control->wake_at = SH_BPF_NO_WAKE;
    control->lent_until_ns = INT64_MIN;
    control->wait_threshold_ns = config->wait_threshold_ns;
    memcpy(control->targets, config->targets, sizeof(control->targets));
    for (uint32_t i = 0; i < config->pool_count; i++)
        bpf->shared->pool[i] = (uint16_t)config->pool[i];
    STORE(control->target_count, config->target_count);
    *reason = "attaching to the scheduler's tracepoints";
    if ((err = attach(bpf)))
        goto fail;
    *reason = "looking at the run queues";
    if ((err = seed(bpf)))
        goto fail;
    wire(bpf, sensor);
    *reason = "";
    return 0;
fail:
    sh_bpf_sensor_close(bpf);
    return err;
}

int sh_bpf_sensor_open(struct sh_bpf_sensor *bpf, const struct sh_bpf_config *config,
                       struct sh_sensor *sensor, const char **reason) {
    struct sh_bpf_settings settings = {0};
    *reason = arrange(config, &settings);
    if (*reason)
        return -EINVAL;
    const int err = open_whole(bpf, config, &settings, sensor, reason);
    if (!err || !(settings.parts & SH_BPF_HARM) || err == -EPERM)
        return err;
    /* A kernel that refuses the newest part must not go without the others. */
    settings.parts &= ~(uint32_t)SH_BPF_HARM;
    return open_whole(bpf, config, &settings, sensor, reason);
}

static void close_all(int *fds, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (fds[i] >= 0)
            close(fds[i]);
        fds[i] = -1;
    }
}

void sh_bpf_sensor_close(struct sh_bpf_sensor *bpf) {
    close_all(bpf->links, sizeof(bpf->links) / sizeof(bpf->links[0]));
    close_all(bpf->programs, sizeof(bpf->programs) / sizeof(bpf->programs[0]));
    if (bpf->shared)
        munmap(bpf->shared, sizeof(*bpf->shared));
    if (bpf->cpus)
        munmap(bpf->cpus, bpf->cpu_count * sizeof(*bpf->cpus));
    if (bpf->harms)
        munmap(bpf->harms, bpf->harm_count * sizeof(*bpf->harms));
    if (bpf->wake_consumed)
        munmap(bpf->wake_consumed, bpf->page_bytes);
    if (bpf->wake_produced)
        munmap((void *)bpf->wake_produced, bpf->page_bytes);
    bpf->shared = NULL;
    bpf->cpus = NULL;
    bpf->harms = NULL;
    bpf->wake_consumed = NULL;
    bpf->wake_produced = NULL;
    close_all(bpf->maps, sizeof(bpf->maps) / sizeof(bpf->maps[0]));
}
