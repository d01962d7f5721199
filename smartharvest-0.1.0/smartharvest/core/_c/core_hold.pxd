from libc.stdint cimport int32_t, uint32_t

cdef extern from "actuators/core_hold.h" nogil:
    enum:
        SH_CORE_HOLD_MAX_CPUS

    struct sh_core_hold_thread:
        uint32_t cpu

    struct sh_core_hold:
        sh_core_hold_thread *threads
        uint32_t count
        int fifo_priority
        uint32_t failed

    int sh_core_hold_start(sh_core_hold *core_hold)
    void sh_core_hold_stop(sh_core_hold *core_hold)
