/* The sensor's and the actuator's seams, driven and timed from C as the loop drives them. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <time.h>

#include "actuators/actuator.h"
#include "sensors/bpf_sensor.h"
#include "sensors/sensor.h"

enum { NS_PER_S = 1000000000 };

static int64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * NS_PER_S + t.tv_nsec;
}

/* Has a BPF sensor believe in so many CPUs until it is told otherwise; how many it believed in. The
 * memory of who runs has room for all; it no longer asks whether its program is alive. */
uint32_t seams_pretend(struct sh_sensor *seam, uint32_t cpus) {
    struct sh_bpf_sensor *bpf = seam->ctx;
    const uint32_t before = bpf->cpu_count;
    bpf->next_check_ns = INT64_MAX;
    bpf->cpu_count = cpus;
    return before;
}

struct dirtier {
    uint8_t *runners;
    uint32_t cpus;
    int cpu; /* where it runs */
    _Atomic int64_t asked, done;
};

/* Writes every CPU's entry as often as it is asked to, so that the next to read them has none. */
static void *make_dirty(void *argument) {
    struct dirtier *dirtier = argument;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(dirtier->cpu, &set);
    sched_setaffinity(0, sizeof(set), &set);
    for (int64_t turn = 1;; turn++) {
        int64_t asked;
        while ((asked = atomic_load(&dirtier->asked)) < turn && asked >= 0) {
        }
        if (asked < 0)
            return NULL;
        for (uint32_t cpu = 0; cpu < dirtier->cpus; cpu++)
            __atomic_store_n(&dirtier->runners[cpu], SH_BPF_OTHER, __ATOMIC_RELAXED);
        atomic_store(&dirtier->done, turn);
    }
}

/* What each of `count` readings takes, each right after a thread on writer_cpu has written all that
 * is read (-1: nobody writes). 0 or -errno. */
int seams_time_reads(struct sh_sensor *seam, int writer_cpu, int64_t count, int64_t *took_ns) {
    struct sh_bpf_sensor *bpf = seam->ctx;
    struct dirtier dirtier = {.cpu = writer_cpu};
    struct sh_reading reading;
    pthread_t thread;
    int err = 0;
    if (writer_cpu >= 0) {
        dirtier.runners = bpf->shared->runners;
        dirtier.cpus = bpf->cpu_count;
        if ((err = -pthread_create(&thread, NULL, make_dirty, &dirtier)))
            return err;
    }
    for (int64_t i = 0; i < count && !err; i++) {
        if (writer_cpu >= 0) {
            atomic_store(&dirtier.asked, i + 1);
            while (atomic_load(&dirtier.done) < i + 1) {
            }
        }
        const int64_t start_ns = now_ns();
        err = seam->read(seam->ctx, start_ns, &reading);
        took_ns[i] = now_ns() - start_ns;
    }
    if (writer_cpu >= 0) {
        atomic_store(&dirtier.asked, -1);
        pthread_join(thread, NULL);
    }
    return err;
}

/* What the clock alone says between two readings of it. */
void seams_time_nothing(int64_t count, int64_t *took_ns) {
    for (int64_t i = 0; i < count; i++) {
        const int64_t start_ns = now_ns();
        took_ns[i] = now_ns() - start_ns;
    }
}

/* Reads without a pause until end_ns and notes when a busy core was first seen after none: how
 * often, at most `capacity` times, or -errno. */
int64_t seams_watch(struct sh_sensor *seam, int64_t end_ns, int64_t capacity, int64_t *seen_ns) {
    struct sh_reading reading;
    int64_t count = 0, at_ns = now_ns();
    uint32_t before = 1;
    while (count < capacity && at_ns < end_ns) {
        const int err = seam->read(seam->ctx, at_ns, &reading);
        at_ns = now_ns();
        if (err)
            return err;
        if (reading.busy && !before)
            seen_ns[count++] = at_ns;
        before = reading.busy;
    }
    return count;
}

struct seams_move {
    int64_t returned_ns, harvested;
};

struct seams_moves {
    struct sh_actuator inner;
    int64_t capacity;
    _Atomic int64_t count;
    struct seams_move moves[];
};

static int noted_assign(void *ctx, uint32_t harvested) {
    struct seams_moves *moves = ctx;
    const int err = moves->inner.assign(moves->inner.ctx, harvested);
    const int64_t count = atomic_load(&moves->count);
    if (count < moves->capacity)
        moves->moves[count] = (struct seams_move){now_ns(), harvested};
    atomic_store(&moves->count, count + 1);
    return err;
}

/* From now on whoever takes over this seam notes in *moves when each of its calls returned. */
void seams_note_moves(struct sh_actuator *seam, int64_t capacity, struct seams_moves *moves) {
    moves->inner = *seam;
    moves->capacity = capacity;
    *seam = (struct sh_actuator){.assign = noted_assign, .ctx = moves};
}
