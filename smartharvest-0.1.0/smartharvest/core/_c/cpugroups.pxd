from libc.stdint cimport int32_t, int64_t, uint16_t, uint32_t, uint64_t

from smartharvest.core._c.actuator cimport sh_actuator
from smartharvest.core._c.cpuset cimport sh_file_ops

cdef extern from *:
    ctypedef int64_t atomic_int64_t "_Atomic int64_t"

cdef extern from "actuators/cpugroups.h" nogil:
    enum:
        SH_CPUGROUPS_MAX_SPLITS

    struct sh_cpugroup:
        int list, take

    struct sh_cpugroups:
        sh_file_ops ops
        sh_cpugroup outer
        sh_cpugroup splits[128]
        uint32_t split_count
        const uint16_t *split_of
        uint32_t levels
        atomic_int64_t *beat
        int64_t current
        uint64_t moves
        uint32_t failed_split
        int32_t failed_tid

    void sh_cpugroups_ops_posix(sh_file_ops *ops)
    void sh_cpugroups_init(sh_cpugroups *groups, sh_actuator *actuator)
