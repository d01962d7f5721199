from libc.stdint cimport uint32_t, uint64_t

from smartharvest._c.actuator cimport sh_actuator

cdef extern from "affinity.h" nogil:
    enum:
        SH_AFFINITY_BYTES
        SH_AFFINITY_MAX_PROCESSES

    struct sh_affinity_mask:
        unsigned long bits[128]

    struct sh_affinity:
        int task_dirs[256]
        uint32_t process_count
        const sh_affinity_mask *masks
        uint32_t levels
        uint64_t writes

    void sh_affinity_init(sh_affinity *affinity, sh_actuator *actuator)
    int sh_affinity_follow(sh_affinity *affinity, uint32_t slot, int task_dir)
