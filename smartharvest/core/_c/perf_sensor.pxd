from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t

from smartharvest.core._c.sensor cimport sh_sensor

cdef extern from "sensors/perf_sensor.h" nogil:
    enum:
        SH_PERF_MAX_SOURCES

    struct sh_perf_source:
        int fd
        bint directory
        uint32_t primary

    struct sh_perf_counts:
        uint64_t records, overruns, corrections, tasks

    struct sh_perf_sensor:
        sh_perf_source sources[256]
        uint32_t source_count
        uint32_t allocations[256]
        uint32_t primary_count
        int64_t list_ns
        sh_perf_counts counts

    int sh_perf_sensor_open(sh_perf_sensor *perf, sh_sensor *sensor, const char **reason)
    void sh_perf_sensor_close(sh_perf_sensor *perf)
    void sh_perf_sensor_list(sh_perf_sensor *perf, int64_t now_ns)
