from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t

from smartharvest.core._c.sensor cimport sh_sensor

cdef extern from *:
    ctypedef uint64_t atomic_uint64_t "_Atomic uint64_t"

cdef extern from "actuators/lend_order.h" nogil:
    enum:
        SH_LEND_ORDER_MAX_CPUS
        SH_LEND_ORDER_WORDS
        SH_LEND_ORDER_TEXT

    struct sh_cpu_set:
        uint64_t words[16]

    struct sh_lend_order_file:
        sh_cpu_set own, always
        char *text[2]

    struct sh_lend_order:
        int32_t *cpus
        uint32_t *ranks
        int64_t *free_ns
        uint32_t count, unit, fixed, elastic_min
        int32_t *added
        uint32_t levels
        sh_lend_order_file *files
        uint32_t file_count
        const sh_sensor *sensor
        atomic_uint64_t *slots[2]
        uint32_t in_force, choices

    int sh_lend_order_init(sh_lend_order *order)
