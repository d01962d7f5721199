from libc.stdint cimport int64_t, uint32_t, uint64_t

from smartharvest.core._c.sensor cimport sh_sensor

cdef extern from "sensors/proc_sensor.h" nogil:
    enum:
        SH_PROC_MAX_SOURCES
        SH_PROC_MAX_TASKS

    struct sh_proc_source:
        int fd
        bint directory
        uint32_t primary

    struct sh_proc_sensor:
        sh_proc_source sources[256]
        uint32_t source_count
        uint32_t allocations[256]
        uint32_t primary_count
        int64_t rescan_ns
        uint32_t tasks_seen

    void sh_proc_sensor_init(sh_proc_sensor *proc, sh_sensor *sensor)
    void sh_proc_sensor_close(sh_proc_sensor *proc)
