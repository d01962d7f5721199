from libc.stdint cimport uint32_t

cdef extern from "actuators/actuator.h" nogil:
    struct sh_actuator:
        int (*assign)(void *ctx, uint32_t harvested) noexcept nogil
        void *ctx
