from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t

from smartharvest.core._c.sensor cimport sh_sensor
from smartharvest.core._c.task_list cimport sh_task_sources

cdef extern from "sensors/perf_sensor.h" nogil:
    struct sh_perf_counts:
        uint64_t records, overruns, corrections, tasks

    struct sh_perf_sensor:
        sh_task_sources sources
        int64_t list_ns
        sh_perf_counts counts

    int sh_perf_sensor_open(sh_perf_sensor *perf, sh_sensor *sensor, const char **reason)
    void sh_perf_sensor_close(sh_perf_sensor *perf)
    void sh_perf_sensor_list(sh_perf_sensor *perf, int64_t now_ns)
