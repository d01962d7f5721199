/* An actuator that records its levels, for tests, benchmarks and simulated hosts. */
#ifndef SH_FAKE_ACTUATOR_H
#define SH_FAKE_ACTUATOR_H

#include <stdatomic.h>
#include <stdint.h>

#include "actuators/actuator.h"

enum { SH_FAKE_ACTUATOR_KEPT = 4096 };

struct sh_fake_actuator {
    uint32_t levels[SH_FAKE_ACTUATOR_KEPT]; /* ring of the harvests assigned */
    _Atomic uint64_t count;
    _Atomic int64_t fail_at; /* the assign with this number fails; -1: none */
    _Atomic int fail_with;   /* errno, positive */
};

void sh_fake_actuator_init(struct sh_fake_actuator *fake, struct sh_actuator *actuator);

#endif
