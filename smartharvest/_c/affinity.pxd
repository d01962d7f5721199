from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t

from smartharvest._c.actuator cimport sh_actuator

cdef extern from "affinity.h" nogil:
    ctypedef int32_t atomic_int32_t "_Atomic int32_t"

    enum:
        SH_AFFINITY_BYTES
        SH_AFFINITY_MAX_PROCESSES
        SH_AFFINITY_MAX_GROUPS
        SH_AFFINITY_STRAYS

    struct sh_affinity_mask:
        unsigned long bits[128]

    struct sh_affinity_pin:
        int32_t tid
        sh_affinity_mask mask

    struct sh_affinity_stray:
        int32_t tid
        sh_affinity_mask found, given

    struct sh_affinity:
        int task_files[256]
        uint32_t group_count
        const int32_t *added_cpu
        atomic_int32_t *pinned_tid
        int64_t current
        int task_dirs[256]
        uint32_t process_count
        const sh_affinity_mask *masks
        uint32_t levels
        const sh_affinity_pin *pins
        uint32_t pin_count
        uint64_t writes
        sh_affinity_stray strays[32]
        uint32_t stray_count

    void sh_affinity_wanted(
        const sh_affinity *affinity, uint32_t level, int32_t tid, sh_affinity_mask *mask
    )
    void sh_affinity_init(sh_affinity *affinity, sh_actuator *actuator)
    int sh_affinity_refresh(sh_affinity *affinity)
    int sh_affinity_follow(sh_affinity *affinity, uint32_t slot, int task_dir)
