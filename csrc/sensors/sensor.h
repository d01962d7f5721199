/* The second seam: what the primary does right now. */
#ifndef SH_SENSOR_H
#define SH_SENSOR_H

#include <stdbool.h>
#include <stdint.h>

#include "loop/window.h"

struct sh_reading {
    uint32_t busy;   /* cores on which primary tasks run, no primary above its own allocation */
    uint32_t demand; /* running + waiting primary tasks, capped alike; busy if unknown */
};

/* The CPUs that change hands, in the order they are lent: so that a number says which. */
struct sh_lendable {
    const int32_t *cpus; /* who chooses the order may change it before cores change hands */
    uint32_t count;
    uint32_t elastic_min; /* the first so many are the elastic group's for good */
};

struct sh_sensor {
    /* Fills *reading. 0, or -errno when the sensor no longer knows. */
    int (*read)(void *ctx, int64_t now_ns, struct sh_reading *reading);
    void *ctx;
    /* Called by the thread that reads, once the elastic group holds its minimum and `harvested`
     * cores more. NULL: who holds what changes nothing that the sensor tells. */
    void (*on_lent)(void *ctx, int64_t now_ns, const struct sh_lendable *lendable,
                    uint32_t harvested);

    /* Sensors that see every change; NULL and -1 otherwise. */

    /* Adds to the window how long, in ns, each number of busy cores has lasted since the last call
     * (the first only begins), and raises its peaks. 0 or -errno. */
    int (*collect)(void *ctx, int64_t now_ns, struct sh_window *window);
    /* Makes wake_fd readable, once, when so many `cores` are busy, or with `waits` once running and
     * waiting tasks want so many; SH_SENSOR_DISARM: never. What already is so does not wake. */
    void (*arm)(void *ctx, uint32_t cores, bool waits);
    void (*drain)(void *ctx);
    int wake_fd;

    /* How long, in ns, each of the CPUs has been free of primary tasks: 0 where one runs or waits,
     * to some ten milliseconds. NULL: it cannot tell CPUs apart. */
    void (*free_for)(void *ctx, const int32_t *cpus, uint32_t count, int64_t *free_ns);
};

enum { SH_SENSOR_DISARM = SH_MAX_CORES + 1 };

/* Who sees that an elastic task gets a CPU that others wait for, and can say so at once. */
struct sh_displacements {
    /* Signals the perf event `event_fd` (PERF_COUNT_SW_BPF_OUTPUT) for those on `cpu`. 0 or
     * -errno. NULL: it does not see them. */
    int (*signal)(void *ctx, uint32_t cpu, int event_fd);
    /* Whether somebody listens; they are counted only then. */
    void (*listen)(void *ctx, bool on);
    void *ctx;
};

#endif
