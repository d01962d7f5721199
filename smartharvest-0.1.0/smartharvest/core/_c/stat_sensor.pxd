from libc.stdint cimport uint32_t

from smartharvest.core._c.sensor cimport sh_sensor

cdef extern from "sensors/stat_sensor.h" nogil:
    enum:
        SH_STAT_MAX_CPUS

    struct sh_stat_sensor:
        int fd
        uint32_t pool[4096]
        uint32_t core_count, allocation

    void sh_stat_sensor_init(sh_stat_sensor *stat, sh_sensor *sensor)
