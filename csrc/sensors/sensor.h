/* The second seam: what the primary does right now. */
#ifndef SH_SENSOR_H
#define SH_SENSOR_H

#include <stdint.h>

#include "loop/window.h"

struct sh_reading {
    uint32_t busy;   /* cores on which primary tasks run, no primary above its own allocation */
    uint32_t demand; /* running + waiting primary tasks, capped alike; busy if it cannot be told */
};

struct sh_sensor {
    /* Fills *reading. harvested is what the elastic group holds beyond its minimum: some sensors
     * must leave those cores out. 0, or -errno when the sensor no longer knows. */
    int (*read)(void *ctx, int64_t now_ns, uint32_t harvested, struct sh_reading *reading);
    void *ctx;

    /* Sensors that see every change; NULL and -1 otherwise. */

    /* Adds to the window how long, in ns, each number of busy cores has lasted since the last call
     * (the first only begins), and raises its peaks. 0 or -errno. */
    int (*collect)(void *ctx, int64_t now_ns, struct sh_window *window);
    /* Makes wake_fd readable, once, when the busy cores reach `busy`; SH_SENSOR_DISARM: never. What
     * already is so does not wake. */
    void (*arm)(void *ctx, uint32_t busy);
    void (*drain)(void *ctx);
    int wake_fd;

    /* How long, in ns, each of the CPUs has been free of primary tasks: 0 where one runs or waits,
     * to some ten milliseconds. NULL: it cannot tell CPUs apart. */
    void (*free_for)(void *ctx, const int32_t *cpus, uint32_t count, int64_t *free_ns);
};

enum { SH_SENSOR_DISARM = SH_MAX_CORES + 1 };

#endif
