/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* How many cores the primaries use and want. */
#ifndef SH_SENSOR_LEVELS_BPF_H
#define SH_SENSOR_LEVELS_BPF_H

#include "sensor_runners.bpf.h"

struct {
    __uint(type, BPF_MAP_TYPE_RINGBUF);
    __uint(max_entries, 4096); /* one page, when it is loaded */
} wakes SEC(".maps");

enum {
    BUSY_MASK = (1 << SH_BPF_BUSY_BITS) - 1,
    WANTING_MASK = (1 << SH_BPF_WANTING_BITS) - 1,
    TIME_POSITION = SH_BPF_BUSY_BITS + SH_BPF_WANTING_BITS,
    CLAIM_TRIES = 16,
};
#define TIME_MASK ((1ULL << SH_BPF_TIME_BITS) - 1)

static __always_inline void book(uint64_t *times, uint32_t level, uint64_t time) {
    __sync_fetch_and_add(&times[at_most(level, SH_BPF_MAX_LEVEL)], time);
}

/* Time that was booked at one level belongs to another. */
static __always_inline void rebook(uint64_t *times, uint32_t from, uint32_t to, uint64_t time) {
    __sync_fetch_and_sub(&times[at_most(from, SH_BPF_MAX_LEVEL)], time);
    book(times, to, time);
}

/* Wakes the reader if so many are busy, or wanted, as it waits for. */
static __always_inline void ring(uint64_t word, int32_t busy_by, int32_t wanting_by) {
    const int32_t wake_at = shared.control.wake_at;
    const int32_t level = wake_at & ~SH_BPF_WAKE_FOR_WAITING;
    int32_t by = busy_by, cores = (int32_t)(word & BUSY_MASK);
    if (unlikely(wake_at >= SH_BPF_WAKE_FOR_WAITING)) {
        by = wanting_by;
        cores = (int32_t)(word >> SH_BPF_BUSY_BITS & WANTING_MASK);
    }
    if (unlikely(by > 0 && wake_at >= 0 && cores >= level) &&
        __sync_val_compare_and_swap(&shared.control.wake_at, wake_at, SH_BPF_NO_WAKE) == wake_at)
        bpf_ringbuf_output(&wakes, &word, sizeof(word), BPF_RB_FORCE_WAKEUP);
}

/* Moves the counts at a time and books the time since the last move to where they were. A change
 * that comes late, since CPUs' clocks are not read in the order of their moves or the program was
 * not told of a switch, takes over what has been booked since it happened. False if somebody else
 * was faster. */
static __always_inline bool try_to_move(uint64_t now, int32_t busy_by, int32_t wanting_by) {
    const uint64_t old = *(volatile uint64_t *)&shared.levels.word;
    const uint32_t old_busy = old & BUSY_MASK;
    const uint32_t old_wanting = old >> SH_BPF_BUSY_BITS & WANTING_MASK;
    const uint64_t then = old >> TIME_POSITION;
    int32_t busy = (int32_t)old_busy + busy_by, wanting = (int32_t)old_wanting + wanting_by;
    uint64_t passed = (now - then) & TIME_MASK, late = 0, until = now;
    if (unlikely(!then)) {
        passed = 0;
    } else if (unlikely(passed > TIME_MASK / 2)) {
        late = (then - now) & TIME_MASK;
        passed = 0;
        until = then;
    }
    /* Below zero only by a drift, which the next look repairs. */
    if (unlikely(busy < 0))
        busy = 0;
    if (unlikely(wanting < 0))
        wanting = 0;
    const uint64_t new = until << TIME_POSITION |
                         (uint64_t)(wanting & WANTING_MASK) << SH_BPF_BUSY_BITS |
                         (busy & BUSY_MASK);
    if (unlikely(__sync_val_compare_and_swap(&shared.levels.word, old, new) != old))
        return false;
    if (unlikely(late)) {
        rebook(shared.levels.busy_time, old_busy, (uint32_t)busy, late);
        if (settings.parts & SH_BPF_DEMAND)
            rebook(shared.levels.wanting_time, old_wanting, (uint32_t)wanting, late);
    } else {
        book(shared.levels.busy_time, old_busy, passed);
        if (settings.parts & SH_BPF_DEMAND)
            book(shared.levels.wanting_time, old_wanting, passed);
    }
    ring(new, busy_by, wanting_by);
    return true;
}

GLOBAL int move_against_others(uint64_t now, int32_t busy_by, int32_t wanting_by) {
    for (int i = 0; i < CLAIM_TRIES; i++)
        if (try_to_move(now, busy_by, wanting_by))
            return 0;
    /* Sixteen others were faster. */
    const uint64_t gains = sh_bpf_gains(busy_by, wanting_by);
    ring(__sync_fetch_and_add(&shared.levels.word, gains) + gains, busy_by, wanting_by);
    return 0;
}

static __always_inline void move(uint64_t clock_ns, int32_t busy_by, int32_t wanting_by) {
    uint64_t now = clock_ns >> SH_BPF_TIME_SHIFT & TIME_MASK;
    now += !now; /* 0 is before the first move */
    if (unlikely(!try_to_move(now, busy_by, wanting_by)))
        move_against_others(now, busy_by, wanting_by);
}

/* By how much the sum of the primaries' capped counts changes when one of them changes. */
static __always_inline int32_t capped(int32_t *counts, uint32_t runner, int32_t by) {
    const uint32_t primary = index_of(runner);
    if (settings.primary_count == 1)
        return by; /* user space caps it */
    const int32_t old = __sync_fetch_and_add(&counts[primary], by);
    const int32_t most = (int32_t)settings.allocations[primary];
    return by > 0 ? old < most : -(old <= most);
}

/* Another runner has a CPU. */
static __always_inline int32_t change_busy(uint32_t was, uint32_t is) {
    int32_t by = 0;
    if (was >= SH_BPF_PRIMARY)
        by += capped(shared.levels.running, was, -1);
    if (is >= SH_BPF_PRIMARY)
        by += capped(shared.levels.running, is, 1);
    return by;
}

/* The task starts or stops to want a CPU. */
static __always_inline int32_t change_wanting(struct task_struct *task, uint32_t runner,
                                              int32_t by) {
    if (unlikely(shared.control.walking) && task->pid <= shared.walk.position)
        __sync_fetch_and_add(&shared.walk.wanting[index_of(runner)], by);
    return capped(shared.levels.wanting, runner, by);
}

#endif
