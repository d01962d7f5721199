from libc.stdint cimport int32_t, uint32_t

cdef extern from "actuators/handover.h" nogil:
    enum:
        SH_HANDOVER_MAX_CPUS

    struct sh_handover_thread:
        uint32_t cpu

    struct sh_handover:
        sh_handover_thread *threads
        uint32_t count
        int fifo_priority
        uint32_t failed

    int sh_handover_start(sh_handover *handover)
    void sh_handover_stop(sh_handover *handover)
