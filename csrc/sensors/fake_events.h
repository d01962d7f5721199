/* A sensor that sees every change because its owner reports it: for tests and simulated hosts.
 * Another thread may report. */
#ifndef SH_FAKE_EVENTS_H
#define SH_FAKE_EVENTS_H

#include <pthread.h>
#include <stdint.h>

#include "sensors/sensor.h"

struct sh_fake_events {
    pthread_mutex_t lock;
    int64_t changed_ns;
    uint32_t busy, demand;
    uint32_t alarm;   /* SH_SENSOR_DISARM: none */
    bool alarm_waits; /* for waiting tasks, too */
    uint32_t demand_max;
    uint64_t demand_core_ns;             /* not yet collected, like what follows */
    uint64_t spent_ns[SH_MAX_CORES + 1]; /* per number of busy cores, not yet collected */
    int wake_fd;
    int error; /* what readings answer, -errno; 0: they work */
};

/* Starts with nothing busy at now_ns. 0 or -errno. */
int sh_fake_events_init(struct sh_fake_events *fake, int64_t now_ns, struct sh_sensor *sensor);
void sh_fake_events_destroy(struct sh_fake_events *fake);

/* From now_ns on, which must not go back, so many cores are busy and so many are wanted. */
void sh_fake_events_set(struct sh_fake_events *fake, int64_t now_ns, uint32_t busy,
                        uint32_t demand);

/* From now on readings fail with -errno; 0: they work again. */
void sh_fake_events_fail(struct sh_fake_events *fake, int err);

#endif
