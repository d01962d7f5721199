#include "lab/recorder.h"

#include <stdbool.h>
#include <stddef.h>

static void count(_Atomic uint64_t *counter) {
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + 1,
                          memory_order_relaxed);
}

static uint16_t clamp(uint32_t cores) {
    return (uint16_t)(cores < SH_MAX_CORES ? cores : SH_MAX_CORES);
}

static uint32_t room(const struct sh_recorder *recorder) {
    return SH_RECORDER_RING - (atomic_load_explicit(&recorder->head, memory_order_relaxed) -
                               atomic_load_explicit(&recorder->tail, memory_order_acquire));
}

static void push(struct sh_recorder *recorder, struct sh_change change) {
    uint32_t head = atomic_load_explicit(&recorder->head, memory_order_relaxed);
    recorder->ring[head % SH_RECORDER_RING] = change;
    recorder->last = change;
    count(&recorder->changes);
    atomic_store_explicit(&recorder->head, head + 1, memory_order_release);
}

static void note(struct sh_recorder *recorder, struct sh_change now) {
    const int64_t last_ns = recorder->last_read_ns;
    const bool first = last_ns == 0;
    int64_t unseen_since_ns = recorder->lost_since_ns;

    if (!unseen_since_ns && !first && now.time_ns - last_ns > recorder->gap_ns)
        unseen_since_ns = last_ns + recorder->poll_ns;
    if (!unseen_since_ns && !first && now.busy == recorder->last.busy &&
        now.demand == recorder->last.demand)
        return;
    if (room(recorder) < 2) { /* for the gap and for what comes after it */
        recorder->lost_since_ns = unseen_since_ns ? unseen_since_ns : now.time_ns;
        count(&recorder->lost);
        return;
    }
    if (unseen_since_ns) {
        push(recorder, (struct sh_change){unseen_since_ns, SH_TRACE_UNSEEN, SH_TRACE_UNSEEN});
        count(&recorder->gaps);
    }
    recorder->lost_since_ns = 0;
    push(recorder, now);
}

static int recorder_read(void *ctx, int64_t now_ns, struct sh_reading *reading) {
    struct sh_recorder *recorder = ctx;
    int err = recorder->inner.read(recorder->inner.ctx, now_ns, reading);
    if (err)
        return err;
    const uint16_t busy = clamp(reading->busy), demand = clamp(reading->demand);
    note(recorder, (struct sh_change){now_ns, busy, demand > busy ? demand : busy});
    recorder->last_read_ns = now_ns;
    if (recorder->lost_since_ns == 0)
        atomic_store_explicit(&recorder->seen_until_ns, now_ns, memory_order_release);
    return 0;
}

void sh_recorder_init(struct sh_recorder *recorder, const struct sh_sensor *inner, int64_t poll_ns,
                      int64_t gap_ns, struct sh_sensor *sensor) {
    recorder->inner = *inner;
    recorder->poll_ns = poll_ns;
    recorder->gap_ns = gap_ns;
    recorder->last_read_ns = recorder->lost_since_ns = recorder->told_until_ns = 0;
    atomic_store(&recorder->head, 0);
    atomic_store(&recorder->tail, 0);
    atomic_store(&recorder->seen_until_ns, 0);
    atomic_store(&recorder->changes, 0);
    atomic_store(&recorder->gaps, 0);
    atomic_store(&recorder->lost, 0);
    *sensor = (struct sh_sensor){.read = recorder_read, .ctx = recorder, .wake_fd = -1};
}

uint32_t sh_recorder_take(struct sh_recorder *recorder, struct sh_change *changes, uint32_t most,
                          int64_t *until_ns) {
    /* Read before the head: every change up to it is in the ring by then. */
    const int64_t seen_until_ns =
        atomic_load_explicit(&recorder->seen_until_ns, memory_order_acquire);
    const uint32_t tail = atomic_load_explicit(&recorder->tail, memory_order_relaxed);
    const uint32_t head = atomic_load_explicit(&recorder->head, memory_order_acquire);
    uint32_t taken = head - tail < most ? head - tail : most;
    for (uint32_t i = 0; i < taken; i++)
        changes[i] = recorder->ring[(tail + i) % SH_RECORDER_RING];
    atomic_store_explicit(&recorder->tail, tail + taken, memory_order_release);
    const int64_t last_ns = taken ? changes[taken - 1].time_ns : 0;
    int64_t known_ns = taken < head - tail ? last_ns : seen_until_ns;
    if (known_ns < last_ns) /* noted since the reading that seen_until_ns tells of */
        known_ns = last_ns;
    if (recorder->told_until_ns < known_ns)
        recorder->told_until_ns = known_ns;
    *until_ns = recorder->told_until_ns;
    return taken;
}
