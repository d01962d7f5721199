/* Keeping the in-kernel sensor's records true: they are compared with the run queues and with every
 * task. */
#define _GNU_SOURCE
#include <sched.h>

#include "sensors/bpf_inside.h"
#include "sensors/bpf_loader.h"

enum { AGREEING_WALKS = 3, MOST_WALKS = 16 };

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

int sh_bpf_walk_tasks(struct sh_bpf_sensor *bpf, int32_t *wanting_off) {
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
    const int err = sh_bpf_walk_tasks(bpf, &wanting_off);
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
        err = sh_bpf_walk_tasks(bpf, &drift->wanting);
    while (!err && bpf->wanting_off && ++walks < MOST_WALKS);
    return err;
}
