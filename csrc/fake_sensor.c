#include "fake_sensor.h"

#include <errno.h>

static int read_script(struct sh_fake_sensor *fake, struct sh_reading *reading) {
    size_t position = atomic_load_explicit(&fake->position, memory_order_relaxed);
    if (fake->script_length == 0)
        return -ENODATA;
    int32_t busy = fake->script[position];
    if (position + 1 < fake->script_length)
        atomic_store_explicit(&fake->position, position + 1, memory_order_relaxed);
    if (busy < 0)
        return busy;
    reading->busy = reading->demand = (uint32_t)busy;
    return 0;
}

static int fake_read(void *ctx, int64_t now_ns, uint32_t harvested, struct sh_reading *reading) {
    struct sh_fake_sensor *fake = ctx;
    (void)now_ns;
    (void)harvested;
    if (fake->script)
        return read_script(fake, reading);
    uint32_t busy = 0;
    for (size_t i = 0; i < fake->core_count; i++)
        busy += atomic_load_explicit(&fake->cores[i], memory_order_relaxed) != 0;
    reading->busy = reading->demand = busy;
    return 0;
}

void sh_fake_sensor_init(struct sh_fake_sensor *fake, struct sh_sensor *sensor) {
    *sensor = (struct sh_sensor){.read = fake_read, .ctx = fake, .wake_fd = -1};
}
