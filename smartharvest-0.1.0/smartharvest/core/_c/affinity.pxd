from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t

from smartharvest.core._c.actuator cimport sh_actuator

cdef extern from "actuators/affinity.h" nogil:
    ctypedef int32_t atomic_int32_t "_Atomic int32_t"
    ctypedef int64_t atomic_int64_t "_Atomic int64_t"

    enum:
        SH_AFFINITY_BYTES
        SH_AFFINITY_MAX_PROCESSES
        SH_AFFINITY_MAX_GROUPS

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
        atomic_int64_t *beat
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
    int sh_affinity_find_strays(
        const sh_affinity *affinity, const int32_t *tids, uint32_t count,
        const sh_affinity_mask *online, sh_affinity_stray *found, uint32_t most
    )
    int sh_affinity_follow(sh_affinity *affinity, uint32_t slot, int task_dir)


cdef inline int fill_mask(sh_affinity_mask *mask, object cpus) except -1:
    for cpu in cpus:
        if not 0 <= cpu < SH_AFFINITY_BYTES * 8:
            raise ValueError(f"CPU {cpu} is beyond the affinity mask")
        mask.bits[cpu // 64] |= (<unsigned long> 1) << (cpu % 64)
    return 0


cdef inline object cpus_of(const sh_affinity_mask *mask):
    cdef Py_ssize_t word, bit
    cdef set cpus = set()
    for word in range(SH_AFFINITY_BYTES // 8):
        if mask.bits[word]:
            for bit in range(64):
                if mask.bits[word] >> bit & 1:
                    cpus.add(64 * word + bit)
    return frozenset(cpus)
