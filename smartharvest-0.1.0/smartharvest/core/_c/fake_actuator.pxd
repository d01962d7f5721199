from libc.stdint cimport int64_t, uint32_t, uint64_t

from smartharvest.core._c.actuator cimport sh_actuator

cdef extern from "actuators/fake_actuator.h" nogil:
    enum:
        SH_FAKE_ACTUATOR_KEPT

    struct sh_fake_actuator:
        uint32_t levels[4096]
        uint64_t count
        int64_t fail_at
        int fail_with

    void sh_fake_actuator_init(sh_fake_actuator *fake, sh_actuator *actuator)
