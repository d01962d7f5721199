#include "sensors/fake_sensor.h"

#include <errno.h>
#include <stdbool.h>

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

static int fake_read(void *ctx, int64_t now_ns, struct sh_reading *reading) {
    struct sh_fake_sensor *fake = ctx;
    (void)now_ns;
    if (fake->script)
        return read_script(fake, reading);
    uint32_t busy = 0;
    for (size_t i = 0; i < fake->core_count; i++)
        busy += atomic_load_explicit(&fake->cores[i], memory_order_relaxed) != 0;
    reading->busy = reading->demand = busy;
    return 0;
}

static void fake_free_for(void *ctx, const int32_t *cpus, uint32_t count, int64_t *free_ns) {
    struct sh_fake_sensor *fake = ctx;
    for (uint32_t i = 0; i < count; i++) {
        const size_t core = (size_t)cpus[i];
        const bool known = core < fake->core_count && fake->free_ns;
        free_ns[i] =
            known && !atomic_load(&fake->cores[core]) ? atomic_load(&fake->free_ns[core]) : 0;
    }
}

void sh_fake_sensor_init(struct sh_fake_sensor *fake, struct sh_sensor *sensor) {
    *sensor = (struct sh_sensor){
        .read = fake_read, .ctx = fake, .wake_fd = -1, .free_for = fake_free_for};
}
