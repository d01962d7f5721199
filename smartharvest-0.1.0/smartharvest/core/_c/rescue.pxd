from libc.stdint cimport uint32_t, uint64_t

from smartharvest.core._c.sensor cimport sh_displacements

cdef extern from "actuators/rescue.h" nogil:
    struct sh_rescue_thread:
        uint32_t cpu

    struct sh_rescue:
        sh_displacements displacements
        sh_rescue_thread *threads
        uint32_t count
        int fifo_priority
        int stop_fd
        uint64_t rescues

    int sh_rescue_start(sh_rescue *rescue)
    void sh_rescue_stop(sh_rescue *rescue)
