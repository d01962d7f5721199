#include "actuators/fake_actuator.h"

#include <stddef.h>

static int fake_assign(void *ctx, uint32_t harvested) {
    struct sh_fake_actuator *fake = ctx;
    uint64_t number = atomic_load(&fake->count);
    fake->levels[number % SH_FAKE_ACTUATOR_KEPT] = harvested;
    atomic_store(&fake->count, number + 1);
    return (int64_t)number == atomic_load(&fake->fail_at) ? -atomic_load(&fake->fail_with) : 0;
}

void sh_fake_actuator_init(struct sh_fake_actuator *fake, struct sh_actuator *actuator) {
    atomic_store(&fake->fail_at, -1);
    actuator->assign = fake_assign;
    actuator->assign_briefly = NULL;
    actuator->ctx = fake;
}
