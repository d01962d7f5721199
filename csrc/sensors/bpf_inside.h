/* What the files of the in-kernel sensor share among themselves. */
#ifndef SH_BPF_INSIDE_H
#define SH_BPF_INSIDE_H

#include "sensors/bpf_sensor.h"

enum { CPUS, HARMS, TRACKED_TASKS, WAKES, RESCUES, SHARED, SETTINGS };
enum { ON_SWITCH, ON_WAKING, ON_WAKEUP, ON_WAKEUP_NEW, ON_EXPIRY, ON_EXPIRED, ON_LOOK, ON_WALK };
enum {
    SWITCH_LINK,
    WAKING_LINK,
    WAKEUP_LINK,
    WAKEUP_NEW_LINK,
    EXPIRY_LINK,
    EXPIRED_LINK,
    WALK_LINK
};

enum {
    BUSY_MASK = (1 << SH_BPF_BUSY_BITS) - 1,
    WANTING_MASK = (1 << SH_BPF_WANTING_BITS) - 1,
    TIME_POSITION = SH_BPF_BUSY_BITS + SH_BPF_WANTING_BITS,
};
enum { QUIET_TRIES = 64 }; /* to find the word as it was a moment ago */

#define LOAD(place) __atomic_load_n(&(place), __ATOMIC_ACQUIRE)
#define STORE(place, value) __atomic_store_n(&(place), value, __ATOMIC_RELEASE)

static inline uint32_t min_u32(uint32_t a, uint32_t b) {
    return a < b ? a : b;
}

static inline uint32_t busy_of(uint64_t word) {
    return (uint32_t)word & BUSY_MASK;
}

static inline uint32_t wanting_of(uint64_t word) {
    return (uint32_t)(word >> SH_BPF_BUSY_BITS) & WANTING_MASK;
}

static inline void count_runner(uint32_t runner, uint32_t *running) {
    if (runner >= SH_BPF_PRIMARY)
        running[(runner - SH_BPF_PRIMARY) % SH_BPF_MAX_PRIMARIES]++;
}

static inline uint32_t capped_sum(const struct sh_bpf_sensor *bpf, const uint32_t *counts) {
    uint32_t sum = 0;
    for (uint32_t i = 0; i < bpf->config.primary_count; i++)
        sum += min_u32(counts[i], bpf->config.allocations[i]);
    return sum;
}

/* Looks at every task; *wanting_off becomes what had to be put right. 0 or -errno. */
int sh_bpf_walk_tasks(struct sh_bpf_sensor *bpf, int32_t *wanting_off);

/* Wires *sensor to what has been opened. */
void sh_bpf_wire(struct sh_bpf_sensor *bpf, struct sh_sensor *sensor);

/* From when on the levels' time counts. */
void sh_bpf_note_base(struct sh_bpf_sensor *bpf);

/* Whether a primary has used a CPU since the last question, or an elastic task been in its way. */
bool sh_bpf_was_used(struct sh_bpf_sensor *bpf, uint32_t cpu);

#endif
