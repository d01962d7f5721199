from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t

from smartharvest.core._c.actuator cimport sh_actuator
from smartharvest.core._c.core_hold cimport sh_core_hold
from smartharvest.core._c.lend_order cimport sh_lend_order
from smartharvest.core._c.nudge cimport sh_nudge

cdef extern from "actuators/cpuset.h" nogil:
    enum:
        SH_CPUSET_MAX_FILES
        SH_ERR_EFFECTIVE

    struct sh_file_ops:
        int (*write)(void *ctx, int handle, const char *value, size_t length) noexcept nogil
        ssize_t (*read)(void *ctx, int handle, char *value, size_t size) noexcept nogil
        void *ctx

    struct sh_cpuset_file:
        int cpus, effective
        const char *const *masks
        bint primary

    struct sh_cpuset:
        sh_file_ops ops
        sh_cpuset_file files[256]
        uint32_t file_count, levels
        sh_nudge nudge
        sh_core_hold *core_hold
        const int32_t *added_cpu
        sh_lend_order *order
        int freezer
        const char *freeze
        const char *thaw
        int64_t current
        uint32_t failed_file, failed_level
        uint64_t writes, skipped

    void sh_file_ops_posix(sh_file_ops *ops)
    const char *sh_cpuset_mask(const sh_cpuset *cpuset, uint32_t index, uint32_t level)
    void sh_cpuset_init(sh_cpuset *cpuset, sh_actuator *actuator)
