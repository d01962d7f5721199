#include "actuators/lend_order.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static void add(struct sh_cpu_set *set, int32_t cpu) {
    set->words[cpu / 64] |= UINT64_C(1) << cpu % 64;
}

static bool has(const struct sh_cpu_set *set, uint32_t cpu) {
    return cpu < SH_LEND_ORDER_MAX_CPUS && set->words[cpu / 64] >> cpu % 64 & 1;
}

uint32_t sh_cpu_set_spell(const struct sh_cpu_set *set, char *text) {
    uint32_t length = 0;
    for (uint32_t cpu = 0; cpu < SH_LEND_ORDER_MAX_CPUS; cpu++) {
        const uint32_t first = cpu;
        if (!has(set, cpu))
            continue;
        while (has(set, cpu + 1))
            cpu++;
        const char *between = length ? "," : "";
        length += (uint32_t)(cpu == first ? sprintf(text + length, "%s%u", between, first)
                                          : sprintf(text + length, "%s%u-%u", between, first, cpu));
    }
    text[length] = '\0';
    return length;
}

uint32_t sh_lend_order_cpus(const struct sh_lend_order *order, uint32_t level) {
    const uint32_t cpus = order->elastic_min + level;
    return cpus > order->count ? order->count : cpus + !cpus;
}

static void note_added(struct sh_lend_order *order) {
    for (uint32_t level = 0; level < order->levels; level++) {
        const uint32_t cpus = order->elastic_min + level;
        const bool adds = level > 0 && cpus > 1 && cpus <= order->count;
        order->added[level] = adds ? order->cpus[cpus - 1] : -1;
    }
}

int sh_lend_order_init(struct sh_lend_order *order) {
    if (order->unit < 1 || order->fixed < 1 || order->fixed > order->count ||
        order->count > SH_LEND_ORDER_MAX_CPUS || order->fixed % order->unit ||
        order->count % order->unit || order->elastic_min > order->fixed)
        return -EINVAL;
    for (uint32_t i = 0; i < order->count; i++)
        if (order->cpus[i] < 0 || order->cpus[i] >= SH_LEND_ORDER_MAX_CPUS)
            return -EINVAL;
    note_added(order);
    return 0;
}

/* --- choosing --------------------------------------------------------------------------------- */

/* How long each core from `begin` to `end` has been free; all its threads have what it has. */
static void look(struct sh_lend_order *order, uint32_t begin, uint32_t end) {
    const struct sh_sensor *sensor = order->sensor;
    if (!sensor || !sensor->free_for) {
        memset(&order->free_ns[begin], 0, (end - begin) * sizeof(order->free_ns[0]));
        return;
    }
    sensor->free_for(sensor->ctx, &order->cpus[begin], end - begin, &order->free_ns[begin]);
    for (uint32_t core = begin; core < end; core += order->unit)
        for (uint32_t i = 1; i < order->unit; i++)
            if (order->free_ns[core + i] < order->free_ns[core])
                order->free_ns[core] = order->free_ns[core + i];
}

static uint32_t use_of(int64_t free_ns) {
    return free_ns <= 0 ? 2 : free_ns < SH_LEND_ORDER_RECENT_NS;
}

/* Is the core at `a` to be lent before the one at `b`, and so taken back after it? */
static bool before(const struct sh_lend_order *order, uint32_t a, uint32_t b) {
    const int64_t free_a = order->free_ns[a], free_b = order->free_ns[b];
    const uint32_t kind_a = order->ranks[a] >> 16, kind_b = order->ranks[b] >> 16;
    if (use_of(free_a) != use_of(free_b))
        return use_of(free_a) < use_of(free_b);
    if (kind_a != kind_b)
        return kind_a < kind_b;
    return free_a != free_b ? free_a > free_b : order->ranks[a] < order->ranks[b];
}

static void swap(struct sh_lend_order *order, uint32_t a, uint32_t b) {
    for (uint32_t i = 0; i < order->unit && a != b; i++) {
        const int32_t cpu = order->cpus[a + i];
        const uint32_t rank = order->ranks[a + i];
        const int64_t free_ns = order->free_ns[a + i];
        order->cpus[a + i] = order->cpus[b + i];
        order->ranks[a + i] = order->ranks[b + i];
        order->free_ns[a + i] = order->free_ns[b + i];
        order->cpus[b + i] = cpu;
        order->ranks[b + i] = rank;
        order->free_ns[b + i] = free_ns;
    }
}

/* The cores that are lent come to stand from `at` on. */
static void choose_lent(struct sh_lend_order *order, uint32_t at, uint32_t until) {
    look(order, at, order->count);
    for (; at < until; at += order->unit) {
        uint32_t best = at;
        for (uint32_t i = at; i < order->count; i += order->unit)
            if (before(order, i, best))
                best = i;
        swap(order, at, best);
    }
}

/* Those that are taken back come to stand before `end`. */
static void choose_taken(struct sh_lend_order *order, uint32_t end, uint32_t until) {
    look(order, order->fixed, end);
    for (; end > until; end -= order->unit) {
        uint32_t first = end - order->unit;
        for (uint32_t i = order->fixed; i < end; i += order->unit)
            if (before(order, first, i))
                first = i;
        swap(order, end - order->unit, first);
    }
}

void sh_lend_order_choose(struct sh_lend_order *order, uint32_t from, uint32_t to) {
    const uint32_t next = !atomic_load_explicit(&order->in_force, memory_order_relaxed);
    const uint32_t cpus = sh_lend_order_cpus(order, to);
    uint32_t had = sh_lend_order_cpus(order, from), has_then = cpus;
    struct sh_cpu_set set = {{0}};
    had = had < order->fixed ? order->fixed : had;
    has_then = has_then < order->fixed ? order->fixed : has_then;
    if (has_then > had && has_then < order->count)
        choose_lent(order, had, has_then);
    if (has_then < had && has_then > order->fixed)
        choose_taken(order, had, has_then);
    note_added(order);
    for (uint32_t i = 0; i < cpus; i++)
        add(&set, order->cpus[i]);
    /* The fixed ones are journaled, and must not cover what a failed move has left behind. */
    if (order->slots[next] && cpus > order->fixed)
        for (uint32_t i = 0; i < SH_LEND_ORDER_WORDS; i++)
            atomic_store(&order->slots[next][i], set.words[i]);
    for (uint32_t file = 0; file < order->file_count; file++) {
        struct sh_cpu_set mask = order->files[file].always;
        for (uint32_t i = 0; i < SH_LEND_ORDER_WORDS; i++)
            mask.words[i] |= order->files[file].own.words[i] & set.words[i];
        sh_cpu_set_spell(&mask, order->files[file].text[next]);
    }
    atomic_fetch_add(&order->choices, 1);
}

void sh_lend_order_accept(struct sh_lend_order *order) {
    atomic_fetch_xor(&order->in_force, 1);
}
