/* A sensor that reads what a test sets: a script of readings, or one state per core. */
#ifndef SH_FAKE_SENSOR_H
#define SH_FAKE_SENSOR_H

#include <stdatomic.h>
#include <stddef.h>

#include "sensors/sensor.h"

struct sh_fake_sensor {
    /* One busy count per poll; a negative entry is returned as the error it is. The last entry
     * repeats. NULL: count the cores instead. */
    const int32_t *script;
    size_t script_length;
    _Atomic size_t position;
    /* Non-zero where a primary task runs; may change under the loop's feet. */
    const _Atomic uint8_t *cores;
    size_t core_count;
    /* [core]: for how long it has been free, unless it is marked; NULL: all cores are alike.
     */
    const _Atomic int64_t *free_ns;
};

void sh_fake_sensor_init(struct sh_fake_sensor *fake, struct sh_sensor *sensor);

#endif
